"""Whether a report can be read, says what it must, and claims ratios that its times and ours bear out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from grader.checks.by_hand import award_given
from grader.checks.documents import hidden_text
from grader.checks.report_figures import BESIDE, ReportedFigure, figures_beside, judged_figures
from grader.checks.report_ratios import ReportRatios, claim_key, either
from grader.checks.requirements import Requirement, award_requirements
from grader.checks.tools import BLANK, REPORT, read_report, refusal
from grader.contracts.check import CheckKind
from grader.model.drawing import Drawing, ValueTable
from grader.model.magnitude import counted
from grader.model.observation import Observation, Outcome, Quantity
from grader.model.options import SubmittedFile, UsedItem, option, refuse
from grader.model.score import Award

if TYPE_CHECKING:
    from grader.contracts.context import CheckContext

HIDDEN_WORDS = 5
"""A person is told of so many words, or more, of a PDF that no reader sees."""
MAY_HOLD = {"pictures": "depicted", "words": "drawn"}
"""The fact by which more than a program finds may be there for a reader."""


CLAIM = "|".join(
    (
        *(
            "speedup",
            "speed-up",
            "speedups",
            "speed-ups",
            "faster",
            "quicker",
            "times as fast",
            "acceleration",
        ),
        *("schneller", "Beschleunigung", "Faktor"),
        *("plus rapide", "accélération", "más rápido", "aceleración"),
        *("מהיר", "מהירה", "האצה", "שיפור"),
        *("ускорение", "быстрее", "加速比"),
    )
)
"""Words for a speedup in English, German, French, Spanish, Hebrew, Russian and Chinese."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AtLeast:
    """A number that must be reached."""

    at_least: int = option("The number that must be reached.", above=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedRatio:
    """A claimed ratio, and the two times that it must follow from."""

    of: tuple[str, ...] = option(
        "Two names whose times are divided, the slower first; a|b is either name, the full one first."
    )
    claim: str = option(
        "Words near which the ratio stands; a|b is either. By default those of several languages.",
        default=CLAIM,
    )
    part: str = option(
        "Words that begin the part of the report it is about, as the full names of `of` do; a|b is either.",
        default="",
    )
    elsewhere: str = option(
        "Words that begin another part: times and ratios behind them are of something else. a|b is either.",
        default="",
    )
    at_most: float | None = option(
        "A ratio that no hardware reaches: a claim of more is lost also where the times give it.",
        judges=True,
        above=1,
        default=None,
    )

    def __post_init__(self) -> None:
        """Two times make a ratio."""
        if len(self.of) != 2:
            raise ValueError(f"needs two names in of, got {len(self.of)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredTime:
    """A claimed ratio, and the item that measures it."""

    of: tuple[str, ...] = option("The names of one of the `ratios`.")
    by: UsedItem = option("The item that measures this ratio.")
    within: float = option("The factor by which the two may differ.", default=3.0, above=1)
    decides: bool = option(
        "Whether a claim beyond that is a requirement that is not met, or waits for a person.",
        default=False,
    )


class ReportKind(CheckKind):
    """Read a report (PDF, Word, notebook, Markdown or plain text) and look for what it must hold.

    Terms and names are found however they are joined (`max_kernel`, "max kernel"). A time is a number near
    its name, in a sentence, a list or a table; a ratio agrees if the division of some two of its times gives
    it, within the rounding of the printed digits or `tolerance`. It is lost only where both times and their
    ratio are read without doubt and contradict each other, or where they agree on one that no hardware
    reaches (`at_most`).

    Only what a reader sees counts. A PDF is rendered with and without its text and its pictures, and what
    leaves no ink on its pages (white on white, hidden, covered, too small) is not in it; hidden text of other
    formats is flagged with its first words. What is not found, whatever language or picture it may stand in,
    waits for a person; points are lost at once where there is no report, or an empty one, or too short a one,
    and for what it holds only as text that surely no reader sees: of a PDF what leaves no ink, of Markdown
    its comments, unless pictures or letters of another script may say the same.

    With `measured`, a claim is also held against the ratio that another item measured, where it was measured
    on right results and not in a simulator. Reports are written on other machines: a claim that is far off
    waits for a person, who reads both figures, unless the rubric says that it is lost.

    With `figures`, what the report says of launches, accuracies and shares is held against the evidence of
    other items. It may say nothing of them. What is not as measured waits for a person with both figures;
    more threads in a block than a GPU allows and an accuracy above 100 % are lost. Single times are of other
    machines: staff read them in a table beside ours, and nothing waits for them.
    """

    name: ClassVar[str] = "report"
    asks_reference: ClassVar[bool] = True
    by_hand: ClassVar[bool] = True
    tool: ClassVar[str] = REPORT
    related_optional: ClassVar[bool] = True

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """The YAML keys."""

        file: SubmittedFile = option(
            "The report; `*` stands for anything, as in hw1.*, and the first that fits counts."
        )
        terms: tuple[str, ...] = option("Terms that must occur; a|b is either.", default=())
        ratios: tuple[ClaimedRatio, ...] = option(
            "Ratios that must be claimed and follow from the times.", default=()
        )
        measured: tuple[MeasuredTime, ...] = option(
            "Ratios that are held against measured ones as well.", judges=True, default=()
        )
        figures: tuple[ReportedFigure, ...] = option(
            "Figures that it may hold, and the items whose evidence they are held against.", default=()
        )
        tolerance: float = option(
            "How far a claimed ratio may be off, as a share of it; rounding is allowed for besides.",
            judges=True,
            above=0,
            default=0.02,
        )
        pages: AtLeast | None = option("How many pages it has.", judges=True, default=None)
        pictures: AtLeast | None = option(
            "How many pictures it shows; bullets and lines are none.", judges=True, default=None
        )
        min_words: int = option("How many words it has at least.", judges=True, default=0)
        credit: Literal["all", "per_case"] = option(
            "Whether every requirement must be met, or each earns its share.", judges=True, default="all"
        )

        def __post_init__(self) -> None:
            """Refuse measured ratios that the report need not claim."""
            claimed = [ratio.of for ratio in self.ratios]
            problems = [
                f"measured [{', '.join(measured.of)}] is none of the ratios; name one of them"
                for measured in self.measured
                if measured.of not in claimed
            ]
            refuse(problems, self)

    def objections(self, options: Options, assignment: str) -> Iterator[tuple[str, str]]:
        """Yield words that any report holds, and ratios that any times bear out."""
        del assignment
        words = [("terms", term) for term in options.terms]
        words += [("ratios", word) for ratio in options.ratios for word in (*ratio.of, ratio.claim)]
        for key, word in words:
            if not all(part.strip() for part in word.split("|")):
                yield key, f"{word!r} has an alternative without letters, which any report holds; take it out"
        if options.ratios and options.tolerance >= 1:
            yield "tolerance", f"any ratio is within {options.tolerance:g} of itself; give less than 1"
        if options.min_words < 0:
            yield "min_words", f"must be 0 or more, got {options.min_words}"

    def observe(self, options: Options, context: CheckContext) -> Observation:
        """Note what the report holds; it is read in a sandbox, because a PDF can be evil."""
        file = next((file for file in context.files if fnmatchcase(file, options.file)), None)
        if file is None:
            return context.missing(options.file)
        ratios = [[claim_key(r), r.claim, *r.of, r.part, r.elsewhere] for r in options.ratios]
        figures = [[one.key, one.what, one.of, one.part, one.elsewhere] for one in options.figures]
        contents = read_report(context, file, options.terms, ratios, figures)
        if isinstance(contents, Observation):
            return contents
        if "problem" in contents:
            return refusal(context, f"{file} {contents['problem']}")
        counted = {name: contents.pop(name) for name in ("pages", "pictures", "words") if name in contents}
        return Observation(
            item=context.item,
            outcome=Outcome.OBSERVED,
            quantities={name: Quantity(value=count, unit=name) for name, count in counted.items()},
            facts={"file": file, **contents},
            seed=context.seed,
        )

    def award(self, options: Options, observation: Observation, related: Mapping[str, Observation]) -> Award:
        """All points if it holds everything, with `credit: per_case` a share; may be undecided."""
        if by_hand := award_given(observation):
            return by_hand
        hidden = tuple(_hidden(observation.facts))
        if observation.facts["blank"]:
            return Award(fraction=0.0, reason=f"{observation.facts['file']} {BLANK}", flags=hidden)
        if not _required(options):
            return Award(fraction=1.0, reason=f"{observation.facts['file']} can be opened", flags=hidden)
        facts = observation.facts
        ratios = ReportRatios(options.ratios, options.measured, options.tolerance, facts, related)
        of_contents = [
            *_counts(options, observation),
            *_terms(options, facts),
            *ratios.judged(),
            *ratios.beyond(),
            *judged_figures(options.figures, facts, related),
        ]
        requirements = [*_pages(options, observation), *_with_incomplete(of_contents, facts)]
        flags = (*ratios.unexplained(), *hidden)
        return award_requirements(requirements, credit=options.credit, flags=flags)

    def show_beside(
        self, options: Options, observation: Observation, related: Mapping[str, Observation]
    ) -> Iterable[Drawing]:
        """Draw the report's times and figures beside ours, for staff."""
        facts = observation.facts
        if "times" not in facts:
            return
        ratios = ReportRatios(options.ratios, options.measured, options.tolerance, facts, related)
        if rows := tuple(ratios.beside()):
            yield ValueTable(title="Times of the report", head=BESIDE, rows=rows, for_staff=True)
        yield from figures_beside(options.figures, facts, related)


def _required(options: ReportKind.Options) -> bool:
    requirements = (
        options.terms,
        options.ratios,
        options.pages,
        options.pictures,
        options.min_words,
        options.figures,
    )
    return any(requirements)


def _with_incomplete(requirements: Iterable[Requirement], facts: Mapping[str, Any]) -> Iterator[Requirement]:
    """Leave open what the part that was not read may hold."""
    for requirement in requirements:
        incomplete = "" if requirement.met else facts.get("incomplete", "")  # earlier evidence has none
        yield Requirement(met=None, missed=f"{facts['file']}: {incomplete}") if incomplete else requirement


def _pages(options: ReportKind.Options, observation: Observation) -> Iterator[Requirement]:
    """Count the pages, also those that could not be read."""
    return _counted({"pages": options.pages}, observation)


def _counts(options: ReportKind.Options, observation: Observation) -> Iterator[Requirement]:
    words = AtLeast(at_least=options.min_words) if options.min_words else None
    return _counted({"pictures": options.pictures, "words": words}, observation)


def _counted(bounds_by_name: Mapping[str, AtLeast | None], observation: Observation) -> Iterator[Requirement]:
    unread = observation.facts["unread"]
    for name, bounds in bounds_by_name.items():
        quantity = observation.quantities.get(name)
        if bounds is None:
            continue
        if quantity is None or (name == "words" and unread):
            yield _unread(observation.facts)
        else:
            count = int(quantity.value or 0)
            certain = name == "pages" or not observation.facts.get(MAY_HOLD[name], True)
            has = counted(count, name.removesuffix("s")) + ("" if certain else " that a program finds")
            missed = f"it has {has}, and should have {bounds.at_least} at least"
            lost = False if certain else None
            yield Requirement(met=True if count >= bounds.at_least else lost, missed=missed)


def _terms(options: ReportKind.Options, facts: Mapping[str, Any]) -> Iterator[Requirement]:
    for term in options.terms:
        if term in _concealed_names(facts, "terms"):
            yield _concealed(either(term))
        elif facts["unread"]:
            yield _unread(facts)
        else:
            missed = f"{either(term)} is not found in its text"
            yield Requirement(met=facts["terms"][term] > 0 or None, missed=missed)


def _hidden(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield remarks on words that no reader sees: hidden on purpose, or read from a scan."""
    if texts := facts.get("hidden_texts"):  # none of a PDF, and in evidence of earlier versions
        yield from (hidden_text(facts["file"], *text) for text in texts)
    elif facts["hidden"] >= HIDDEN_WORDS:
        yield f"holds {facts['hidden']} words that no reader sees; they do not count"


def _concealed_names(facts: Mapping[str, Any], kind: str) -> Sequence[str]:
    """The terms, times or claims that only concealed text holds; none in evidence of earlier versions."""
    names: Sequence[str] = facts.get("concealed", {}).get(kind, ())
    return names


def _concealed(what: str) -> Requirement:
    return Requirement(met=False, missed=f"{what}: only in text that no reader sees")


def _unread(facts: Mapping[str, Any]) -> Requirement:
    return Requirement(met=None, missed=f"{facts['file']}: {facts['unread']}")
