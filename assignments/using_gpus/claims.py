"""What a harness claims: its process is the submission's, so anything may come back."""

from __future__ import annotations

from math import isfinite
from typing import Any


def claimed(value: Any) -> tuple[float | None, int]:
    """The seconds, if they are a time at all, and how many mini-batches were trained for them.

    `value` is what the course's driver returned, as `{"seconds": …, "steps": …}`.
    """
    told = value if type(value) is dict else {}
    seconds, steps = told.get("seconds"), told.get("steps")
    usable = type(seconds) in (int, float) and isfinite(seconds) and seconds > 0
    return (float(seconds) if usable else None), (steps if type(steps) is int and steps > 0 else 0)
