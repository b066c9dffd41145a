"""Waits of a timed call: how they are found, and the words for a measurement that they spoil."""

from __future__ import annotations

NOT_TIMED = "not timed"
"""Begins the note of an item that was not timed because the machine was busy."""
TRIED_AGAIN = "nothing is lost, and the next run tries again"
SHARE = 1.25
GRACE_S = 0.002
"""A call that only computes takes at most 1.25 times its CPU time + 2 ms: being woken and handing over a
result take time for which no program is to blame."""


def waited(wall_s: float, cpu_s: float) -> bool:
    """Tell whether a call of so many wall seconds spent a good part of them without computing."""
    return wall_s > SHARE * cpu_s + GRACE_S
