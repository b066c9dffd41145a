"""Divides orders among tasks: large packs first, small ones last, so that all machines end together; pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

PACK_S = 450.0
"""A task is to last so long: its start is nothing beside it, and a lost machine loses no more."""
WORTH_S = 20.0
"""A pack that takes less is not divided further: a worker's start takes two seconds."""
FULL_S = 60.0
"""Nor is one that takes less where all places have a pack: theirs would stand idle between two tasks."""


def pack_sizes(
    count: int, slots: int, lanes: int, *, each_s: float | None, first: int, tasks: int
) -> tuple[int, ...]:
    """Return the sizes of packs of `count` orders, in the order in which they are to begin.

    Each pack is half of what is left divided by the places where packs run (guided self-scheduling,
    Polychronopoulos and Kuck 1987), between what is worth a start and what lasts `PACK_S`.

    Args:
        count: how many orders there are.
        slots: how many packs run at the same time.
        lanes: how many orders of a pack run side by side.
        each_s: how long one order takes; None while nothing is known.
        first: the size of packs while nothing is known.
        tasks: the most packs.
    """
    if each_s is None:
        # side by side they are quick, and a start costs as much as several; one at a time they are slow
        least = 1 if lanes == 1 else max(lanes, min(first, math.ceil(count / max(1, slots))))
        most = max(first, lanes)
    else:
        each_s = max(each_s, 1e-3)
        full = min(math.ceil(FULL_S * lanes / each_s), count // max(1, slots))
        least = max(lanes, math.ceil(WORTH_S * lanes / each_s), full)
        most = max(least, int(PACK_S * lanes / each_s))
    sizes: list[int] = []
    while count:
        places = tasks - len(sizes)
        guided = math.ceil(count / (2 * max(1, slots)))
        size = min(count, max(min(max(guided, least), most), math.ceil(count / places)))
        sizes.append(size)
        count -= size
    return tuple(sizes)


def divide_into_packs(keys: Sequence[str], sizes: Sequence[int]) -> tuple[tuple[str, ...], ...]:
    """Return consecutive packs of these sizes."""
    packs, begin = [], 0
    for size in sizes:
        packs.append(tuple(keys[begin : begin + size]))
        begin += size
    return tuple(packs)
