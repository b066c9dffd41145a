"""`manual.jsonl`: points that people gave, who and when; a line is added, and none is ever changed."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.config.codec import dumps, from_plain, loads
from grader.config.evidence_file import repair
from grader.config.problem import show_path
from grader.errors import NotObservedError
from grader.model.job import Task
from grader.model.observation import Observation, Outcome, Quantity
from grader.model.submission import Submission

FILE = "manual.jsonl"
MANUAL = "manual"
"""The kind of check that no examiner does."""
WAITS = "waits for a person"


@dataclass(frozen=True, slots=True, kw_only=True)
class PointsGiven:
    """One person's judgement of one item of one hand-in."""

    item: str
    points: float
    possible: float
    """What the item was worth when the points were given."""
    by: str
    at: str
    """ISO 8601, UTC."""
    comment: str = ""
    submission: str
    """The digest of the hand-in that was looked at."""


def read_points(folder: Path, submission: str) -> dict[str, PointsGiven]:
    """By item the latest that was given to the hand-in of this digest; nothing if there is no file.

    Raises:
        NotObservedError: the file cannot be read, or a line of it is no such record.
    """
    path = folder / FILE
    try:
        lines = path.read_bytes().split(b"\n")[:-1]
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise NotObservedError(f"{show_path(path)}: cannot be read ({error.strerror})") from None
    records = []
    for number, line in enumerate(lines, start=1):
        where = f"{show_path(path)}:{number}"
        try:
            records.append(from_plain(PointsGiven, loads(line), where=where))
        except ValueError:
            raise NotObservedError(f"{where}: is no record of points; take the line out") from None
    return {record.item: record for record in records if record.submission == submission}


def append_points(folder: Path, records: Sequence[PointsGiven]) -> None:
    """Add records, all of them or none; the caller holds the lock of the folder.

    Raises:
        NotObservedError: the file cannot be written.
    """
    content = "".join(dumps(record) + "\n" for record in records).encode()
    path = folder / FILE
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            repair(fd)
            before = os.fstat(fd).st_size
            if os.write(fd, content) < len(content):
                os.ftruncate(fd, before)
                raise OSError(0, "no room")
        finally:
            os.close(fd)
    except OSError as error:
        raise NotObservedError(f"{show_path(path)}: cannot be written ({error.strerror})") from None


def with_points(
    folder: Path, submission: Submission, tasks: Sequence[Task], seen: Mapping[str, Observation]
) -> dict[str, Observation]:
    """Observations with what people gave, which stands above what was observed; manual items wait for it."""
    given = read_points(folder, submission.digest)
    observations = dict(seen)
    for task in tasks:
        if task.check == MANUAL:
            observations[task.item] = Observation(
                item=task.item, outcome=Outcome.NOT_OBSERVED, note=WAITS, digest=task.digest
            )
        if record := given.get(task.item):
            bare = Observation(item=task.item, outcome=Outcome.OBSERVED, digest=task.digest)
            observations[task.item] = _judged(observations.get(task.item, bare), record)
    return observations


def _judged(seen: Observation, record: PointsGiven) -> Observation:
    points = {
        "points_given": Quantity(value=record.points, unit="points", taken_by=record.by),
        "points_possible": Quantity(value=record.possible, unit="points", taken_by=record.by),
    }
    return replace(
        seen,
        outcome=Outcome.OBSERVED,
        note="",
        fault=None,
        quantities={**seen.quantities, **points},
        facts={**seen.facts, "comment": record.comment, "given_at": record.at},
    )
