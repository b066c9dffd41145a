"""What lateness costs."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.model.rubric import LatePolicy

DAY_S = 86_400.0


def late_total(raw: float, policy: LatePolicy, late_s: float | None) -> float:
    """The total that is left of `raw` points, handed in `late_s` seconds after the deadline.

    The grace moves the deadline: lateness counts from its end, and every started day costs. An unknown
    time (None) and an early one cost nothing. The result lies between 0 and `raw`.
    """
    if late_s is None or late_s <= policy.grace_s:
        return raw
    days = (late_s - policy.grace_s) / DAY_S
    if policy.at_most_days is not None and days > policy.at_most_days:
        return 0.0
    return raw * max(0.0, 1.0 - policy.per_day * ceil(days))
