"""Whether a program computed all the time that it took."""

from __future__ import annotations

SHARE = 1.25
GRACE_S = 0.002
"""Being woken, and handing over a result, takes time that no program can do anything about."""


def waited(wall_s: float, cpu_s: float) -> bool:
    """Whether a call of so many seconds, and so much CPU time, spent a good part of them not computing."""
    return wall_s > SHARE * cpu_s + GRACE_S
