"""How many times faster one function is than another, measured in alternating rounds by a clock outside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from grader.checks.calls import function_name
from grader.checks.interval import Interval, median, median_interval
from grader.checks.waiting import waited
from grader.checks.watched import WATCHED, idle_device, trace_quantities, watch, watched_of
from grader.config.codec import to_plain
from grader.errors import CourseError
from grader.model.observation import Fault, Observation, Outcome, Quantity
from grader.model.options import FunctionName, InputsName, OracleName, option
from grader.model.score import Award
from grader.model.trace import Watched

if TYPE_CHECKING:
    from grader.bench.bench import Bench
    from grader.checks.rounds import Rounds, Runner

MARGIN = 1.5
"""A machine on which the reference itself does not reach this many thresholds cannot decide."""


class Speedup:
    """Time two functions in alternating rounds, each call on fresh inputs; take the median of the ratios.

    Where the item has a GPU, the fast function is called under observation first, on inputs of the same kind:
    what launches no kernel, or is right without its kernels, did not do its work there and earns nothing.

    The clock is held outside the program, which stands still before and after each timed call; what handing
    over a result costs is measured in the reference and subtracted. The result of every timed call is held
    against the oracle. The reference solution is timed in the same rounds: if it has no margin itself, the
    machine is not fit and the item stays open; if the slow function is more than `band` times slower than
    the reference's, the ratio is taken over the reference's and a person is told.

    The decision is taken on an interval of the median: clearly above is earned, clearly below is not, and
    what lies between is measured for longer, up to `budget_s`. If it still lies between, the student gets
    the benefit, and a person is told that it is near the threshold.
    """

    name: ClassVar[str] = "speedup"
    timed: ClassVar[bool] = True

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """The YAML keys."""

        of: FunctionName = option("The function that should be fast, as module.function.")
        over: FunctionName = option("The function it is compared with.")
        inputs: InputsName = option("The family of inputs; its only case is drawn anew for each round.")
        expected: OracleName = option(
            "The oracle for both; if it is not given, the one with the name of `of`.", default=OracleName("")
        )
        at_least: float = option("The ratio that earns the points.", judges=True, above=0)
        band: float = option(
            "How many times slower than the reference's the function `over` may be.",
            judges=True,
            default=2.0,
            above=1,
        )
        rounds: int = option("The least number of rounds.", default=6, above=5)
        budget_s: float = option("Seconds after which no further round begins.", default=30.0, above=0)

    def observe(self, options: Options, bench: Bench) -> Observation:
        """Warm up on other data, then time round after round until the interval decides or time is up."""
        from grader.checks.rounds import Schedule, timed_rounds

        oracle = bench.expected(options.expected or function_name(options.of))
        watched = watch(bench, options.of, options.inputs, oracle) if bench.devices else None
        if watched is not None and not isinstance(watched, Watched):
            return _unusable(bench, watched.outcome, watched.note, "")
        with ExitStack() as children:
            runners = _runners(options, bench, children)
            for runner in runners.values():
                imported = runner.subject.imported
                if imported.outcome is not Outcome.OBSERVED:
                    if runner.ours:
                        raise CourseError(f"reference: {imported.note}")
                    return _unusable(bench, imported.outcome, imported.note, runner.subject.output)
            schedule = Schedule(
                least=options.rounds,
                budget_s=options.budget_s,
                decided=lambda rounds: _decided(options, rounds.samples, rounds.cpu),
            )
            rounds = timed_rounds(
                bench, runners, options.inputs, oracle, loop="reference_over", schedule=schedule
            )
            output = runners["of"].subject.output
        if rounds.failed:
            return _unusable(bench, rounds.failed.outcome, rounds.failed.note, output)
        if not rounds.wrong and rounds.quiet < options.rounds:
            return Observation(
                item=bench.item,
                outcome=Outcome.NOT_OBSERVED,
                fault=Fault.MACHINE,
                note=rounds.noise,
                quantities=dict(_quantities(options, rounds)),
                seed=bench.seed,
            )
        return Observation(
            item=bench.item,
            outcome=Outcome.OBSERVED,
            cases=(rounds.wrong,) if rounds.wrong else (),
            quantities=dict(_quantities(options, rounds))
            | ({} if watched is None else dict(trace_quantities(watched.trace))),
            facts={
                "samples": rounds.samples,
                "cpu": rounds.cpu,
                "quiet_untold": bench.quiet.untold,
                **({} if watched is None else {WATCHED: to_plain(watched)}),
            },
            output=output,
            seed=bench.seed,
        )

    def award(self, options: Options, observation: Observation, related: Mapping[str, Observation]) -> Award:
        """All points from `at_least` on, judged on the interval."""
        del related
        if observation.cases:
            note = observation.cases[0].note
            return Award(fraction=0.0, reason=f"the result of a timed call is wrong: {note}")
        watched = watched_of(observation.facts)
        if watched is not None and (idle := idle_device(watched)):
            return Award(fraction=0.0, reason=idle)
        if watched is not None and not watched.trace.complete:
            reason = f"it could not be seen whether the GPU does the work: {watched.trace.problem}"
            return Award(fraction=0.0, reason=reason, undecided=True)
        measured = _measured(options, observation.facts["samples"], observation.facts["cpu"])
        reference, ratio, flags = measured.reference, measured.ratio, measured.flags
        if observation.facts.get("quiet_untold"):
            flags = (*flags, "quiet_untold: it could not be told whether other work ran beside it")
        if reference.middle < MARGIN * options.at_least:
            reason = (
                f"this machine cannot decide: the reference itself is only {reference.middle:.3g} times "
                f"faster here, and {MARGIN * options.at_least:.3g} are needed to be sure"
            )
            return Award(fraction=0.0, reason=reason, undecided=True)
        told = f"{_n(ratio.middle)} times faster (between {_n(ratio.low)} and {_n(ratio.high)})"
        if ratio.high < options.at_least:
            reason = f"{told}; at least {options.at_least:g} are needed"
            return Award(fraction=0.0, reason=reason, flags=flags)
        if ratio.low < options.at_least:
            flags = (*flags, f"near_threshold: {options.at_least:g} lies within the interval")
        return Award(fraction=1.0, reason=told, flags=flags)


def _n(ratio: float) -> str:
    """Three digits, and all of those before the point."""
    return f"{ratio:.3g}" if ratio < 1000 else f"{ratio:,.0f}"


def _runners(options: Speedup.Options, bench: Bench, children: ExitStack) -> dict[str, Runner]:
    """Four children: the two functions of the hand-in, and the reference's."""
    from grader.checks.rounds import Runner

    runners = {}
    for side, of in (("of", options.of), ("over", options.over)):
        module, _, function = of.rpartition(".")
        for name, start, ours in ((side, bench.subject, False), (f"reference_{side}", bench.reference, True)):
            subject = children.enter_context(start(module))
            runners[name] = Runner(subject=subject, function=function, ours=ours, quick=side == "of")
    return runners


def _unusable(bench: Bench, outcome: Outcome, note: str, output: str) -> Observation:
    return Observation(item=bench.item, outcome=outcome, note=note, output=output, seed=bench.seed)


def _quantities(options: Speedup.Options, rounds: Rounds) -> Iterator[tuple[str, Quantity]]:
    yield "rounds", Quantity(value=rounds.quiet, unit="rounds")
    yield "disturbed_rounds", Quantity(value=rounds.disturbed, unit="rounds")
    for side, first_s in rounds.first_call_s.items():
        yield f"{side}_first_call_s", Quantity(value=first_s, unit="s")
    if not rounds.quiet:
        return
    yield "identity_s", Quantity(value=median(rounds.identity_s), unit="s")
    for side, seconds in rounds.samples.items():
        yield f"{side}_s", Quantity(value=median(seconds), unit="s")
    ratio = _measured(options, rounds.samples, rounds.cpu).ratio
    yield "ratio", Quantity(value=ratio.middle)
    yield "ratio_low", Quantity(value=ratio.low)
    yield "ratio_high", Quantity(value=ratio.high)
    yield "threshold", Quantity(value=options.at_least)


Samples = Mapping[str, Sequence[float]]
"""Seconds of each round by whose function it was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Measured:
    """What the samples say, whatever is asked for."""

    ratio: Interval
    reference: Interval
    """The reference's own."""
    flags: tuple[str, ...] = ()


def _measured(options: Speedup.Options, samples: Samples, cpu: Samples) -> _Measured:
    """The ratio over the hand-in's own slow function, or over the reference's where that one is too slow."""
    times = _computing(samples, cpu)
    reference = _ratio(times["reference_of"], times["reference_over"])
    flags: tuple[str, ...] = ()
    if waited(median(samples["over"]), median(times["over"])):
        told = f"{options.over} computes for {median(times['over']):.3g} s of {median(samples['over']):.3g} s"
        flags = (f"waiting_baseline: {told}; only that counts",)
    slower = _ratio(times["reference_over"], times["over"]).middle
    if slower > options.band:
        told = f"{options.over} is {slower:.3g} times slower than the reference's; that one was taken instead"
        flags = (*flags, f"slow_baseline: {told}")
        return _Measured(ratio=_ratio(times["of"], times["reference_over"]), reference=reference, flags=flags)
    return _Measured(ratio=_ratio(times["of"], times["over"]), reference=reference, flags=flags)


def _computing(samples: Samples, cpu: Samples) -> Samples:
    """Where the slow function is a loop that does nothing but compute, it is given its CPU time alone.

    Whether it is one, the reference's tells. On a machine where other work runs it waits for its core, and
    the wait would make the fast function look faster than it is.
    """
    loop = "reference_over"
    if waited(median(samples[loop]), median(cpu[loop])):
        return samples
    return dict(samples) | {
        side: [min(pair) for pair in zip(samples[side], cpu[side], strict=True)] for side in ("over", loop)
    }


def _decided(options: Speedup.Options, samples: Samples, cpu: Samples) -> bool:
    """Whether further rounds could not change the verdict."""
    times = _computing(samples, cpu)
    ratios = [_ratio(times["of"], times[baseline]) for baseline in ("over", "reference_over")]
    return all(ratio.high < options.at_least or ratio.low >= options.at_least for ratio in ratios)


def _ratio(fast: Sequence[float], slow: Sequence[float]) -> Interval:
    """How many times `slow` takes the time of `fast`, within each round: what disturbs one disturbs both."""
    return median_interval([b / a for a, b in zip(fast, slow, strict=True)])
