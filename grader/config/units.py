"""Durations, percentages and fractions, as people write them."""

from __future__ import annotations

import re
from typing import NewType

Duration = NewType("Duration", float)
"""Seconds; written `20s`, `15m`, `1h30m`, `3d`."""
Share = NewType("Share", float)
"""0…1; written `0%` to `100%`."""

Quotient = NewType("Quotient", float)
"""A number written as a fraction of whole numbers, `8/3`."""

DURATION = r"(?=[0-9])(?:([0-9]{1,6})d)?(?:([0-9]{1,6})h)?(?:([0-9]{1,6})m)?(?:([0-9]{1,6})s)?"
SHARE = r"(100(?:\.0*)?|[0-9]{1,2}(?:\.[0-9]+)?) ?%"
QUOTIENT = r"([0-9]{1,6})/([1-9][0-9]{0,5})"
SECONDS = (86_400, 3_600, 60, 1)


def parse_duration(text: object) -> Duration:
    """Parse a text such as `1h30m` to seconds; ValueError if it is none."""
    match = re.fullmatch(DURATION, text, re.ASCII) if isinstance(text, str) else None
    if not match:
        raise ValueError("not a duration")
    return Duration(float(sum(int(n or 0) * s for n, s in zip(match.groups(), SECONDS, strict=True))))


def parse_share(text: object) -> Share:
    """Parse a text such as `10%` to a share; ValueError if it is none."""
    match = re.fullmatch(SHARE, text, re.ASCII) if isinstance(text, str) else None
    if not match:
        raise ValueError("not a percentage")
    return Share(float(match.group(1)) / 100)


def parse_quotient(text: object) -> Quotient:
    """Parse a text such as `8/3` to a number; ValueError if it is none."""
    match = re.fullmatch(QUOTIENT, text, re.ASCII) if isinstance(text, str) else None
    if not match:
        raise ValueError("not a fraction")
    return Quotient(int(match.group(1)) / int(match.group(2)))
