"""Copies records of other machines into the evidence of a results folder; only the host writes there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from grader.config.evidence_file import (
    EVIDENCE,
    EvidenceWriter,
    ItemObserved,
    LineReader,
    Record,
    RunEnded,
    RunStarted,
    decode_record,
)
from grader.config.problem import show_path
from grader.errors import NotObservedError

WRONG_CLOCK_S = 30.0
"""A clock that differs by less is left as it is: NTP holds clocks within milliseconds."""


def append_records(lines: Sequence[bytes], outbox: Path, ahead_s: float) -> tuple[bytes, ...]:
    """Append records to the evidence in a folder, but for those that are there, and return the new lines.

    A host that was killed while it did so has appended some of them.

    Args:
        lines: the records.
        outbox: the folder.
        ahead_s: how much the clock by which they were taken is ahead of ours; what a gradebook refuses as
            older than what it has must not depend on it.

    Raises:
        NotObservedError: a line is no record, or the evidence cannot be read or written.
    """
    file = outbox / EVIDENCE
    where = show_path(file)
    records = [_by_our_clock(decode_record(line, where=where), ahead_s) for line in lines]
    with EvidenceWriter(file) as evidence:
        reader = LineReader(file)
        present = set(_identities(reader.read(), where))
        for record in records:
            if _identity(record) not in present:
                evidence.write(record)
        return reader.read()


def _identities(lines: Iterable[bytes], where: str) -> Iterator[tuple[str, ...]]:
    for line in lines:
        with suppress(NotObservedError):  # of another version of grader: none of ours
            yield _identity(decode_record(line, where=where))


def _identity(record: Record) -> tuple[str, ...]:
    """Return what distinguishes a record from all others of a file."""
    if isinstance(record, RunStarted):
        return "run", record.run.id
    if isinstance(record, ItemObserved):
        return "item", record.run, record.observation.item
    if isinstance(record, RunEnded):
        return "end", record.run
    return ("submission",)


def _by_our_clock(record: Record, ahead_s: float) -> Record:
    if not isinstance(record, RunStarted) or abs(ahead_s) < WRONG_CLOCK_S:
        return record
    moment = datetime.fromisoformat(record.run.started_at) - timedelta(seconds=round(ahead_s))
    return replace(record, run=replace(record.run, started_at=moment.isoformat(timespec="seconds")))
