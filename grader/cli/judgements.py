"""Points that people give in a table, checked row by row; kept only if nothing in it is wrong."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.cli.points import StoredGrade
from grader.cli.points_rows import AnswerTexts, cells_of, criteria_of, is_as_exported, is_seen
from grader.config.points_csv import ACCEPT, PointsRow
from grader.config.points_file import (
    ACCEPTED,
    CriterionPoints,
    PointsGiven,
    append_missing,
    append_points,
    written_reason,
)
from grader.config.problem import suggestion
from grader.errors import NotObservedError, OutdatedError, UsageError
from grader.grading.results import Results
from grader.model.magnitude import counted
from grader.model.rubric import Item
from grader.reports.words import local_time

if TYPE_CHECKING:
    from grader.matching.suggestion import Suggestion

_DIGEST = re.compile("(?:sha256:)?[0-9a-f]{12}")
_LISTED = 4
_NOTHING_SUGGESTED = f"nothing is suggested that {ACCEPT} could take; write points"
_SUBSTANCE = ("points", "possible", "comment", "criteria")
"""Fields of a judgement that a student notices."""


class Judgements:
    """Points of a table, checked row by row; stored only if no row is wrong."""

    def __init__(
        self,
        grades: list[StoredGrade],
        *,
        where: str,
        by: str,
        at: str,
        zone: tzinfo,
        export: str = "grader manual export --out FILE",
    ) -> None:
        """Take what was graded, the file's name, who gives its points and when, and the command `export`."""
        self._graded = {(grade.folder.parent.name, grade.folder.name): grade for grade in grades}
        self._where = where
        self._by = by
        self._at = at
        self._zone = zone
        self._export = export
        self._first: dict[tuple[str, str, str], int] = {}
        self._records: dict[Path, list[PointsGiven]] = {}
        self._grade_of: dict[Path, StoredGrade] = {}
        self._rows: dict[tuple[Path, str], tuple[int, PointsRow]] = {}
        self._without_points: list[tuple[int, PointsRow]] = []
        self._of_earlier_files: list[tuple[int, PointsRow]] = []
        self.problems: list[str] = []

    def add(self, number: int, row: PointsRow) -> None:
        """Take one row, or note all that is wrong with it; a row without points says nothing yet."""
        if not (row.points or any(row.parts)):
            if row.comment or row.reason:
                self._without_points.append((number, row))
            return
        if self._is_unchanged(row):
            # Saved before, and perhaps not counted: a page could not be written, or no gradebook was named.
            grade = self._graded[row.assignment, row.student]
            self._grade_of[grade.folder] = grade
            return
        graded = self._graded.get((row.assignment, row.student))
        is_earlier = graded and _DIGEST.fullmatch(row.submission) and not graded.is_seen_by(row.submission)
        if is_earlier and is_as_exported(row):
            self._of_earlier_files.append((number, row))
            return
        before = len(self.problems)
        first = self._first.setdefault((row.assignment, row.student, row.item), number)
        if first != number:
            self._wrong(number, f"gives points for the same item as row {first}; keep one of them")
        if graded is None:
            students = [student for assignment, student in self._graded if assignment == row.assignment]
            advice = suggestion(row.student, students) if students else "grade it first"
            self._wrong(
                number, f"no submission of {row.student!r} for {row.assignment!r} was graded; {advice}"
            )
            return
        item = graded.items.get(row.item)
        if item is None:
            self._wrong(number, _not_for_a_person(row, graded))
            return
        if not graded.is_seen_by(row.submission):
            again = f"{row.student} has handed in again since; export the table anew and look again"
            changed = f"submission: {row.submission!r} names none; take the cell from a new table"
            self._wrong(number, again if _DIGEST.fullmatch(row.submission) else changed)
        judgement = self._points(number, row, graded, item)
        if judgement is not None and len(self.problems) == before:
            self._keep(number, graded, item, judgement, row)

    def _is_unchanged(self, row: PointsRow) -> bool:
        """Tell whether a row says what counts, perhaps by a rubric of other points, or as it was exported.

        What was exported may not count any more: others were given since, or the points were taken back.
        """
        grade = self._graded.get((row.assignment, row.student))
        if grade is None or not grade.is_seen_by(row.submission):
            return False
        counts = grade.points_given.get(row.item)
        return any(
            (record == counts or is_seen(record, row)) and _has_cells(row, cells_of(record, item))
            for item in grade.rubric.items
            for record in grade.all_points
            if record.item == item.id == row.item and not record.withdrawn
        )

    def remarks(self, skipped: Callable[[StoredGrade], Mapping[str, str]]) -> Iterator[str]:
        """Return lines about rows of which nothing was saved, or what was saved does not count.

        `skipped` returns the reasons of skipped items by what counts now: the table may open their gates.
        """
        without_points = self._unsaved(
            self._without_points,
            "with a text and without points",
            "give points there as well, and import the table again",
        )
        of_earlier_files = self._unsaved(
            self._of_earlier_files,
            "as exported of files that were handed in anew since",
            "what was given for those stays with them",
        )
        return filter(None, (without_points, of_earlier_files, self._of_skipped_items(skipped)))

    def _unsaved(self, unsaved: Sequence[tuple[int, PointsRow]], which: str, advice: str) -> str:
        """Return a line about rows of which nothing is saved; empty if there are none."""
        if not unsaved:
            return ""
        listed = ", ".join(f"row {number}: {_place(row)}" for number, row in unsaved[:_LISTED])
        more = ", …" if len(unsaved) > _LISTED else ""
        return f"{self._where}: {counted(len(unsaved), 'row')} {which}, not saved ({listed}{more}); {advice}"

    def _of_skipped_items(self, skipped: Callable[[StoredGrade], Mapping[str, str]]) -> str:
        """Return a line about new points that do not count, as their items are skipped; empty for none."""
        reasons = {folder: skipped(self._grade_of[folder]) for folder in self._records}
        rows = sorted(
            (number, f"row {number}: {_place(row)}: {reasons[folder][item]}")
            for (folder, item), (number, row) in self._rows.items()
            if item in reasons[folder]
        )
        if not rows:
            return ""
        listed = ", ".join(text for _, text in rows[:_LISTED]) + (", …" if len(rows) > _LISTED else "")
        return (
            f"{self._where}: points for an item that is skipped, in {counted(len(rows), 'row')} ({listed}); "
            "they are saved, and count 0 until the needed item has all its points"
        )

    def compare(self, *, replace_unseen: bool) -> None:
        """Note every row that would replace points which whoever filled it in has not seen.

        The column `now` says what was seen. Points that are replaced or taken back knowingly stay so, also if
        the clock of another machine was ahead of this one's.
        """
        for folder, records in self._records.items():
            grade = self._grade_of[folder]
            latest = {record.item: record for record in grade.all_points}
            for place, record in enumerate(records):
                number, row = self._rows[folder, record.item]
                other = latest.get(record.item)
                if other is None:
                    continue
                records[place] = replace(record, at=max(record.at, other.at))
                if other.withdrawn or replace_unseen:
                    continue
                if self._is_unseen(other, record, row, grade):
                    lacks = "now" in row.absent  # a table exported anew would be refused like this one
                    unseen = (
                        "cannot tell whether it has seen, without its column now" if lacks else "has not seen"
                    )
                    keep = " and keep that column" if lacks else ""
                    self._wrong(
                        number,
                        f"{row.student}, {record.item}: {other.by} gave {other.points:g} of "
                        f"{other.possible:g} on {local_time(other.at, self._zone)}, which the table "
                        f"{unseen}; it says {record.points:g}. Take the row out, export the table anew by "
                        f"{self._export}{keep}, or replace those points by --replace",
                    )

    def _is_unseen(self, other: PointsGiven, record: PointsGiven, row: PointsRow, grade: StoredGrade) -> bool:
        """Tell whether a row would replace points without having seen them.

        A person may correct a table and import it again; points of a page have milliseconds in their time,
        and no table has seen those either.
        """
        if all(getattr(other, name) == getattr(record, name) for name in _SUBSTANCE):
            return False
        if is_seen(other, row):
            return False
        is_mine = other.by == self._by and "." not in other.at
        return not (is_mine and other in grade.stored_points)

    def save(self, count: Callable[[StoredGrade], object]) -> int:
        """Write all points, `count` them in each folder while it is locked, and return how many are new.

        Those of an earlier import count once more, if the table has them, unless a later run of the same
        files is recorded, which has them already. Those of the gradebook are written before them, for the
        last record of an item counts.

        Raises:
            UsageError: something in the table is wrong; nothing is written.
            NotObservedError: some results folders are in use or cannot be written, or the recorded grade is
                of other files; the others are done.
        """
        if self.problems:
            raise UsageError(*self.problems, "nothing was written")
        problems: list[str] = []
        saved, again = 0, ""
        for folder, grade in self._grade_of.items():
            records = self._records.get(folder, [])
            try:
                with Results(folder).locked():
                    append_missing(folder, grade.recorded)
                    if records:
                        append_points(folder, records)
                        saved += len(records)
                    count(grade)
            except OutdatedError as error:
                if records or not error.same_files:
                    problems += error.problems
            except NotObservedError as error:
                problems += error.problems
                again = "; import the table again once this is done"
        if problems:
            raise NotObservedError(
                *problems, f"{self._where}: {counted(saved, 'new judgement')} saved{again}; all else is done"
            )
        return saved

    def _points(self, number: int, row: PointsRow, grade: StoredGrade, item: Item) -> _Judgement | None:
        """Read the points of a row: those that were suggested, of each criterion, or of the whole item."""
        if row.points.strip().casefold() == ACCEPT:
            return self._accepted(number, row, grade, item)
        if any(row.parts):
            return self._of_criteria(number, row, grade, item)
        or_accepted = "" if _suggested(grade, item) is None else f", or {ACCEPT}"
        points = self._number(number, _place(row), row.points, item.points, or_accepted=or_accepted)
        return None if points is None else _Judgement(points, ())

    def _of_criteria(self, number: int, row: PointsRow, grade: StoredGrade, item: Item) -> _Judgement | None:
        criteria = criteria_of(item)
        is_suggested = _suggested(grade, item) is not None
        for_accept = f"write {ACCEPT} under points, for all parts" if is_suggested else _NOTHING_SUGGESTED
        if len(row.parts) > len(criteria):
            there_are = f"has {len(criteria)} criteria" if criteria else "has no criteria"
            self._wrong(number, f"{_place(row)} {there_are}; leave part {len(row.parts)} empty")
            return None
        if not all(row.parts) or len(row.parts) < len(criteria):
            self._wrong(
                number, f"{_place(row)}: give points for each of its {len(criteria)} parts, or for none"
            )
            return None
        parts = [
            points
            for criterion, text in zip(criteria, row.parts, strict=True)
            if (
                points := self._number(
                    number, f"{_place(row)}, {criterion.name}", text, criterion.points, for_accept
                )
            )
            is not None
        ]
        total = math.fsum(parts)
        if len(parts) == len(criteria) and row.points and not _equal(_parsed(row.points), total):
            self._wrong(
                number, f"{_place(row)}: its parts add up to {total:g}, but points says {row.points!r}"
            )
        return _Judgement(total, tuple(parts)) if len(parts) == len(criteria) else None

    def _accepted(self, number: int, row: PointsRow, grade: StoredGrade, item: Item) -> _Judgement | None:
        suggested = _suggested(grade, item)
        if suggested is None:
            self._wrong(number, f"{_place(row)}: {_NOTHING_SUGGESTED}")
        elif any(row.parts):
            self._wrong(number, f"{_place(row)}: {ACCEPT} takes what is suggested; leave its parts empty")
        elif row.suggested and not _equal(_parsed(row.suggested), suggested.points):
            now = f"{suggested.points:g}"
            self._wrong(
                number, f"{_place(row)}: the suggestion is {now} now; export the table anew and look again"
            )
        else:
            return _Judgement(suggested.points, tuple(part.points for part in suggested.parts), ACCEPTED)
        return None

    def _number(
        self, number: int, name: str, text: str, most: float, for_accept: str = "", *, or_accepted: str = ""
    ) -> float | None:
        """Return the points of a cell; `for_accept` is the advice on `ok` where that is not taken."""
        points = _parsed(text)
        if 0 <= points <= most:
            return points
        advice = f"; {for_accept}" if for_accept and text.strip().casefold() == ACCEPT else ""
        range_of_points = f"a number from 0 to {most:g}{or_accepted}"
        self._wrong(number, f"{name}: points must be {range_of_points}, got {text!r}{advice}")
        return None

    def _keep(
        self, number: int, grade: StoredGrade, item: Item, judgement: _Judgement, row: PointsRow
    ) -> None:
        criteria = criteria_of(item)
        parts = judgement.parts or (None,) * len(criteria)
        suggested = _suggested(grade, item)
        record = PointsGiven(
            item=item.id,
            points=judgement.points,
            possible=item.points,
            by=self._by,
            at=self._at,
            comment=row.comment,
            reason=written_reason(row.reason) or judgement.reason,
            criteria=tuple(
                CriterionPoints(name=criterion.name, possible=criterion.points, points=points)
                for criterion, points in zip(criteria, parts, strict=True)
            ),
            submission=grade.evidence.submission.digest,
            suggested=None if suggested is None else suggested.points,
        )
        self._grade_of[grade.folder] = grade  # also of points that were saved before: see `add`
        earlier = grade.points_given.get(item.id)
        same = earlier and replace(earlier, by=self._by, at=self._at)
        # the table has no reason of points that were accepted
        if same is None or record not in (same, replace(same, reason=written_reason(same.reason))):
            self._records.setdefault(grade.folder, []).append(record)
            self._rows[grade.folder, item.id] = number, row

    def _wrong(self, number: int, problem: str) -> None:
        self.problems.append(f"{self._where}: row {number}: {problem}")


@dataclass(frozen=True, slots=True)
class _Judgement:
    """Points of one row."""

    points: float
    parts: tuple[float, ...]
    """The points of each criterion; none if the item was judged as a whole."""
    reason: str = ""


def _suggested(grade: StoredGrade, item: Item) -> Suggestion | None:
    """Return what a program suggests for an item, and a person can accept; None if that is nothing."""
    return AnswerTexts(item, grade.evidence.observations.get(item.id)).suggestion


def _has_cells(row: PointsRow, cells: Mapping[str, Any]) -> bool:
    """Tell whether a row has the cells that `cells_of` returns; the table may have fewer parts or columns."""
    parts = (*row.parts, *[""] * (len(cells["parts"]) - len(row.parts)))
    filled = {"points": row.points, "parts": parts, "comment": row.comment, "reason": row.reason}
    return all(cells[name] == cell for name, cell in filled.items() if name not in row.absent)


def _place(row: PointsRow) -> str:
    """Return student and item of a row, which a table that is sorted anew still has."""
    return f"{row.student}, {row.item}"


def _not_for_a_person(row: PointsRow, grade: StoredGrade) -> str:
    """Tell why the table takes no points for an item, and where to give them."""
    if row.item not in {item.id for item in grade.rubric.items}:
        advice = suggestion(row.item, grade.items) if grade.items else "the rubric has none"
        return f"{row.item!r} is no item that a person gives points for; {advice}"
    return (
        f"{_place(row)}: a program has decided it, without a flag; take the row out, or record a request in "
        "grader review"
    )


def _parsed(text: str) -> float:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return math.nan


def _equal(first: float, second: float) -> bool:
    return math.isclose(first, second, abs_tol=1e-6)
