"""Workers on this machine: one scheduler for its cores, its GPUs and the workers that are warm.

Shared orders run on all cores, several side by side. Exclusive ones, which are timed or need a GPU, get cores
for themselves. Where there are cores enough, shared orders keep off these and go on; one exclusive order more
than there is room for is started then, which imports and waits for its lease while another one is timed.
Otherwise exclusive orders run when no shared one does.

Two orders that may share a GPU run as a pair: the worker of the first leases it, and the second is started
when that worker sends the descriptors of the lease. An order without a partner has the GPU for itself.
"""

from __future__ import annotations

import os
import select
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from grader.config.evidence_file import EVIDENCE, LineReader
from grader.contracts.engine import Ended, Engine, EngineSettings, Event, Order, Records, Waits
from grader.engines.cores import Division, divide
from grader.engines.job_file import remove_job, write_job
from grader.engines.process import WorkerProcess, take_spare
from grader.engines.worker_end import record_end
from grader.errors import NotObservedError
from grader.machine.cores import Cores
from grader.model.job import BEGINS, DONE, GRANTS, WAITS

EXCLUSIVE_AHEAD = 32
"""So many exclusive orders that wait come before further shared ones: each keeps a submission in memory."""


class LocalEngine(Engine):
    """Runs workers on this machine, without any other program."""

    name: ClassVar[str] = "local"

    @contextmanager
    def open(self, settings: EngineSettings) -> Iterator[_Session]:
        """Start as many workers as there may be orders at once: they import before the first one is known."""
        session = _Session(settings)
        try:
            session.start_workers()
            yield session
        finally:
            session.close()


@dataclass(slots=True, kw_only=True)
class _Worker:
    """A worker and the order that it works on."""

    process: WorkerProcess
    cores: frozenset[int]
    """The cores on which it, and what it starts, may run."""
    order: Order | None = None
    item: str = ""
    """The item of the order that it observes."""
    partner: Order | None = None
    """The order that will share its GPU."""
    is_partner: bool = False
    """Whether it shares the GPU of another worker."""
    is_new: bool = True
    """Whether it has had no order: nothing that it started runs on its cores."""


@dataclass(slots=True)
class _Session:
    """The orders of one command. For one thread: the kernel ends workers with the thread that began them."""

    settings: EngineSettings
    _shared: deque[Order] = field(default_factory=deque)
    _exclusive: deque[Order] = field(default_factory=deque)
    _workers: list[_Worker] = field(default_factory=list)
    _evidence: dict[Path, LineReader] = field(default_factory=dict)
    """By outbox of the orders that run."""
    _events: deque[Event] = field(default_factory=deque)
    _cores: Cores = field(default_factory=Cores)
    _needed: int = 0
    """The most cores that a timed item has asked for."""
    _timed_parts: int = 1
    """The most exclusive orders of one submission that may run at once."""
    _division: Division = field(init=False)
    """Between shared and exclusive orders; it changes with `_needed` and `_timed_parts` alone."""
    _exclusive_turn: bool = False
    """Whether exclusive orders have the machine, where it cannot be divided."""

    def __post_init__(self) -> None:
        self._division = divide(self._cores, self._needed, self.settings.gpus)

    def start_workers(self) -> None:
        """Start the workers for the first orders."""
        cores = frozenset(self._cores.allowed)
        for _ in range(self.settings.at_once):
            if spare := take_spare():
                self._workers.append(_Worker(process=spare, cores=cores))
            else:
                self._new_worker(cores)

    def wants(self) -> bool:
        """Whether so few shared orders wait that a worker could soon have none."""
        return len(self._shared) < self.settings.at_once and len(self._exclusive) < EXCLUSIVE_AHEAD

    def submit(self, order: Order) -> None:
        """Queue an order."""
        # from its first order on: a shared one that runs on all cores would keep exclusive ones waiting
        if order.cores > self._needed or order.timed_parts > self._timed_parts:
            self._needed = max(self._needed, order.cores)
            self._timed_parts = max(self._timed_parts, order.timed_parts)
            self._division = divide(self._cores, self._needed, self.settings.gpus, self._timed_parts)
        (self._exclusive if order.exclusive else self._shared).append(order)

    def event(self) -> Event | None:
        """Start what has room, then wait for a worker."""
        while not self._events:
            self._start_orders()
            if self._events:  # an order that could not be started
                break
            busy = [worker for worker in self._workers if worker.order is not None]
            if not busy:
                return None
            ready, _, _ = select.select([worker.process for worker in busy], [], [])
            for worker in busy:
                if worker.process in ready:
                    self._read(worker)
        return self._events.popleft()

    def close(self) -> None:
        """End all workers, and wait for them."""
        for worker in self._workers:
            worker.process.end()
        while self._workers:
            worker = self._workers.pop()
            worker.process.stop()
            if worker.order is not None:
                remove_job(worker.order)

    def _start_orders(self) -> None:
        division = self._division
        others = division.shared or frozenset(self._cores.allowed)
        running = [(worker, worker.order) for worker in self._workers if worker.order is not None]
        shared = [worker for worker, order in running if not order.exclusive]
        exclusive = sum(order.exclusive and not worker.is_partner for worker, order in running)
        if division.shared:
            takes_shared = True
            takes_exclusive = all(worker.cores <= others for worker in shared)
        else:
            self._take_turns(shared=bool(shared), exclusive=bool(exclusive))
            takes_shared, takes_exclusive = not self._exclusive_turn, self._exclusive_turn
        for _ in range(self.settings.at_once - len(shared)):
            if takes_shared and self._shared:
                self._start(self._shared.popleft(), others)
        ahead = 1 if division.shared else 0
        for _ in range(division.at_once + ahead - exclusive):
            if takes_exclusive and self._exclusive:
                self._start(self._exclusive.popleft(), others)

    def _take_turns(self, *, shared: bool, exclusive: bool) -> None:
        """Decide who has the machine; `shared` and `exclusive` say what runs at the moment."""
        if self._exclusive_turn:
            self._exclusive_turn = exclusive or bool(self._exclusive)
        elif not shared and not self._shared:
            self._exclusive_turn = bool(self._exclusive)

    def _start(self, order: Order, cores: frozenset[int], gpu: str = "", lease: Sequence[int] = ()) -> None:
        """Give an order to a worker, with the lease of the GPU that it shares."""
        partner = None if gpu else self._take_partner(order)
        try:
            file = write_job(
                order,
                cores=self._division.exclusive if order.exclusive else (),
                shared_workspace=self.settings.shared_workspace,
                shares_gpu=bool(partner or gpu),
                granted=(gpu,) if gpu else (),
            )
        except NotObservedError as error:
            self._events.append(Ended(order=order, problem=str(error)))
            if partner:
                self._exclusive.appendleft(partner)
            return
        worker = self._idle_worker(cores)
        worker.order, worker.partner, worker.is_partner, worker.is_new = order, partner, bool(gpu), False
        if order.outbox not in self._evidence:
            self._evidence[order.outbox] = LineReader(order.outbox / EVIDENCE, from_end=True)
        worker.process.give(file, order.outbox, lease)

    def _take_partner(self, order: Order) -> Order | None:
        """Take the next order with which this one can share a GPU from the queue."""
        partner = next((other for other in self._exclusive if order.shares_gpu and other.shares_gpu), None)
        if partner:
            self._exclusive.remove(partner)
        return partner

    def _idle_worker(self, cores: frozenset[int]) -> _Worker:
        """One that runs on these cores, or can still be moved there; a new one takes the place of another."""
        idle = [worker for worker in self._workers if worker.order is None]
        if alike := next((worker for worker in idle if worker.cores == cores), None):
            return alike
        if unused := next((worker for worker in idle if worker.is_new), None):
            unused.process.move(cores)
            unused.cores = cores
            return unused
        if idle:
            self._workers.remove(idle[0])
            idle[0].process.stop()
        return self._new_worker(cores)

    def _new_worker(self, cores: frozenset[int]) -> _Worker:
        affinity = os.sched_getaffinity(0)
        os.sched_setaffinity(0, cores)  # it starts with ours
        try:
            worker = _Worker(process=WorkerProcess(), cores=cores)
        finally:
            os.sched_setaffinity(0, affinity)
        self._workers.append(worker)
        return worker

    def _read(self, worker: _Worker) -> None:
        """Report what a worker has logged and recorded, and whether it has finished its order."""
        order = worker.order
        assert order is not None  # noqa: S101 - only busy workers are read
        log = worker.process.read()
        status = None
        for line in log or ():
            if line.startswith(WAITS):
                self._events.append(Waits(order=order, message=line.removeprefix(WAITS)))
            elif line.startswith(BEGINS):
                worker.item = line.removeprefix(BEGINS)
            elif line.startswith(GRANTS):
                self._start_partner(worker, line.removeprefix(GRANTS))
            elif line.startswith(DONE):
                status = int(line.removeprefix(DONE))
        has_ended = log is None or status is not None
        problem = self._end(worker, order, status) if has_ended else ""
        try:
            if lines := self._evidence[order.outbox].read():
                self._events.append(Records(order=order, lines=lines))
        except NotObservedError as error:
            problem = problem or str(error)
        if has_ended:
            if not any(other.order and other.order.outbox == order.outbox for other in self._workers):
                del self._evidence[order.outbox]
            self._events.append(Ended(order=order, problem=problem))

    def _start_partner(self, worker: _Worker, gpu: str) -> None:
        """Start the order that shares the GPU which a worker has leased."""
        lease = worker.process.receive_lease()
        if partner := worker.partner:
            worker.partner = None
            self._start(partner, worker.cores, gpu, lease)
        for descriptor in lease:  # the workers have theirs
            os.close(descriptor)

    def _end(self, worker: _Worker, order: Order, finished: int | None) -> str:
        """Keep the worker for another order if all is well with it; return why it did not finish, or ""."""
        if worker.partner:  # the GPU was never leased
            self._exclusive.appendleft(worker.partner)
        item = worker.item
        worker.order, worker.item, worker.partner = None, "", None
        complaints = worker.process.complaints()
        exited = 0
        if finished != 0 or complaints:
            self._workers.remove(worker)
            exited = worker.process.stop()
        remove_job(order)
        return record_end(order, item, complaints=complaints, finished=finished, exited=exited)
