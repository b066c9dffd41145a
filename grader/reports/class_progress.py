"""Progress of a class on a terminal's last line: submissions done, their rate, and the time left."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

from grader.model.magnitude import counted
from grader.reports.terminal import encodable, started_bar
from grader.text import one_line

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

_LONGEST = 60
"""Characters of the item that was observed last."""


def pace(done: int, total: int, elapsed_s: float) -> str:
    """Format `4.1 submissions a minute, about 9 minutes left`; empty while nothing is done."""
    if not done or elapsed_s <= 0:
        return ""
    a_minute = 60.0 * done / elapsed_s
    rate = f"{a_minute:.0f}" if a_minute >= 10 else f"{a_minute:.1f}"
    left_s = elapsed_s / done * (total - done)
    left = counted(round(left_s / 60), "minute") if left_s >= 90 else counted(round(left_s), "second")
    return f"{rate} submissions a minute, about {left} left"


class ClassProgress:
    """Silent on anything but a terminal."""

    def __init__(self, stream: TextIO, total: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._total, self._clock = stream, total, clock
        self._done = self._items = 0
        self._begun = clock()
        self._bar: Bar | None = None
        self._task: TaskID | None = None
        self._last = self._elsewhere = ""
        if stream.isatty():
            self._bar, self._task = started_bar(stream, total)

    def observed(self, title: str) -> None:
        """Show an item that was observed."""
        self._items += 1
        self._last = one_line(title, _LONGEST)
        self._show()

    def waits(self, message: str) -> None:
        """Show what a submission waits for, until the next item is observed."""
        self._last = one_line(message, _LONGEST)
        self._show()

    def elsewhere(self, message: str) -> None:
        """Show how the orders stand on other machines, until that changes."""
        self._elsewhere = one_line(message, _LONGEST)
        self._show()

    def ended(self) -> None:
        """Count one more submission."""
        self._done += 1
        self._show()

    def aside(self, tell: Callable[[], None]) -> None:
        """Call `tell` while the line is cleared, so that it can print."""
        if self._bar is not None:
            self._bar.stop()
        tell()
        if self._bar is not None:
            self._bar.start()

    def close(self) -> None:
        """Clear the line."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _show(self) -> None:
        if self._bar is None or self._task is None:
            return
        parts = (
            pace(self._done, self._total, self._clock() - self._begun),
            counted(self._items, "item"),
            self._elsewhere,
            self._last,
        )
        text = " · ".join(filter(None, parts))
        self._bar.update(self._task, completed=self._done, description=encodable(text, self._stream))
