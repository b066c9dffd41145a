"""Whether a harness's times per mini-batch are those of a clock outside, for networks on CPU and GPU."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from math import ceil
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from grader.api import CourseError, case
from grader.api.check import (
    Award,
    CheckKind,
    FunctionName,
    InputsName,
    Interval,
    Observation,
    Outcome,
    Quantity,
    Requirement,
    ValueTable,
    award_given,
    award_requirements,
    cases_of,
    failed_observation,
    median,
    median_interval,
    option,
)
from grader.checks.drawings.cores import cores_left_out

from .claims import claimed
from .matches_on_cpu import NO_TORCH

if TYPE_CHECKING:
    from grader.api.check import Call, CheckContext, Drawing, InputCase, Subject

TABLE = "times_beside"
"""The fact with the cells."""
MOST_ROWS = 100
"""Rows of the table of times: a network has two."""
NOISE = 3.0
"""How many times further off a time must be where the machine was not quiet: other work explains less."""
OURS_S = 0.2
"""About how long the clock outside runs for one time, where a mini-batch takes less."""
BY_ITSELF = (
    "the cores were busy with other work whenever the harness ran, and never when the clock outside did"
)
MOST_STEPS = 20
MOST_ROUNDS = 60


class MinibatchTimes(CheckKind):
    """Let a harness time networks, and time them from outside in the same rounds; hold one against the other.

    The clock outside stands around a program of the reference's that trains the same network, and nothing of
    the submission runs there. Each network on each number of threads, and on the item's GPU, is a cell: the
    median of the ratios, round by round, must be within `within`. A ratio of which the interval holds the
    limit is taken for right, and a person is told. Where too few rounds were quiet, only what no other work
    explains is wrong. What is not clearly right then is timed again, up to three times, while the clock
    outside is undisturbed alone: a harness that others disturb each time is wrong, for it is no others. On a
    machine that is busy anyway it stays open.

    Numbers of threads for which the machine has no cores are left out and named.
    """

    name: ClassVar[str] = "minibatch_times"
    timed: ClassVar[bool] = True
    by_hand: ClassVar[bool] = True

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """The YAML keys."""

        of: FunctionName = option("The course's driver that asks the harness, as module.function.")
        inputs: InputsName = option("The family of inputs: name, size and samples of each network.")
        cores: tuple[int, ...] = option("The numbers of threads.", default=(1, 2, 4, 8), above=0)
        within: float = option(
            "How many times too long or too short a time may be.", default=1.5, judges=True
        )
        rounds: int = option("The least number of rounds of a cell.", default=6, above=2)
        cell_s: float = option(
            "Seconds after which no further round of a cell begins.", default=20.0, above=0
        )
        credit: Literal["all", "per_case"] = option(
            "Whether every cell must be right, or each earns its share.", judges=True, default="all"
        )

    def observe(self, options: Options, context: CheckContext) -> Observation:
        """Cell after cell, some rounds each."""
        if find_spec("torch") is None:
            return Observation(
                item=context.item, outcome=Outcome.NOT_OBSERVED, note=NO_TORCH, seed=context.seed
            )
        there = [count for count in options.cores if count <= context.cores] or [min(options.cores)]
        columns = [("cpu", count) for count in there] + [("cuda:0", there[-1])] * bool(context.devices)
        module, _, ask = options.of.rpartition(".")
        cells: list[dict[str, Any]] = []
        failed: Call | None = None
        with (
            context.subject(module, cores=there[-1]) as subject,
            context.reference(module, cores=there[-1]) as reference,
        ):
            if reference.imported.outcome is not Outcome.OBSERVED:
                raise CourseError(f"reference: {reference.imported.note}")
            if subject.imported.outcome is not Outcome.OBSERVED:
                failed = subject.imported
            for network in cases_of(context, options.inputs):
                for device, threads in columns:
                    cell = _Cell(context, subject, reference, _with(network, device, threads))
                    failed = failed or cell.time_quietly(ask, options)
                    if not failed:
                        cells.append(cell.plain())
            output = subject.output
        if failed:
            return failed_observation(context, failed, options.of)
        return Observation(
            item=context.item,
            outcome=Outcome.OBSERVED,
            quantities=dict(_quantities(cells)),
            facts={TABLE: cells, "left_out": [count for count in options.cores if count not in there]},
            output=output,
            seed=context.seed,
        )

    def award(self, options: Options, observation: Observation, related: Mapping[str, Observation]) -> Award:
        """Every cell judged by itself."""
        del related
        if given := award_given(observation):
            return given
        judged = [_judge(cell, options) for cell in observation.facts[TABLE]]
        flags = tuple(f"near_threshold: {near}" for _, near in judged if near)
        return award_requirements([one for one, _ in judged], credit=options.credit, flags=flags)

    def show(self, options: Options, observation: Observation) -> Iterator[Drawing]:
        """Draw both times of each cell in the form of Table 7 of Shi et al. (2016)."""
        del options
        cells = {(cell["row"], cell["threads"]): cell for cell in observation.facts.get(TABLE, ())}
        threads = sorted({count for _, count in cells if count is not None})
        heads = [*threads, *([None] if any(count is None for _, count in cells) else [])]
        rows = [
            (
                name if which == "claimed" else "",
                whose,
                *(_seconds(cells.get((name, head)), which) for head in heads),
            )
            for name in dict.fromkeys(name for name, _ in cells)
            for which, whose in (("claimed", "program"), ("clock", "our clock"))
        ]
        if rows:
            yield ValueTable(
                title="Seconds, as the program says and by our clock",
                groups=tuple(
                    group
                    for group in (("CPU (threads used)", len(threads)), ("GPU", len(heads) - len(threads)))
                    if group[1]
                ),
                head=("", "", *(str(head or "") for head in heads)),
                names=2,
                rows=tuple(rows),
                at_most=MOST_ROWS,
            )
        yield from cores_left_out(observation)


def _seconds(cell: Mapping[str, Any] | None, which: str) -> Quantity:
    """Return the median of a cell's times; unknown without any, or if one of them is no time."""
    times = cell[which] if cell else []
    return Quantity(value=None if not times or None in times else median(times))


def _with(network: InputCase, device: str, threads: int) -> InputCase:
    return case(network.name, *network.args, device, threads)


class _Cell:
    """One network on one number of threads, or on a GPU."""

    def __init__(self, context: CheckContext, subject: Subject, reference: Subject, what: InputCase) -> None:
        self._context = context
        self._subject = subject
        self._reference = reference
        self._what = what
        self._claimed: list[float | None] = []
        self._clock: list[float] = []
        self._quiet: list[bool | None] = []
        """None of those of which it cannot be told yet."""
        self._steps = 0
        self._by_itself = False
        self._some: InputCase | None = None
        """The call that the clock outside times; None until one mini-batch was timed."""

    def time_quietly(self, ask: str, options: MinibatchTimes.Options) -> Call | None:
        """`_time`, again where disturbed rounds leave it open and the clock alone is undisturbed."""
        from grader.checks.control import SHARE, quiet_alone, until_quiet

        def enough(failed: Call | None) -> bool:
            if failed is not None or False not in self._quiet:
                return True
            return _judge(self.plain(), options)[0].met is not None

        failed, self._by_itself = until_quiet(
            self._time(ask, options, options.cell_s),
            enough=enough,
            alone=lambda: quiet_alone(self._context, self._clock_alone),
            again=lambda: self._time(ask, options, options.cell_s / SHARE),
        )
        return failed

    def _clock_alone(self) -> None:
        """Run the clock outside for one time."""
        self._ours("run", self._ours_for_a_time())

    def _ours_for_a_time(self) -> InputCase:
        """So many mini-batches that the clock outside runs for about `OURS_S`."""
        if self._some is None:
            self._ours("prepare", self._what)
            once = self._ours("run", case("once", 1)).wall_s
            self._some = case("some", max(1, min(MOST_STEPS, ceil(OURS_S / once))))
        return self._some

    def _time(self, ask: str, options: MinibatchTimes.Options, within_s: float) -> Call | None:
        """Round after round; the submission's call that did not return, if there is one."""
        begun = time.monotonic()
        ours = self._ours_for_a_time()
        self._claimed, self._clock, self._quiet = [], [], []
        while True:
            self._context.quiet.begin(anew=not self._clock)
            call = self._subject.call(ask, self._what)
            if call.outcome is not Outcome.OBSERVED:
                return call
            run = self._ours("run", ours)
            again = self._reference.again(ours)
            self._note(self._context.quiet.end())
            seconds, self._steps = claimed(call.value)
            self._claimed.append(seconds)
            self._clock.append(max(1e-9, run.wall_s - again.wall_s) / ours.args[0])
            late = time.monotonic() - begun > within_s or len(self._clock) >= MOST_ROUNDS
            if late or (len(self._clock) >= options.rounds and _decided(self.plain(), options)):
                return None

    def _note(self, disturbance: str | None) -> None:
        """What else went on in a round; None if that shows later, together with later rounds."""
        self._quiet.append(None)
        if disturbance is not None:
            self._quiet = [not disturbance if quiet is None else quiet for quiet in self._quiet]

    def _ours(self, function: str, what: InputCase) -> Call:
        call = self._reference.call(function, what)
        if call.outcome is not Outcome.OBSERVED:
            raise CourseError(f"given: {function}: {call.note}")
        return call

    def plain(self) -> dict[str, Any]:
        """The cell as JSON has it."""
        *_, device, threads = self._what.args
        return {
            "row": self._what.name,
            "threads": threads if device == "cpu" else None,
            "claimed": self._claimed,
            "clock": self._clock,
            "quiet": [quiet is True for quiet in self._quiet],
            "steps": self._steps,
            "by_itself": self._by_itself,
        }


def _judge(cell: Mapping[str, Any], options: MinibatchTimes.Options) -> tuple[Requirement, str]:
    """Whether it is right, and what is near a limit."""
    where = f"{cell['row']} on {_column(cell['threads'])}"
    if not cell["steps"]:
        return Requirement(met=False, missed=f"{where}: no mini-batch was trained while it was timed"), ""
    if None in cell["claimed"]:
        return Requirement(met=False, missed=f"{where}: the harness gives no number of seconds above 0"), ""
    if cell.get("by_itself"):
        return Requirement(met=False, missed=f"{where}: {BY_ITSELF}"), ""
    noisy = _noisy(cell, options)
    ratio = _ratio(cell, quiet_only=not noisy)
    inside = 1 / options.within <= ratio.low and ratio.high <= options.within
    limit = options.within * (NOISE if noisy else 1.0)
    said, clock = median(cell["claimed"]), median(cell["clock"])
    told = f"{where}: the harness says {said:.3g} s, the clock outside {clock:.3g} s"
    if ratio.low > limit or ratio.high < 1 / limit:
        return Requirement(met=False, missed=told), ""
    if noisy and not inside:
        return Requirement(met=None, missed=f"{told}, and the machine was not quiet"), ""
    return Requirement(met=True, missed=""), "" if inside else told


def _noisy(cell: Mapping[str, Any], options: MinibatchTimes.Options) -> bool:
    """Whether too few rounds were quiet."""
    return bool(sum(cell["quiet"]) < min(options.rounds, len(cell["quiet"])))


def _column(threads: int | None) -> str:
    if threads is None:
        return "the GPU"
    return f"{threads} thread{'' if threads == 1 else 's'}"


def _decided(cell: Mapping[str, Any], options: MinibatchTimes.Options) -> bool:
    """Whether more rounds would hardly change the verdict."""
    judged, near = _judge(cell, options)
    return judged.met is not None and not near


def _ratio(cell: Mapping[str, Any], *, quiet_only: bool) -> Interval:
    rounds: Sequence[tuple[float, float, bool]] = list(
        zip(cell["claimed"], cell["clock"], cell["quiet"], strict=True)
    )
    return median_interval([said / took for said, took, quiet in rounds if quiet or not quiet_only])


def _quantities(cells: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Quantity]]:
    yield "rounds", Quantity(value=sum(len(cell["quiet"]) for cell in cells), unit="rounds")
    quiet = sum(sum(cell["quiet"]) for cell in cells)
    yield "quiet_rounds", Quantity(value=quiet, unit="rounds")
