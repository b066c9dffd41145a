"""The late rule."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo
from math import ceil
from typing import TYPE_CHECKING

from grader.model.score import Late

if TYPE_CHECKING:
    from grader.model.rubric import LatePolicy

DAY_S = 86_400.0


def late(
    policy: LatePolicy,
    *,
    due: datetime,
    submitted_at: datetime | None,
    in_future: bool = False,
    marked: bool = False,
    extension_s: float = 0.0,
    zone: tzinfo = UTC,
) -> Late:
    """Compute the share of the points that lateness costs, 0…1.

    The extension moves the deadline, and the grace moves where counting begins: every day that has started
    then costs. A day ends when the clocks of `zone` show the deadline's time again, 23 or 25 hours later
    if they were changed. An unknown time (None) costs nothing, also if the LMS `marked` it late, and
    so does one that lay `in_future` when it was given.
    """
    due = later(due, extension_s, zone)
    lateness = Late(
        due=due, extension_s=extension_s, submitted_at=submitted_at, marked=marked, rule=spelled(policy)
    )
    if submitted_at is None:
        return lateness
    moment = submitted_at.astimezone(UTC)  # two times of one zone would be compared by what its clocks show
    counted_from = later(due, policy.grace_s, zone)
    days = _started_days(moment, counted_from, zone)
    share = min(1.0, policy.per_day * days)
    if policy.at_most_days is not None and moment > later(counted_from, policy.at_most_days * DAY_S, zone):
        share = 1.0
    if in_future and share:
        return replace(lateness, in_future=True)
    late_s = max(0.0, (moment - due).total_seconds())
    return replace(lateness, late_s=late_s, days=days, share=share)


def later(moment: datetime, seconds: float, zone: tzinfo) -> datetime:
    """Add seconds: whole days in local time of `zone` (DST), the remainder absolute."""
    days, rest = divmod(seconds, DAY_S)
    # Adding to a local time keeps what its clock shows; only in UTC does a day always have 24 hours.
    local = moment.astimezone(zone) + timedelta(days=days)
    return (local.astimezone(UTC) + timedelta(seconds=rest)).astimezone(zone)


def spelled(policy: LatePolicy) -> str:
    """Describe a late policy; empty if lateness costs nothing."""
    parts = []
    if policy.per_day:
        parts.append(f"{policy.per_day * 100:g} % per started day")
    if policy.at_most_days is not None:
        at_most_s = policy.at_most_days * DAY_S
        parts.append(f"nothing after {_time(at_most_s)}" if at_most_s else "nothing if late")
    if parts and policy.grace_s:
        parts.append(f"first {_time(policy.grace_s)} free")
    return ", ".join(parts)


def _started_days(moment: datetime, deadline: datetime, zone: tzinfo) -> int:
    over_s = (moment - deadline).total_seconds()
    if over_s <= 0:
        return 0
    guess = ceil(over_s / DAY_S)  # right but for the hours that clocks were changed by meanwhile
    days = range(max(1, guess - 1), guess + 2)
    return next(day for day in days if moment <= later(deadline, day * DAY_S, zone))


def _time(seconds: float) -> str:
    units = (("day", DAY_S), ("hour", 3600.0), ("minute", 60.0))
    name, size = next((unit for unit in units if seconds % unit[1] == 0), ("second", 1.0))
    return f"{seconds / size:g} {name}{'' if seconds == size else 's'}"
