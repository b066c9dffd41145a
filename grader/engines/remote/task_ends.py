"""Decides from the end of a task whether its orders end, with a problem, or go out again; pure."""

from __future__ import annotations

from grader.engines.remote.ledger import OpenTask
from grader.engines.remote.scheduler import TaskPhase

SENDS = 4
"""How often an order goes out at most."""
SENDS_UNBEGUN = 2
"""How often at most where grader never began: `setup` or `command` fails, and not on one machine alone."""


def has_only_left(task: OpenTask) -> bool:
    """Tell whether a task had time for others only: what it left went out for nothing."""
    return task.journals.closed and bool(task.journals.orders)


def words_of(task: OpenTask) -> str:
    """Return how a task ended, in the scheduler's words."""
    if task.journals.closed:
        return "it left them"
    if task.state is None:
        return "it is not in the queue"
    node = task.state.node
    return f"{task.state.words} on {node}" if node else task.state.words


def cancelled_earlier(task: OpenTask) -> str:
    """Return the scheduler's words if somebody cancelled a task before this command saw it; otherwise empty.

    Whoever gives the command then has seen that, and wants its orders observed.
    """
    state = task.state
    cancelled = state and state.phase is TaskPhase.CANCELLED and task.inherited and not task.journals.closed
    return state.words if state and cancelled else ""


def problem_of(task: OpenTask, *, begun: bool, scheduler: str) -> str:
    """Return why an order of a task that is over ends; empty if it is to go out again.

    Args:
        task: the task.
        begun: whether it has begun the order.
        scheduler: what the scheduler is called in messages.
    """
    if task.journals.refusal:
        return task.journals.refusal
    if task.journals.closed or task.state is None:
        return ""
    phase, words = task.state.phase, task.state.words
    if phase is TaskPhase.CANCELLED and not cancelled_earlier(task):
        return f"somebody cancelled its task ({words}); run again"
    if begun and phase is TaskPhase.OUT_OF_TIME:
        return f"{scheduler} ended its task at its time limit; raise `time`"
    if begun and phase is TaskPhase.OUT_OF_MEMORY:
        return f"its task took more memory than it was given ({words}); raise `memory`"
    return ""


def problem_of_sends(task: OpenTask, sends: int, why: str, scheduler: str) -> str:
    """Return why an order is not sent again; empty if it may be.

    Args:
        task: the task in which it went out last.
        sends: how often it went out.
        why: how that task ended.
        scheduler: what the scheduler is called in messages.
    """
    finished = task.state is not None and task.state.phase is TaskPhase.FINISHED
    if not task.journals.attempts and finished:
        if sends < SENDS_UNBEGUN:
            return ""
        doctor = f"grader doctor --engine {scheduler.lower()}"
        return (
            f"its task ended {sends} times before grader began there ({why}); "
            f"see `setup` and `command`, and {doctor}"
        )
    return f"its task ended {sends} times without it ({why}); run again" if sends >= SENDS else ""
