"""Answers that people have open now, so that two who grade one question get different ones."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

AWAY_S = 600.0
"""Seconds after which somebody who did nothing more has left an answer."""


class Presence:
    """The last answer that each person has opened on this server."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._open: dict[tuple[str, str], tuple[str, int, float]] = {}

    def note(self, assignment: str, person: str, item: str, number: int) -> None:
        """Note that somebody has opened an answer, and so left the one before."""
        with self._lock:
            self._open[assignment, person] = item, number, self._clock()

    def leave(self, assignment: str, person: str) -> None:
        """Note that somebody has no answer open."""
        with self._lock:
            self._open.pop((assignment, person), None)

    def others(self, assignment: str, person: str, item: str) -> dict[int, str]:
        """Return the submissions whose answer to a question others have open, with who has."""
        since = self._clock() - AWAY_S
        with self._lock:
            return {
                number: name
                for (where, name), (what, number, at) in self._open.items()
                if where == assignment and name != person and what == item and at >= since
            }
