"""Which kernels ran while a program's clock did, on which devices, and whether they were done by then."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from grader.api.check import Launch

NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)((?:[eE][-+]?\d+)?)\s*(ms|milliseconds)?", re.IGNORECASE)
WORDS = {
    count: re.compile(rf"(?:^|[^\w.]){names}\s*gpus?\b", re.IGNORECASE | re.MULTILINE)
    for count, names in ((1, "(?:1|one|single)"), (2, "(?:2|two|both)"))
}
BEFORE_NUMBER = re.compile(r"[^\d\n]*")
MOST_RUNS = 10
"""Of so many runs a program may print the mean."""
MOST_READINGS = 60
"""The latest of each clock that are paired with each other."""
USED = 0.05
"""The share of the work from which on a device counts as used."""
BIG = 0.05
"""Kernels that take less than this share of the longest one are no products."""
LATE_S, LATE = 0.002, 0.02
"""How long work may go on after the clock was read: seconds, or a share of what it measured."""
IN_TURN = 0.9
"""Two devices that are busy together for more than this share of their work do not work side by side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """A time as a program printed it."""

    seconds: float
    half: float
    """Half a unit of its last digit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Two readings of one clock, in seconds since the program began."""

    begun_s: float
    ended_s: float

    @property
    def length_s(self) -> float:
        """What the clock says that it took."""
        return self.ended_s - self.begun_s

    def holds(self, launches: Iterable[Launch]) -> list[Launch]:
        """Those that the program asked for between the two readings."""
        return [one for one in launches if self.begun_s <= _asked(one) <= self.ended_s]


def printed(output: str, gpus: int) -> Printed | None:
    """The last time that a program printed for so many GPUs, as in `1 GPU: 0.328 s`; None if it did not."""
    number = None
    for number in _numbers(output, WORDS[gpus]):  # noqa: B007 - the last one counts
        pass
    if number is None:
        return None
    digits, exponent, unit = number.groups()
    scale = float(f"1{exponent or 'e0'}") * (1e-3 if unit else 1.0)
    decimals = len(digits.partition(".")[2])
    return Printed(seconds=float(digits) * scale, half=0.5 * 10**-decimals * scale)


def _numbers(output: str, words: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """Yield the first number behind each of some words in its line; each character is looked at once."""
    place = looked_at = 0
    while phrase := words.search(output, place):
        place = phrase.end()
        if place <= looked_at:  # behind earlier words of this line there is no number either
            continue
        looked_at = BEFORE_NUMBER.match(output, place).end()  # type: ignore[union-attr]  # it fits anything
        begins_with_dot = looked_at > place and output[looked_at - 1] == "."
        if number := NUMBER.match(output, looked_at - begins_with_dot):
            yield number
            place = number.end()


def windows_of(time: Printed, readings: Sequence[Sequence[object]]) -> Iterator[Window]:
    """Pairs of readings of one clock, `[name, value, at]`, whose difference is what was printed.

    Without any, the differences of several runs whose mean it is.
    """
    clocks: dict[str, list[tuple[float, float]]] = {}
    for name, value, at in readings:
        clocks.setdefault(str(name), []).append((float(str(value)), float(str(at))))
    pairs = [
        (later - earlier, Window(begun_s=begun, ended_s=ended))
        for seen in clocks.values()
        for (earlier, begun), (later, ended) in combinations(seen[-MOST_READINGS:], 2)
    ]
    for runs in range(1, MOST_RUNS + 1):
        # what a program computes before it prints may round once more
        near = [w for took, w in pairs if abs(took / runs - time.seconds) <= 1.01 * time.half + 1e-9]
        if near:
            yield from near
            return


def misread(window: Window, launches: Sequence[Launch], gpus: int, busy_at_least: float) -> tuple[str, str]:
    """What is wrong with a time that was measured so: its name, and a sentence; both empty if nothing is."""
    mine = window.holds(launches)
    if not mine:
        return "nothing", "between the two readings of its clock nothing was started on a GPU"
    return next(_wrong(window, mine, gpus, busy_at_least), ("", ""))


def _wrong(
    window: Window, mine: Sequence[Launch], gpus: int, busy_at_least: float
) -> Iterator[tuple[str, str]]:
    work = Counter[int]()
    for one in mine:
        work[one.device] += one.seconds or 0.0
    used = [device for device, seconds in work.items() if seconds >= USED * work.total()]
    ended, busy = max(map(_ended, mine)), _busy(mine)
    if (late := ended - window.ended_s) > max(LATE_S, LATE * window.length_s):
        yield "unsynchronised", f"the clock was stopped {late:.3g} s before the GPUs were done"
    if len(used) < gpus:
        yield "one_device", f"only cuda:{used[0]} worked in that time"
    if len(used) > gpus:
        yield "two_devices", f"{len(used)} GPUs worked in that time"
    if gpus > 1 and busy > IN_TURN * work.total():
        yield "in_turn", "the GPUs worked one after the other"
    if busy < busy_at_least * window.length_s:
        big = BIG * max(one.seconds or 0.0 for one in mine)
        lead = min(_began(one) for one in mine if (one.seconds or 0.0) >= big) - window.begun_s
        told = f"the GPUs computed for {busy:.3g} s of the {window.length_s:.3g} s"
        if lead >= window.ended_s - ended:
            yield "early", f"{told}: the clock was started {lead:.3g} s before the first product"
        yield "late", f"{told}: the clock was stopped {window.ended_s - ended:.3g} s after the last product"


def _busy(launches: Iterable[Launch]) -> float:
    """How long at least one of them ran, in seconds."""
    busy, until = 0.0, 0.0
    for begun, ended in sorted((_began(one), _ended(one)) for one in launches):
        busy += max(0.0, ended - max(begun, until))
        until = max(until, ended)
    return busy


def _asked(one: Launch) -> float:
    return one.asked_s if one.asked_s is not None else _began(one)


def _began(one: Launch) -> float:
    return one.began_s or 0.0


def _ended(one: Launch) -> float:
    return _began(one) + (one.seconds or 0.0)
