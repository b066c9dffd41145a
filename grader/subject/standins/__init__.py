"""Stand-ins for GPUs that a machine lacks: what each plays for, and the one that this process has.

The worker asks `stand_in_for`, and the subject server imports that stand-in's `player` module before it forks
students' processes; that module sets `active_player`. Nothing else chooses or finds a stand-in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .player import Player


class StandIn(NamedTuple):
    """Module that a subject server imports, and variables it starts with: programs find devices then."""

    module: str
    """Sets `active_player` when it is imported, by its name in the sandbox."""
    environment: tuple[tuple[str, str], ...]
    gpus: int = 0
    """How many virtual devices the program has."""


NUMBA_SIMULATOR = StandIn(
    "_grader_subject.standins.simulator.player",
    (("NUMBA_ENABLE_CUDASIM", "1"),),  # numba reads it when it is imported
)
"""For one GPU and numba's kernels."""
CUDA_ON_CPU = StandIn(
    "_grader_subject.standins.cuda_on_cpu.player",
    # of threads that run one after another, always in the same order, a race shows too seldom
    (("CUDA_ON_CPU_ORDER", "shuffled"), ("CUDA_ON_CPU_SEED", "1")),
)
"""For programs that the assignment builds: their kernels are compiled for the CPU."""


def virtual_devices(count: int) -> StandIn:
    """Describe `count` GPUs for programs of torch, whose operators the CPU computes."""
    module = "_grader_subject.standins.virtual_gpus.player"
    return StandIn(module, (("VIRTUAL_GPUS", str(count)),), count)


def stand_in_for(gpus: int, *, built: bool, torch: bool) -> StandIn:
    """Choose what plays for the GPUs of a program that a build makes, that imports `torch`, or neither."""
    if built:
        return CUDA_ON_CPU
    return virtual_devices(gpus) if torch else NUMBA_SIMULATOR


active_player: Player | None = None
"""The stand-in of this process: `StandIn.module` sets it in a server, whose children inherit it."""
