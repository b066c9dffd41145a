"""Submission times from a learning platform's list: a CSV table, or a JSON answer of Canvas' API."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

from grader.config.decode import quoted
from grader.config.problem import show_path
from grader.config.roster import HEADINGS
from grader.errors import UsageError

WHO = ("student", "canvas_id", "moodle_id")
"""Fields of the roster that the name of an archive may contain."""
WHEN = ("submitted at", "last modified (submission)", "time")
"""Headings of the time column, among them that of Moodle's grading worksheet."""
_MOODLE = ("%A, %d %B %Y, %I:%M %p", "%A, %d %B %Y, %H:%M")
"""Monday, 23 December 2024, 11:59 PM: as Moodle writes times in English."""
_NOTHING = {"", "-"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """The times of a list."""

    by_id: Mapping[str, datetime]
    """Times by student, and by the ids that platforms write into the names of files, in lower case."""

    def of(self, ids: Iterable[str]) -> datetime | None:
        """Return the latest time of any of these ids (a team hands in once); None if there is none."""
        times = (self.by_id.get(name.casefold()) for name in ids)
        return max((time for time in times if time is not None), default=None)


def read_times(file: Path, zone: tzinfo) -> Times:
    """Read the times from a CSV file with a heading, or from a JSON list of Canvas' submissions.

    Times without an offset are in the course's `zone`; an ambiguous local time is the earlier one (fold 0).

    Raises:
        UsageError: the file cannot be read, with every line that is wrong.
    """
    where = show_path(file)
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"{where}: cannot be read ({error.strerror}); name a CSV or JSON file") from None
    except UnicodeDecodeError:
        raise UsageError(f"{where}: is not UTF-8; save it as CSV UTF-8") from None
    rows = _canvas(text, where) if text.lstrip().startswith("[") else _table(text, where)
    by_id: dict[str, datetime] = {}
    problems: list[str] = []
    for place, ids, text_of_time in rows:
        if text_of_time.strip() in _NOTHING:
            continue
        time = _moment(text_of_time.strip(), zone)
        if time is None:
            advice = "write it like 2024-12-23T22:10:00+02:00, or without the offset"
            problems.append(f"{where}:{place}: {quoted(text_of_time.strip())} is no date and time; {advice}")
            continue
        for name in filter(None, ids):
            key = name.casefold()
            by_id[key] = max(time, by_id.get(key, time))
    if problems:
        raise UsageError(*problems)
    return Times(by_id=by_id)


Row = tuple[str, tuple[str, ...], str]
"""Position, ids of the student, and the time as text."""


def _canvas(text: str, where: str) -> Iterator[Row]:
    import json

    try:
        entries: Any = json.loads(text)
        for number, entry in enumerate(entries):
            yield f"[{number}]", (str(entry["user_id"]),), entry.get("submitted_at") or ""
    except (ValueError, TypeError, KeyError, AttributeError):
        message = "is no list of submissions as Canvas gives it (user_id, submitted_at); save it again"
        raise UsageError(f"{where}: {message}") from None


def _table(text: str, where: str) -> Iterator[Row]:
    import csv
    import io

    delimiter = max(",;\t", key=text.partition("\n")[0].count)
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, strict=True)
    try:
        headings = [" ".join(re.split(r"[\s_-]+", cell.strip().lower())) for cell in next(reader, [])]
        who = [at for at, name in enumerate(headings) if any(name in HEADINGS[field] for field in WHO)]
        when = [at for at, name in enumerate(headings) if name in WHEN]
        if not who or len(when) != 1:
            needed = f"one of {', '.join(WHO)} and one of {', '.join(WHEN)}".replace("_", " ")
            raise UsageError(f"{where}:1: needs columns for who and when ({needed})")
        line = reader.line_num + 1
        for cells in reader:
            ids = tuple(cells[at].strip().removeprefix("Participant ") for at in who if at < len(cells))
            yield str(line), ids, cells[when[0]] if when[0] < len(cells) else ""
            line = reader.line_num + 1
    except csv.Error as error:
        raise UsageError(f"{where}:{reader.line_num}: is no CSV ({error}); save it again") from None


def _moment(text: str, zone: tzinfo) -> datetime | None:
    time = None
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        for form in _MOODLE:
            try:
                time = datetime.strptime(text, form)  # noqa: DTZ007 - the zone comes below
            except ValueError:
                continue
    if time is None:
        return None
    # in UTC: of an hour that is shown twice Python calls no local time equal to any other
    return (time if time.tzinfo else time.replace(tzinfo=zone)).astimezone(UTC)
