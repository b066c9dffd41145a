"""`evidence.jsonl`: one line per observation, written as it happens and readable while it grows.

Texts of a program are made safe to show when they are written, and again when they are read: another program
may have written the file.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeAlias

from grader.config.codec import dumps_plain, from_plain, loads, to_plain
from grader.errors import NotObservedError
from grader.files import cause, show_path
from grader.model.evidence import SCHEMA, Evidence, WorkerRun
from grader.model.observation import JUDGED_BY, Fault, Observation, Outcome
from grader.model.submission import Submission
from grader.text import document

EVIDENCE = "evidence.jsonl"
"""The name of the file in the results folder of a submission."""

WAIT_S = 60.0
_POLL_S = 0.02
BLOCK = 1 << 16
ADVICE = "move the file away to observe again"
NOTHING_SEEN = frozenset({Outcome.SKIPPED, Outcome.NOT_OBSERVED})


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionReceived:
    """A submission that is new, or has new metadata, while its observations are already complete."""

    schema: int = SCHEMA
    submission: Submission


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """The first line of each run."""

    schema: int = SCHEMA
    submission: Submission
    run: WorkerRun


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemObserved:
    """One item's observation."""

    run: str
    observation: Observation


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded:
    """The last line of a run that was not cut short."""

    run: str


Record: TypeAlias = SubmissionReceived | RunStarted | ItemObserved | RunEnded

RECORDS: dict[str, type[Record]] = {
    "submission": SubmissionReceived,
    "run": RunStarted,
    "observation": ItemObserved,
    "end": RunEnded,
}
NAMES = {kind: name for name, kind in RECORDS.items()}


class EvidenceWriter:
    """Appends records to a file, each with one write, so that a killed process leaves whole lines.

    An flock admits one writer at a time, which first cuts off a torn last line (power cut, full disk), or
    several that share the lock.
    """

    def __init__(self, path: Path, *, wait_s: float = WAIT_S, shared: bool = False) -> None:
        """Open the file, after waiting for other writers to end: workers whose host was killed.

        With `shared` it waits only for a writer that does not share.

        Raises:
            NotObservedError: it cannot be opened, or somebody has been writing for too long.
        """
        self._name = show_path(path)
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise self._unwritable(error) from None
        ends = time.monotonic() + wait_s
        while not _locked(self._fd, shared=shared):
            if time.monotonic() > ends:
                os.close(self._fd)
                raise NotObservedError(f"{self._name}: another run is writing here; wait for its end")
            time.sleep(_POLL_S)
        if not shared:
            repair(self._fd)

    def write(self, record: Record) -> None:
        """Append one record.

        Raises:
            NotObservedError: it could not be written whole; then nothing of it is left.
        """
        self.write_lines([encode_record(record)])

    def write_lines(self, lines: Sequence[bytes]) -> None:
        """Append records that are encoded already, with one write.

        Raises:
            NotObservedError: they could not be written whole; then nothing of them is left.
        """
        import fcntl  # rubrics are checked on any system, runs are on Linux

        content = b"".join(line + b"\n" for line in lines)
        try:
            fcntl.lockf(self._fd, fcntl.LOCK_EX)  # those who share the flock write one after the other
            before = os.fstat(self._fd).st_size
            written = os.write(self._fd, content)
            if written < len(content):
                os.ftruncate(self._fd, before)
            fcntl.lockf(self._fd, fcntl.LOCK_UN)
        except OSError as error:
            raise self._unwritable(error) from None
        if written < len(content):
            raise NotObservedError(f"{self._name}: could not be written whole; make room on the disk")

    def close(self) -> None:
        """Close the file, which releases its lock."""
        os.close(self._fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _unwritable(self, error: OSError) -> NotObservedError:
        return NotObservedError(
            f"{self._name}: cannot be written ({cause(error)}); check the results folder and its disk"
        )


def _locked(fd: int, *, shared: bool) -> bool:
    import fcntl

    try:
        fcntl.flock(fd, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def repair(fd: int) -> None:
    """Cut off what follows the last newline, and nothing else."""
    end = size = os.fstat(fd).st_size
    while end > 0:
        start = max(0, end - BLOCK)
        newline = os.pread(fd, end - start, start).rfind(b"\n")
        if newline >= 0:
            end = start + newline + 1
            break
        end = start
    if end < size:
        os.ftruncate(fd, end)


class LineReader:
    """Follows a file of lines: every call gives those that became complete since the last one."""

    def __init__(self, path: Path, *, from_end: bool = False) -> None:
        """Follow `path`; with `from_end` its present lines are skipped."""
        self._path = path
        self._offset = 0
        self.number = 0
        """How many lines have been given, or left out."""
        if from_end:
            self.read()

    def read(self) -> tuple[bytes, ...]:
        """New lines, without their line breaks; none if there is no file yet.

        Raises:
            NotObservedError: the file cannot be read.
        """
        try:
            with self._path.open("rb") as file:
                file.seek(self._offset)
                content = file.read()
        except FileNotFoundError:
            return ()
        except OSError as error:
            message = f"{show_path(self._path)}: cannot be read ({error.strerror}); check its permissions"
            raise NotObservedError(message) from None
        whole = content[: content.rfind(b"\n") + 1]
        self._offset += len(whole)
        lines = tuple(whole.split(b"\n")[:-1])
        self.number += len(lines)
        return lines


class EvidenceReader:
    """Follows the records of a file: every call gives those that became complete since the last one."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines = LineReader(path)

    def read(self) -> tuple[Record, ...]:
        """New records; none if there is no file yet.

        Raises:
            NotObservedError: a complete line is no record, or the file cannot be read.
        """
        first = self._lines.number + 1
        return tuple(
            decode_record(line, where=f"{show_path(self._path)}:{number}")
            for number, line in enumerate(self._lines.read(), start=first)
        )


def encode_record(record: Record) -> bytes:
    """Return a record as a line, without its line break."""
    return dumps_plain(document({"record": NAMES[type(record)], **to_plain(record)})).encode()


def decode_record(line: bytes, *, where: str) -> Record:
    """Decode a line; `where` names the file and the line in messages.

    Raises:
        NotObservedError: it is none, or another version of grader wrote it.
    """
    try:
        data: dict[str, Any] = dict(document(loads(line)))
        kind = RECORDS[data.pop("record")]
    except (ValueError, TypeError, KeyError):
        raise NotObservedError(f"{where}: is not a record of a run; {ADVICE}") from None
    return from_plain(kind, data, where=where, advice=ADVICE)


class StoredEvidence:
    """The evidence of a file by digest of the submission.

    The latest observation of each item counts, but a `not_observed` never replaces an observation of the same
    task, unless it tells of a mistake in a newer rule.
    """

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self._by_digest: dict[str, Evidence] = {}
        self._observations: dict[str, Observation] = {}
        self._run_of: dict[str, str] = {}
        for record in records:
            self.add(record)

    def add(self, record: Record) -> None:
        """Add the next record of the file."""
        if isinstance(record, SubmissionReceived | RunStarted):
            submission = record.submission
            before = self._by_digest.pop(submission.digest, None)
            runs = before.runs if before else ()
            self._observations = dict(before.observations) if before else {}
            self._run_of = dict(before.run_of) if before else {}
            self._by_digest[submission.digest] = Evidence(
                submission=submission,
                runs=(*runs, record.run) if isinstance(record, RunStarted) else runs,
                observations=self._observations,
                run_of=self._run_of,
            )
        elif isinstance(record, ItemObserved):
            observation = record.observation
            earlier = self._observations.get(observation.item)
            if (
                earlier is None
                or observation.outcome is not Outcome.NOT_OBSERVED
                or earlier.outcome in NOTHING_SEEN
                or earlier.digest != observation.digest  # of a task that has changed since: it counts no more
                or judged_by_mistake(observation, earlier)
            ):
                self._observations[observation.item] = observation
                self._run_of[observation.item] = record.run

    def of(self, digest: str) -> Evidence | None:
        """Return the evidence of the submission with this digest."""
        return self._by_digest.get(digest)

    @property
    def last(self) -> Evidence | None:
        """The evidence of the submission that was examined last."""
        return next(reversed(self._by_digest.values()), None)


def judged_by_mistake(observation: Observation, earlier: Observation) -> bool:
    """Tell whether the reference loses points too, by a newer rule than that of the earlier observation."""
    rules = [each.facts.get(JUDGED_BY) for each in (observation, earlier)]
    return observation.fault is Fault.COURSE and all(rules) and rules[0] != rules[1]


def read_stored(path: Path) -> StoredEvidence:
    """Read the evidence of all submissions in a file.

    Raises:
        NotObservedError: a line is no record, or a newer grader wrote it.
    """
    return StoredEvidence(EvidenceReader(path).read())


def read_evidence(path: Path) -> Evidence | None:
    """Read the evidence of the submission last examined; None if there is none.

    Raises:
        NotObservedError: a line is no record, or a newer grader wrote it.
    """
    return read_stored(path).last
