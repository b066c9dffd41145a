"""Arguments of a call that is timed on a device: some lines of them are written only when the clock runs.

A device does not stop with its program. One that can read the shared memory sees the arguments of the next
call while everything stands, and could have computed the result before the clock begins. So until then lines
at places that nobody can foresee hold what belongs elsewhere. What was computed from them is wrong, and
whoever looks for them must read everything again, on the clock.
"""

from __future__ import annotations

from numpy import frombuffer, uint8
from numpy.random import default_rng

LINE_BYTES = 64
"""What a processor reads at once."""
LATE_LINES = 2048
"""So many lines take 0.1 ms; fewer arguments than that are written on the clock as a whole."""


class Arguments:
    """The bytes of one request, in memory of the worker's own."""

    def __init__(self, buffer: memoryview, length: int) -> None:
        """Copy the first `length` bytes, and what is left of their last line."""
        lines = -(-length // LINE_BYTES)
        self._early = frombuffer(buffer, uint8, lines * LINE_BYTES).reshape(lines, LINE_BYTES).copy()
        rng = default_rng()
        places = rng.permutation(len(self._early))
        self._places = places[:LATE_LINES]
        self._late = self._early[self._places]
        self._early[self._places] = self._early[rng.permutation(places)[: len(self._places)]]

    def place(self, target: memoryview) -> None:
        """Write everything, with wrong content at some places, while the program stands."""
        frombuffer(target, uint8, self._early.size)[:] = self._early.reshape(-1)

    def complete(self, target: memoryview) -> None:
        """Write what is right there."""
        lines = frombuffer(target, uint8, self._early.size).reshape(-1, LINE_BYTES)
        lines[self._places] = self._late
