"""Submission times: one as people write it, and a platform's list as a CSV table or JSON of Canvas' API."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from grader.config.problem import closest
from grader.config.roster import HEADINGS
from grader.config.table import TableError, checked_rows, decode_table, delimiter_of, heading, rows
from grader.config.type_words import quoted
from grader.errors import UsageError
from grader.files import show_path
from grader.model.roster import FILE_IDS

WHO = ("student", *FILE_IDS, "sis_id", "email")
"""Fields of the roster that say whose a time is."""
WHEN = ("submitted at", "last modified (submission)", "time")
"""Headings of the time column, among them that of Moodle's grading worksheet."""
_FORMS = (
    "%A, %d %B %Y, %I:%M %p",
    "%A, %d %B %Y, %H:%M",
    "%d.%m.%Y %H:%M",
    "%d.%m.%Y %H:%M:%S",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%d %H:%M:%S",
)
"""Monday, 23 December 2024, 11:59 PM: as Moodle writes times in English; 23.12.2024 23:59, as spreadsheets
do in countries where dots have no other meaning; 2024-12-23 7:00, as they write hours of one digit."""
_NOTHING = {"", "-"}


def _strptime(form: str, text: str) -> datetime:
    return datetime.strptime(text, form)  # noqa: DTZ007 - `moment` sets the zone


_READERS: tuple[Callable[[str], datetime], ...] = (
    datetime.fromisoformat,
    *(partial(_strptime, form) for form in _FORMS),
)


Id = tuple[str, str]
"""The kind of an id and its value in lower case."""


def id_of(field: str, value: str) -> Id:
    """Return the id of a student by a field of the roster; platforms' ids meet in the names of files."""
    return "id" if field in FILE_IDS else field, value.strip().casefold()


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """The times of a list."""

    by_id: Mapping[Id, datetime]
    """Times by the kind and the value of an id, as `id_of` returns them."""
    places: Mapping[Id, str]
    """Where in the list each id that has a time, if a wrong one, stands first: a line, an index of JSON."""
    problems: tuple[str, ...] = ()
    """A message for each row that is wrong, with its place."""

    def of(self, ids: Iterable[Id]) -> datetime | None:
        """Return the latest time of any of these ids (a team hands in once); None if there is none."""
        times = (self.by_id.get(each) for each in ids)
        return max((time for time in times if time is not None), default=None)


def read_times(file: Path, zone: tzinfo) -> Times:
    """Read the times from a CSV file with a heading, or from a JSON list of Canvas' submissions.

    Times without an offset are in the course's `zone`; an ambiguous local time is the earlier one (fold 0).

    Raises:
        UsageError: the file cannot be read, or has other columns.
    """
    where = show_path(file)
    try:
        text = decode_table(file.read_bytes())
        is_json = text.lstrip().startswith("[")
        entries = list(_canvas(text, where) if is_json else _table(text, where))
    except OSError as error:
        raise UsageError(f"{where}: cannot be read ({error.strerror}); name a CSV or JSON file") from None
    except TableError as error:
        raise UsageError(f"{where}{error.place}: {error}") from None
    by_id: dict[Id, datetime] = {}
    lines: dict[Id, str] = {}
    problems: list[str] = []
    for place, ids, text_of_time, moved in entries:
        if moved:
            problems.append(f"{where}:{place}: {moved}")
            continue
        if text_of_time.strip() in _NOTHING:
            continue
        try:
            time = moment(text_of_time, zone)
        except ValueError as error:
            problems.append(f"{where}:{place}: {error}")
            for key in ids:
                lines.setdefault(key, place)
            continue
        if not is_json and (other := next((key for key in ids if by_id.get(key, time) != time), None)):
            first = f"has another time in line {lines[other]}; keep one of them"
            problems.append(f"{where}:{place}: {quoted(other[1])} {first}")
            continue
        for key in ids:
            if key not in by_id:
                lines[key] = place
            by_id[key] = max(time, by_id.get(key, time))
    return Times(by_id=by_id, places=lines, problems=tuple(problems))


Row = tuple[str, tuple[Id, ...], str, str]
"""Position, ids of the student, the time as text, and what may have moved the cells of a table's row."""


def _canvas(text: str, where: str) -> Iterator[Row]:
    import json

    try:
        entries: Any = json.loads(text)
        for number, entry in enumerate(entries):
            ids = (id_of("canvas_id", str(entry["user_id"])),)
            yield f"[{number}]", ids, entry.get("submitted_at") or "", ""
    except (ValueError, TypeError, KeyError, AttributeError):
        message = "is no list of submissions as Canvas gives it (user_id, submitted_at); save it again"
        raise UsageError(f"{where}: {message}") from None


def _table(text: str, where: str) -> Iterator[Row]:
    table = rows(text)
    first = next(table, (1, []))[1]
    headings = [heading(cell) for cell in first]
    who = {at: field for field in WHO for at, name in enumerate(headings) if name in HEADINGS[field]}
    when = [at for at, name in enumerate(headings) if name in WHEN]
    if not who or len(when) != 1:
        needed = f"one of {', '.join(WHO)} and one of {', '.join(WHEN)}".replace("_", " ")
        absent = [
            *(WHEN if not when else ()),
            *(chain(*(HEADINGS[field] for field in WHO)) if not who else ()),
        ]
        meant = [(name, near) for name in headings if name and (near := closest(name, absent))]
        advice = "".join(f"; {name}: did you mean {near}?" for name, near in meant)
        raise UsageError(f"{where}:1: needs columns for who and when ({needed}){advice}")
    for line, cells, moved in checked_rows(table, first, delimiter_of(text)):
        values = (
            (field, cells[at].strip().removeprefix("Participant "))
            for at, field in who.items()
            if at < len(cells)
        )
        ids = tuple(id_of(field, value) for field, value in values if value)
        yield str(line), ids, cells[when[0]] if when[0] < len(cells) else "", moved


def _is_day(text: str) -> bool:
    with suppress(ValueError):
        date.fromisoformat(text)
        return True
    return False


def moment(text: str, zone: tzinfo) -> datetime:
    """Return a date and time in UTC; without an offset it is in `zone`, of an hour shown twice the first.

    Raises:
        ValueError: it is none, or a day alone, with what to write.
    """
    text = text.strip()
    advice = "write it like 2024-12-23T22:10:00+02:00, or without the offset"
    if _is_day(text):  # Python takes it for midnight, which may be early or late by a day
        raise ValueError(f"{quoted(text)} is a day without a time; {advice}")
    for read in _READERS:
        with suppress(ValueError, OverflowError):  # the year 1 in UTC may be the year 0
            time = read(text)
            # in UTC: of an hour that is shown twice Python calls no local time equal to any other
            return (time if time.tzinfo else time.replace(tzinfo=zone)).astimezone(UTC)
    raise ValueError(f"{quoted(text)} is no date and time; {advice}")
