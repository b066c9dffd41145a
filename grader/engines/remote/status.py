"""How open orders stand, in one line for a person; pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from grader.engines.remote.ledger import OpenTask
from grader.engines.remote.scheduler import TaskPhase, TaskStates

NAMED = 4
"""More machines are counted, not named."""


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
