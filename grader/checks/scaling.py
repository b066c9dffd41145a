"""How much faster one function gets with more cores, measured in alternating rounds by a clock outside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

from grader.checks.by_hand import award_given
from grader.checks.calls import Oracle, function_name
from grader.checks.drawings.cores import curves_over_cores
from grader.checks.drawings.values import number_of
from grader.checks.interval import Interval, median, median_interval
from grader.checks.ratio import median_in_words, no_faster
from grader.checks.waiting import SHARE
from grader.contracts.check import CheckKind
from grader.errors import ReferenceFailedError
from grader.harness.tolerance import Tolerances
from grader.model.drawing import Advice
from grader.model.observation import Case, Fault, Observation, Outcome, Quantity, Symptom
from grader.model.options import FunctionName, InputsName, OracleName, option, refuse
from grader.model.score import Award

if TYPE_CHECKING:
    from grader.checks.rounds import Rounds, Runner
    from grader.contracts.context import CheckContext
    from grader.model.drawing import Drawing

ONE_CORE = (
    "What only one core does meanwhile: a part that is not parallel, shares of the work that are not even, "
    "threads that wait for each other."
)
RACE = "it is right: do two threads write one place, or does one read what another still writes?"


class Scaling(CheckKind):
    """Time the same call on 1, 2, 4, … cores, in alternating rounds and on fresh inputs.

    For each number of cores there is a program of its own, kept on the first so many of the item's cores; its
    numerical libraries are told so before they are imported. Numbers that the machine does not have are left
    out and named. The result of every timed call is held against the oracle, and right results on every
    number of cores that was tried earn the points.

    With `at_least`, the median of the ratios within each round must reach what is asked for as well; an
    interval that holds the threshold gives the student the benefit, and a person is told. The points stay
    open where the machine does not have the cores (nothing is timed where it has only the fewest), and
    where not even the reference, timed in the same rounds, gets that much faster on it. They also stay
    open, and a person is told, where the program is only faster because it waits, or computes more, on the
    fewest cores, be it in some rounds. A program that disturbs its own rounds is told from a busy machine
    as in `speedup`.
    """

    name: ClassVar[str] = "scaling"
    one_case: ClassVar[bool] = True
    timed: ClassVar[bool] = True
    by_hand: ClassVar[bool] = True

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """The YAML keys."""

        of: FunctionName = option("The function that is called, as module.function.")
        inputs: InputsName = option("The family of inputs; its only case is drawn anew for each round.")
        expected: OracleName = option(
            "The oracle; if it is not given, the one with the function's own name.",
            like="of",
            default=OracleName(""),
        )
        tolerance: Tolerances = option(
            "How far floats may be from the expected ones, by dtype; integers are exact.",
            default=Tolerances(),
        )
        cores: tuple[int, ...] = option(
            "The numbers of cores, from the fewest on; [1, 2, 4, 8] if left out.",
            default=(1, 2, 4, 8),
            above=0,
            example="[1, 2]",
        )
        at_least: Mapping[str, float] = option(
            "How many times faster than on the fewest it must be, by number of cores, as in {'4': 2.5}.",
            judges=True,
            default_factory=dict,
            above=0,
            example='{"2": 1.5}',
        )
        rounds: int = option("The least number of rounds, 5 or more.", default=5, above=4)
        budget_s: float = option("Seconds after which no further round begins.", default=30.0, above=0)

        def __post_init__(self) -> None:
            """Refuse numbers of cores without an order, and thresholds for numbers that are not measured."""
            if not self.cores or any(one >= other for one, other in pairwise(self.cores)):
                raise ValueError("cores: must grow from number to number, as in [1, 2, 4, 8]")
            more = [str(count) for count in self.cores[1:]]
            problems = [
                f"at_least: {count} is no number of cores that is compared with {self.cores[0]}; "
                f"give one of {', '.join(more) or 'those that you add to `cores`'}"
                for count in self.at_least
                if count not in more
            ]
            refuse(problems, self)

    def objections(self, options: Options, assignment: str) -> Iterator[tuple[str, str]]:
        """Yield thresholds beyond the share of cores."""
        del assignment
        for count, factor in options.at_least.items():
            if count not in map(str, options.cores):  # refused already
                continue
            most = int(count) / options.cores[0]
            if factor > most:
                yield "at_least", f"{count} cores are {most:g} times as many, got {factor:g}; give less"

    def remarks(self, options: Options, assignment: str) -> Iterator[tuple[str, str]]:
        """Yield thresholds that no parallel part is needed for."""
        del assignment
        yield from (("at_least", no_faster(ratio)) for ratio in options.at_least.values() if ratio <= 1)

    def observe(self, options: Options, context: CheckContext) -> Observation:
        """Warm up on other data, then time round after round until the intervals decide or time is up."""
        from grader.checks.control import beside_the_reference

        counts = tuple(count for count in options.cores if count <= context.cores)
        if not counts:
            return _ended(context, Outcome.NOT_OBSERVED, _lacking(options.cores[0], context.cores))
        missing = _missing(options, counts)
        if missing and len(counts) == 1:  # rounds would compare nothing, however quiet the machine is
            return _ended(context, Outcome.NOT_OBSERVED, missing)
        oracle = Oracle(context.expected(options.expected or function_name(options.of)), options.tolerance)
        return beside_the_reference(
            lambda: self._observe(options, context, counts, oracle),
            context,
            partial(_runners, options.of, counts, context),
            options.inputs,
            oracle,
            loop=_reference(counts[0]),
        )

    def _observe(
        self, options: Options, context: CheckContext, counts: tuple[int, ...], oracle: Oracle
    ) -> Observation:
        from grader.checks.control import busy_by_itself, measured_again
        from grader.checks.rounds import Schedule, timed_rounds

        with ExitStack() as children:
            runners = _runners(options.of, counts, context, children, beside=True)
            for name, runner in runners.items():
                imported = runner.subject.imported
                if imported.outcome is not Outcome.OBSERVED:
                    note = f"{_on(name)}: {imported.note}"
                    if runner.ours:
                        raise ReferenceFailedError(f"reference: {note}", output=runner.subject.output)
                    return _ended(context, imported.outcome, note, runner.subject.output)
            schedule = Schedule(
                least=options.rounds,
                budget_s=options.budget_s,
                decided=lambda rounds: _decided(options, rounds.samples, counts),
            )
            loop = _reference(counts[0])
            rounds = timed_rounds(context, runners, options.inputs, oracle, loop=loop, schedule=schedule)
            output = "".join(runners[str(count)].subject.output for count in counts)
        start = partial(_runners, options.of, counts, context)
        rounds, by_itself = measured_again(
            rounds, context, start, options.inputs, oracle, loop=loop, schedule=schedule
        )
        if by_itself:
            return busy_by_itself(context, output)
        if rounds.failed:
            note = f"{_on(rounds.spoiled_by)}: {rounds.failed.note}"
            return _ended(context, rounds.failed.outcome, note, output)
        missing = "" if rounds.wrong else _missing(options, counts)
        if not rounds.wrong and rounds.undisturbed < options.rounds:
            fault = None if missing else Fault.BUSY  # a quiet hour does not add cores
            return _ended(context, Outcome.NOT_OBSERVED, missing or rounds.noise, fault=fault)
        return Observation(
            item=context.item,
            # what was asked for is tried again, on a machine that may have the cores
            outcome=Outcome.NOT_OBSERVED if missing else Outcome.OBSERVED,
            note=missing,
            cases=(_where(rounds.wrong, rounds.spoiled_by, counts[0]),) if rounds.wrong else (),
            quantities=dict(_quantities(rounds, counts)),
            facts={
                "cores": list(counts),
                "left_out": [count for count in options.cores if count not in counts],
                "samples": rounds.samples,
                "cpu": rounds.cpu,
                "first_call_s": rounds.first_call_s,
                "quiet_untold": context.quiet.untold,
            },
            output=output,
            seed=context.seed,
        )

    def award(self, options: Options, observation: Observation, related: Mapping[str, Observation]) -> Award:
        """All points if every result is right and every number of cores that is asked for is enough."""
        del related
        if by_hand := award_given(observation):
            return by_hand
        if observation.cases:
            wrong = observation.cases[0]
            return Award(fraction=0.0, reason=f"{wrong.name}: the result is wrong: {wrong.note}")
        facts = observation.facts
        counts: Sequence[int] = facts["cores"]
        samples: Samples = facts["samples"]
        fewest = counts[0]
        factors = {count: _factor(samples, fewest, count) for count in counts[1:]}
        summary = _factors_in_words(factors, fewest)
        at_least = {int(count): factor for count, factor in sorted(options.at_least.items())}
        if missing := _missing(options, counts):
            return Award(fraction=0.0, reason=f"{missing}; {summary}", undecided=True, again=True)
        flags: tuple[str, ...] = ()
        if facts.get("quiet_untold"):
            flags = ("quiet_untold: it could not be told whether other work ran beside it",)
        for count, least in at_least.items():
            factor = factors[count]
            if factor.high < least:
                return _too_slow(samples, fewest, count, least, flags)
            if uneven := _uneven(samples, facts["cpu"], fewest, count, least):
                reason = f"a person looks at what the program does on {_cores(fewest)}; {summary}"
                return Award(fraction=0.0, reason=reason, flags=(*flags, uneven), undecided=True)
            if factor.low < least:
                flags = (*flags, f"near_threshold: on {count} cores, {least:g} lies within the interval")
        return Award(fraction=1.0, reason=summary, flags=flags)

    def show(self, options: Options, observation: Observation) -> Iterator[Drawing]:
        """Draw the time over the number of cores, with the thresholds that now hold."""
        yield from curves_over_cores(observation, options.at_least)
        if number_of(observation, "rounds") and not observation.cases:
            yield Advice(text=ONE_CORE)


Samples = Mapping[str, Sequence[float]]
"""Seconds of each round by runner: `1`, `2`, … are the submission's, `reference_1`, … the reference's."""


def _reference(count: int) -> str:
    return f"reference_{count}"


def _cores(count: int) -> str:
    return f"{count} core" if count == 1 else f"{count} cores"


def _lacking(needed: int, had: int) -> str:
    return f"needs {_cores(needed)} for itself; this machine had {had}"


def _missing(options: Scaling.Options, counts: Sequence[int]) -> str:
    """Return the sentence on required numbers of cores that the machine lacks; empty if it has all."""
    missing = [int(count) for count in options.at_least if int(count) not in counts]
    return _lacking(max(missing), counts[-1]) if missing else ""


def _on(runner: str) -> str:
    """Where a runner runs, as a person reads it."""
    return f"on {_cores(int(runner.removeprefix('reference_')))}"


def _runners(
    of: str, counts: Sequence[int], context: CheckContext, children: ExitStack, *, beside: bool
) -> dict[str, Runner]:
    """For each number of cores a child of the reference and, if `beside`, one of the submission."""
    from grader.checks.rounds import Runner

    module, _, function = of.rpartition(".")
    runners: dict[str, Runner] = {}
    for count in counts:
        for name, start, ours in (
            (_reference(count), context.reference, True),
            (str(count), context.subject, False),
        ):
            if beside or ours:
                subject = children.enter_context(start(module, cores=count))
                runners[name] = Runner(subject=subject, function=function, ours=ours, quick=False)
    return runners


def _ended(
    context: CheckContext, outcome: Outcome, note: str, output: str = "", fault: Fault | None = None
) -> Observation:
    return Observation(
        item=context.item, outcome=outcome, note=note, fault=fault, output=output, seed=context.seed
    )


def _where(wrong: Case, runner: str, fewest: int) -> Case:
    """The wrong call with its number of cores: in the same round it was right on the fewest."""
    race = "" if runner == str(fewest) else f"; on {_cores(fewest)} {RACE}"
    return replace(
        wrong,
        name=f"{wrong.name}, {_on(runner)}",
        note=f"{wrong.note}{race}",
        symptom=Symptom.RACE if race else wrong.symptom,
    )


def _quantities(rounds: Rounds, counts: Sequence[int]) -> Iterator[tuple[str, Quantity]]:
    yield "rounds", Quantity(value=rounds.undisturbed, unit="rounds")
    yield "disturbed_rounds", Quantity(value=rounds.disturbed, unit="rounds")
    if not rounds.undisturbed:
        return
    yield "identity_s", Quantity(value=median(rounds.identity_s), unit="s")
    for count in counts:
        yield f"seconds_{count}", Quantity(value=median(rounds.samples[str(count)]), unit="s")
    for count in counts[1:]:
        yield f"factor_{count}", Quantity(value=_factor(rounds.samples, counts[0], count).middle)


def _factor(samples: Samples, fewest: int, count: int, of: str = "") -> Interval:
    """How many times the time on more cores the time on the fewest is, within each round."""
    pairs = zip(samples[f"{of}{fewest}"], samples[f"{of}{count}"], strict=True)
    return median_interval([few / more for few, more in pairs])


def _factors_in_words(factors: Mapping[int, Interval], fewest: int) -> str:
    """`right on 1, 2, 4 cores; 1.9 times faster on 2 than on 1, 3.4 times on 4`."""
    if not factors:
        return f"right on {_cores(fewest)}"
    counts = ", ".join(map(str, (fewest, *factors)))
    factors_in_words = [f"{factor.middle:.3g} times on {count}" for count, factor in factors.items()]
    factors_in_words[0] = (
        factors_in_words[0].replace(" times on ", " times faster on ") + f" than on {fewest}"
    )
    return f"right on {counts} cores; {', '.join(factors_in_words)}"


def _too_slow(samples: Samples, fewest: int, count: int, least: float, flags: tuple[str, ...]) -> Award:
    reference = _factor(samples, fewest, count, of="reference_")
    if reference.middle < least:
        reason = (
            f"this machine cannot decide: on {count} cores the reference itself is only "
            f"{reference.middle:.3g} times faster than on {fewest}, and {least:g} are asked for"
        )
        return Award(fraction=0.0, reason=reason, undecided=True, again=True)
    factor = _factor(samples, fewest, count)
    rounds = len(samples[str(count)])
    how = median_in_words(rounds, rounds)
    reason = (
        f"on {count} cores {factor.middle:.3g} times faster than on {fewest} "
        f"(between {factor.low:.3g} and {factor.high:.3g}); at least {least:g} are needed ({how})"
    )
    return Award(fraction=0.0, reason=reason, flags=flags)


def _uneven(samples: Samples, cpu: Samples, fewest: int, count: int, least: float) -> str:
    """Return a flag if only the time on the fewest cores makes the factor; empty otherwise.

    A parallel program computes about as long in all, on however many cores, and on one core it does nothing
    but compute. So its time there is believed up to what it computes, there and on more cores.
    """
    rounds = zip(*(of[str(n)] for n in (fewest, count) for of in (samples, cpu)), strict=True)
    believed = median_interval(
        [
            min(few_s, SHARE * few_cpu_s) * min(1.0, SHARE * more_cpu_s / few_cpu_s) / more_s
            for few_s, few_cpu_s, more_s, more_cpu_s in rounds
        ]
    )
    whole = believed.middle >= least or believed.middle >= _factor(samples, fewest, count).middle
    # the benefit of the doubt is for what is believed: a program may be slow on purpose in some rounds only
    if whole and believed.high >= least:
        return ""
    few, few_cpu = (max(of[str(fewest)]) for of in (samples, cpu))
    return (
        f"uneven_work: on {_cores(fewest)} it takes up to {few:.3g} s and computes for up to {few_cpu:.3g} "
        f"s; on {count} it computes for {median(cpu[str(count)]):.3g} s in all"
    )


def _decided(options: Scaling.Options, samples: Samples, counts: Sequence[int]) -> bool:
    """Whether further rounds could not change the verdict."""
    intervals = [
        (_factor(samples, counts[0], int(count)), least)
        for count, least in options.at_least.items()
        if int(count) in counts
    ]
    return all(factor.high < least or factor.low >= least for factor, least in intervals)
