"""Divides the cores of this machine between what is timed and everything else."""

from __future__ import annotations

from dataclasses import dataclass

from grader.machine.cores import Cores


@dataclass(frozen=True, slots=True, kw_only=True)
class Division:
    """Which cores shared and exclusive orders have."""

    shared: frozenset[int]
    """Empty if exclusive orders need all of them: then either the one or the other runs."""
    exclusive: tuple[int, ...]
    at_once: int
    """How many exclusive orders there is room for."""


def divide(cores: Cores, needed: int, gpus: int, timed_parts: int = 1) -> Division:
    """Cores for exclusive orders whose timed items need so many each, with one more for the worker.

    The second hardware threads of these cores stay idle. `needed` is 0 if nothing is timed. There is room for
    one order for each GPU, or for `timed_parts` if these are more.
    """
    at_once = max(timed_parts, gpus)
    if not needed:
        return Division(shared=frozenset(cores.allowed), exclusive=cores.allowed, at_once=at_once)
    while True:
        count = at_once * (needed + 1)
        exclusive = cores.pick(count)[:count]
        shared = cores.apart(exclusive)
        if shared or at_once == 1:
            return Division(shared=shared, exclusive=exclusive if shared else cores.allowed, at_once=at_once)
        at_once -= 1
