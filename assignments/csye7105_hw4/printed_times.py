"""Whether a program computes the right sum, and whether the times that it prints are times of that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from grader.api import CourseError
from grader.api.check import (
    Award,
    CheckKind,
    FunctionName,
    InputsName,
    Observation,
    Outcome,
    Quantity,
    Requirement,
    Trace,
    award_given,
    award_requirements,
    cases_of,
    failed_observation,
    option,
    to_plain,
)
from grader.checks.drawings.gpu import gpu_drawings
from grader.checks.watched import WATCHED, unrecorded, watched_of
from grader.model.trace import Watched

from .timeline import misread, printed, windows_of
from .values import HINTS, MISTAKES, RIGHT, UNSEEN, summed
from .written_for import imports_of

if TYPE_CHECKING:
    from grader.api.check import CheckContext, Drawing

CLAIM = "subject"
MOST_MATRICES, MOST_READINGS = 16, 400
"""As in `program`."""
PROCESSES = ("multiprocessing", "torch.distributed", "torch.multiprocessing", "mpi4py")
"""What programs of several processes import: an observer sees the first process alone."""


class PrintedTimes(CheckKind):
    """Run a program under observation, and hold what it computes and the times it prints against the records.

    A driver of the course's runs it, keeps the matrices that its functions leave behind and notes when it
    read a clock. A printed time must be the difference of two readings between which the GPUs did the work
    that it claims to time, were done with it, and did little else. What cannot be seen leaves its share open.
    """

    name: ClassVar[str] = "printed_times"
    by_hand: ClassVar[bool] = True

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """The YAML keys."""

        of: FunctionName = option("The driver that runs the program, as module.function.")
        powers: str = option("The driver's function that tells what the kept matrices do.", default="powers")
        inputs: InputsName = option("The family of inputs: the file, the size, and a vector of that size.")
        busy_at_least: float = option(
            "The share of a printed time in which a GPU must compute.", judges=True, default=0.5, above=0
        )
        credit: Literal["all", "per_case"] = option(
            "Whether every requirement must be met, or each earns its share.", judges=True, default="per_case"
        )

    def observe(self, options: Options, context: CheckContext) -> Observation:
        """Run it once, and look at its matrices."""
        (case,) = cases_of(context, options.inputs)
        module, _, function = options.of.rpartition(".")
        with context.subject(module, observed=True) as subject:
            if subject.imported.outcome is not Outcome.OBSERVED:
                raise CourseError(f"given: {subject.imported.note}")
            call = subject.call(function, case)
            output = subject.output
            if call.outcome is not Outcome.OBSERVED:
                return failed_observation(context, call, options.of, output)
            kept = subject.call(options.powers, case)
        rows = _rows(kept.value) if kept.outcome is Outcome.OBSERVED else []
        trace = call.trace or Trace(source="none", complete=False, problem="no observer answered")
        file = str(case.args[0])
        return Observation(
            item=context.item,
            outcome=Outcome.OBSERVED,
            quantities={"wall_s": Quantity(value=call.wall_s, unit="s"), **dict(_claims(output))},
            facts={
                WATCHED: to_plain(Watched(trace=trace)),
                "sum": summed(rows),
                "readings": _readings(call.value),
                "processes": [name for name in PROCESSES if name in imports_of(context, file)],
            },
            output=output,
            seed=context.seed,
        )

    def award(self, options: Options, observation: Observation, related: Mapping[str, Observation]) -> Award:
        """A share for the sum, and one for each of the two times."""
        del related
        if given := award_given(observation):
            return given
        watched = watched_of(observation.facts)
        if watched is None or not watched.trace.complete:
            return unrecorded("what the program did on the GPUs could not be observed", watched)
        if observation.facts["processes"]:
            reason = "the program works in several processes, of which only the first was observed"
            return Award(fraction=0.0, reason=f"{reason}; a person looks", undecided=True)
        judged = [_sum(observation), *(_time(options, observation, watched.trace, n) for n in (1, 2))]
        award = award_requirements([one for one, _ in judged], credit=options.credit)
        hints = dict.fromkeys(HINTS[name] for one, name in judged if one.met is False and name in HINTS)
        return replace(award, hint=" ".join(hints))

    def show(self, options: Options, observation: Observation) -> Iterator[Drawing]:
        """Draw what the GPU did."""
        del options
        return gpu_drawings(observation)


def _rows(value: Any) -> list[Any]:
    """The rows of each matrix, as `program.powers` gives them, and nothing for what is none of that."""
    from numpy import ndarray

    rows = [one.get("rows") for one in value if type(one) is dict] if type(value) is list else []
    arrays = [one for one in rows if type(one) is ndarray and (one.dtype, one.ndim) == ("float64", 2)]
    return [array for array in arrays if array.shape == arrays[0].shape][:MOST_MATRICES]


def _readings(value: Any) -> list[list[Any]]:
    """The readings of clocks, name, value and when, and nothing for what is none of that."""
    readings = value.get("readings") if type(value) is dict else None
    return [
        reading
        for reading in (readings if type(readings) is list else [])
        if type(reading) is list
        and [type(part) for part in reading] == [str, float, float]
        and all(map(isfinite, reading[1:]))
    ][:MOST_READINGS]


Judged = tuple[Requirement, str]
"""A requirement, and the name of what is wrong."""


def _sum(observation: Observation) -> Judged:
    name = observation.facts["sum"]
    if name == UNSEEN:
        missed = "the sum of the powers is not among the matrices that its functions leave behind"
        return Requirement(met=None, missed=missed), name
    return Requirement(met=name == RIGHT, missed=MISTAKES.get(name, "")), name


def _time(options: PrintedTimes.Options, observation: Observation, trace: Trace, gpus: int) -> Judged:
    what = f"the time for {gpus} GPU{'' if gpus == 1 else 's'}"
    time = printed(observation.output, gpus)
    if time is None:
        return Requirement(met=False, missed=f"{what} is not printed (“{gpus} GPU…: 0.123 s”)"), "missing"
    wall_s = float(observation.quantities["wall_s"].value or 0)
    if time.seconds - time.half > wall_s:
        missed = f"{what} is printed as {time.seconds:.3g} s, and the whole program took {wall_s:.3g} s"
        return Requirement(met=False, missed=missed), "invented"
    if not trace.launch_count:
        return Requirement(met=False, missed=f"{what}: no kernel was launched on any GPU"), "one_device"
    if any(one.seconds is None for one in trace.launches) or trace.launch_count > len(trace.launches):
        missed = f"{what} cannot be held against the kernels: {trace.source} does not tell all their times"
        return Requirement(met=None, missed=missed), ""
    seen = [
        (sum(one.seconds or 0.0 for one in window.holds(trace.launches)), window)
        for window in windows_of(time, observation.facts["readings"])
    ]
    if not seen:
        missed = f"{what}, {time.seconds:.3g} s, is not the difference of any two readings of a clock"
        return Requirement(met=None, missed=missed), "unmatched"
    window = max(seen, key=lambda one: one[0])[1]
    name, sentence = misread(window, trace.launches, gpus, options.busy_at_least)
    return Requirement(met=not name, missed=f"{what}: {sentence}"), name


def _claims(output: str) -> Iterator[tuple[str, Quantity]]:
    for gpus in (1, 2):
        if time := printed(output, gpus):
            yield f"printed_on_{gpus}_s", Quantity(value=time.seconds, unit="s", taken_by=CLAIM)
