"""An engine: one worker after the other on this machine."""

from __future__ import annotations

import subprocess
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import contextmanager

from grader.api.engine import (
    EVIDENCE,
    WAITS,
    Ended,
    Engine,
    EngineSettings,
    Event,
    LineReader,
    NotObservedError,
    Order,
    Records,
    Waits,
    remove_job,
    worker_command,
    write_job,
)


class OneByOne(Engine):
    """The smallest engine: its events come from the log of the only worker."""

    name = "one_by_one"

    @contextmanager
    def open(self, settings: EngineSettings) -> Iterator[_Session]:
        """Open a session; its worker is ended with it."""
        session = _Session(settings)
        try:
            yield session
        finally:
            session.close()


class _Session:
    """The orders of one command."""

    def __init__(self, settings: EngineSettings) -> None:
        self._settings = settings
        self._orders: deque[Order] = deque()
        self._events: Generator[Event, None, None] | None = None
        self._worker: subprocess.Popen[str] | None = None

    def wants(self) -> bool:
        """Tell whether no order waits."""
        return not self._orders

    def submit(self, order: Order) -> None:
        """Queue an order."""
        self._orders.append(order)

    def event(self) -> Event | None:
        """Return the next event of the present order, or the first of the next one."""
        event = next(self._events, None) if self._events else None
        if event is None and self._orders:
            self._events = self._observe(self._orders.popleft())
            event = next(self._events)
        return event

    def close(self) -> None:
        """End the worker, and wait for it."""
        if self._worker is not None:
            self._worker.terminate()
        if self._events is not None:
            self._events.close()

    def _observe(self, order: Order) -> Generator[Event, None, None]:
        """Run a worker to its end; every line of its log may mean a record."""
        records = LineReader(order.outbox / EVIDENCE, from_end=True)
        problem = line = ""
        try:
            write_job(order, shared_workspace=self._settings.shared_workspace)
            with self._start(order) as worker:
                for line in worker.stdout or ():
                    if line.startswith(WAITS):
                        yield Waits(order=order, message=line.removeprefix(WAITS).strip())
                    if lines := records.read():
                        yield Records(order=order, lines=lines)
            if lines := records.read():
                yield Records(order=order, lines=lines)
            if worker.returncode:
                problem = f"the worker ended with status {worker.returncode} ({line.strip()}); run again"
        except NotObservedError as error:
            problem = str(error)
        finally:
            remove_job(order)  # it holds the seed, and a worker that never began has not removed it
        yield Ended(order=order, problem=problem)

    def _start(self, order: Order) -> subprocess.Popen[str]:
        """Start a worker that writes all it says to one pipe, and is told by another that we are gone."""
        self._worker = subprocess.Popen(
            worker_command(order),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            process_group=0,  # Ctrl-C is for grader, which closes the session
        )
        return self._worker
