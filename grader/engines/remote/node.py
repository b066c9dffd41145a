"""The other machine's side: one task observes the orders of its pack with the engine `local`.

It begins nothing that would not end before its deadline, which is its own: the signal that a scheduler sends
before a time limit comes when it likes. What it has not begun the host sends again.
"""

from __future__ import annotations

import json
import os
import platform
import shlex
import shutil
import signal
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader import __version__
from grader.contracts.engine import Ended, EngineSettings, Order, Records, Waits
from grader.cuda.gpus import VISIBLE, gpus
from grader.engines.local import LocalEngine
from grader.engines.remote.batch import Batch, folder_of, journals_of, read_batch
from grader.engines.remote.journal import SUFFIX, JournalEntry, JournalWriter, ended_orders
from grader.engines.remote.stored import OrderStore, StoredOrder
from grader.machine.passing import passing_folder
from grader.model.evidence import NO_SANDBOX
from grader.model.job import LEASE_WAIT_S, WORKER_LOG, is_of_kind

NODE = "GRADER_NODE"
"""Names this machine, as its scheduler does."""
SETUP_STATUS = "GRADER_SETUP_STATUS"
"""Says how the last command of `setup` ended, for `grader doctor`."""
BEFORE_END_S = 30.0
"""The own deadline of a task lies so long before the scheduler's, but at least at half of its time."""
LONGER = 1.5
"""An order is begun if so many times the longest one so far still ends in time."""
CONFINED_WAIT_S = 60.0
"""How long leases are waited for where this task may use no other cores than those granted to it.

No other task wants these then, and a wait is paid for. Where tasks may use all cores of a node, those that
are timed wait for one another."""
SIDE_BY_SIDE = 2
"""Exclusive orders that are open at once: the second one imports, or shares a GPU."""


class DeadlineReachedError(Exception):
    """The deadline of the task has come while orders were observed."""


def observe_pack(root: Path, name: str, task: int, attempt: str) -> int:
    """Observe the orders of one task and journal what happens; return the exit code.

    Args:
        root: the folder of orders.
        name: the batch.
        task: its number in the batch.
        attempt: a name that is greater than those of all earlier attempts.
    """
    begun_at = time.monotonic()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    folder = folder_of(root, name)
    batch = read_batch(folder)
    if batch is None:
        if not root.is_dir():
            sys.stderr.write(f"{root}: is not there on {node_name()}; share the folder of orders with it\n")
            return 1
        sys.stderr.write(f"{folder}: was taken back\n")
        return 0
    deadline = begun_at + max(batch.time_s - BEFORE_END_S, batch.time_s / 2)
    file = journals_of(folder, task) / f"{attempt}{SUFFIX}"
    try:
        journal = JournalWriter(file, deadline)
    except OSError as error:
        sys.stderr.write(f"{file}: cannot be written ({error.strerror})\n")
        return 1
    try:
        journal.write(
            JournalEntry.OPENED,
            node=node_name(),
            clock_ahead_s=journal.clock_ahead_s,
            grader=__version__,
        )
        if batch.probe:
            from grader.engines.remote.probe import machine_facts

            journal.write(JournalEntry.FACTS, facts=machine_facts(), written_at=time.time())
            refusal = ""
        elif not (refusal := objection(batch)):
            done = ended_orders(file.parent, file.name)
            keys = [key for key in batch.packs[task] if key not in done]
            with ExitStack() as resources:
                pack = _Pack(OrderStore(root), batch, journal, deadline, deque(keys))
                refusal = pack.observe(resources)
        journal.write(JournalEntry.CLOSED, refusal=refusal)
    except KeyboardInterrupt:
        return 128 + signal.SIGTERM
    finally:
        journal.close()
    return 0


def node_name() -> str:
    """Return the name of this machine."""
    return os.environ.get(NODE) or os.uname().nodename


def objection(batch: Batch) -> str:
    """Return why this machine cannot observe a batch, in one line; empty if it can."""
    where = f"on {node_name()}"
    if batch.grader != __version__:
        return f"{where} runs grader {__version__}, and the host {batch.grader}; install the same on both"
    python = platform.python_version()
    if batch.python.split(".")[:2] != python.split(".")[:2]:
        return f"{where} runs Python {python}, and the host {batch.python}; use the same on both"
    if not batch.wants.gpus:
        os.environ[VISIBLE] = ""  # what was not asked for belongs to somebody else
        return ""
    usable = [gpu for gpu in gpus() if not gpu.mig]
    kinds = batch.wants.gpu_kinds
    if unfit := {gpu.name for gpu in usable if not is_of_kind(gpu.name, kinds)}:
        return f"{where} it got {', '.join(sorted(unfit))}, and may be measured on {' or '.join(kinds)} only"
    if len(usable) != batch.wants.gpus:
        visible = os.environ.get(VISIBLE)
        return (
            f"{where} {batch.wants.gpus} GPUs were granted and {len(usable)} can be used "
            f"({VISIBLE}={visible}); run grader doctor there"
        )
    return ""


@dataclass(slots=True)
class _Pack:
    """The orders of one task."""

    store: OrderStore
    batch: Batch
    journal: JournalWriter
    deadline: float
    keys: deque[str]
    """Of orders that have not begun."""
    _open: dict[str, float] = field(default_factory=dict)
    """When each order that has not ended was begun."""
    _longest_s: float = 0.0

    def observe(self, resources: ExitStack) -> str:
        """Observe one order after the other, or several side by side, until the deadline.

        Returns why this machine can observe nothing; empty if it can.
        """
        wants = self.batch.wants
        lanes = min(self.batch.cores, len(os.sched_getaffinity(0)))
        temporary = Path(tempfile.gettempdir())
        # sandboxes show what is below the stage
        stage = resources.enter_context(passing_folder(temporary, "grader-stage-", 0o755))
        outboxes = resources.enter_context(passing_folder(temporary, "grader-orders-", 0o700))
        settings = EngineSettings(at_once=lanes, gpus=wants.gpus, shared_workspace=stage)
        at_most = SIDE_BY_SIDE if wants.exclusive else lanes
        try:
            with _alarm_at(self.deadline), LocalEngine().open(settings) as session:
                while True:
                    while len(self._open) < at_most and (order := self._next(outboxes)):
                        session.submit(order)
                    if (event := session.event()) is None:
                        return ""
                    if isinstance(event, Records):
                        for line in event.lines:
                            if refusal := _without_sandbox(line, event.order.job.min_isolation):
                                return refusal
                            self.journal.write(JournalEntry.RECORD, order=event.order.key, line=line.decode())
                    elif isinstance(event, Waits):
                        self.journal.write(JournalEntry.WAITS, order=event.order.key, message=event.message)
                    elif isinstance(event, Ended):
                        self._end(event.order, event.problem)
        except DeadlineReachedError:
            minutes = f"{self.batch.time_s / 60:.0f} minutes"
            problem = f"it did not end within the time of its task ({minutes}); raise `time`"
            for key in tuple(self._open):
                self._end_key(key, problem, out_of_time=True)
            return ""

    def _next(self, outboxes: Path) -> Order | None:
        """Begin the next order that nobody has taken back; None if there is none, or no time for one."""
        if time.monotonic() + LONGER * self._longest_s > self.deadline:
            return None
        while self.keys:
            key = self.keys.popleft()
            place, stored = self.store.place_of(key), self.store.read(key)
            if stored is None or place is None or place.batch != self.batch.name:
                continue
            outbox = outboxes / key
            outbox.mkdir()
            self._open[key] = time.monotonic()
            self.journal.write(JournalEntry.BEGUN, order=key, node=node_name())
            return self._order(stored, outbox)
        return None

    def _order(self, stored: StoredOrder, outbox: Path) -> Order:
        confined = len(os.sched_getaffinity(0)) <= self.batch.cores
        job = replace(
            self.store.job(stored),
            id=os.urandom(8).hex(),
            seed=os.urandom(16).hex(),
            lease_wait_s=CONFINED_WAIT_S if confined else LEASE_WAIT_S,
        )
        return Order(
            key=stored.key,
            job=job,
            outbox=outbox,
            exclusive=stored.wants.exclusive,
            cores=stored.wants.cores,
            shares_gpu=stored.shares_gpu,
        )

    def _end(self, order: Order, problem: str) -> None:
        with suppress(OSError):
            text = (order.outbox / WORKER_LOG).read_text(errors="replace")
            self.journal.write(JournalEntry.LOG, order=order.key, text=text[-100_000:])
        shutil.rmtree(order.outbox, ignore_errors=True)
        self._end_key(order.key, problem.replace(f"{order.outbox}/", f"{node_name()}: "))

    def _end_key(self, key: str, problem: str, *, out_of_time: bool = False) -> None:
        seconds = time.monotonic() - self._open.pop(key)
        self._longest_s = max(self._longest_s, seconds)
        self.journal.write(
            JournalEntry.ENDED, order=key, problem=problem, seconds=round(seconds, 3), out_of_time=out_of_time
        )


def _has_sandbox(least: str) -> bool:
    """Tell whether a sandbox of this strength works here; where one does, the course is at fault."""
    from grader.harness.trial import try_out
    from grader.sandbox.builtin import grader_sandboxes
    from grader.sandbox.interpreter import interpreter

    sandboxes = [kind() for kind in grader_sandboxes()]
    strength = next((sandbox.strength for sandbox in sandboxes if sandbox.name == least), 0)
    python = interpreter()
    return any(
        not try_out(sandbox, python=python.executable, site=python.site).problem
        for sandbox in sandboxes
        if sandbox.strength >= strength
    )


def _without_sandbox(line: bytes, least: str) -> str:
    """Return why nothing can be run here, if a record is of a run without any sandbox; otherwise empty."""
    if b'"record":"run"' not in line:  # most are observations, and long
        return ""
    record = json.loads(line)
    if record["record"] != "run" or record["run"]["isolation"] != NO_SANDBOX or _has_sandbox(least):
        return ""
    error = record["run"]["environment"].get("sandbox_error", "no sandbox works there")
    return f"on {node_name()} nothing was run: {error}; grader doctor --engine says more"


@contextmanager
def _alarm_at(moment: float) -> Iterator[None]:
    """Raise DeadlineReachedError in the main thread at a moment."""

    def reached(number: int, frame: object) -> None:
        raise DeadlineReachedError

    signal.signal(signal.SIGALRM, reached)
    signal.setitimer(signal.ITIMER_REAL, max(0.01, moment - time.monotonic()))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)


def script(setup: str, command: str, arguments: Sequence[str]) -> str:
    """Return the shell script of a task; `arguments` are words of shell, and may name variables.

    Without a `command` it runs the interpreter of the host.
    """
    words = [command or shlex.quote(sys.executable), "-P", "-m", "grader.engines.remote", *arguments]
    path = 'PATH="${PATH:-/usr/local/bin:/usr/bin:/bin}"; export PATH'
    return f"#!/bin/sh\n{path}\n{setup}\nexport {SETUP_STATUS}=$?\nexec {' '.join(words)}\n"
