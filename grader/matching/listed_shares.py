"""Shares of a time that stand in one list, and the meaning of their columns: shares, and running sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, permutations
from typing import Literal

Section = Literal["", "kernels", "copies", "api"]
Figure = tuple[float, float]
"""A number in percent, and half a unit of its last digit: what rounding may have taken."""

HIGHEST = 100.5
"""No share and no running sum is above 100 %, but for rounding."""
LEAST_FRACTION = 0.5
"""Shares that add up to so little in percent, and not to more than 1, are fractions."""
MOST_COLUMNS = 6
"""Columns of percentages beyond these are not looked at."""
TINY = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedShare:
    """One line of a list: a name, and its share of the time."""

    name: str
    share: float
    """In percent."""
    half: float
    """Half a unit of its last digit: what rounding may have taken."""
    running: float | None = None
    """The running sum beside it, in percent; None if there is none."""
    running_half: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileList:
    """Lines that stand together."""

    rows: tuple[ListedShare, ...]
    section: Section = ""
    """The activities that it is about, if the profiler that printed it says so."""
    unread: tuple[str, ...] = ()
    """Lines near it with a name and a percentage that are no such line, as a sentence is not."""
    impossible: tuple[str, ...] = ()
    """Lines of it whose percentage is no part of a whole: above 100 or below 0."""
    unsure: bool = False
    """Whether its second column may be something else than running sums, which it does not agree with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLine:
    """A name with all of its percentages: first what is taken for the share, then for the running sum."""

    name: str
    figures: tuple[Figure, ...]
    running: bool
    """Whether the second one is taken for a running sum."""

    def row(self, share: int = 0, running: int | None = None) -> ListedShare:
        """Return the line with the figures at two places."""
        value, half = self.figures[share]
        total, total_half = (None, 0.0) if running is None else self.figures[running]
        return ListedShare(name=self.name, share=value, half=half, running=total, running_half=total_half)


def rows_of(lines: Sequence[ReadLine], *, titled: bool) -> tuple[tuple[ListedShare, ...], bool]:
    """Return the rows of a list, and whether it is not sure that the second column holds running sums.

    Columns that agree as shares and running sums are taken for these, whatever their titles say. If none do,
    the second column is surely one of running sums where its title says so (`titled`), or where it begins
    with the first share and rises.
    """
    rows = tuple(line.row(running=1 if line.running else None) for line in lines)
    columns = min((len(line.figures) for line in lines), default=0)
    several = max((len(line.figures) for line in lines), default=0)
    if wrong_sum(rows) is not None or (several > 1 and not all(line.running for line in lines)):
        for share, running in permutations(range(min(columns, MOST_COLUMNS)), 2):
            exchanged = tuple(line.row(share, running) for line in lines)
            if len(lines) > 1 and wrong_sum(exchanged) is None:
                return exchanged, False
    certain = wrong_sum(rows) is None or (several <= 2 and (titled or _begins_as_sums(rows)))
    return rows, not certain


def as_percent(rows: Sequence[ListedShare]) -> tuple[ListedShare, ...]:
    """Return rows in percent: shares that are nearly all of 1 together are fractions."""
    if not LEAST_FRACTION <= sum(row.share for row in rows) <= HIGHEST / 100:
        return tuple(rows)
    return tuple(
        replace(
            row,
            share=100 * row.share,
            half=100 * row.half,
            running=None if row.running is None else 100 * row.running,
            running_half=100 * row.running_half,
        )
        for row in rows
    )


def without_remainder(rows: Sequence[ListedShare]) -> tuple[ListedShare, ...]:
    """Return rows without a last one that makes the whole, or repeats the sum, in whatever language.

    It may be called on a row whose name is a plain word alone.
    """
    *before, last = rows
    total, rounding = sum(row.share for row in before), sum(row.half for row in rows) + TINY
    remainder = abs(total + last.share - 100) <= rounding
    repeated = abs(total - last.share) <= rounding
    return tuple(before) if before and (remainder or repeated) else tuple(rows)


def wrong_sum(rows: Sequence[ListedShare]) -> int | None:
    """Return the place of the first running sum that is not that of the shares; None if all are.

    Digits may be rounded; if all are cut off instead, sums are off by up to twice as much, to one side.
    """
    return _first_off(rows) if _cut_off(rows) is not None else None


def _first_off(rows: Sequence[ListedShare]) -> int | None:
    """Return the first running sum that is off by more than rounding takes."""
    total, rounding = 0.0, TINY
    for place, row in enumerate(rows):
        total += row.share
        rounding += row.half
        if row.running is not None and abs(row.running - total) > rounding + row.running_half:
            return place
    return None


def _cut_off(rows: Sequence[ListedShare]) -> int | None:
    """Return the first running sum that is off where all digits are cut off."""
    total, taken = 0.0, TINY
    for place, row in enumerate(rows):
        total += row.share
        taken += 2 * row.half
        if row.running is not None and not (
            total - 2 * row.running_half - TINY <= row.running <= total + taken
        ):
            return place
    return None


def _begins_as_sums(rows: Sequence[ListedShare]) -> bool:
    """Tell whether the second column begins with the first share, and rises as running sums do."""
    first = rows[0]
    if first.running is None or abs(first.running - first.share) > first.half + first.running_half + TINY:
        return False
    return all((before.running or 0.0) <= (row.running or 0.0) for before, row in pairwise(rows))
