"""The open orders of a session, the tasks that they are in, and the events to report of them."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property

from grader.contracts.engine import Ended, Event, Order, QueueStatus, Records
from grader.engines.remote.batch import folder_of, journals_of, new_name, read_batch, remove_batch
from grader.engines.remote.collect import append_records
from grader.engines.remote.journal import Attempted, TaskJournals
from grader.engines.remote.scheduler import (
    REST,
    Scheduler,
    SchedulerAwayError,
    TaskPhase,
    TaskState,
    TaskStates,
)
from grader.engines.remote.stored import BatchPlace, OrderStore, StoredOrder, Wants
from grader.errors import NotObservedError
from grader.files import obstacle
from grader.model.job import WORKER_LOG
from grader.text import block


@dataclass(slots=True, kw_only=True)
class OpenOrder:
    """An order that has not ended."""

    order: Order
    stored: StoredOrder
    place: BatchPlace | None = None
    """Where it went out last; None if it never did."""
    message: str = ""
    """What was reported last of what it waits for."""

    @property
    def key(self) -> str:
        """Return the key under which it is stored, which an earlier command may have given."""
        return self.stored.key


@dataclass(slots=True, kw_only=True)
class OpenTask:
    """A task of a batch that has open orders."""

    journals: TaskJournals
    orders: dict[str, OpenOrder] = field(default_factory=dict)
    state: TaskState | None = None
    """What the scheduler said last; None as long as it has not heard of it."""
    over_since: float | None = None
    """When the scheduler first said that it is over, or did not know it."""
    inherited: bool = False
    """Whether an earlier command sent it, and the scheduler has not listed it as waiting or running since."""


@dataclass
class Ledger:
    """Every open order is either in a task, or waits to be sent."""

    store: OrderStore
    scheduler: Scheduler
    tasks: dict[tuple[str, int], OpenTask] = field(default_factory=dict)
    """By the name of the batch and the number of the task."""
    waiting: dict[Wants, list[OpenOrder]] = field(default_factory=dict)
    """By what they need."""
    events: deque[Event] = field(default_factory=deque)
    """Not reported yet."""
    _left_batches: set[str] = field(default_factory=set)
    """Batches that orders have left since `retire_batches`."""

    @property
    def is_open(self) -> bool:
        """Tell whether an order is open; ends may be unread when none is."""
        return bool(self.tasks or self.waiting)

    @property
    def has_task_over(self) -> bool:
        """Tell whether open orders are in a task that is over, as one that an earlier command sent may be."""
        tasks = (task for task in self.tasks.values() if task.over_since is not None)
        return any(task.state or task.inherited for task in tasks)

    def entries(self) -> Iterator[OpenOrder]:
        """Yield every open order."""
        for task in self.tasks.values():
            yield from task.orders.values()
        for entries in self.waiting.values():
            yield from entries

    def note_states(self, states: TaskStates) -> None:
        """Note for each task what the scheduler says of it, or of those that it does not list by numbers."""
        for place, task in self.tasks.items():
            task.state = states.get(place) or states.get((place[0], REST))
            task.inherited = task.inherited and (task.state is None or task.state.phase.is_over)

    def of_batch(self, name: str) -> list[OpenOrder]:
        """Return the open orders of a batch."""
        tasks = [task for (batch, _), task in self.tasks.items() if batch == name]
        return [entry for task in tasks for entry in task.orders.values()]

    def is_queued(self, wants: Wants) -> bool:
        """Tell whether tasks with these needs wait for room."""
        return any(
            (task.state is None or task.state.phase is TaskPhase.WAITING)
            and any(entry.stored.wants == wants for entry in task.orders.values())
            for task in self.tasks.values()
        )

    def queue(self, entry: OpenOrder) -> None:
        """Have an order wait to be sent."""
        self.waiting.setdefault(entry.stored.wants, []).append(entry)

    def queue_again(self, entry: OpenOrder) -> None:
        """Have an order whose last sending does not count wait to be sent again."""
        assert entry.place is not None  # noqa: S101 - it went out
        self.leave_task(entry)
        entry.place = replace(entry.place, sends=entry.place.sends - 1)
        self.queue(entry)

    def tell(self, message: str) -> None:
        """Report something of all orders, in the name of any of them."""
        if entry := next(self.entries(), None):
            self.events.append(QueueStatus(order=entry.order, message=message))

    def follow(self, entry: OpenOrder, place: BatchPlace, *, inherited: bool = False) -> None:
        """Note that an order is in a task from now on; `inherited` if an earlier command sent it."""
        entry.place = place
        key = place.batch, place.task
        if key not in self.tasks:
            folder = folder_of(self.store.root, place.batch)
            journals = TaskJournals(journals_of(folder, place.task))
            self.tasks[key] = OpenTask(journals=journals, inherited=inherited)
        self.tasks[key].orders[entry.key] = entry

    def end(
        self,
        entry: OpenOrder,
        problem: str,
        attempted: Attempted | None = None,
        task: OpenTask | None = None,
    ) -> None:
        """End an order with what an attempt has observed of it; its folder is removed.

        What cannot be written into the results folder stays where it is, for the next command.
        """
        order = entry.order
        collected = True
        if attempted and task:
            try:
                ahead_s = task.journals.clock_ahead_s.get(attempted.attempt, 0.0) - self.clock_ahead_s
                if lines := append_records(attempted.lines, order.outbox, ahead_s):
                    self.events.append(Records(order=order, lines=lines))
                if attempted.log:
                    with (order.outbox / WORKER_LOG).open("a") as log:
                        log.write(block(attempted.log))
            except NotObservedError as error:
                problem, collected = str(error), False
            except OSError as error:
                problem = str(obstacle(order.outbox, error, kind=NotObservedError))
        self.events.append(Ended(order=order, problem=problem))
        self.leave_task(entry)
        self.leave_queue(entry)
        if collected:
            self.take_back(entry.key)

    def end_batch(self, name: str, problem: str) -> None:
        """End all open orders of a batch."""
        for entry in self.of_batch(name):
            self.end(entry, problem)

    @cached_property
    def clock_ahead_s(self) -> float:
        """Return how much our clock is ahead of that of the shared file system, in seconds."""
        probe = self.store.root / f".clock-{new_name()}"
        try:
            probe.touch()
            ahead_s = time.time() - probe.stat().st_mtime
            probe.unlink()
        except OSError:
            return 0.0
        return ahead_s

    def leave_task(self, entry: OpenOrder) -> None:
        """Note that an order is in no task any more."""
        place = entry.place
        if place and (task := self.tasks.get((place.batch, place.task))):
            task.orders.pop(entry.key, None)
            if not task.orders:
                del self.tasks[place.batch, place.task]

    def leave_queue(self, entry: OpenOrder) -> None:
        """Note that an order waits to be sent no more."""
        wants = entry.stored.wants
        if entries := [other for other in self.waiting.get(wants, ()) if other is not entry]:
            self.waiting[wants] = entries
        else:
            self.waiting.pop(wants, None)

    def take_back(self, key: str) -> None:
        """Remove an order."""
        if place := self.store.place_of(key):
            self.leave_batch(place.batch)
        self.store.remove(key)

    def leave_batch(self, name: str) -> None:
        """Note that an order has left a batch, which is perhaps over."""
        self._left_batches.add(name)

    def retire_batches(self) -> None:
        """Cancel and remove the batches that orders have left and in which none is any more.

        Not after each order: to look at all orders of a batch as often as it has some is quadratic.
        """
        in_use = {name for name, _ in self.tasks}
        for name in self._left_batches - in_use:
            self._left_batches.discard(name)
            self._retire(name)

    def _retire(self, name: str) -> None:
        """Cancel and remove a batch if no order is in it, also none of another command."""
        folder = folder_of(self.store.root, name)
        batch = read_batch(folder)
        if batch is None:
            return
        places = (self.store.place_of(key) for pack in batch.packs for key in pack)
        if not any(place and place.batch == name for place in places):
            with suppress(SchedulerAwayError):  # a task that was started again finds no order
                self.scheduler.cancel(name)
            remove_batch(folder)
