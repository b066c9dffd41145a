"""Whether random results have the shape, the range and the distribution that they should have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from math import inf, isnan
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from grader.checks.calls import cases_of, function_name, observe_calls
from grader.contracts.check import CheckKind
from grader.harness.tolerance import PRECISION, Precision
from grader.model.observation import Case, Observation, Outcome, Quantity
from grader.model.options import FunctionName, InputsName, OracleName, option
from grader.model.score import Award

if TYPE_CHECKING:
    from grader.contracts.call import Call, InputCase
    from grader.contracts.context import CheckContext
    from grader.harness.distributions import Sample
    from grader.harness.independence import Draws


class Properties(CheckKind):
    """Call a function that draws at random and measure its results against distributions.

    Nothing is drawn for the student and no seed is shared: each array is held against theory. Asked for are
    the distribution, neither too far from it nor nearer than a draw comes; no dependence between values a
    fixed number of places apart, within an array or between arrays and calls; as many turning points along
    rows and columns as a draw has; and no values that several arrays share, in whatever order, with whatever
    sign, or scaled to other bounds.

    With the default limits an honest program is refused less than once in a million: an array by its mean or
    variance with a probability of 6e-9 (the uniform distribution is strictly sub-Gaussian; Chernoff), by its
    distance of Kolmogorov and Smirnov of 2e-9 (Massart's bound, and the distribution near 0), by turning
    points of 1e-10, a case by dependence of 5e-11. For 18 arrays in five cases that is 2e-7. Small arrays
    prove little, so a family should bring a large one.
    """

    name: ClassVar[str] = "properties"
    asks_reference: ClassVar[bool] = True
    shares_gpu: ClassVar[bool] = True

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """The YAML keys."""

        of: FunctionName = option("The function to call, as module.function.")
        inputs: InputsName = option("The family of inputs it is called with.")
        expected: OracleName = option(
            "The oracle that gives distributions; if it is not given, the one with the function's own name.",
            like="of",
            default=OracleName(""),
        )
        precision: Precision = option(PRECISION, default="any")
        calls: int = option(
            "How often each case is called; with two or more the results must differ from call to call.",
            above=0,
            default=2,
        )
        z_at_most: float = option(
            "How many standard errors mean, variance, turning points and shared values may be away.",
            judges=True,
            above=0,
            default=6.5,
        )
        ks_at_most: float = option(
            "How large the Kolmogorov-Smirnov distance times sqrt(n) may be.",
            judges=True,
            above=0,
            default=3.3,
        )
        ks_at_least: float = option(
            "How small it may be: values that are spaced evenly come nearer than any draw.",
            judges=True,
            default=0.2,
        )
        dependence_at_most: float = option(
            "How large the sum over pairs of values that lie equally far apart may be, squared and per pair.",
            judges=True,
            above=0,
            default=40.0,
        )
        credit: Literal["all", "per_case"] = option(
            "Whether all cases must be right, or each earns its share.", judges=True, default="all"
        )

    def objections(self, options: Options, assignment: str) -> Iterator[tuple[str, str]]:
        """Yield limits between which no draw lies."""
        del assignment
        if options.ks_at_least >= options.ks_at_most:
            yield "ks_at_least", f"must be less than ks_at_most, {options.ks_at_most:g}"

    def observe(self, options: Options, context: CheckContext) -> Observation:
        """Call each case several times and measure what came back; limits are not looked at."""
        from numpy.random import default_rng

        from grader.harness.independence import Draws
        from grader.harness.render import case_texts

        cases = cases_of(context, options.inputs)
        oracle = context.expected(options.expected or function_name(options.of))
        draws = Draws(default_rng([int(context.seed, 16), _WINDOWS]))
        following = {id(case): number for number, case in enumerate(cases)}
        last = -1

        def look(case: InputCase, calls: tuple[Call, ...]) -> Case:
            nonlocal last
            if following[id(case)] != last + 1:  # the one between did not return: this is a fresh process
                draws.forget()
            last = following[id(case)]
            expected = oracle(*case.args, **case.kwargs)
            agrees, note, quantities = _measured(
                [call.value for call in calls],
                expected,
                options.precision,
                draws,
                last=last + 1 == len(cases),
            )
            return Case(
                name=case.name,
                outcome=calls[0].outcome,
                agrees=agrees,
                **case_texts(returned=calls[0].value, expected=expected),
                note=note,
                quantities=quantities,
            )

        each_counts = options.credit == "per_case"
        return observe_calls(context, options.of, cases, look, times=options.calls, each_counts=each_counts)

    def award(self, options: Options, observation: Observation, related: Mapping[str, Observation]) -> Award:
        """All points if every case is right, or with `credit: per_case` the share of cases that are."""
        del related
        wrong = [(case, _what_is_wrong(case, options)) for case in observation.cases]
        total = len(wrong)
        if not total:
            return Award(fraction=0.0, reason="no case was looked at")
        good = sum(not what for _, what in wrong)
        counted = f"{good} of {total} cases are right" if total > 1 else "its one case is right"
        if good == total:
            return Award(fraction=1.0, reason=counted)
        reason = next(f"{case.name}: {what}" for case, what in wrong if what)
        if options.credit == "all" or total == 1:
            return Award(fraction=0.0, reason=reason)
        return Award(fraction=good / total, reason=f"{counted}; {reason}")


_WINDOWS = 1_000_004
"""A number of a draw that no family of inputs has: programs do not know which part is looked at closely."""


def _measured(
    values: list[Any], expected: Any, precision: Precision, draws: Draws, *, last: bool
) -> tuple[dict[str, bool], str, dict[str, Quantity]]:
    from grader.harness.distributions import Uniform, copies, measure, pair, stuck
    from grader.harness.structure import Mismatch

    try:
        results = [pair(value, expected, precision) for value in values]
    except Mismatch as mismatch:
        return {"structure": False}, str(mismatch), {}
    samples = [[measure(*part) for part in result] for result in results]
    random = [
        index for index, (_, _, distribution) in enumerate(results[0]) if isinstance(distribution, Uniform)
    ]
    # Call by call, so that equal arrays are found within one result and between two.
    drawn = [call[index] for call in samples for index in random]
    twins = copies([result[index][1] for result in results for index in random])
    wrong = {
        "structure": [],
        "finite": [
            f"{s.nonfinite} of {s.size} values of {s.where} are not finite"
            for s in chain(*samples)
            if s.nonfinite
        ],
        "range": [
            f"{s.outside} of {s.size} values of {s.where} are out of range "
            f"(expected {s.bounds[0]:.6g} to {s.bounds[1]:.6g})"
            for s in drawn
            if s.outside and s.bounds
        ],
        "varied": [_stuck(s) for s in drawn if stuck(s)],
        "fresh": [_same(drawn, len(random), *twins)] if twins else [],
    }
    note = next(chain(*wrong.values()), "")
    quantities = _quantities(drawn)
    if not note:
        figures = draws.add(
            [[(array, law) for _, array, law in result if isinstance(law, Uniform)] for result in results],
            last=last,
        )
        quantities |= {name: Quantity(value=value) for name, value in figures.items()}
    return {name: not sentences for name, sentences in wrong.items()}, note, quantities


def _stuck(sample: Sample) -> str:
    if sample.distinct == 1:
        return f"all {sample.size} values of {sample.where} are the same"
    return f"{sample.where} has only {sample.distinct} different values among {sample.size}"


def _same(drawn: list[Sample], per_call: int, first: int, second: int) -> str:
    left, right = drawn[first].where, drawn[second].where
    if first // per_call == second // per_call:
        return f"{left} and {right} hold the same values"
    return f"{right} repeats {'the one' if left == right else left} of an earlier call"


def _quantities(drawn: list[Sample]) -> dict[str, Quantity]:
    fits = [(sample.where, sample.fit) for sample in drawn if sample.fit is not None]
    measured: dict[str, Any] = {"values": sum(sample.size for sample in drawn)}
    for statistic, figures in _FIGURES.items():
        # A NaN, from values too large to square, is the worst of all and `max` would pass it over.
        where, worst = max(fits, key=lambda fit: _distance(getattr(fit[1], statistic)), default=("", None))
        if worst is not None:
            measured |= {statistic: getattr(worst, statistic), f"{statistic}_of": where}
            measured |= {figure: getattr(worst, figure) for figure in figures}
    return {name: Quantity(value=value) for name, value in measured.items()}


_FIGURES = {"z_mean": ("mean", "mean_expected"), "z_variance": ("std", "std_expected"), "ks": ()}
"""What is kept of the sample with the largest of each statistic."""


def _distance(statistic: float) -> float:
    return inf if isnan(statistic) else abs(statistic)


def _what_is_wrong(case: Case, options: Properties.Options) -> str:
    if case.outcome is not Outcome.OBSERVED or not case.agrees or not all(case.agrees.values()):
        return case.note or case.outcome.value
    value: dict[str, Any] = {name: quantity.value for name, quantity in case.quantities.items()}
    if value.get("ks_least", inf) < options.ks_at_least:
        return _SENTENCES["ks_least"].format(**value, at_least=options.ks_at_least)
    limits = {
        "z_mean": options.z_at_most,
        "z_variance": options.z_at_most,
        "ks": options.ks_at_most,
        "z_turning": options.z_at_most,
        "z_shared": options.z_at_most,
        "z_repeated": options.z_at_most,
        "dependence": options.dependence_at_most,
    }
    for statistic, at_most in limits.items():
        # Not `>`: a NaN is within no limit.
        if statistic in value and not abs(value[statistic]) <= at_most:
            return _SENTENCES[statistic].format(**value, at_most=at_most)
    return ""


_SENTENCES = {
    "z_mean": "the mean of {z_mean_of} is {mean:.4g}, expected {mean_expected:.4g} "
    "({z_mean:+.1f} standard errors, at most {at_most:g})",
    "z_variance": "the standard deviation of {z_variance_of} is {std:.4g}, expected {std_expected:.4g} "
    "({z_variance:+.1f} standard errors, at most {at_most:g})",
    "ks": "the values of {ks_of} are not distributed as expected "
    "(Kolmogorov-Smirnov distance {ks:.2f}, at most {at_most:g})",
    "ks_least": "values are spaced too evenly to be drawn at random "
    "(Kolmogorov-Smirnov distance {ks_least:.3f}, at least {at_least:g})",
    "z_turning": "along rows or columns, from value to value, it rises and falls otherwise than random "
    "values do ({z_turning:+.1f} standard errors, at most {at_most:g})",
    "z_shared": "{shared:,} values occur in more than one array, perhaps with another sign or scaled; draw "
    "each anew (about {shared_expected:,.0f} are expected)",
    "z_repeated": "{repeated:,} times an array holds a value again, perhaps with another sign; draw each "
    "anew (about {repeated_expected:,.0f} are expected)",
    "dependence": "values {dependence_apart:,} places apart, row by row and call after call, depend on each "
    "other ({dependence:,.0f}, at most {at_most:g} for independent ones)",
}
