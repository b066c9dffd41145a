"""Children that were told to end while the next one is set up."""

from __future__ import annotations

from collections.abc import Callable


class Dismissed:
    """Ended children of all servers of a run: no program runs until the one before is gone."""

    def __init__(self) -> None:
        self._closes: list[Callable[[], None]] = []

    def add(self, close: Callable[[], None]) -> None:
        """Take one whose end `close` waits for."""
        self._closes.append(close)

    def wait(self) -> bool:
        """Wait until all of them have ended; whether there were any."""
        waited = bool(self._closes)
        while self._closes:
            self._closes.pop()()
        return waited
