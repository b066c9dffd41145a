"""Matching of the rows of a platform with students: by ids, and never by the name alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from grader.contracts.exporter import Grade, RowOutcome, RowResult
from grader.contracts.platform import Person

if TYPE_CHECKING:
    from grader.model.roster import Roster

FIELDS = ("student", "canvas_id", "sis_id", "moodle_id", "email")
"""Fields of the roster that identify a student."""
_READABLE_LETTERS = 40
"""Letters of a name that `grader.intake.names` keeps beside an id."""


def matched(
    people: Sequence[Person], grades: Mapping[str, Grade], roster: Roster
) -> tuple[Mapping[int, str], Mapping[int, RowResult]]:
    """Return the student of each row, and the results of rows of nobody, or perhaps of two.

    A student without a grade is matched as well if the roster has them.
    """
    by_id = _students_by_id(grades, roster)
    names = {(grade.student, grade.lms_id) for grade in grades.values()}
    claims: dict[int, set[str]] = {}
    for person in people:
        students = {student for key in person.ids for student in by_id.get(_key(*key), ())}
        # the id alone would not do: that of another platform may be the same
        if by_name := {name for name in _names(person) if (name, person.id) in names}:
            students = by_name | students.intersection(grades)
        claims[person.row] = students
    rows = Counter(student for students in claims.values() for student in students)
    matches: dict[int, str] = {}
    results: dict[int, RowResult] = {}
    for person in people:
        students = claims[person.row]
        if len(students) == 1 and all(rows[student] == 1 for student in students):
            (matches[person.row],) = students
        else:
            outcome, note = _doubt(sorted(students))
            results[person.row] = RowResult(who=person.shown, outcome=outcome, note=note)
    return matches, results


def _doubt(students: Sequence[str]) -> tuple[RowOutcome, str]:
    """Return why no student is matched."""
    if not students:
        return RowOutcome.NO_GRADE, "is in the file and has no grade"
    if len(students) > 1:
        return RowOutcome.IN_DOUBT, f"its ids are of {' and of '.join(students)}; correct the roster"
    return RowOutcome.IN_DOUBT, f"another row has ids of {students[0]}, too; correct the file or the roster"


def _students_by_id(grades: Mapping[str, Grade], roster: Roster) -> Mapping[tuple[str, str], set[str]]:
    """Return the students that have an id; one of several students identifies nobody."""
    students: dict[tuple[str, str], set[str]] = {}
    for student in grades:
        students.setdefault(_key("student", student), set()).add(student)
    for entry in roster.students:
        for field in FIELDS:
            if value := getattr(entry, field):
                students.setdefault(_key(field, value), set()).add(entry.student)
    return students


def _key(field: str, value: str) -> tuple[str, str]:
    return field, value.casefold()


def _names(person: Person) -> Iterator[str]:
    """Yield the names of submissions whose archive has this person's name and id from the platform."""
    from unicodedata import normalize

    latin = normalize("NFKD", person.name)
    for name in (latin, person.name):  # Canvas leaves out what is not ASCII, without looking for its letter
        letters = re.sub("[^a-z0-9]", "", name.lower())[:_READABLE_LETTERS]
        yield "_".join(filter(None, (letters, person.id)))
