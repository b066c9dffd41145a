"""Sources of disturbed timings on this machine: the list that `grader doctor` prints."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from grader.cli.devices import Card
from grader.cli.doctor_line import SPOILS, DoctorLine
from grader.machine.cores import Cores, quota
from grader.machine.quiet import load_1min, readings

_SAMPLE_S = 0.5
_BUSY = 0.2
"""The share of the time from which on a core counts as busy."""
_CROWDED = 0.5
"""The load per core from which on a load warning is printed."""
_ALONE = "let nothing else run here while grading"


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Load of the machine by other programs."""

    cores: int
    """Cores that we may use."""
    load_1min: float
    quota: float | None = None
    """The CPU quota of our container in cores; None without a limit."""
    governors: tuple[str, ...] = ()
    busy: Mapping[int, float] = field(default_factory=dict)
    """The used share of time of our cores and their siblings, only those that were busy."""
    siblings: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """The other hardware threads of the busy ones."""


def look(sleep: Callable[[float], None] = time.sleep) -> Surroundings:
    """Measure the load for half a second, while we are idle."""
    cores = Cores()
    watched = sorted(set(cores.allowed).union(*map(cores.siblings, cores.allowed)))
    begun, before = time.monotonic(), readings()
    sleep(_SAMPLE_S)
    now, wall_s = readings(), time.monotonic() - begun
    shares = {
        core: (now.busy_s[core] - before.busy_s[core]) / wall_s
        for core in watched
        if core in now.busy_s and core in before.busy_s
    }
    busy = {core: min(1.0, share) for core, share in shares.items() if share > _BUSY}
    return Surroundings(
        cores=len(cores.allowed),
        load_1min=load_1min(),
        quota=quota(),
        governors=cores.governors(),
        busy=busy,
        siblings={core: cores.siblings(core) for core in busy},
    )


def findings(around: Surroundings, cards: Sequence[Card]) -> Iterator[DoctorLine]:
    """Yield one line for each disturbance, or one that says that there is none."""
    disturbing = [*_of_processor(around), *(line for card in cards for line in _of_gpu(card))]
    for name, says, advice in disturbing:
        yield DoctorLine(about=SPOILS, name=name, works=False, says=says, advice=advice)
    if not disturbing:
        yield DoctorLine(about=SPOILS, name="nothing", works=True, says="that can be seen from here")


def _of_processor(around: Surroundings) -> Iterator[tuple[str, str, str]]:
    if around.cores == 1:
        yield "cores", "there is one only: the clock and the program take turns on it", "two or more"
    if around.load_1min > _CROWDED * around.cores:
        says = f"load {around.load_1min:.1f} over the last minute, on {around.cores} cores"
        yield "load", says, _ALONE
    if around.busy:
        named = (f"{core}{_beside(around, core)} at {share:.0%}" for core, share in around.busy.items())
        yield "busy cores", ", ".join(named), _ALONE
    if around.quota is not None and around.quota < around.cores:
        says = f"the container may use {around.quota:g} of {around.cores} cores, and is stopped beyond that"
        yield "quota", says, "no limit on processor time (cpu.max); give it cores instead (cpuset)"
    slow = [name for name in around.governors if name != "performance"]
    if slow:
        yield (
            "governor",
            f"{', '.join(slow)}: clocks follow the load",
            "cpupower frequency-set -g performance",
        )


def _of_gpu(card: Card) -> Iterator[tuple[str, str, str]]:
    name, now = f"GPU {card.gpu.index}", card.state
    if now.processes:
        pids = ", ".join(str(process.pid) for process in now.processes)
        yield name, f"other programs compute on it: {pids}", "end them, or let grader lease it alone"
    if now.processes is None:
        says = "who else uses it cannot be seen"
        yield name, says, "nvidia-smi on the host, or a container that shares the host's processes"
    if now.throttle:
        yield (
            name,
            f"slowed down by {' and '.join(now.throttle)}",
            "cooling, power, or fewer GPUs at work at once",
        )
    if now.persistence is False:
        says = "no persistence mode: the driver starts anew for each program"
        yield name, says, "nvidia-smi -pm 1 as root, or nvidia-persistenced"


def _beside(around: Surroundings, core: int) -> str:
    others = around.siblings.get(core, ())
    return f" (beside {', '.join(map(str, others))})" if others else ""
