"""Copies records of other machines into the evidence of a results folder; only the host writes there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import msgspec

from grader.config.evidence_file import (
    ADVICE,
    EVIDENCE,
    EvidenceWriter,
    LineReader,
    RunStarted,
    decode_record,
    encode_record,
)
from grader.errors import NotObservedError
from grader.files import show_path

WRONG_CLOCK_S = 30.0
"""A clock that differs by less is left as it is: NTP holds clocks within milliseconds."""


def append_records(lines: Sequence[bytes], outbox: Path, ahead_s: float) -> tuple[bytes, ...]:
    """Append records to the evidence in a folder, but for those that are there, and return the new lines.

    A host that was killed while it did so has appended some of them. Lines are written as they came: a worker
    wrote them, as one of this machine would have, and whoever takes the new ones decodes them once.

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
    identities = [_identity(line, where) for line in lines]
    with EvidenceWriter(file) as evidence:
        reader = LineReader(file)
        present = set(_identities(reader.read(), where))
        new = [
            _by_our_clock(line, ahead_s, where) if identity[0] == "run" else line
            for line, identity in zip(lines, identities, strict=True)
            if identity not in present
        ]
        evidence.write_lines(new)
        return reader.read()


def _identities(lines: Iterable[bytes], where: str) -> Iterator[tuple[str, ...]]:
    for line in lines:
        with suppress(NotObservedError):  # of another version of grader: none of ours
            yield _identity(line, where)


def _identity(line: bytes, where: str) -> tuple[str, ...]:
    """Return what distinguishes a record from all others of a file, its kind first.

    Raises:
        NotObservedError: it is no record.
    """
    try:
        record = msgspec.json.decode(line)
        kind = str(record["record"])
        match kind:
            case "submission":
                return (kind,)
            case "run":
                return kind, str(record["run"]["id"])
            case "observation":
                return kind, str(record["run"]), str(record["observation"]["item"])
            case "end":
                return kind, str(record["run"])
    except (msgspec.DecodeError, TypeError, KeyError, ValueError, RecursionError):
        pass
    raise NotObservedError(f"{where}: is not a record of a run; {ADVICE}")


def _by_our_clock(line: bytes, ahead_s: float, where: str) -> bytes:
    """Return the record of a run with the time by our clock."""
    if abs(ahead_s) < WRONG_CLOCK_S:
        return line
    record = decode_record(line, where=where)
    assert isinstance(record, RunStarted)  # noqa: S101 - its kind says so
    moment = datetime.fromisoformat(record.run.started_at) - timedelta(seconds=round(ahead_s))
    run = replace(record.run, started_at=moment.isoformat(timespec="seconds"))
    return encode_record(replace(record, run=run))
