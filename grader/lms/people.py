"""Who a row of a platform's table is: by the ids that stand in it, and never by the name alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.lms.contract import Fate, Grade, Outcome
from grader.text import one_line

if TYPE_CHECKING:
    from grader.config.roster import Roster

FIELDS = ("student", "canvas_id", "sis_id", "moodle_id", "email")
"""Of the roster: what tells one student from all others."""
_READABLE_LETTERS = 40
"""As many of a name does `grader.intake.names` keep beside an id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """One row of the table that is of a student."""

    row: int
    name: str
    id: str
    """The one that the platform writes into the names of files."""
    ids: tuple[tuple[str, str], ...]
    """Fields of the roster, and what the row says there; none is empty."""

    @property
    def shown(self) -> str:
        """What lines call somebody who is on no roster."""
        return one_line(f"{self.name} ({self.id})" if self.name else self.id)


def matched(
    people: Sequence[Person], marks: Mapping[str, Grade], roster: Roster
) -> tuple[Mapping[int, str], Mapping[int, Outcome]]:
    """The student of each row, and what is to be said of rows that are of nobody, or perhaps of two.

    A student without a mark is found as well, if the roster knows them.
    """
    known = _known(marks, roster)
    handed_in = {(mark.student, mark.lms_id) for mark in marks.values()}
    claims: dict[int, set[str]] = {}
    for person in people:
        students = {student for key in person.ids for student in known.get(_key(*key), ())}
        # The id alone would not do: that of another platform may be the same.
        if named := {name for name in _names(person) if (name, person.id) in handed_in}:
            students = named | students.intersection(marks)
        claims[person.row] = students
    rows = Counter(student for students in claims.values() for student in students)
    found: dict[int, str] = {}
    said: dict[int, Outcome] = {}
    for person in people:
        students = claims[person.row]
        if len(students) == 1 and all(rows[student] == 1 for student in students):
            (found[person.row],) = students
        else:
            fate, note = _doubt(sorted(students))
            said[person.row] = Outcome(who=person.shown, fate=fate, note=note)
    return found, said


def _doubt(students: Sequence[str]) -> tuple[Fate, str]:
    """Why nobody is sure to be meant."""
    if not students:
        return Fate.NO_MARK, "is in the file and has no mark"
    if len(students) > 1:
        return Fate.IN_DOUBT, f"its ids are of {' and of '.join(students)}; correct the roster"
    return Fate.IN_DOUBT, f"another row has ids of {students[0]}, too; correct the file or the roster"


def _known(marks: Mapping[str, Grade], roster: Roster) -> Mapping[tuple[str, str], set[str]]:
    """The students that have an id; of more than one, nobody can be told by it."""
    known: dict[tuple[str, str], set[str]] = {}
    for student in marks:
        known.setdefault(_key("student", student), set()).add(student)
    for one in roster.students:
        for field in FIELDS:
            if value := getattr(one, field):
                known.setdefault(_key(field, value), set()).add(one.student)
    return known


def _key(field: str, value: str) -> tuple[str, str]:
    return field, value.casefold()


def _names(person: Person) -> Iterator[str]:
    """What a hand-in is kept under that the platform gave this person's name and id."""
    from unicodedata import normalize

    latin = normalize("NFKD", person.name)
    for name in (latin, person.name):  # Canvas leaves out what is not ASCII, without looking for its letter
        letters = re.sub("[^a-z0-9]", "", name.lower())[:_READABLE_LETTERS]
        yield "_".join(filter(None, (letters, person.id)))
