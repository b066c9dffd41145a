"""`manual.jsonl`: append-only record of points that people gave, with author and time."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from grader.config.codec import dumps, from_plain, loads
from grader.config.evidence_file import repair
from grader.config.problem import closest
from grader.errors import NotObservedError
from grader.files import cause, show_path
from grader.model.job import Task
from grader.model.observation import Fault, Observation, Outcome, Quantity
from grader.model.rubric import MANUAL
from grader.model.submission import Submission

FILE = "manual.jsonl"
WAITS = "waits for a person"
PENALTY = "a penalty: all points take nothing, 0 takes them all"
"""What the points of a person mean for a penalty: those that stay."""
ACCEPTED = "the suggestion was accepted"
"""The reason of points that are the suggested ones, which nobody wrote."""
_BEFORE = "before_points"
"""The fact that holds outcome, note and fault of what a person has judged without an observation."""
_QUANTITIES = frozenset({"points_given", "points_possible"})
_FACTS = frozenset({"comment", "given_at", "given_reason", "given_suggested", "criteria_points", _BEFORE})


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionPoints:
    """One criterion at the time of a judgement."""

    name: str
    possible: float
    points: float | None = None
    """None if the item was judged as a whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PointsGiven:
    """One person's judgement of one item of one submission."""

    item: str
    points: float
    possible: float
    """Points of the item at the time of the judgement."""
    by: str
    at: str
    """ISO 8601, UTC."""
    comment: str = ""
    """For the student."""
    reason: str = ""
    """For staff: why the points are these, such as a request to look again."""
    criteria: tuple[CriterionPoints, ...] | None = None
    """The criteria of the item at that time, in order; None if the record is older than criteria are."""
    submission: str
    """The digest of the submission that was judged."""
    withdrawn: bool = False
    """Whether earlier points are taken back, and the item is as it was observed."""
    suggested: float | None = field(default=None, compare=False)
    """The points that a program suggested then; None if it suggested none, or the record is older than this.

    Two records that differ in nothing else are the same judgement.
    """


def written_reason(text: str) -> str:
    """Return a reason that a person wrote; empty for `ACCEPTED`, which need not hold for the next points."""
    return "" if text == ACCEPTED else text


def read_points(folder: Path, submission: str) -> dict[str, PointsGiven]:
    """Read the latest points by item for the submission of this digest; empty if there is no file.

    Raises:
        NotObservedError: the file cannot be read, or a line of it is no such record.
    """
    return that_count(record for record in read_records(folder / FILE) if record.submission == submission)


def that_count(records: Iterable[PointsGiven]) -> dict[str, PointsGiven]:
    """Return the last record of each item of one submission, where it does not take points back."""
    latest = {record.item: record for record in records}
    return {item: record for item, record in latest.items() if not record.withdrawn}


def read_records(path: Path) -> list[PointsGiven]:
    """Read all records of a file, the oldest first; none if there is no file.

    Raises:
        NotObservedError: the file cannot be read, or a line of it is no such record.
    """
    try:
        lines = path.read_bytes().split(b"\n")[:-1]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise NotObservedError(f"{show_path(path)}: cannot be read ({error.strerror})") from None
    records = []
    for number, line in enumerate(lines, start=1):
        where = f"{show_path(path)}:{number}"
        try:
            records.append(from_plain(PointsGiven, loads(line), where=where))
        except ValueError:
            raise NotObservedError(f"{where}: is no record of points; take the line out") from None
    return records


def remark_on_no_item(given: Iterable[str], items: Iterable[str], before: Iterable[str]) -> str:
    """Say that points by hand are of ids that a rubric has no longer; empty if it has all of them.

    Args:
        given: the ids for which people gave points.
        items: the ids of the rubric.
        before: the ids by which it was graded before; of the others one may be a new name.
    """
    present = {*items}
    missing = sorted({*given} - present)
    if not missing:
        return ""
    new = {*present} - {*before} if before else set()
    near = [found for each in missing if (found := closest(each, sorted(new), 0.0))]
    renamed = f"; if the new id is {', '.join(dict.fromkeys(near))}, take the old one back" if near else ""
    those = "is no item" if len(missing) == 1 else "are no items"
    return (
        f"{', '.join(missing)}, for which a person gave points, {those} of the rubric any more{renamed}; "
        "the points count only under the id that they were given for"
    )


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
        raise NotObservedError(f"{show_path(path)}: cannot be written ({cause(error)})") from None


def append_missing(folder: Path, records: Sequence[PointsGiven]) -> None:
    """Add the `missing_records` of the file to it; the caller holds the lock of the folder.

    Raises:
        NotObservedError: the file cannot be read or written.
    """
    if missing := missing_records(read_records(folder / FILE), records):
        append_points(folder, missing)


def missing_records(stored: Sequence[PointsGiven], records: Sequence[PointsGiven]) -> list[PointsGiven]:
    """Return those of a gradebook's records, the oldest first, that a results folder lacks, in their order.

    Those of before the last stored record of their item stay out, as the last one counts. Where the gradebook
    has that one, what comes before it there is of before, whatever the clock of another machine said.
    """
    last = {(record.submission, record.item): record for record in stored}
    missing: dict[tuple[str, str], list[PointsGiven]] = {}
    passed: set[tuple[str, str]] = set()
    for record in records:
        key = record.submission, record.item
        of_item, latest = missing.setdefault(key, []), last.get(key)
        if record == latest:
            of_item.clear()
            passed.add(key)
        elif latest is None or (record.at >= latest.at and (key in passed or record not in stored)):
            of_item.append(record)
    return [record for of_item in missing.values() for record in of_item]


def waiting_note(reads: str, files: Iterable[str]) -> str:
    """Say that a manual item waits, and that the file which the person `reads` was not handed in.

    Args:
        reads: a file's name or a pattern of names; empty if none is named.
        files: the names of the submission's files.
    """
    if not reads or any(fnmatchcase(file, reads) for file in files):
        return WAITS
    return f"{WAITS}: no {reads} was handed in" if "*" in reads else f"{WAITS}: {reads} was not handed in"


def with_points(
    folder: Path, submission: Submission, tasks: Sequence[Task], observed: Mapping[str, Observation]
) -> dict[str, Observation]:
    """Merge points by hand into observations, whose place they take; manual items without points wait."""
    points_by_item = read_points(folder, submission.digest)
    observations = dict(observed)
    for task in tasks:
        if task.check == MANUAL:
            note = waiting_note(str(task.options.get("reads", "")), submission.files)
            observations[task.item] = Observation(
                item=task.item, outcome=Outcome.NOT_OBSERVED, note=note, digest=task.digest
            )
        if record := points_by_item.get(task.item):
            bare = Observation(item=task.item, outcome=Outcome.NOT_OBSERVED, digest=task.digest)
            observations[task.item] = judged(observations.get(task.item, bare), record)
    return observations


def judged(observation: Observation, record: PointsGiven) -> Observation:
    """Merge a judgement into an observation, in place of an earlier one; a withdrawn one restores it."""
    observation = _unjudged(observation)
    if record.withdrawn:
        return observation
    points = {
        "points_given": Quantity(value=record.points, unit="points", taken_by=record.by),
        "points_possible": Quantity(value=record.possible, unit="points", taken_by=record.by),
    }
    facts: dict[str, Any] = {"comment": record.comment, "given_at": record.at, "given_reason": record.reason}
    if record.suggested is not None:
        facts["given_suggested"] = record.suggested
    if record.criteria is not None:
        facts["criteria_points"] = [[c.name, c.points, c.possible] for c in record.criteria]
    if observation.outcome is not Outcome.OBSERVED:
        facts[_BEFORE] = [observation.outcome.value, observation.note, observation.fault]
    return replace(
        observation,
        outcome=Outcome.OBSERVED,
        note="",
        fault=None,
        quantities={**observation.quantities, **points},
        facts={**observation.facts, **facts},
    )


def _unjudged(observation: Observation) -> Observation:
    """Take points by hand out of an observation."""
    if "points_given" not in observation.quantities:
        return observation
    outcome, note, fault = observation.facts.get(_BEFORE, (Outcome.OBSERVED, "", None))
    return replace(
        observation,
        outcome=Outcome(outcome),
        note=str(note),
        fault=None if fault is None else Fault(fault),
        quantities={name: value for name, value in observation.quantities.items() if name not in _QUANTITIES},
        facts={name: value for name, value in observation.facts.items() if name not in _FACTS},
    )
