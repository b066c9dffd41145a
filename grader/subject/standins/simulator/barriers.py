"""Barriers, votes and shuffles of the threads of a block or warp."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

from .blocks import Values
from .position import WARP_SIZE, blockDim, gridDim, number
from .schedule import wait

FULL_MASK = 0xFFFFFFFF


def syncthreads() -> None:
    """Wait for all threads of the block."""
    wait("syncthreads()")


def syncwarp(mask: int = FULL_MASK) -> None:
    """Wait for the lanes of the warp that a mask names."""
    wait("syncwarp()", members=_lanes(mask))


def _vote(name: str, count: Callable[[Iterable[Any]], int]) -> Callable[[Any], Any]:
    def vote(predicate: Any) -> Any:
        return wait(f"{name}()", predicate, lambda votes: dict.fromkeys(votes, count(votes.values())))

    return vote


def _vote_of_warp(name: str, outcome: Callable[[Values], int]) -> Callable[[int, Any], Any]:
    def vote(mask: int, predicate: Any) -> Any:
        return wait(
            f"{name}()", predicate, lambda votes: dict.fromkeys(votes, outcome(votes)), members=_lanes(mask)
        )

    return vote


def _shuffle(name: str, source: Callable[[int, int], int]) -> Callable[[int, Any, int], Any]:
    def answers(values: Values) -> Values:
        def of(me: int) -> Any:
            value, operand = values[me]
            lane = source(me % WARP_SIZE, int(operand))
            other = me - me % WARP_SIZE + lane
            # from beyond the warp a lane gets its own value back
            return values[other][0] if other in values else value

        return {me: of(me) for me in values}

    def shuffle(mask: int, value: Any, operand: int) -> Any:
        return wait(f"{name}()", (value, operand), answers, members=_lanes(mask))

    return shuffle


def _lanes(mask: int) -> tuple[int, ...]:
    """Return the numbers of the threads in this warp that a mask names, as far as there are any."""
    me = number()
    first = me - me % WARP_SIZE
    behind = min(first + WARP_SIZE, blockDim.x * blockDim.y * blockDim.z)
    lanes = tuple(first + lane for lane in range(behind - first) if mask >> lane & 1)
    if me not in lanes:
        raise ValueError(f"lane {me - first} is not in the mask {mask:#010x} with which it calls")
    return lanes


def _sync_grid() -> None:
    if gridDim.x * gridDim.y * gridDim.z > 1:
        raise RuntimeError("a barrier of the whole grid is simulated for a single block only")
    wait("grid.sync()")


FUNCTIONS: dict[str, Any] = {
    "cg": SimpleNamespace(this_grid=lambda: SimpleNamespace(sync=_sync_grid)),
    "syncthreads": syncthreads,
    "syncwarp": syncwarp,
    "syncthreads_count": _vote("syncthreads_count", lambda votes: sum(map(bool, votes))),
    "syncthreads_and": _vote("syncthreads_and", lambda votes: int(all(votes))),
    "syncthreads_or": _vote("syncthreads_or", lambda votes: int(any(votes))),
    "all_sync": _vote_of_warp("all_sync", lambda votes: int(all(votes.values()))),
    "any_sync": _vote_of_warp("any_sync", lambda votes: int(any(votes.values()))),
    "eq_sync": _vote_of_warp("eq_sync", lambda votes: int(len(set(votes.values())) == 1)),
    "ballot_sync": _vote_of_warp(
        "ballot_sync", lambda votes: sum(bool(vote) << me % WARP_SIZE for me, vote in votes.items())
    ),
    "shfl_sync": _shuffle("shfl_sync", lambda lane, other: other % WARP_SIZE),
    "shfl_up_sync": _shuffle("shfl_up_sync", lambda lane, delta: lane - delta),
    "shfl_down_sync": _shuffle("shfl_down_sync", lambda lane, delta: lane + delta),
    "shfl_xor_sync": _shuffle("shfl_xor_sync", lambda lane, mask: lane ^ mask),
}
"""By their names in `numba.cuda`."""
