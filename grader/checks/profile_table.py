"""Whether a report's list of kernels, or of API calls, is one: sorted, summed, and long enough."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from grader.checks.by_hand import award_given
from grader.checks.own_profile import compared, in_common, machine_of, other_machine
from grader.checks.questions import read_answers, tidy_questions, with_questions
from grader.checks.requirements import Requirement, award_requirements
from grader.config.codec import from_plain, to_plain
from grader.config.points_file import WAITS
from grader.contracts.check import CheckKind
from grader.matching.cuda_names import call_name, is_api_call, is_copy
from grader.matching.listed_shares import ListedShare, ProfileList, wrong_sum
from grader.matching.profile_lists import profile_lists
from grader.model.drawing import Drawing, MarkedText, ValueTable
from grader.model.observation import Observation, Outcome
from grader.model.options import SubmittedFile, UsedItem, option
from grader.model.score import Award

if TYPE_CHECKING:
    from grader.contracts.context import CheckContext

Listed = Literal["kernels", "api"]

MOST_SHOWN = 8000
"""Characters of an answer that are kept, for the person who reads it."""
MOST_SENTENCES = 3
"""Differences between two profiles that are told."""
_KERNEL_LIKE = re.compile(r"::|<|[a-z0-9]_[a-z0-9]", re.IGNORECASE)


class ProfileTableKind(CheckKind):
    """Read the list of kernels, or of API calls, that answers one question of a report, and add it up.

    The list must hold kernels alone (no copies, no calls of the API) or calls alone; shares must fall, a
    running sum must be that of the shares, and `at_least` percent must be reached with the last line and not
    before. Each of these earns a quarter. Sums may differ by the rounding of the printed digits. A column of
    running sums may be left out.

    Lists are read from tables, text and the output of nvprof, nsys, torch.profiler and `grader profile`. What
    cannot be read, or in more than one way, waits for a person, who may give the points.

    With `by` a right list is also held against our own profile of the same program. If the report
    names the same GPU and version of torch, or none, and its kernels or shares are others, it waits for a
    person. On another machine it only informs, unless no kernel is one of ours: those of the framework are
    the same everywhere. The same is asked of calls, but for their shares: how long the first ones take
    depends on what the machine has loaded before. Without a profile the item stays open.
    """

    name: ClassVar[str] = "profile_table"
    by_hand: ClassVar[bool] = True
    tool: ClassVar[str] = "document"
    related_optional: ClassVar[bool] = True

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """The YAML keys."""

        file: SubmittedFile = option("The report; `*` stands for anything, as in report.*.")
        question: int | str = option("The number or label of the question, such as 1 or 2b.")
        text: str = option("The question as the students read it; a copy of it is no part of an answer.")
        questions: Mapping[str, str] = option(
            "Texts of questions in this report that no item of this kind is about, by number.",
            default_factory=dict,
        )
        lists: Listed = option("What the list holds.")
        at_least: float = option(
            "The percentage of the time that is reached with the last line.",
            judges=True,
            default=90.0,
            above=0,
        )
        by: UsedItem = option(
            "The item that profiles the program; left out, the list is only added up.", default=UsedItem("")
        )
        within: float = option(
            "By how many percentage points a share may differ from our own.",
            judges=True,
            default=10.0,
            above=0,
        )

        def __post_init__(self) -> None:
            """Put the question on one line, and refuse what no list reaches."""
            tidy_questions(self)
            if self.at_least >= 100:
                raise ValueError("at_least: is a percentage below 100")

        @property
        def label(self) -> str:
            """The number or label of the question as text."""
            return str(self.question).strip()

    def complete(self, options: Options, others: Sequence[Options], *, points: float) -> Options:
        """Return the options of one item with the questions of all items about the same report.

        Raises:
            ValueError: a question has two texts.
        """
        del points
        return with_questions(options, others)

    def observe(self, options: Options, context: CheckContext) -> Observation:
        """Note the lists in the answer, and the machine that the report names."""
        answers = read_answers(context, options, (options.label,))
        if isinstance(answers, Observation):
            return answers
        facts, documents = answers
        answer = facts[options.label]
        return Observation(
            item=context.item,
            outcome=Outcome.OBSERVED,
            facts={
                **{key: answer[key] for key in ("file", "missing", "certain", "why")},
                "answer": answer["answer"][:MOST_SHOWN],
                "lists": [to_plain(one) for one in profile_lists(answer["answer"])],
                **machine_of(documents),
            },
            seed=context.seed,
        )

    def award(self, options: Options, observation: Observation, related: Mapping[str, Observation]) -> Award:
        """A quarter for each of four requirements; a list that fits is held against our profile."""
        if by_hand := award_given(observation):
            return by_hand
        facts = observation.facts
        if facts["missing"] and facts["certain"]:
            return Award(fraction=0.0, reason=f"{facts['file']} has no answer to question {options.label}")
        if not facts["certain"]:
            return _waits(str(facts["why"]))
        return _award(options, facts, related)

    def show(self, options: Options, observation: Observation) -> Iterator[Drawing]:
        """Draw the lists as they were read, with the sums of their shares; without any list, the answer."""
        facts = observation.facts
        if (answer := facts.get("answer")) and not any(one.rows for one in _lists(facts)):
            yield MarkedText(title=f"Answer in {facts['file']}", text=str(answer), written=True)
        for one in _candidates(observation.facts, options.lists):
            rows = [
                (
                    row.name,
                    f"{row.share:g}%",
                    "" if row.running is None else f"{row.running:g}%",
                    f"{total:.4g}%",
                )
                for row, total in zip(one.rows, _sums(one.rows), strict=True)
            ]
            yield ValueTable(
                title="Read in the report",
                head=(_SINGULAR[options.lists], "share", "running sum", "sum of the shares"),
                rows=tuple(rows),
            )


_SINGULAR = {"kernels": "kernel", "api": "API call"}
_PLURAL = {"kernels": "kernels", "api": "API calls"}


def _award(
    options: ProfileTableKind.Options, facts: Mapping[str, Any], related: Mapping[str, Observation]
) -> Award:
    """Judge the lists of an answer that was found with certainty."""
    candidates = _candidates(facts, options.lists)
    if unreadable := _unreadable(options, facts, candidates):
        return _waits(unreadable)
    judged = [(one, list(_requirements(one.rows, options))) for one in candidates]
    right = next((one for one, all_of in judged if all(r.met for r in all_of)), None)
    if right is not None:
        award = _held_against(right.rows, options, facts, related)
        several = (f"holds {len(judged)} lists, of which one is right",) if len(judged) > 1 else ()
        return replace(award, flags=(*award.flags, *several))
    unread = next((line for one in _lists(facts) for line in one.unread), "")
    if len(judged) > 1:
        return _waits(f"there are {len(judged)} lists, and none is right: {_missed(judged[-1][1])}")
    if unread:
        return _waits(f"“{' '.join(unread.split())}” is not read, and {_missed(judged[0][1])}")
    if candidates[0].unsure:
        return _waits(f"its second column may be no running sums: {_missed(judged[0][1])}")
    return award_requirements(judged[0][1], credit="per_case")


def _unreadable(
    options: ProfileTableKind.Options, facts: Mapping[str, Any], candidates: Sequence[ProfileList]
) -> str:
    """Return why lists cannot be judged; empty if they can."""
    impossible = next((line for one in _lists(facts) for line in one.impossible), "")
    if impossible:
        return f"“{' '.join(impossible.split())}” is no part of a whole"
    if not candidates:
        return f"a list of {_PLURAL[options.lists]} with their shares in percent is not found as text"
    if len(candidates) == 1 and _rises(candidates[0].rows, options.at_least):
        return "its percentages rise to the last line, as running sums do; shares are not found beside them"
    return ""


def _waits(why: str) -> Award:
    return Award(fraction=0.0, reason=f"{WAITS}: {why}", undecided=True)


def _lists(facts: Mapping[str, Any]) -> tuple[ProfileList, ...]:
    return tuple(from_plain(ProfileList, plain, where="lists") for plain in facts.get("lists", ()))


def _candidates(facts: Mapping[str, Any], listed: Listed) -> tuple[ProfileList, ...]:
    """Return the lists that may be the answer: a profiler's own output about other activities is not."""
    lists = [one for one in _lists(facts) if one.rows]
    fitting = tuple(one for one in lists if one.section in ("", listed))
    return fitting or tuple(lists)


def _sums(rows: Iterable[ListedShare]) -> list[float]:
    total, sums = 0.0, []
    for row in rows:
        total += row.share
        sums.append(total)
    return sums


def _rises(rows: Sequence[ListedShare], at_least: float) -> bool:
    """Tell whether a single column may hold running sums and no shares."""
    alone = len(rows) > 1 and all(row.running is None for row in rows)
    return alone and rows[-1].share >= at_least and all(a.share < b.share for a, b in pairwise(rows))


def _requirements(rows: Sequence[ListedShare], options: ProfileTableKind.Options) -> Iterator[Requirement]:
    yield _names(rows, options.lists)
    yield _order(rows)
    yield _running(rows)
    yield _reached(rows, options)


def _missed(requirements: Iterable[Requirement]) -> str:
    return next((one.missed for one in requirements if not one.met), "")


def _names(rows: Sequence[ListedShare], listed: Listed) -> Requirement:
    """Every line is of the kind that is asked for; what may be one is left to a person."""
    for row in rows:
        copy, call = is_copy(row.name), is_api_call(row.name)
        if listed == "kernels" and (copy or call):
            what = "a copy, which no kernel does" if copy else "a call of the API on the host, and no kernel"
            return Requirement(met=False, missed=f"“{row.name}” is {what}")
        if listed == "api" and not call:
            certain = copy or _KERNEL_LIKE.search(row.name) is not None
            return Requirement(
                met=False if certain else None, missed=f"“{row.name}” is no call of the CUDA API"
            )
    names = [call_name(row.name) for row in rows]
    if listed == "api" and (twice := next((name for name in names if names.count(name) > 1), "")):
        return Requirement(met=None, missed=f"“{twice}” stands in two lines")
    return Requirement(met=True, missed="")


def _order(rows: Sequence[ListedShare]) -> Requirement:
    for before, row in pairwise(rows):
        if row.share - row.half > before.share + before.half:
            missed = f"“{row.name}” with {row.share:g}% stands below “{before.name}” with {before.share:g}%"
            return Requirement(met=False, missed=missed)
    return Requirement(met=True, missed="")


def _running(rows: Sequence[ListedShare]) -> Requirement:
    """The running sums are those of the shares, but for the digits that are not printed."""
    if (place := wrong_sum(rows)) is None:
        return Requirement(met=True, missed="")
    row, total = rows[place], _sums(rows)[place]
    sums = f"is {row.running:g}%, and the shares add up to {total:.4g}%"
    return Requirement(met=False, missed=f"the running sum beside “{row.name}” {sums}")


def _reached(rows: Sequence[ListedShare], options: ProfileTableKind.Options) -> Requirement:
    """The percentage is reached with the last line, and not before."""
    sums, what = _sums(rows), _PLURAL[options.lists]
    rounding = sum(row.half for row in rows) + 1e-6
    before = sums[-2] if len(sums) > 1 else 0.0
    if sums[-1] - rounding > 100:
        return Requirement(met=False, missed=f"the shares add up to {sums[-1]:.4g}%, more than the whole")
    if sums[-1] + 2 * rounding < options.at_least:  # digits may be cut off, and not rounded
        missed = f"the listed {what} take {sums[-1]:.4g}% together, and not {options.at_least:g}%"
        return Requirement(met=False, missed=missed)
    if before - rounding > options.at_least:
        enough = next(n for n, total in enumerate(sums) if total - rounding > options.at_least)
        more = len(rows) - enough - 1
        missed = (
            f"{options.at_least:g}% is reached with “{rows[enough].name}” ({sums[enough]:.4g}%), and {more} "
            f"more {'line follows' if more == 1 else 'lines follow'}"
        )
        return Requirement(met=False, missed=missed)
    return Requirement(met=True, missed="")


def _held_against(
    rows: Sequence[ListedShare],
    options: ProfileTableKind.Options,
    facts: Mapping[str, Any],
    related: Mapping[str, Observation],
) -> Award:
    """Award a list that is right by itself: held against our own profile, where the item names one."""
    total = f"{len(rows)} {_PLURAL[options.lists]} take {_sums(rows)[-1]:.4g}% of the time"
    whole = Award(fraction=1.0, reason=total)
    if not options.by:
        return whole
    ours = related.get(options.by)
    if ours is None or ours.facts.get("problem"):
        reason = f"{total}; they are held against our own profile, which needs a GPU"
        return replace(whole, fraction=0.0, reason=reason, undecided=True, again=True)
    in_ours, differences = compared(rows, options.lists, options.within, ours.facts)
    if not differences or not in_ours:
        same = f", as in our own profile on {ours.facts['gpu']}" if in_ours else ""
        return replace(whole, reason=f"{total}{same}")
    told = "; ".join(differences[:MOST_SENTENCES])
    if other := other_machine(facts, ours.facts):
        if not in_common(rows, in_ours):
            none = f"none of its {_PLURAL[options.lists]} runs in our own profile"
            return _waits(f"measured on {other}, and {none} on {ours.facts['gpu']}")
        return replace(
            whole, flags=(f"measured on {other}, and not held against {ours.facts['gpu']}: {told}",)
        )
    return _waits(f"by our own profile on {ours.facts['gpu']}, torch {ours.facts['torch']}: {told}")
