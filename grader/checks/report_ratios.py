"""Ratios that a report claims, held against its own times and against what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import TYPE_CHECKING, Any

from grader.checks.requirements import Requirement
from grader.model.observation import Observation, Outcome

if TYPE_CHECKING:
    from grader.checks.report import ClaimedRatio, MeasuredTime

VAGUE = 2.0
"""Times whose rounding alone lets their ratio vary by more than this factor prove nothing."""
CONTRADICTS = 1.25
"""A ratio that is nearer to its times was rounded, or taken from other runs: that is for a person to say."""
ROUGHLY = 0.1
"""How far off a ratio may be that is "about" something, as a share of it."""
MOST_SHOWN = 4
"""Times or claims of one name in one row of a table."""
THOUSANDS = (1e-6, 1e-3, 1.0, 1e3, 1e6)
"""Factors by which a ratio is off where a unit of time was read wrongly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """The bounds of a rounded number."""

    low: float
    high: float
    written: str

    def meets(self, other: Range, tolerance: float) -> bool:
        """Tell whether the two can be one number."""
        return self.low <= other.high * (1 + tolerance) and other.low * (1 - tolerance) <= self.high


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotient(Range):
    """The ratio of two times."""

    certain: bool = False
    """Whether both are surely the times of what their names mean."""
    inverted: bool = False
    """Whether the faster time is divided by the slower one."""

    @property
    def inverse(self) -> Quotient:
        """The other way round."""
        return replace(self, low=1 / self.high, high=1 / self.low, inverted=not self.inverted)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim(Range):
    """A ratio that a report states."""

    multiple: bool
    names: frozenset[str]
    """Whose ratio it is; empty where that is not said beside it."""
    certain: bool
    """Whether it can be nothing but the ratio of its two names."""
    about: str
    """"roughly" or "over" where the value is not meant exactly."""

    def fits(self, quotient: Range, tolerance: float) -> bool:
        """Tell whether it can be this ratio of two times."""
        if self.about == "over":
            return self.meets(quotient, tolerance) or self.low < quotient.low < self.high * CONTRADICTS
        return self.meets(quotient, max(tolerance, ROUGHLY) if self.about else tolerance)


class ReportRatios:
    """The claims of a report, held against the ratios of its times."""

    def __init__(
        self,
        ratios: Sequence[ClaimedRatio],
        measured: Sequence[MeasuredTime],
        tolerance: float,
        facts: Mapping[str, Any],
        related: Mapping[str, Observation],
    ) -> None:
        self._ratios = ratios
        self._rules = {rule.of: rule for rule in measured}
        self._tolerance = tolerance
        self._facts = facts
        self._related = related

    def judged(self) -> Iterator[Requirement]:
        """Yield a requirement for each ratio."""
        for ratio in self._ratios:
            requirement = self._judge(ratio)
            rule = self._rules.get(ratio.of)
            measured = self._measured(ratio)
            if rule and measured and requirement.met is not False:
                beyond = self._beyond(ratio, rule, measured)
                if beyond and requirement.met and not rule.decides:
                    requirement = Requirement(met=None, missed=f"it {beyond}")
                elif requirement.met is None:
                    by = f"{requirement.missed}; {rule.by} measured {measured:.3g}"
                    requirement = replace(requirement, missed=by)
            yield requirement

    def beyond(self) -> Iterator[Requirement]:
        """Yield a requirement for each rule by which our own measurement decides."""
        for rule in self._rules.values():
            if rule.decides:
                ratio = next(ratio for ratio in self._ratios if ratio.of == rule.of)
                difference = self._beyond(ratio, rule, self._measured(ratio))
                yield Requirement(met=not difference, missed=f"it {difference}")

    def beside(self) -> Iterator[tuple[str, str, str]]:
        """Yield for each name and ratio what the report says, and what was measured here; rows of a table."""
        rows: dict[str, tuple[str, str]] = {}
        for ratio in self._ratios:
            rule = self._rules.get(ratio.of)
            observation = self._related.get(rule.by) if rule else None
            for name, side in zip(ratio.of, ("over_s", "of_s"), strict=True):
                written = "; ".join(
                    str(entry[2]) for entry in self._facts["times"].get(name, ())[:MOST_SHOWN]
                )
                ours = measured_quantity(observation, side)
                here = rows.get(short(name), ("", ""))[1] or ("" if ours is None else f"{ours:.3g} s")
                rows[short(name)] = (written, here)
            written = "; ".join(claim.written for claim in list(self._claims(ratio))[:MOST_SHOWN])
            times = [quotient.written for quotient in self._quotients(ratio.of)][:1] if written else []
            stated = f"{written} (by its times {times[0]})" if times else written
            ours = self._measured(ratio)
            rows[" / ".join(map(short, ratio.of))] = (stated, "" if ours is None else f"{ours:.3g}")
        yield from ((name, stated, here) for name, (stated, here) in rows.items() if stated)

    def unexplained(self) -> tuple[str, ...]:
        """Return a sentence on each multiple that follows from no two times of the report."""
        if self._facts["unread"] or self._facts.get("incomplete") or not self._ratios:
            return ()
        quotients = [quotient for of in self._pairs() for quotient in self._quotients(of)]
        claims = {c.written: c for ratio in self._ratios for c in self._claims(ratio) if c.multiple}
        return tuple(
            f"claims {written}, which follows from no two of its times"
            for written, claim in claims.items()
            if quotients and not any(claim.fits(quotient, self._tolerance) for quotient in quotients)
        )

    def _judge(self, ratio: ClaimedRatio) -> Requirement:
        if concealed := self._concealed(ratio):
            missed = f"{', '.join(concealed)}: only in text that no reader sees"
            return Requirement(met=False, missed=missed)
        if self._facts["unread"]:
            return Requirement(met=None, missed=f"{self._facts['file']}: {self._facts['unread']}")
        times = self._facts["times"]
        if not all(times[name] for name in ratio.of):  # all in one sentence, which is said once
            names = dict.fromkeys(name for ratio in self._ratios for name in ratio.of)
            missing = [short(name) for name in names if not times[name]]
            missed = f"no time of {' and none of '.join(missing)} is found in its text"
            return Requirement(met=None, missed=missed)
        slow, fast = map(short, ratio.of)
        quotients = list(self._quotients(ratio.of))
        if not quotients:
            missed = f"the times of {slow} and {fast} are rounded so much that they give no ratio"
            return Requirement(met=None, missed=missed)
        return self._compare(ratio, quotients)

    def _compare(self, ratio: ClaimedRatio, quotients: Sequence[Quotient]) -> Requirement:
        """Hold the claims against the ratios of the times, of which there are some."""
        slow, fast = map(short, ratio.of)
        claims = list(self._claims(ratio))
        if not claims:
            times = f"its times give {quotients[0].written}"
            missed = f"no ratio of {slow} and {fast} is found in its text; {times}"
            return Requirement(met=None, missed=missed)
        fitting = [(c, q) for c in claims for q in quotients if c.fits(q, self._tolerance)]
        if fitting and ratio.at_most and all(_size(claim, q) > ratio.at_most for claim, q in fitting):
            claimed = f"it claims {fitting[0][0].written} for {slow} over {fast}"
            return Requirement(met=False, missed=f"{claimed}; no hardware gives {ratio.at_most:g}")
        contradicting = [claim for claim in claims if self._contradicts(claim, ratio, quotients)]
        claimed = " or ".join(claim.written for claim in (contradicting or _multiples(claims))[:3])
        missed = f"its times of {slow} and {fast} give {quotients[0].written}, and it claims {claimed}"
        return Requirement(met=True if fitting else False if contradicting else None, missed=missed)

    def _contradicts(self, claim: Claim, ratio: ClaimedRatio, quotients: Sequence[Quotient]) -> bool:
        """Tell whether a claim is surely of this ratio, and surely another number than its times give."""
        if not (claim.certain and claim.names == set(ratio.of) and not claim.about):
            return False
        if not self._facts["latin"]:  # its sentences may have been read the wrong way round
            return False
        if not any(quotient.certain for quotient in quotients):
            return False
        others = [quotient for of in self._pairs() for quotient in self._quotients(of)]
        near = [
            Range(low=q.low * factor / CONTRADICTS, high=q.high * factor * CONTRADICTS, written="")
            for q in quotients
            for factor in THOUSANDS
        ]
        return not any(claim.fits(q, self._tolerance) for q in others) and not any(
            claim.meets(bounds, 0.0) for bounds in near
        )

    def _concealed(self, ratio: ClaimedRatio) -> list[str]:
        """List the times and claims of a ratio that only invisible text holds; none in older evidence."""
        concealed: Mapping[str, Sequence[str]] = self._facts.get("concealed", {})
        names = concealed.get("times", ())
        times = [f"time of {short(name)}" for name in ratio.of if name in names]
        return [*times, *(["speedup"] if claim_key(ratio) in concealed.get("claims", ()) else [])]

    def _measured(self, ratio: ClaimedRatio) -> float | None:
        rule = self._rules.get(ratio.of)
        return measured_ratio(self._related.get(rule.by)) if rule else None

    def _beyond(self, ratio: ClaimedRatio, rule: MeasuredTime, measured: float | None) -> str:
        """Say how far a claim is from what was measured; empty if it is near, or nothing can be compared."""
        if measured is None or self._facts["unread"]:
            return ""
        claims: list[Range] = [*self._explained(ratio)] or [*_multiples(self._claims(ratio))]
        near = Range(low=measured / rule.within, high=measured * rule.within, written="")
        if not claims or any(claim.meets(near, 0.0) for claim in claims):
            return ""
        claimed = " or ".join(dict.fromkeys(claim.written for claim in claims[:3]))
        slow, fast = map(short, ratio.of)
        return (
            f"claims {claimed} for {slow} over {fast}, more than a factor of {rule.within:g} away from "
            f"the {measured:.3g} that {rule.by} measured"
        )

    def _explained(self, ratio: ClaimedRatio) -> Iterator[Range]:
        """Yield the claims that follow from this ratio's own times, as the slower over the faster."""
        for quotient in self._quotients(ratio.of):
            for claim in self._claims(ratio):
                if claim.fits(quotient, self._tolerance):
                    if quotient.inverted:
                        yield replace(quotient.inverse, written=f"1 / {claim.written}")
                    else:
                        yield replace(quotient, written=claim.written)

    def _claims(self, ratio: ClaimedRatio) -> Iterator[Claim]:
        for value, half, multiple, written, *more in self._facts["claims"].get(claim_key(ratio), ()):
            names, certain, about = more or ((), False, "")  # older evidence does not say whose they are
            yield Claim(
                low=value - half,
                high=value + half,
                written=written,
                multiple=multiple,
                names=frozenset(names),
                certain=certain,
                about=about,
            )

    def _pairs(self) -> Iterator[tuple[str, ...]]:
        """Yield every two names, so that a claim of another ratio than the required ones is known as such."""
        yield from permutations(self._facts["times"], 2)

    def _quotients(self, of: Sequence[str]) -> Iterator[Quotient]:
        """Yield the ratio of every two times, and its inverse for those who divide the other way round."""
        slow, fast = (self._facts["times"][name] for name in of)
        for a, half_a, text_a, *certain_a in slow:
            for b, half_b, text_b, *certain_b in fast:
                if a <= half_a or b <= half_b:
                    continue
                low, high = (a - half_a) / (b + half_b), (a + half_a) / (b - half_b)
                if high <= VAGUE * low:
                    quotient = Quotient(
                        low=low,
                        high=high,
                        written=f"{text_a} / {text_b} = {a / b:.3g}",
                        certain=all((*certain_a, *certain_b)),
                    )
                    yield from (quotient, quotient.inverse)


def claim_key(ratio: ClaimedRatio) -> str:
    """Return the name under which the claims of a ratio stand in the evidence."""
    return f"{ratio.claim} ({ratio.part})" if ratio.elsewhere else ratio.claim


def either(words: str) -> str:
    """Return `a|b` as a sentence names it."""
    return words.replace("|", " or ")


def short(name: str) -> str:
    """Return the full name of `a|b`."""
    return name.partition("|")[0]


def measured_ratio(observation: Observation | None) -> float | None:
    """Return the ratio that another item measured; None if it did not, or simulated, or on wrong results."""
    return measured_quantity(observation, "ratio")


def measured_quantity(observation: Observation | None, name: str) -> float | None:
    """Return what another item measured; None if it did not, or simulated, or on wrong results."""
    if observation is None or observation.outcome is not Outcome.OBSERVED or observation.simulated:
        return None
    if any(case.agrees and not any(case.agrees.values()) for case in observation.cases):
        return None
    quantity = observation.quantities.get(name)
    if quantity is None or quantity.taken_by != "worker" or not isinstance(quantity.value, int | float):
        return None
    return float(quantity.value) if quantity.value > 0 else None


def _size(claim: Claim, quotient: Quotient) -> float:
    """Return a claim as the slower over the faster."""
    return 1 / claim.high if quotient.inverted and claim.high else claim.low


def _multiples(claims: Iterable[Claim]) -> list[Claim]:
    """Return the claims written as multiples (56x), or all if none is."""
    every = list(claims)
    return [claim for claim in every if claim.multiple] or every
