"""How many times faster one function is than another, measured in alternating rounds by a clock outside."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from grader.checks.by_hand import award_given
from grader.checks.calls import Oracle, failed_observation, function_name
from grader.checks.drawings.gpu import gpu_drawings
from grader.checks.drawings.ratio import advice_on_ratio, ratio_drawings
from grader.checks.drawings.values import number_of
from grader.checks.interval import median
from grader.checks.plausible import CROSSING, IDENTITY, crossing, implausible
from grader.checks.ratio import MARGIN, MeasuredRatio, decided, measured, median_in_words, no_faster, number
from grader.checks.watched import (
    WATCHED,
    idle_or_wrong,
    trace_quantities,
    unproven,
    unrecorded,
    watch,
    watched_of,
)
from grader.config.codec import to_plain
from grader.contracts.check import CheckKind
from grader.errors import ReferenceFailedError
from grader.harness.tolerance import Tolerances
from grader.model.observation import Fault, Observation, Outcome, Quantity
from grader.model.options import FunctionName, InputsName, OracleName, option
from grader.model.score import Award
from grader.model.trace import Watched

if TYPE_CHECKING:
    from grader.checks.rounds import Rounds, Runner
    from grader.checks.series import SeriesProof
    from grader.contracts.context import CheckContext, Subject
    from grader.model.drawing import Drawing


LOOP = "reference_over"
"""The runner that tells whether the machine was quiet."""
_NOTICED = 1.1
"""A student whose slow function is so many times slower reads that the ratio is not over it."""


class Speedup(CheckKind):
    """Time two functions in alternating rounds, each call on fresh inputs; take the median of the ratios.

    Where the item has a GPU, the fast function is called under observation first, on inputs of the same kind:
    what launches no kernel, or is right for the host's inputs where numba's kernels got others, did not do
    its work there and earns nothing; where that is not clear a person looks. Some calls among the timed ones,
    which the program cannot tell from them, get other inputs in their kernels as well, and do not count.
    Every timed call is recorded: one that launches less, copies less or computes less on the GPU than the
    observed one did its work elsewhere, and a person looks.

    The clock is held outside the program, which stands still before and after each timed call; what handing
    over a result costs is measured in the reference and subtracted. The result of every timed call is held
    against the oracle. Where the item has a GPU, the fast function is called
    several times in a row, as by `timeit`, and only the later calls count. The reference solution is timed in
    the same rounds: if it has no margin itself, the machine is not fit and the item stays open. In each round
    the ratio is taken over the faster one of both slow functions, the student's and the reference's: whatever
    makes the student's slower, a wait or work that is not needed, gains nothing. If it is more than `band`
    times slower a person is told.

    Both functions run on one core that nothing else uses, or on as many as `Limits(cores=…)` asks for and the
    machine has; grader keeps one core for itself. To check that threads make a function faster, such as those
    of a C++ library, use `scaling`: it says how many cores are missing.

    A call is believed that is up to `plausible` times as fast as the reference's in the same rounds and,
    where the item has a GPU whose bandwidth is known, takes no less than its inputs, or its results, take on
    the bus, packed as tightly as can be. Beyond that the points stay open until a person has given them, or
    not.

    The decision is taken on an interval of the median: clearly above is earned, clearly below is not, and
    what lies between is measured for longer, up to `budget_s`. If it still lies between, the student gets
    the benefit, and a person is told that it is near the threshold. Where a GPU computes, rounds in which the
    loop was slowed by what nobody can see do not count, for they would give a ratio away, and neither do
    those in which the reference's own call on the GPU was, for they would take one away; if too few are left
    to tell, the item stays open.

    A round in which others used the cores does not count. Where too few are quiet, the reference is timed
    alone in the same place, and while it is quiet then, all is measured again, up to three times. If it is
    always quiet alone, and never beside the program, the program disturbs its rounds, and it earns nothing.
    """

    name: ClassVar[str] = "speedup"
    one_case: ClassVar[bool] = True
    timed: ClassVar[bool] = True
    by_hand: ClassVar[bool] = True

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """The YAML keys."""

        of: FunctionName = option("The function that should be fast, as module.function.")
        over: FunctionName = option("The function it is compared with.")
        inputs: InputsName = option("The family of inputs; its only case is drawn anew for each round.")
        expected: OracleName = option(
            "The oracle for both; if it is not given, the one with the name of `of`.",
            like="of",
            default=OracleName(""),
        )
        tolerance: Tolerances = option(
            "How far floats may be from the expected ones, by dtype; integers are exact.",
            default=Tolerances(),
        )
        at_least: float = option("The ratio that earns the points.", judges=True, above=0)
        band: float = option(
            "How many times slower than the reference's the function `over` may be before a person is told.",
            judges=True,
            default=2.0,
            above=1,
        )
        plausible: float = option(
            "How many times as fast as the reference's the function may be; beyond that the points are open "
            "until a person has looked.",
            judges=True,
            default=50.0,
            above=1,
        )
        rounds: int = option("The least number of rounds.", default=6, above=5)
        budget_s: float = option("Seconds after which no further round begins.", default=30.0, above=0)

        def __post_init__(self) -> None:
            """Refuse a function that is compared with itself.

            Raises:
                ValueError: with the reason.
            """
            if self.of == self.over:
                raise ValueError("of and over are the same function, which is as fast as itself; name two")

    def remarks(self, options: Options, assignment: str) -> Iterator[tuple[str, str]]:
        """Yield a threshold that the slow function reaches itself."""
        del assignment
        if options.at_least <= 1:
            yield "at_least", no_faster(options.at_least)

    def observe(self, options: Options, context: CheckContext) -> Observation:
        """Warm up on other data, then time round after round until the interval decides or time is up."""
        from grader.checks.control import beside_the_reference

        oracle = Oracle(context.expected(options.expected or function_name(options.of)), options.tolerance)
        start = partial(_runners, options, context)
        return beside_the_reference(
            lambda: self._observe(options, context, oracle), context, start, options.inputs, oracle, loop=LOOP
        )

    def _observe(self, options: Options, context: CheckContext, oracle: Oracle) -> Observation:
        from grader.checks.control import busy_by_itself, measured_again
        from grader.checks.rounds import Schedule, timed_rounds
        from grader.checks.series import SeriesProof, series_of

        watched = (
            watch(context, options.of, options.inputs, oracle, options.tolerance) if context.devices else None
        )
        if watched is not None and not isinstance(watched, Watched):
            return failed_observation(context, watched)
        proofs: dict[str, list[SeriesProof]] = {"of": [], "reference_of": []}

        def prove(name: str, subject: Subject, function: str) -> SeriesProof | None:
            if not isinstance(watched, Watched) or name not in proofs:
                return None
            exchanges = name == "of" and watched.proof is not None
            proofs[name].append(
                SeriesProof(context, subject, function, options.inputs, oracle, exchanges=exchanges)
            )
            return proofs[name][-1]

        start = partial(_runners, options, context, prove=prove)
        with ExitStack() as children:
            runners = start(children, beside=True)
            for runner in runners.values():
                imported = runner.subject.imported
                if imported.outcome is not Outcome.OBSERVED:
                    if runner.ours:
                        raise ReferenceFailedError(
                            f"reference: {imported.note}", output=runner.subject.output
                        )
                    return failed_observation(context, imported, output=runner.subject.output)
            schedule = Schedule(
                least=options.rounds,
                budget_s=options.budget_s,
                decided=lambda rounds: decided(
                    rounds.samples,
                    rounds.cpu,
                    rounds.first_call_s,
                    at_least=options.at_least,
                    undisturbed_rounds=0 if watched is None else options.rounds,
                ),
            )
            rounds = timed_rounds(context, runners, options.inputs, oracle, loop=LOOP, schedule=schedule)
            output = runners["of"].subject.output
        rounds, by_itself = measured_again(
            rounds, context, start, options.inputs, oracle, loop=LOOP, schedule=schedule
        )
        if by_itself:
            return busy_by_itself(context, output)
        if watched is not None:
            watched = replace(watched, series=series_of(proofs["of"], proofs["reference_of"]))
        if rounds.failed:
            return failed_observation(context, rounds.failed, output=output)
        facts = {
            "samples": rounds.samples,
            "cpu": rounds.cpu,
            "first_call_s": rounds.first_call_s,
            "quiet_untold": context.quiet.untold,
            IDENTITY: rounds.identity_s,
            **({} if watched is None else {WATCHED: to_plain(watched)}),
            **_crossing(options, context, oracle),
        }
        quantities = dict(_quantities(options, rounds, facts))
        noise = ""
        if not rounds.wrong:
            few = rounds.undisturbed < options.rounds
            noise = rounds.noise if few else _measured(options, facts).ratio.noise(options.at_least)
        if noise:
            return Observation(
                item=context.item,
                outcome=Outcome.NOT_OBSERVED,
                fault=Fault.BUSY,
                note=noise,
                quantities=quantities,
                seed=context.seed,
            )
        return Observation(
            item=context.item,
            outcome=Outcome.OBSERVED,
            cases=(rounds.wrong,) if rounds.wrong else (),
            quantities=quantities | ({} if watched is None else dict(trace_quantities(watched.trace))),
            facts=facts,
            output=output,
            seed=context.seed,
        )

    def award(self, options: Options, observation: Observation, related: Mapping[str, Observation]) -> Award:
        """All points from `at_least` on, judged on the interval; open where no machine can be so fast."""
        del related
        if award := award_given(observation) or _unfit(observation):
            return award
        timing = _measured(options, observation.facts)
        flags = tuple(_flags(options, timing, observation.facts))
        if reason := _open(options, timing):
            return Award(fraction=0.0, reason=reason, undecided=True, again=True, flags=flags)
        ratio, reaches = timing.ratio.interval, timing.ratio.reaches(options.at_least)
        summary = (
            f"{number(ratio.middle)} times faster (between {number(ratio.low)} and {number(ratio.high)})"
        )
        summary += _over(options, timing)
        if reaches is False:
            disturbed = number_of(observation, "disturbed_rounds") or 0
            timed = len(observation.facts["samples"]["of"]) + disturbed
            how = median_in_words(timing.ratio.undisturbed, timed)
            reason = f"{summary}; at least {options.at_least:g} are needed ({how})"
            return Award(fraction=0.0, reason=reason, flags=flags)
        watched = watched_of(observation.facts)
        if watched is not None and (award := unproven(watched)):
            return award
        if doubt := implausible(timing, observation.facts, times=options.plausible):
            flags = (*flags, f"implausible: {summary}; {doubt}")
            return Award(
                fraction=0.0, reason=f"a person looks first: {summary}; {doubt}", flags=flags, undecided=True
            )
        if reaches is None:
            flags = (*flags, f"near_threshold: {options.at_least:g} lies within the interval")
        return Award(fraction=1.0, reason=summary, flags=flags)

    def show(self, options: Options, observation: Observation) -> Iterator[Drawing]:
        """Draw the ratio against its threshold, the times behind it, and what the GPU did."""
        yield from ratio_drawings(observation, of=options.of, over=options.over, at_least=options.at_least)
        yield from gpu_drawings(observation, call_s=number_of(observation, "of_s"))
        yield from advice_on_ratio(observation, at_least=options.at_least)


def _unfit(observation: Observation) -> Award | None:
    """Judge what no time makes good: a wrong result, or a GPU that does not work; None if all is well.

    A program that is wrong in an observed call would otherwise have nothing proven, and earn its time.
    """
    if observation.cases:
        note = observation.cases[0].note
        return Award(fraction=0.0, reason=f"the result of a timed call is wrong: {note}")
    watched = watched_of(observation.facts)
    if watched is not None and (problem := idle_or_wrong(watched)):
        return Award(fraction=0.0, reason=problem)
    if watched is not None and not watched.trace.complete:
        return unrecorded("it could not be seen whether the GPU does the work", watched)
    return None


def _measured(options: Speedup.Options, facts: Mapping[str, Any]) -> MeasuredRatio:
    return measured(
        facts["samples"],
        facts["cpu"],
        facts.get("first_call_s", {}),
        undisturbed_rounds=0 if watched_of(facts) is None else options.rounds,
    )


def _over(options: Speedup.Options, timing: MeasuredRatio) -> str:
    """Say over which slow function the ratio is, where that is not the one that the student wrote."""
    if timing.slower <= _NOTICED:
        return ""
    function = function_name(options.over)
    return f" than the course's own {function}, which is {timing.slower:.3g} times as fast as yours"


def _crossing(options: Speedup.Options, context: CheckContext, oracle: Oracle) -> dict[str, Any]:
    """Return the bytes that a call must copy to and from the GPU; empty if the bus is unknown."""
    if not context.devices or not context.bus_bytes_per_s:
        return {}
    case = context.inputs(options.inputs)[0]
    result = oracle(*case.args, **case.kwargs)
    return {CROSSING: crossing(case, result, context.bus_bytes_per_s)}


def _open(options: Speedup.Options, timing: MeasuredRatio) -> str:
    """Why the samples cannot decide; empty if they can."""
    reference, needed = timing.reference.interval.middle, MARGIN * options.at_least
    if reference < needed:
        return (
            f"this machine cannot decide: the reference itself is only {reference:.3g} times faster here, "
            f"and {needed:.3g} are needed to be sure"
        )
    return timing.ratio.noise(options.at_least)


def _flags(options: Speedup.Options, timing: MeasuredRatio, facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield flags on the measurement."""
    if timing.waits_s:
        computes_s, takes_s = timing.waits_s
        yield (
            f"waiting_baseline: {options.over} computes for {computes_s:.3g} s of {takes_s:.3g} s; only that "
            "counts"
        )
    if timing.slower > options.band:
        yield (
            f"slow_baseline: {options.over} is {timing.slower:.3g} times slower than the reference's; that "
            "one was taken instead"
        )
    if facts.get("quiet_untold"):
        yield "quiet_untold: it could not be told whether other work ran beside it"


def _runners(
    options: Speedup.Options,
    context: CheckContext,
    children: ExitStack,
    *,
    beside: bool,
    prove: Callable[[str, Subject, str], SeriesProof | None] | None = None,
) -> dict[str, Runner]:
    """Four children: the two functions of the reference and, where it is `beside` it, of the submission.

    `prove` gives what gathers records of a runner's calls, or exchanges inputs among them, by its name.
    """
    from grader.checks.rounds import Runner

    runners = {}
    for side, of in (("of", options.of), ("over", options.over)):
        module, _, function = of.rpartition(".")
        for name, start, ours in (
            (side, context.subject, False),
            (f"reference_{side}", context.reference, True),
        ):
            if beside or ours:
                subject = children.enter_context(start(module))
                proof = prove(name, subject, function) if prove else None
                runners[name] = Runner(
                    subject=subject, function=function, ours=ours, quick=side == "of", proof=proof
                )
    return runners


def _quantities(
    options: Speedup.Options, rounds: Rounds, facts: Mapping[str, Any]
) -> Iterator[tuple[str, Quantity]]:
    yield "rounds", Quantity(value=rounds.undisturbed, unit="rounds")
    yield "disturbed_rounds", Quantity(value=rounds.disturbed, unit="rounds")
    for side, first_s in rounds.first_call_s.items():
        yield f"{side}_first_call_s", Quantity(value=first_s, unit="s")
    if not rounds.undisturbed:
        return
    yield "identity_s", Quantity(value=median(rounds.identity_s), unit="s")
    for side, seconds in rounds.samples.items():
        yield f"{side}_s", Quantity(value=median(seconds), unit="s")
    ratio = _measured(options, facts).ratio.interval
    yield "ratio", Quantity(value=ratio.middle)
    yield "ratio_low", Quantity(value=ratio.low)
    yield "ratio_high", Quantity(value=ratio.high)
    yield "threshold", Quantity(value=options.at_least)
