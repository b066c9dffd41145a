"""What a harness claims: its process is the submission's, so anything may come back."""

from __future__ import annotations

from sys import float_info
from typing import Any

MOST_STEPS = 2**53
"""More mini-batches than any training has; a program may give an integer of any length."""


def claimed(value: Any) -> tuple[float | None, int]:
    """The seconds, if they are a time at all, and how many mini-batches were trained for them.

    `value` is what the course's driver returned, as `{"seconds": …, "steps": …}`.
    """
    told = value if type(value) is dict else {}
    seconds, steps = told.get("seconds"), told.get("steps")
    # compared, not converted: an integer may be beyond all floats
    is_time = type(seconds) in (int, float) and 0 < seconds <= float_info.max
    is_count = type(steps) is int and 0 < steps <= MOST_STEPS
    return float(seconds) if is_time else None, steps if is_count else 0
