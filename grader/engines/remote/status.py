"""How open orders stand, in one line for a person, and when that is told again."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from grader.engines.remote.ledger import OpenTask
from grader.engines.remote.scheduler import TaskPhase, TaskStates

NAMED = 4
"""More machines are counted, not named."""
REPEAT_S = 60.0
"""A message is told again after so long, then after twice as long each time: a log takes a line a minute."""


@dataclass
class Repeated:
    """A message that is told when it changes, and now and then while it does not."""

    message: str = ""
    _again_at: float = 0.0
    _after_s: float = REPEAT_S

    def is_due(self, message: str) -> bool:
        """Take the present message; tell whether it is to be told now."""
        now = time.monotonic()
        if message == self.message and now < self._again_at:
            return False
        self._after_s = 2 * self._after_s if message == self.message else REPEAT_S
        self.message, self._again_at = message, now + self._after_s
        return True


def queue_status(tasks: Mapping[tuple[str, int], OpenTask], states: TaskStates, unsent: int) -> str:
    """Tell how many orders run on which machines, and what the others wait for; empty if there are none.

    Args:
        tasks: those with open orders, by the name of the batch and the number of the task.
        states: the scheduler's, likewise.
        unsent: how many orders are in no task.
    """
    running: Counter[str] = Counter()
    waiting: Counter[str] = Counter()
    begins: list[str] = []
    for place, task in tasks.items():
        state = states.get(place)
        if state and state.phase is TaskPhase.RUNNING:
            running[state.node] += len(task.orders)
        elif state and state.phase is TaskPhase.WAITING:
            waiting[state.words] += len(task.orders)
            begins += [state.begins] if state.begins else []
    parts = []
    if running:
        parts.append(f"{running.total()} on {_machines(running)}")
    if waiting:
        first = f", first about {min(begins)}" if begins else ""
        parts.append(f"{waiting.total()} waiting ({', '.join(sorted(waiting))}{first})")
    if unsent:
        parts.append(f"{unsent} to be sent")
    return " · ".join(parts)


def _machines(nodes: Iterable[str]) -> str:
    names = sorted(filter(None, nodes))
    return ", ".join(names) if len(names) <= NAMED else f"{len(names)} machines"
