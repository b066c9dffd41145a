"""Whether a report can be read, says what it must, and claims ratios that its times and ours bear out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from grader.checks.by_hand import award_given
from grader.checks.requirements import Requirement, award_requirements
from grader.checks.tools import BLANK, REPORT, read_report, refusal
from grader.contracts.check import CheckKind
from grader.model.observation import Observation, Outcome, Quantity
from grader.model.options import UsedItem, option
from grader.model.score import Award

if TYPE_CHECKING:
    from grader.contracts.context import CheckContext

HIDDEN_WORDS = 5
"""A person is told of more words than these that no reader sees."""
MAY_HOLD = {"pictures": "depicted", "words": "drawn"}
"""The fact by which more than a program finds may be there for a reader."""
VAGUE = 2.0
"""Times whose rounding alone lets their ratio vary by more than this factor prove nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AtLeast:
    """A number that must be reached."""

    at_least: int = option("The number that must be reached.", above=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedRatio:
    """A claimed ratio, and the two times that it must follow from."""

    of: tuple[str, ...] = option("Two names whose times are divided, the slower first; a|b is either name.")
    claim: str = option(
        "Words near which the ratio stands; a|b is either.", default="speedup|speed-up|faster|times as fast"
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
        "Whether a claim beyond that is a requirement that is not met, or only shown to a person.",
        default=False,
    )


class ReportKind(CheckKind):
    """Read a report (PDF, Word, notebook, Markdown or plain text) and look for what it must hold.

    Terms and names are found however they are joined (`max_kernel`, "max kernel"). A time is a number near
    its name, in a sentence, a list or a table; a ratio agrees if the division of some two of its times gives
    it, within the rounding of the printed digits or `tolerance`.

    Only what a reader sees counts. A PDF is rendered with and without its text and its pictures, and what
    leaves no ink on its pages (white on white, hidden, covered, too small) is not in it. What is not found,
    whatever language or picture it may stand in, waits for a person; points are lost at once where there is
    no report, or an empty one, or too short a one, where its own times contradict its ratios, and for what it
    holds only as text that surely no reader sees.

    With `measured`, a claim is also held against the ratio that another item measured, where it was measured
    on right results and not in a simulator. Reports are written on other machines: a claim that is far off
    is shown to a person, and costs nothing unless the rubric says so.
    """

    name: ClassVar[str] = "report"
    by_hand: ClassVar[bool] = True
    tool: ClassVar[str] = REPORT
    related_optional: ClassVar[bool] = True

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """The YAML keys."""

        file: str = option(
            "The report; `*` stands for anything, as in hw1.*, and the first that fits counts."
        )
        terms: tuple[str, ...] = option("Terms that must occur; a|b is either.", default=())
        ratios: tuple[ClaimedRatio, ...] = option(
            "Ratios that must be claimed and follow from the times.", default=()
        )
        measured: tuple[MeasuredTime, ...] = option(
            "Ratios that are held against measured ones as well.", judges=True, default=()
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
            for measured in self.measured:
                if measured.of not in claimed:
                    raise ValueError(
                        f"measured [{', '.join(measured.of)}] is none of the ratios; name one of them"
                    )

    def observe(self, options: Options, context: CheckContext) -> Observation:
        """Note what the report holds; it is read in a sandbox, because a PDF can be evil."""
        file = next((file for file in context.files if fnmatchcase(file, options.file)), None)
        if file is None:
            return context.missing(options.file)
        ratios = [[ratio.claim, *ratio.of] for ratio in options.ratios]
        contents = read_report(context, file, options.terms, ratios)
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
        if observation.facts["blank"]:
            return Award(fraction=0.0, reason=f"{observation.facts['file']} {BLANK}")
        hidden = _hidden(observation.facts)
        if not _required(options):
            return Award(fraction=1.0, reason=f"{observation.facts['file']} can be opened", flags=hidden)
        ratios = _Ratios(options, observation)
        beyond = [(rule, ratios.beyond(rule, related.get(rule.by))) for rule in options.measured]
        requirements = [
            *_counts(options, observation),
            *_terms(options, observation.facts),
            *ratios.judged(),
            *(
                Requirement(met=not difference, missed=f"it {difference}")
                for rule, difference in beyond
                if rule.decides
            ),
        ]
        flags = tuple(difference for rule, difference in beyond if difference and not rule.decides)
        flags = (*ratios.unexplained(), *flags, *hidden)
        return award_requirements(requirements, credit=options.credit, flags=flags)


def _required(options: ReportKind.Options) -> bool:
    requirements = (options.terms, options.ratios, options.pages, options.pictures, options.min_words)
    return any(requirements)


def _counts(options: ReportKind.Options, observation: Observation) -> Iterator[Requirement]:
    unread = observation.facts["unread"]
    words = AtLeast(at_least=options.min_words) if options.min_words else None
    for name, bounds in (("pages", options.pages), ("pictures", options.pictures), ("words", words)):
        quantity = observation.quantities.get(name)
        if bounds is None:
            continue
        if quantity is None or (name == "words" and unread):
            yield _unread(observation.facts)
        else:
            count = int(quantity.value or 0)
            certain = name == "pages" or not observation.facts.get(MAY_HOLD[name], True)
            counted = f"{count} {name}" if certain else f"{count} {name} that a program finds"
            missed = f"it has {counted}, and should have {bounds.at_least} at least"
            lost = False if certain else None
            yield Requirement(met=True if count >= bounds.at_least else lost, missed=missed)


def _terms(options: ReportKind.Options, facts: Mapping[str, Any]) -> Iterator[Requirement]:
    for term in options.terms:
        if term in _concealed_names(facts, "terms"):
            yield _concealed(_either(term))
        elif facts["unread"]:
            yield _unread(facts)
        else:
            missed = f"{_either(term)} is not found in its text"
            yield Requirement(met=facts["terms"][term] > 0 or None, missed=missed)


def _hidden(facts: Mapping[str, Any]) -> tuple[str, ...]:
    """A sentence on words that the file holds and no reader sees: hidden on purpose, or read from a scan."""
    if facts["hidden"] < HIDDEN_WORDS:
        return ()
    return (f"holds {facts['hidden']} words that no reader sees; they do not count",)


def _concealed_names(facts: Mapping[str, Any], kind: str) -> Sequence[str]:
    """The terms, times or claims that only concealed text holds; none in evidence of earlier versions."""
    names: Sequence[str] = facts.get("concealed", {}).get(kind, ())
    return names


def _concealed(what: str) -> Requirement:
    return Requirement(met=False, missed=f"{what}: only in text that no reader sees")


def _unread(facts: Mapping[str, Any]) -> Requirement:
    return Requirement(met=None, missed=f"{facts['file']}: {facts['unread']}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Range:
    """The bounds of a rounded number."""

    low: float
    high: float
    written: str

    def meets(self, other: _Range, tolerance: float) -> bool:
        """Whether the two can be one number."""
        return self.low <= other.high * (1 + tolerance) and other.low * (1 - tolerance) <= self.high


class _Ratios:
    """The claims of a report, held against the ratios of its times."""

    def __init__(self, options: ReportKind.Options, observation: Observation) -> None:
        self._ratios = options.ratios
        self._tolerance = options.tolerance
        self._facts = observation.facts

    def judged(self) -> Iterator[Requirement]:
        """A requirement for each ratio."""
        for ratio in self._ratios:
            if concealed := self._concealed(ratio):
                yield _concealed(", ".join(concealed))
            else:
                yield _unread(self._facts) if self._facts["unread"] else self._judge(ratio)

    def _concealed(self, ratio: ClaimedRatio) -> list[str]:
        """List the times and claims of a ratio that only invisible text holds."""
        names = _concealed_names(self._facts, "times")
        times = [f"time of {_either(name)}" for name in ratio.of if name in names]
        return [*times, *(["speedup"] if ratio.claim in _concealed_names(self._facts, "claims") else [])]

    def unexplained(self) -> tuple[str, ...]:
        """A sentence on each multiple that follows from no two times of any ratio."""
        if self._facts["unread"] or not self._ratios:
            return ()
        quotients = [q for ratio in self._ratios for q in self._quotients(ratio)]
        claims = {c.written: c for ratio in self._ratios for c in self._claims(ratio) if c.multiple}
        return tuple(
            f"claims {written}, which follows from no two of its times"
            for written, claim in claims.items()
            if quotients and not any(claim.meets(quotient, self._tolerance) for quotient in quotients)
        )

    def beyond(self, rule: MeasuredTime, observation: Observation | None) -> str:
        """How far a claim is from what was measured; empty if it is near, or nothing was measured or read."""
        measured = _measured(observation)
        if measured is None or self._facts["unread"]:
            return ""
        ratio = next(ratio for ratio in self._ratios if ratio.of == rule.of)
        claims: list[_Range] = [*self._explained(ratio)] or [*_multiples(self._claims(ratio))]
        near = _Range(low=measured / rule.within, high=measured * rule.within, written="")
        if not claims or any(claim.meets(near, 0.0) for claim in claims):
            return ""
        claimed = " or ".join(dict.fromkeys(claim.written for claim in claims[:3]))
        slow, fast = map(_either, ratio.of)
        return (
            f"claims {claimed} for {slow} over {fast}, more than a factor of {rule.within:g} away from "
            f"the {measured:.3g} that {rule.by} measured"
        )

    def _explained(self, ratio: ClaimedRatio) -> Iterator[_Range]:
        """Yield the claims that follow from this ratio's own times, as the slower over the faster."""
        for quotient in self._quotients(ratio):
            for claim in self._claims(ratio):
                if claim.meets(quotient, self._tolerance):
                    if quotient.inverted:
                        yield replace(quotient.inverse, written=f"1 / {claim.written}")
                    else:
                        yield replace(quotient, written=claim.written)

    def _judge(self, ratio: ClaimedRatio) -> Requirement:
        slow, fast = map(_either, ratio.of)
        missing = [_either(name) for name in ratio.of if not self._facts["times"][name]]
        claims = list(self._claims(ratio))
        if missing:
            missed = f"no time of {' and none of '.join(missing)} is found in its text"
            return Requirement(met=None, missed=missed)
        if not claims:
            return Requirement(met=None, missed=f"no ratio of {slow} and {fast} is found in its text")
        quotients = list(self._quotients(ratio))
        if not quotients:
            missed = f"the times of {slow} and {fast} are rounded so much that they give no ratio"
            return Requirement(met=None, missed=missed)
        met = any(claim.meets(quotient, self._tolerance) for claim in claims for quotient in quotients)
        claimed = " or ".join(claim.written for claim in _multiples(claims)[:3])
        missed = f"its times of {slow} and {fast} give {quotients[0].written}, and it claims {claimed}"
        contradicts = False if self._facts["latin"] else None  # or its sentences were read the wrong way
        return Requirement(met=True if met else contradicts, missed=missed)

    def _claims(self, ratio: ClaimedRatio) -> Iterator[_Claim]:
        for value, half, multiple, written in self._facts["claims"][ratio.claim]:
            yield _Claim(low=value - half, high=value + half, written=written, multiple=multiple)

    def _quotients(self, ratio: ClaimedRatio) -> Iterator[_Quotient]:
        """The ratio of every two times, and its inverse for those who divide the other way round."""
        slow, fast = (self._facts["times"][name] for name in ratio.of)
        ranges = [
            ((a - half_a) / (b + half_b), (a + half_a) / (b - half_b), f"{text_a} / {text_b} = {a / b:.3g}")
            for a, half_a, text_a in slow
            for b, half_b, text_b in fast
            if a and b
        ]
        for low, high, written in ranges:
            if high <= VAGUE * low:
                quotient = _Quotient(low=low, high=high, written=written)
                yield from (quotient, quotient.inverse)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Quotient(_Range):
    inverted: bool = False
    """Whether the faster time is divided by the slower one."""

    @property
    def inverse(self) -> _Quotient:
        """The other way round."""
        return replace(self, low=1 / self.high, high=1 / self.low, inverted=not self.inverted)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claim(_Range):
    multiple: bool


def _multiples(claims: Iterable[_Claim]) -> list[_Claim]:
    """Return the claims written as multiples (56x), or all if none is."""
    every = list(claims)
    return [claim for claim in every if claim.multiple] or every


def _either(words: str) -> str:
    return words.replace("|", " or ")


def _measured(observation: Observation | None) -> float | None:
    """The ratio that another item measured; None if it did not, in a simulator, or on wrong results."""
    if observation is None or observation.outcome is not Outcome.OBSERVED or observation.simulated:
        return None
    if any(case.agrees and not any(case.agrees.values()) for case in observation.cases):
        return None
    ratio = observation.quantities.get("ratio")
    if ratio is None or ratio.taken_by != "worker" or not isinstance(ratio.value, int | float):
        return None
    return float(ratio.value) if ratio.value > 0 else None
