"""Whether random results have the shape, the range and the distribution that they should have."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from itertools import chain
from math import inf, isnan
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from grader.checks.calls import cases_of, function_name, observe_calls
from grader.model.observation import Case, Observation, Outcome, Quantity
from grader.model.options import FunctionName, InputsName, OracleName, option
from grader.model.score import Award

if TYPE_CHECKING:
    from grader.bench.bench import Bench, Call, InputCase
    from grader.bench.distributions import Sample


class Properties:
    """Call a function that draws at random and measure its results against distributions.

    Nothing is drawn for the student and no seed is shared: each array is held against theory. With the
    default limits an honest array is refused less than once in 30 000 whatever its size (Hoeffding's
    bound for the mean, Chernoff's for the variance, Massart's for the distribution function), and in
    practice about once in a million. Small arrays prove little, so a family should bring a large one.
    """

    name: ClassVar[str] = "properties"
    shares_gpu: ClassVar[bool] = True

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """The YAML keys."""

        of: FunctionName = option("The function to call, as module.function.")
        inputs: InputsName = option("The family of inputs it is called with.")
        expected: OracleName = option(
            "The oracle that gives distributions; if it is not given, the one with the function's own name.",
            default=OracleName(""),
        )
        calls: int = option(
            "How often each case is called; with two or more the results must differ from call to call.",
            above=0,
            default=2,
        )
        z_at_most: float = option(
            "How many standard errors the mean and the variance may be away.",
            judges=True,
            above=0,
            default=5.0,
        )
        ks_at_most: float = option(
            "How large the Kolmogorov-Smirnov distance times sqrt(n) may be.",
            judges=True,
            above=0,
            default=3.0,
        )
        credit: Literal["all", "per_case"] = option(
            "Whether all cases must be right, or each earns its share.", judges=True, default="all"
        )

    def observe(self, options: Options, bench: Bench) -> Observation:
        """Call each case several times and measure what came back; limits are not looked at."""
        from grader.bench.render import value_text

        cases = cases_of(bench, options.inputs)
        oracle = bench.expected(options.expected or function_name(options.of))

        def look(case: InputCase, calls: tuple[Call, ...]) -> Case:
            wanted = oracle(*deepcopy(case.args), **deepcopy(dict(case.kwargs)))
            agrees, note, quantities = _measured([call.value for call in calls], wanted)
            return Case(
                name=case.name,
                outcome=calls[0].outcome,
                agrees=agrees,
                returned=value_text(calls[0].value),
                expected=value_text(wanted),
                note=note,
                quantities=quantities,
            )

        return observe_calls(bench, options.of, cases, look, times=options.calls)

    def award(self, options: Options, observation: Observation, related: Mapping[str, Observation]) -> Award:
        """All points if every case is right, or with `credit: per_case` the share of cases that are."""
        del related
        wrong = [(case, _what_is_wrong(case, options)) for case in observation.cases]
        total = len(wrong)
        if not total:
            return Award(fraction=0.0, reason="no case was looked at")
        good = sum(not what for _, what in wrong)
        counted = f"{good} of {total} cases are right"
        if good == total:
            return Award(fraction=1.0, reason=counted)
        reason = next(f"{case.name}: {what}" for case, what in wrong if what)
        if options.credit == "all":
            return Award(fraction=0.0, reason=reason)
        return Award(fraction=good / total, reason=f"{counted}; {reason}")


def _measured(values: list[Any], wanted: Any) -> tuple[dict[str, bool], str, dict[str, Quantity]]:
    from grader.bench.distributions import Uniform, copies, measure, pair, stuck
    from grader.bench.structure import Mismatch

    try:
        results = [pair(value, wanted) for value in values]
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
            f"{s.outside} of {s.size} values of {s.where} are out of range" for s in drawn if s.outside
        ],
        "varied": [
            f"{s.where} has only {s.distinct} different among {s.size} values" for s in drawn if stuck(s)
        ],
        "fresh": [_same(drawn, len(random), *twins)] if twins else [],
    }
    note = next(chain(*wrong.values()), "")
    return {name: not sentences for name, sentences in wrong.items()}, note, _quantities(drawn)


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
        where, worst = max(fits, key=lambda one: _distance(getattr(one[1], statistic)), default=("", None))
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
    limits = {"z_mean": options.z_at_most, "z_variance": options.z_at_most, "ks": options.ks_at_most}
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
}
