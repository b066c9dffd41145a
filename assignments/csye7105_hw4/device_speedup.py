"""How many times faster the same work is on two GPUs than on one."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar

from grader.api import CourseError
from grader.api.check import (
    Award,
    Case,
    CheckKind,
    Fault,
    FunctionName,
    InputsName,
    Interval,
    Observation,
    OracleName,
    Outcome,
    Quantity,
    award_given,
    cases_of,
    failed_observation,
    function_name,
    median,
    median_interval,
    option,
)
from grader.checks.drawings.ratio import advice_on_ratio, ratio_drawings

if TYPE_CHECKING:
    from grader.api.check import Call, CheckContext, Drawing
    from grader.checks.rounds import Rounds

LINEAR = 1.25
"""Two GPUs that gain this many times more over one than the reference's: the one was slowed down."""


class DeviceSpeedup(CheckKind):
    """Time the same work on one GPU and on two, in alternating rounds; take the median of the ratios.

    Every call has fresh inputs, and its result is held against the oracle. The reference is timed in the same
    rounds: where its own two GPUs do not reach what is asked for, the machine cannot decide. Who gains much
    more than the reference does, has slowed the one GPU down: a person looks. A program that disturbs its
    rounds, and earns nothing, is told from a busy machine as in `speedup`.
    """

    name: ClassVar[str] = "device_speedup"
    timed: ClassVar[bool] = True
    by_hand: ClassVar[bool] = True

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """The YAML keys."""

        of: FunctionName = option("The function that uses all of the item's GPUs, as module.function.")
        over: FunctionName = option("The function that does the same on one.")
        inputs: InputsName = option("The family of inputs; its only case is drawn anew for each round.")
        expected: OracleName = option("The oracle for both.")
        at_least: float = option("The ratio that earns the points.", judges=True, above=0)
        rounds: int = option("The least number of rounds.", default=6, above=5)
        budget_s: float = option("Seconds after which no further round begins.", default=60.0, above=0)

    def observe(self, options: Options, context: CheckContext) -> Observation:
        """Warm up, then time round after round until the interval decides or time is up."""
        from grader.checks.control import SHARE, busy_by_itself, until_quiet

        seen, by_itself = until_quiet(
            _timed(options, context),
            enough=lambda seen: seen.spoiled is not None or seen.rounds.enough(options.rounds),
            alone=lambda: _disturbs_the_reference(options, context),
            again=lambda: _timed(options, context, budget_s=options.budget_s / SHARE),
        )
        if by_itself:
            return busy_by_itself(context, seen.output)
        if seen.spoiled is not None:
            return seen.spoiled
        rounds = seen.rounds
        if rounds.undisturbed < options.rounds:
            return Observation(
                item=context.item,
                outcome=Outcome.NOT_OBSERVED,
                fault=Fault.BUSY,
                note=rounds.noise,
                seed=context.seed,
            )
        return Observation(
            item=context.item,
            outcome=Outcome.OBSERVED,
            quantities=dict(_measured(rounds)),
            facts={"samples": rounds.samples, "quiet_untold": context.quiet.untold},
            output=seen.output,
            seed=context.seed,
        )

    def award(self, options: Options, observation: Observation, related: Mapping[str, Observation]) -> Award:
        """All points from `at_least` on, judged on the interval."""
        del related
        if given := award_given(observation):
            return given
        if observation.cases:
            note = observation.cases[0].note
            return Award(fraction=0.0, reason=f"the result of a timed call is wrong: {note}")
        samples = observation.facts["samples"]
        ratio, reference = _ratio(samples), _ratio(samples, "reference_")
        told = f"two GPUs take {1 / ratio.middle:.0%} of the time of one: {ratio.middle:.3g} times faster"
        if reference.middle < options.at_least:
            reason = (
                f"this machine cannot decide: the reference itself is only {reference.middle:.3g} times "
                f"faster on two GPUs than on one, and {options.at_least:g} are asked for"
            )
            return Award(fraction=0.0, reason=reason, undecided=True, again=True)
        if ratio.high < options.at_least:
            return Award(fraction=0.0, reason=f"{told}; at least {options.at_least:g} are needed")
        if _too_good(samples, LINEAR * reference.middle, options.at_least):
            flag = f"slow_on_one: gains {ratio.middle:.3g}, where the reference gains {reference.middle:.3g}"
            reason = f"a person looks at what it does on one GPU; {told}"
            return Award(fraction=0.0, reason=reason, flags=(flag,), undecided=True)
        near = ratio.low < options.at_least
        flags = (f"near_threshold: {options.at_least:g} lies within the interval",) if near else ()
        return Award(fraction=1.0, reason=told, flags=flags)

    def show(self, options: Options, observation: Observation) -> Iterator[Drawing]:
        """Draw the ratio against its threshold, and the times behind it."""
        yield from ratio_drawings(observation, of=options.of, over=options.over, at_least=options.at_least)
        yield from advice_on_ratio(observation, at_least=options.at_least)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Timed:
    """The rounds of one turn, and the observation of what spoiled them."""

    rounds: Rounds
    spoiled: Observation | None = None
    """That of a call of the submission that did not return, or is wrong."""
    output: str = ""


def _timed(options: DeviceSpeedup.Options, context: CheckContext, budget_s: float | None = None) -> _Timed:
    """Rounds of the submission and the reference, in fresh processes; the first one warms up."""
    from grader.checks.rounds import Rounds

    sides = _sides(options)
    names = [f"{who}{side}" for who in ("", "reference_") for side in sides]
    rounds = Rounds(samples={name: [] for name in names}, cpu={name: [] for name in names})
    module = options.of.rpartition(".")[0]
    begun = time.monotonic()
    with context.subject(module) as subject, context.reference(module) as reference:
        if subject.imported.outcome is not Outcome.OBSERVED:
            return _Timed(rounds=rounds, spoiled=failed_observation(context, subject.imported, ""))
        for number in count():
            (case,) = cases_of(context, options.inputs, draw=number)
            wanted = context.expected(options.expected)(*case.args, **case.kwargs)
            if number:
                context.quiet.begin(anew=number == 1)
            calls = {}
            for who, whose in (("reference_", reference), ("", subject)):
                for side, function in sides.items():
                    calls[f"{who}{side}"] = call = whose.call(function, case)
                    if call.outcome is not Outcome.OBSERVED or _wrong(call, wanted):
                        return _Timed(rounds=rounds, spoiled=_spoiled(context, call, who, wanted))
            again = reference.again(case)
            if not number:
                continue
            rounds.add(calls, again, context.quiet.end())
            late = time.monotonic() - begun > (budget_s or options.budget_s)
            if late or (rounds.undisturbed >= options.rounds and _decided(options, rounds)):
                return _Timed(rounds=rounds, output=subject.output)
    raise AssertionError("counting does not end")


def _disturbs_the_reference(options: DeviceSpeedup.Options, context: CheckContext) -> str:
    """Time the reference alone in the same place; the words of what disturbs it, empty if nothing does."""
    from grader.checks.control import quiet_alone

    with context.reference(options.of.rpartition(".")[0]) as reference:
        (case,) = cases_of(context, options.inputs)

        def run() -> None:
            for function in _sides(options).values():
                reference.call(function, case)

        run()  # warms up
        return quiet_alone(context, run)


def _sides(options: DeviceSpeedup.Options) -> dict[str, str]:
    """The two functions by which option names them."""
    return {"of": function_name(options.of), "over": function_name(options.over)}


def _wrong(call: Call, wanted: Any) -> str:
    from grader.api.values import compare

    return compare(call.value, wanted).note


def _spoiled(context: CheckContext, call: Call, who: str, wanted: Any) -> Observation:
    """A timed call that did not return, or is wrong."""
    note = call.note if call.outcome is not Outcome.OBSERVED else _wrong(call, wanted)
    if who:
        raise CourseError(f"reference: {note}")
    if call.outcome is not Outcome.OBSERVED:
        return failed_observation(context, call, "")
    case = Case(name="timed", outcome=call.outcome, agrees={"expected": False}, note=note)
    return Observation(item=context.item, outcome=Outcome.OBSERVED, cases=(case,), seed=context.seed)


def _ratio(samples: Mapping[str, Any], who: str = "") -> Interval:
    pairs = zip(samples[f"{who}of"], samples[f"{who}over"], strict=True)
    return median_interval([over / of for of, over in pairs])


def _too_good(samples: Mapping[str, Any], most: float, at_least: float) -> bool:
    """Whether rounds with a ratio that two GPUs cannot have are needed to reach what is asked for.

    Those may be some rounds only: a program that slows its one GPU now and then widens the interval by them.
    """
    ratios = [over / of for of, over in zip(samples["of"], samples["over"], strict=True)]
    believed = [ratio for ratio in ratios if ratio <= most]
    return not believed or median_interval(believed).high < at_least or median_interval(ratios).low > most


def _decided(options: DeviceSpeedup.Options, rounds: Rounds) -> bool:
    ratio = _ratio(rounds.samples)
    return ratio.high < options.at_least or ratio.low >= options.at_least


def _measured(rounds: Rounds) -> Iterator[tuple[str, Quantity]]:
    yield "rounds", Quantity(value=rounds.undisturbed, unit="rounds")
    yield "disturbed_rounds", Quantity(value=rounds.disturbed, unit="rounds")
    for side, seconds in rounds.samples.items():
        yield f"{side}_s", Quantity(value=median(seconds), unit="s")
    ratio = _ratio(rounds.samples)
    yield "ratio", Quantity(value=ratio.middle)
    yield "ratio_low", Quantity(value=ratio.low)
    yield "ratio_high", Quantity(value=ratio.high)
