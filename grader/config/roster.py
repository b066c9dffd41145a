"""The roster as a CSV file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from grader.config.problem import Problem
from grader.config.table import TableError, checked_rows, decode_table, delimiter_of, heading, rows
from grader.config.type_words import quoted
from grader.files import show_path
from grader.model.roster import FILE_IDS, Roster, Student, is_one_slip

HEADINGS: Mapping[str, tuple[str, ...]] = {
    "student": ("student", "username", "login", "login id", "sis login id"),
    "canvas_id": ("canvas id", "canvas user id", "id"),
    "sis_id": ("sis id", "sis user id", "id number"),
    "moodle_id": ("moodle id", "participant", "participant id", "identifier"),
    "email": ("email", "e mail", "email address"),
    "name": ("name", "full name"),
    "section": ("section",),
    "team": ("team", "group"),
}
"""Headings of each column in lower case, with a blank for `_` and `-`; also those in exports of Canvas
(gradebook) and Moodle (grading worksheet, participants)."""

_STUDENT = r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}"
_ID = r"[A-Za-z0-9]{1,40}"
_FORMS = {
    "student": (
        rf"{_STUDENT}(?:\+{_STUDENT})*",
        "letters A-Z, digits and . _ -, not a dot or hyphen first, 64 at most",
    ),
    "canvas_id": (_ID, "letters and digits, in a column that the spreadsheet keeps as text"),
    "moodle_id": (_ID, "letters and digits, as in Participant 4711"),
}
"""The pattern of a column's values and its description; the first is that of a folder's name in intake."""
_UNIQUE = ("student", *FILE_IDS, "sis_id", "email")
_PLURALS = {"groups", "sections"}
"""Headings in exports of Moodle (participants) and Gradescope, whose cells may name several."""
_OTHER_WORDS = {"fname", "lname", "term", "uname"}
"""Headings that mean something else, though each is a letter from one of ours."""
_SHORTEST = 4
"""The fewest letters of a heading in which a slip is looked for: one of `id` makes `sid` or `uid`."""
_LISTED = 4
_POINTS_ROW = "points possible"
"""Canvas' gradebook begins with a row that is no student."""


def read_roster(file: Path) -> tuple[Roster, tuple[Problem, ...], tuple[str, ...]]:
    """Read the students from a CSV file, as spreadsheets and learning platforms write it.

    Returns them with the problems: a missing file as a problem of `course.yaml`, errors in the file as
    located lines. Columns that are not in `HEADINGS` are ignored.
    """
    where = show_path(file)
    table = _Table()
    try:
        text = decode_table(file.read_bytes())
        lines = rows(text)
        header = next(lines, (1, []))[1]
        wrong = [(1, message) for message in table.read_header(header)]
        for line, cells, moved in () if wrong else checked_rows(lines, header, delimiter_of(text)):
            wrong += [(line, message) for message in table.read_row(cells, line, moved)]
        wrong = sorted([*wrong, *table.letters_among_numbers()], key=lambda each: each[0])
    except OSError as error:
        message = f"{where} cannot be read ({error.strerror}); name a CSV file beside course.yaml"
        return Roster(), (Problem(path=("roster",), message=message),), ()
    except TableError as error:
        return Roster(), (), (f"{where}{error.place}: {error}",)
    problems = tuple(f"{where}:{line}: {Problem(path=(), message=message)}" for line, message in wrong)
    return Roster(students=tuple(table.students), file=where, lines=table.lines), (), problems


class _Table:
    """The rows read so far."""

    def __init__(self) -> None:
        self.students: list[Student] = []
        self.lines: dict[str, int] = {}
        """By the name of a student."""
        self._teams: dict[str, str] = {}
        """The first spelling of each team by its name without capitals."""
        self._columns: dict[str, tuple[int, str]] = {}
        """By field: where its column is, and what the file calls it."""
        self._canvas_ids: list[tuple[int, str]] = []
        """The line and the value of each."""
        self._lines: dict[tuple[str, str], tuple[int, str]] = {}
        """By field and value: the line that has it, and its student."""

    def read_header(self, cells: Sequence[str]) -> Iterator[str]:
        """Find the columns; yields what is wrong with them."""
        fields_of = {name: field for field, names in HEADINGS.items() for name in names}
        for place, cell in enumerate(cells):
            field = fields_of.get(heading(cell), "")
            if field in self._columns:
                both = f"{quoted(self._columns[field][1])} and {quoted(cell.strip())}"
                yield f"the columns {both} are both for {_spelled(field)}; rename one or take it out"
            elif field:
                self._columns[field] = place, cell.strip()
        misspelt = [(cell, meant) for cell in cells if (meant := self._meant(heading(cell), fields_of))]
        for cell, meant in misspelt:
            yield f"unknown column {quoted(cell.strip())}; did you mean {meant}?"
        if "student" not in {*self._columns, *(fields_of[meant] for _, meant in misspelt)}:
            names = ", ".join(quoted(cell.strip()) for cell in cells[:_LISTED])
            has = f"; the first line is to name the columns, and has {names}" if names else ""
            yield f"there is no column student; give one with the names that results are kept under{has}"

    def _meant(self, name: str, fields_of: Mapping[str, str]) -> str:
        """Return the heading of a column that is missing which a name may be a slip for; empty for none."""
        if name in fields_of or name in _PLURALS:
            return ""
        missing = (known for known, field in fields_of.items() if field not in self._columns)
        return next((known for known in missing if _is_slip(name, known)), "")

    def letters_among_numbers(self) -> Iterator[tuple[int, str]]:
        """Yield a line and what is wrong there for each Canvas id with letters, if most are numbers."""
        others = [(line, value) for line, value in self._canvas_ids if not value.isdigit()]
        if len(self._canvas_ids) - len(others) >= 2 * len(others):
            for line, value in others:
                column = self._columns["canvas_id"][1]
                yield line, f"{column}: {quoted(value)} is no number, as the others are; correct it"

    def read_row(self, cells: Sequence[str], line: int, moved: str) -> Iterator[str]:
        """Take one student; yields what is wrong with the row, or what `moved` its cells."""
        values = {field: cells[at].strip() for field, (at, _) in self._columns.items() if at < len(cells)}
        values["moodle_id"] = values.get("moodle_id", "").removeprefix("Participant ")
        team = " ".join(values.get("team", "").split())
        values["team"] = self._teams.setdefault(team.casefold(), team)
        if not any(values.values()) or values.get("name", "").lower() == _POINTS_ROW:
            return
        if moved:  # the values may be those of other columns
            yield moved
            self.students.append(Student(student=values.get("student", "")))  # extensions may name them
            return
        student = Student(**{"student": "", **values})
        if not student.student:
            yield f"{self._columns['student'][1]}: missing; give the name that results are kept under"
        for field, (form, words) in _FORMS.items():
            value = getattr(student, field)
            if value and not re.fullmatch(form, value):
                yield f"{self._columns[field][1]}: must be {words}, got {quoted(value)}"
            elif value and field == "canvas_id":
                self._canvas_ids.append((line, value))
        for field in _UNIQUE:
            if value := getattr(student, field):
                kind = "id" if field in FILE_IDS else field  # platforms' ids meet in the names of files
                before, who = self._lines.setdefault((kind, value.casefold()), (line, student.student))
                if before != line:
                    heading = self._columns[field][1]
                    also = f"also in line {before}" + ("" if field == "student" else f" for {who}")
                    yield f"{heading}: {quoted(value)} is listed twice, {also}; give it once"
        self.students.append(student)
        self.lines.setdefault(student.student, line)


def _is_slip(name: str, heading: str) -> bool:
    """Tell whether a name is a heading but for blanks and dots, or for one slip of the fingers."""
    name, heading = (re.sub(r"\W", "", text) for text in (name, heading))
    is_other = name in _OTHER_WORDS or name[-1:].isdigit()  # `group 1` is one of several
    if name == heading or len(heading) < _SHORTEST or is_other:
        return name == heading
    return is_one_slip(name, heading)


def _spelled(field: str) -> str:
    return field.replace("_", " ")
