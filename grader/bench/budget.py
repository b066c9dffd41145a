"""The time of one call: its limit, what it used, and how long others kept it waiting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from grader.bench.endings import Ended
from grader.model.observation import Outcome

PATIENCE = 10.0
"""However busy others keep the machine, a call takes no more than this many times its limit."""
LEAST_TURN_S = 0.1
"""A program that may go on goes on for so long: what is shorter is not worth another stop."""

_Answer = TypeVar("_Answer")


@dataclass(slots=True)
class CallBudget:
    """Counts the seconds of one call that may be stopped and continued several times.

    Of its limit a program does not lose what *other* processes kept it waiting for a core. Far behind lies a
    bound on the wall clock; a program that reaches it without having had its time is `starved`.
    """

    within_s: float
    wall_s: float = 0.0
    delay_s: float = 0.0

    @property
    def most_s(self) -> float:
        """How much time on the wall clock it has in all, as far as is known now."""
        return min(self.within_s + self.delay_s, PATIENCE * self.within_s)

    @property
    def left_s(self) -> float:
        """How long it may go on."""
        return max(LEAST_TURN_S, self.most_s - self.wall_s)

    def charge(self, wall_s: float, delay_s: float) -> None:
        """It ran for so long, and others kept it waiting for so much of that."""
        self.wall_s += wall_s
        self.delay_s += min(max(0.0, delay_s), wall_s)

    def verdict(self, answer: _Answer | None) -> _Answer | Ended | None:
        """The answer if it came in time, or that its time is over; None if it may go on."""
        if self.wall_s <= self.most_s:
            return answer
        starved = self.wall_s - self.delay_s < self.within_s
        note = f"did not end within {self.within_s:g} s"
        return Ended(outcome=Outcome.TIMED_OUT, note=note, starved=starved)
