"""The kernels that a program of the course runs on a GPU, with their times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from grader.contracts.check import CheckKind
from grader.errors import CourseError
from grader.model.drawing import Drawing, ValueTable
from grader.model.observation import Observation, Outcome, Quantity
from grader.model.options import FunctionName, option
from grader.model.score import Award
from grader.model.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.contracts.context import CheckContext

MACHINE = ("gpu", "torch")
"""Keys of what the driver returns: the device's name, and the version of torch."""


class ProfileKind(CheckKind):
    """Run a program of the course on a GPU, and note which kernels took how long, and which calls it made.

    A driver in `given/` runs it and returns `{"gpu": …, "torch": …}`, the names of what it ran on. Nothing of
    the submission is in that process. Items of `profile_table` hold reported tables against it.

    The item names its device, as in `devices: {gpu: 1}`.
    """

    name: ClassVar[str] = "profile"

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """The YAML keys."""

        of: FunctionName = option(
            "The driver's function, as module.function; it is called with no arguments."
        )

    def gpus_needed(self, options: Options) -> int:
        """Return 1, on which the program runs."""
        del options
        return 1

    def observe(self, options: Options, context: CheckContext) -> Observation:
        """Run it once under observation."""
        from grader.contracts.call import InputCase

        module, _, function = options.of.rpartition(".")
        with context.subject(module, observed=True) as subject:
            call = subject.imported
            if call.outcome is Outcome.OBSERVED:
                call = subject.call(function, InputCase(name="the program", args=()))
            output = subject.output
        if call.outcome is not Outcome.OBSERVED:
            raise CourseError(f"given: {options.of}: {call.note}")
        names = call.value if type(call.value) is dict else {}
        if not all(type(names.get(key)) is str for key in MACHINE):
            raise CourseError(f'{options.of}: must return {{"gpu": name, "torch": version}}')
        trace = call.trace or Trace(source="none", complete=False, problem="no observer answered")
        rows = kernels_of(trace)
        return Observation(
            item=context.item,
            outcome=Outcome.OBSERVED,
            quantities={
                "kernels_s": Quantity(value=sum(seconds for _, seconds, _ in rows), unit="s"),
                "wall_s": Quantity(value=call.wall_s, unit="s"),
            },
            facts={
                "kernels": [list(row) for row in rows],
                "calls": sorted({*trace.api, *trace.api_before}),
                "problem": _problem(trace),
                **{key: names[key] for key in MACHINE},
            },
            output=output,
            seed=context.seed,
        )

    def award(self, options: Options, observation: Observation, related: Mapping[str, Observation]) -> Award:
        """All points if there is a profile; undecided if the record has a hole."""
        del options, related
        facts = observation.facts
        if facts["problem"]:
            reason = f"the program could not be profiled: {facts['problem']}"
            return Award(fraction=0.0, reason=reason, undecided=True, again=True)
        machine = f"{facts['gpu']} with torch {facts['torch']}"
        return Award(fraction=1.0, reason=f"profiled on {machine}: {len(facts['kernels'])} kernels")

    def show(self, options: Options, observation: Observation) -> Iterator[Drawing]:
        """Draw the table that a right report has."""
        del options
        rows = observation.facts.get("kernels", ())
        whole = sum(seconds for _, seconds, _ in rows)
        if not whole:
            return
        running, shown = 0.0, []
        for name, seconds, launches in rows:
            running += seconds
            shown.append(
                (
                    name,
                    Quantity(value=seconds, unit="s"),
                    str(launches),
                    f"{seconds / whole:.2%}",
                    f"{running / whole:.2%}",
                )
            )
        machine = f"{observation.facts['gpu']}, torch {observation.facts['torch']}"
        yield ValueTable(
            title=f"Kernels on {machine}",
            head=("kernel", "time", "launches", "share", "running sum"),
            rows=tuple(shown),
            quantities=frozenset({"kernels_s"}),
        )


def kernels_of(trace: Trace) -> Sequence[tuple[str, float, int]]:
    """Return each kernel's name, its time in seconds and its launches, the longest first."""
    seconds: dict[str, float] = {}
    launches: dict[str, int] = {}
    for launch in trace.launches:
        seconds[launch.kernel] = seconds.get(launch.kernel, 0.0) + (launch.seconds or 0.0)
        launches[launch.kernel] = launches.get(launch.kernel, 0) + 1
    names = sorted(seconds, key=lambda name: (-seconds[name], name))
    return [(name, seconds[name], launches[name]) for name in names]


def _problem(trace: Trace) -> str:
    """Return why a trace is no profile; empty if it is one."""
    if not trace.complete:
        return trace.problem or "the record is not complete"
    if not trace.launch_count:
        return "it launched no kernel"
    if trace.launch_count > len(trace.launches):
        return f"of {trace.launch_count} launches {len(trace.launches)} are recorded one by one"
    if any(launch.seconds is None for launch in trace.launches):
        return f"{trace.source} does not tell how long kernels run"
    return ""
