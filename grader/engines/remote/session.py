"""The host's side: orders go out in batches, and journals come back, also to a host that comes later.

Read `event` first. Whatever happens to this process, what it knows stands in the folder of orders: the next
one that is asked for the same finds its orders there, running or done.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from grader.contracts.engine import Ended, EngineSettings, Event, Order, Waits
from grader.engines.remote.batch import Batch, folder_of, last_words, read_batch, write_batch
from grader.engines.remote.durations import Durations
from grader.engines.remote.earlier import EarlierOrders
from grader.engines.remote.journal import Attempted
from grader.engines.remote.ledger import Ledger, OpenOrder, OpenTask
from grader.engines.remote.options import RemoteOptions
from grader.engines.remote.planner import BatchPlanner
from grader.engines.remote.scheduler import (
    Scheduler,
    SchedulerAwayError,
    SchedulerFullError,
    SchedulerRefusedError,
)
from grader.engines.remote.status import Repeated, queue_status
from grader.engines.remote.stored import (
    BatchPlace,
    StoredOrder,
    Wants,
    wants_of,
)
from grader.engines.remote.task_ends import (
    cancelled_earlier,
    has_only_left,
    problem_of,
    problem_of_sends,
    words_of,
)
from grader.errors import NotObservedError
from grader.files import obstacle

GATHER_S = 60.0
"""Orders are sent after so long even if earlier ones with the same needs still wait for room."""
RESTARTS = 8
"""How often a scheduler may start one task again."""
COLLECTED_LATER = "it is still on the cluster; the same command collects it"


@dataclass
class RemoteSession:
    """The orders of one command, observed wherever a scheduler finds room."""

    scheduler: Scheduler
    options: RemoteOptions
    settings: EngineSettings
    name: str
    """What the scheduler is called in messages."""
    folder: str = ""
    """A folder that all machines share; otherwise orders are kept in `.cluster` of the results folder."""
    _ledger: Ledger | None = None
    """None before the first order."""
    _earlier: EarlierOrders | None = None
    """Those of earlier commands; None before the first order."""
    _unsent: dict[str, Batch] = field(default_factory=dict)
    """Batches that the scheduler has perhaps not heard of."""
    _left_behind: set[Path] = field(default_factory=set)
    """Results folders whose orders go on without us."""
    _refusals: dict[Wants, str] = field(default_factory=dict)
    """Why machines refuse orders with these needs."""
    _gathers_since: dict[Wants, float] = field(default_factory=dict)
    """Since when orders with these needs have been waiting to be sent."""
    _events: list[Ended] = field(default_factory=list)
    """Ends of orders that were never open."""
    _read_at: float = 0.0
    _ask_at: float = 0.0
    _status: Repeated = field(default_factory=Repeated)
    _away: Repeated = field(default_factory=Repeated)
    """Why the scheduler does not answer, while it does not."""
    _full: Repeated = field(default_factory=Repeated)
    """Why it takes no more tasks, while it does not."""
    _cancelled: Repeated = field(default_factory=Repeated)
    """What was told of tasks that somebody cancelled since an earlier command."""

    @cached_property
    def _planner(self) -> BatchPlanner:
        return BatchPlanner(self.scheduler, self.options.pack)

    @cached_property
    def _gpus(self) -> int:
        return self.scheduler.gpus()

    def gpus(self) -> int:
        """Return how many GPUs one worker can have."""
        return self._gpus

    def wants(self) -> bool:
        """Take every order: the scheduler queues them."""
        return True

    # -- orders ---------------------------------------------------------------------------------------------

    def submit(self, order: Order) -> None:
        """Find the order of an earlier command for the same, or queue a new one."""
        if order.outbox in self._left_behind:
            self._events.append(Ended(order=order, problem=COLLECTED_LATER))
            return
        try:
            if self._ledger is None:
                self._ledger = self._open_ledger(order)
            ledger = self._ledger
            stored, place = self._stored(ledger, order)
        except NotObservedError as error:
            self._events.append(Ended(order=order, problem=str(error)))
            return
        entry = OpenOrder(order=order, stored=stored)
        if place and folder_of(ledger.store.root, place.batch).is_dir():
            ledger.follow(entry, place, inherited=True)
        else:
            ledger.queue(entry)
        if self._earlier and (folder := self._earlier.moves_to):
            self._earlier.moves_to = ""
            ledger.tell(
                f"orders of an earlier command lie in {ledger.store.root}, and this command uses that folder "
                f"as well; once all are collected, the next one uses {folder}"
            )

    def _open_ledger(self, order: Order) -> Ledger:
        """Open the folder of orders, with those of earlier commands for the same results folder."""
        results = (self.settings.results or order.outbox.parent).absolute()
        self._earlier = EarlierOrders.open(results, self.folder, self.scheduler)
        ledger = self._earlier.ledger
        self._planner.durations = Durations.read(self._earlier.durations_folder)
        return ledger

    def _stored(self, ledger: Ledger, order: Order) -> tuple[StoredOrder, BatchPlace | None]:
        """Return the order of an earlier command that covers this one, or a new one."""
        assert self._earlier is not None  # noqa: S101 - it has the ledger
        course = ledger.store.course(order.job)
        if earlier := self._earlier.find(order, course):
            return earlier
        gpus = self._gpus if any(task.devices for task in order.job.tasks) else 0
        return ledger.store.store(order, wants_of(order, gpus)), None

    # -- events ---------------------------------------------------------------------------------------------

    def event(self) -> Event | None:
        """Send what waits, then read journals and ask the scheduler until there is something to report."""
        if self._events:
            return self._events.pop()
        ledger = self._ledger
        if ledger is None:
            return None
        while not ledger.events:
            ledger.retire_batches()
            if not ledger.is_open:
                return None
            self._send(ledger)
            now = time.monotonic()
            if now >= self._read_at:
                self._collect(ledger)
                self._read_at = time.monotonic() + self.scheduler.pace.until_read_s(len(ledger.tasks))
            if now >= self._ask_at:
                self._ask(ledger)
                self._ask_at = time.monotonic() + self.scheduler.pace.until_asked_s(len(ledger.tasks))
            if ledger.events:
                break
            if self.settings.detach and not (self._unsent or ledger.waiting or ledger.has_task_over):
                self._leave_behind(ledger)
            else:
                time.sleep(max(0.0, min(self._read_at, self._ask_at) - time.monotonic()))
        return ledger.events.popleft()

    def _leave_behind(self, ledger: Ledger) -> None:
        """End all orders here; on the other machines they go on."""
        for entry in ledger.entries():
            self._left_behind.add(entry.order.outbox)
            ledger.events.append(Ended(order=entry.order, problem=COLLECTED_LATER))
        ledger.tasks.clear()
        ledger.waiting.clear()

    # -- sending --------------------------------------------------------------------------------------------

    def _send(self, ledger: Ledger) -> None:
        """Send what waits in few batches: while earlier tasks wait for room, orders gather."""
        now = time.monotonic()
        for wants in tuple(ledger.waiting):
            since = self._gathers_since.setdefault(wants, now)
            if self.settings.detach or now - since > GATHER_S or not ledger.is_queued(wants):
                del self._gathers_since[wants]
                self._send_batch(wants, ledger.waiting.pop(wants), ledger)

    def _send_batch(self, wants: Wants, entries: Sequence[OpenOrder], ledger: Ledger) -> None:
        try:
            batch = self._planner.plan(wants, [entry.stored for entry in entries])
        except SchedulerAwayError as error:
            self._note_away(str(error), ledger)
            ledger.waiting[wants] = list(entries)
            return
        except SchedulerRefusedError as error:
            for entry in entries:
                ledger.end(entry, f"{self.name} refused it: {error}")
            return
        by_key = {entry.key: entry for entry in entries}
        if rest := entries[sum(map(len, batch.packs)) :]:
            ledger.waiting[wants] = list(rest)
        try:
            write_batch(ledger.store.root, batch)
            for number, pack in enumerate(batch.packs):  # first: whoever comes after us finds it by its name
                for key in pack:
                    entry = by_key[key]
                    earlier = entry.place
                    place = BatchPlace(
                        batch=batch.name, task=number, sends=earlier.sends + 1 if earlier else 1
                    )
                    ledger.store.place(key, place)
                    ledger.follow(entry, place)
                    if earlier:
                        ledger.leave_batch(earlier.batch)
        except OSError as error:
            for entry in entries:
                ledger.end(entry, str(obstacle(ledger.store.root, error, kind=NotObservedError)))
            return
        self._unsent[batch.name] = batch
        self._submit(batch, ledger)

    def _submit(self, batch: Batch, ledger: Ledger) -> None:
        """Hand a batch to the scheduler; whether it took it shows later where it did not answer."""
        try:
            self.scheduler.submit(batch, ledger.store.root, folder_of(ledger.store.root, batch.name))
        except SchedulerFullError as error:
            self._note_full(str(error), batch, ledger)
        except SchedulerAwayError as error:
            self._note_away(str(error), ledger)
        except SchedulerRefusedError as error:
            del self._unsent[batch.name]
            ledger.end_batch(batch.name, f"{self.name} refused it: {error}")
        except OSError as error:
            del self._unsent[batch.name]
            ledger.end_batch(batch.name, str(obstacle(ledger.store.root, error, kind=NotObservedError)))
        else:
            self._full = Repeated()
            del self._unsent[batch.name]
            self._ask_at = time.monotonic() + self.scheduler.pace.first_ask_s

    def _note_full(self, why: str, batch: Batch, ledger: Ledger) -> None:
        """Wait until tasks end; where none of ours is left to end, send fewer at a time."""
        if all(name in self._unsent for name, _ in ledger.tasks) and self._planner.demand_fewer_tasks(batch):
            del self._unsent[batch.name]
            for entry in ledger.of_batch(batch.name):
                ledger.queue_again(entry)
        elif self._full.is_due(why):
            ledger.tell(f"{self.name} takes no more tasks at the moment ({why}); waiting")

    # -- collecting -----------------------------------------------------------------------------------------

    def _collect(self, ledger: Ledger) -> None:
        """Read the journals, and end the orders that they say have ended."""
        for task in tuple(ledger.tasks.values()):
            try:
                changed = task.journals.read()
            except (NotObservedError, ValueError):  # a file server that is away comes back
                continue
            if not changed:
                continue
            task.over_since = None
            for key, entry in tuple(task.orders.items()):
                attempted = task.journals.orders.get(key)
                if attempted and attempted.ended:
                    self._end_attempted(task, entry, attempted, ledger)
                elif attempted and attempted.message and attempted.message != entry.message:
                    entry.message = attempted.message
                    message = f"{attempted.node}: {entry.message}"
                    ledger.events.append(Waits(order=entry.order, message=message))
            if task.journals.closed:
                self._settle(task, ledger)
        for entry in tuple(ledger.entries()) if self._refusals else ():
            if problem := self._refusals.get(entry.stored.wants):
                ledger.end(entry, problem)

    def _end_attempted(self, task: OpenTask, entry: OpenOrder, attempted: Attempted, ledger: Ledger) -> None:
        """End an order as its newest attempt did; one that had too little time gets all that there may be."""
        late = attempted.out_of_time and entry.place
        batch = read_batch(folder_of(ledger.store.root, late.batch)) if late else None
        if batch and self._planner.demand_full_time(batch):
            self._send_again(entry, attempted.problem, ledger)
            return
        if not attempted.problem:
            self._planner.durations.note(entry.stored, attempted.seconds)
        ledger.end(entry, attempted.problem, attempted, task)

    # -- the scheduler --------------------------------------------------------------------------------------

    def _ask(self, ledger: Ledger) -> None:
        """Ask for states, submit unknown batches again, and settle tasks that are over."""
        try:
            states = self.scheduler.states()
        except SchedulerAwayError as error:
            self._note_away(str(error), ledger)
            return
        if self._away.message:
            self._away = Repeated()
            ledger.tell(f"{self.name} answers again")
        ledger.note_states(states)
        now = time.monotonic()
        names = {name for name, _ in states}
        for batch in tuple(self._unsent.values()):
            if batch.name in names:
                del self._unsent[batch.name]
            else:
                self._submit(batch, ledger)
        for place, task in tuple(ledger.tasks.items()):
            if (task.state and not task.state.phase.is_over) or place[0] in self._unsent:
                task.over_since = None
                if task.journals.attempts > RESTARTS:
                    self._give_up(task, ledger)
            elif task.over_since is None:
                task.over_since = now
            elif now - task.over_since > self.scheduler.pace.grace_s:
                self._settle(task, ledger)
        status = queue_status(ledger.tasks, states, sum(map(len, ledger.waiting.values())))
        if status and self._status.is_due(status):
            ledger.tell(status)

    def _note_away(self, why: str, ledger: Ledger) -> None:
        if self._away.is_due(why):
            ledger.tell(f"{self.name} does not answer ({why}); waiting")

    def _give_up(self, task: OpenTask, ledger: Ledger) -> None:
        words = task.state.words if task.state else ""
        for entry in tuple(task.orders.values()):
            problem = f"{self.name} began its task {task.journals.attempts} times ({words}); run again"
            ledger.end(entry, problem, task.journals.orders.get(entry.key), task)

    def _settle(self, task: OpenTask, ledger: Ledger) -> None:
        """End, or send again, the orders of a task that is over, or has left them to others."""
        if refusal := task.journals.refusal:
            for entry in task.orders.values():
                self._refusals[entry.stored.wants] = refusal  # the others would hear the same
        if anew := cancelled_earlier(task):
            message = f"tasks were cancelled since an earlier command ({anew}); sending their orders anew"
            if self._cancelled.is_due(message):
                ledger.tell(message)
        for entry in tuple(task.orders.values()):
            attempted = task.journals.orders.get(entry.key)
            if problem := problem_of(task, begun=attempted is not None, scheduler=self.name):
                ledger.end(entry, problem, None if task.journals.refusal else attempted, task)
            else:
                self._send_again(entry, words_of(task), ledger, counts=not has_only_left(task))

    def _send_again(self, entry: OpenOrder, words: str, ledger: Ledger, *, counts: bool = True) -> None:
        """Queue an order again, unless it went out too often."""
        place = entry.place
        assert place is not None  # noqa: S101 - it went out
        if not counts:
            ledger.queue_again(entry)
            return
        task = ledger.tasks[place.batch, place.task]
        last = last_words(folder_of(ledger.store.root, place.batch), place.task)
        if problem := problem_of_sends(task, place.sends, "; ".join(filter(None, (words, last))), self.name):
            ledger.end(entry, problem, task.journals.orders.get(entry.key), task)
        else:
            ledger.leave_task(entry)
            ledger.queue(entry)

    # -- the end --------------------------------------------------------------------------------------------

    def close(self, *, cancel: bool) -> None:
        """Let go of what is open: cancel it, or leave it to a later command."""
        ledger = self._ledger
        if ledger is None or self._earlier is None:
            return
        if cancel:
            for name in {name for name, _ in ledger.tasks}:
                with suppress(SchedulerAwayError):
                    self.scheduler.cancel(name)
            for entry in tuple(ledger.entries()):
                ledger.take_back(entry.key)
            ledger.tasks.clear()
        ledger.retire_batches()
        with suppress(OSError):
            self._planner.durations.write(self._earlier.durations_folder)
        self._earlier.close()
