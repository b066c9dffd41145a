"""The clock that a harness is tried with; it goes in the worker, as far as a drawn network says."""

from __future__ import annotations

from dataclasses import dataclass, field

ASKED = 1e-3
"""What a GPU's work takes of the program's own time, as a share of how long it takes there."""
READ_S, POLL_S = 1e-7, 5e-4
"""How long it takes to read the clock, and to ask whether an event has happened."""


@dataclass(kw_only=True)
class PlayedClock:
    """A program's time, and when its GPU will have done what it was given; all in seconds.

    It is called with what the program did, and gives what the program may know of the time: no costs.
    """

    make: float = 0.0
    """What it takes to make a network."""
    first: float
    """What the first mini-batch takes."""
    each: float
    """What each further mini-batch takes."""
    _now: float = field(default=0.0, init=False, repr=False)
    _done: float = field(default=0.0, init=False, repr=False)
    _steps: int = field(default=0, init=False, repr=False)

    def __call__(self, did: str, at: float = 0.0) -> float:
        """Let the time pass that something takes which the program did.

        `begin` anew; `make` a network; `train` with a mini-batch; `give` it to the GPU, and go on; `wait` for
        the GPU; `wait_until` a moment; `record` an event on the GPU; `poll` one; `read` the clock.

        Returns:
            What time it is then; for `record`, when the GPU gets there.

        Raises:
            ValueError: it can do no such thing.
        """
        match did:
            case "begin":
                self._now, self._done, self._steps = 1000.0, 0.0, 0
            case "make":
                self._now += self.make
            case "train":
                self._now += self._next_cost()
            case "give":
                cost = self._next_cost()
                self._now += ASKED * cost
                self._done = max(self._now, self._done) + cost
            case "wait":
                self._now = max(self._now, self._done)
            case "wait_until":
                self._now = max(self._now, float(at))
            case "record":
                return max(self._now, self._done)
            case "poll":
                self._now += POLL_S
            case "read":
                self._now += READ_S
            case _:
                raise ValueError("a program does no such thing")
        return self._now

    def _next_cost(self) -> float:
        self._steps += 1
        return self.first if self._steps == 1 else self.each
