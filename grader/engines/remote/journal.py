"""Journals: what a task did, a file for each attempt, and the rule by which a late attempt is shut out.

A task that a scheduler starts again, after its machine was lost, may still run there and write on. So each
attempt has a file of its own, whose name grows with each attempt. Of every order the newest attempt that has
begun it counts, and nothing that an older one writes later does.
"""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from grader.config.evidence_file import LineReader
from grader.errors import NotObservedError

RETRY_S = 5.0
"""Seconds between two tries to write where there was no room."""
SUFFIX = ".jsonl"
AHEAD = "GRADER_CLOCK_AHEAD"
"""Says how many seconds the file system's clock is ahead of the host's, where they do not share one."""


class JournalEntry(StrEnum):
    """Kinds of lines of a journal."""

    OPENED = "opened"
    BEGUN = "begun"
    RECORD = "record"
    WAITS = "waits"
    LOG = "log"
    ENDED = "ended"
    FACTS = "facts"
    CLOSED = "closed"


class JournalWriter:
    """Appends lines to the journal of one attempt; the only writer there."""

    def __init__(self, file: Path, gives_up_at: float) -> None:
        """Make the file, which must not be there; while there is no room, try again until a moment."""
        file.parent.mkdir(parents=True, exist_ok=True)
        self._gives_up_at = gives_up_at
        self._fd = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        self._end = 0
        # a file system has one clock for all machines, and machines have one each
        self.clock_ahead_s = time.time() - os.fstat(self._fd).st_mtime + float(os.environ.get(AHEAD) or 0)
        """How much the clock of this machine is ahead of the one that all share, in seconds."""

    def write(self, entry: JournalEntry, **values: Any) -> None:
        """Append one line, whole.

        Raises:
            OSError: it could not be written until it was time to give up.
        """
        line = f"{json.dumps({'entry': entry, **values})}\n".encode()
        while True:
            try:
                if os.pwrite(self._fd, line, self._end) == len(line):
                    self._end += len(line)
                    return
                error = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            except OSError as failure:
                error = failure
            with suppress(OSError):
                os.ftruncate(self._fd, self._end)
            if time.monotonic() + RETRY_S > self._gives_up_at:
                raise error
            time.sleep(RETRY_S)

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)


@dataclass(slots=True)
class Attempted:
    """One order in the newest attempt that has begun it."""

    attempt: str
    node: str = ""
    lines: list[bytes] = field(default_factory=list)
    """Of evidence."""
    log: str = ""
    """Error output of its worker."""
    message: str = ""
    """What it waits for."""
    ended: bool = False
    problem: str = ""
    """Why it was cut short, once it has ended."""
    out_of_time: bool = False
    """Whether it was cut short by the deadline of its task."""
    seconds: float = 0.0
    """How long it took, once it has ended."""


@dataclass(slots=True)
class TaskJournals:
    """The journals of one task, as far as they have been read."""

    folder: Path
    orders: dict[str, Attempted] = field(default_factory=dict)
    """By key."""
    closed: bool = False
    """Whether the newest attempt has left what it has not begun to others."""
    refusal: str = ""
    """Why that machine observes nothing."""
    node: str = ""
    """The machine of the newest attempt."""
    facts: dict[str, Any] = field(default_factory=dict)
    """Of a probe, with `written_at`, the moment by the clock of that machine."""
    clock_ahead_s: dict[str, float] = field(default_factory=dict)
    """By attempt, how much its clock is ahead of the one that all machines share."""
    _readers: dict[str, LineReader] = field(default_factory=dict)

    @property
    def attempts(self) -> int:
        """How many there were."""
        return len(self._readers)

    def read(self) -> bool:
        """Read what is new, older attempts first; tell whether there was anything.

        Raises:
            NotObservedError: a journal cannot be read.
        """
        try:
            names = sorted(entry.name for entry in os.scandir(self.folder) if entry.name.endswith(SUFFIX))
        except FileNotFoundError:
            return False
        except OSError as error:
            raise NotObservedError(f"{self.folder}: cannot be read ({error.strerror})") from None
        changed = False
        for name in names:
            if name not in self._readers:
                self._readers[name] = LineReader(self.folder / name)
                self.closed = self.closed and name < max(self._readers)
            for line in self._readers[name].read():
                changed = True
                self._take(name, json.loads(line), is_newest=name == names[-1])
        return changed

    def _take(self, attempt: str, line: Mapping[str, Any], *, is_newest: bool) -> None:
        entry, key = line["entry"], line.get("order", "")
        if entry == JournalEntry.OPENED:
            self.clock_ahead_s[attempt] = line["clock_ahead_s"]
            self.node = line["node"]
        elif entry == JournalEntry.FACTS:
            self.facts = line["facts"] | {"written_at": line["written_at"] - self.clock_ahead_s[attempt]}
        elif entry == JournalEntry.CLOSED:
            if is_newest:
                self.closed, self.refusal = True, line["refusal"]
        elif entry == JournalEntry.BEGUN:
            before = self.orders.get(key)
            if before is None or before.attempt < attempt:
                self.orders[key] = Attempted(attempt, line["node"])
        elif (order := self.orders.get(key)) and order.attempt == attempt:
            if entry == JournalEntry.RECORD:
                order.lines.append(line["line"].encode())
            elif entry == JournalEntry.WAITS:
                order.message = line["message"]
            elif entry == JournalEntry.LOG:
                order.log += line["text"]
            elif entry == JournalEntry.ENDED:
                order.ended, order.problem, order.seconds = True, line["problem"], line["seconds"]
                order.out_of_time = line["out_of_time"]


def ended_orders(folder: Path, before: str) -> frozenset[str]:
    """Return the orders that attempts of names smaller than `before` have ended."""
    journals = TaskJournals(folder)
    with suppress(NotObservedError, ValueError):
        journals.read()
    return frozenset(key for key, order in journals.orders.items() if order.ended and order.attempt < before)
