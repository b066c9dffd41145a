"""When submissions came, in tables and in what Canvas answers."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from grader.config.times import id_of, read_times
from grader.errors import UsageError

JERUSALEM = ZoneInfo("Asia/Jerusalem")


@pytest.fixture
def times(tmp_path):
    def read(text, zone=JERUSALEM):
        file = tmp_path / "times"
        file.write_text(text, encoding="utf-8")
        return read_times(file, zone)

    return read


def students(*names):
    return [id_of("student", name) for name in names]


def utc(*parts):
    return datetime(*parts, tzinfo=UTC)


def test_a_time_has_its_offset_or_is_of_the_course(times):
    found = times("student,submitted at\nann,2024-12-23T22:10:00Z\nben,2024-12-23 22:10\ncy,\n")
    assert found.of(students("ann")) == utc(2024, 12, 23, 22, 10)
    assert found.of(students("Ben")) == utc(2024, 12, 23, 20, 10)
    assert found.of(students("cy")) is None


def test_clocks_that_are_put_forward_and_back(times):
    found = times("student,time\na,2024-03-29 03:30\nb,2024-10-27 01:30\nc,2024-10-27 02:30\n")
    assert found.of(students("a")) == utc(2024, 3, 29, 0, 30), "summer time began at 2"
    assert found.of(students("b")) == utc(2024, 10, 26, 22, 30), "shown twice: the first, which is earlier"
    assert found.of(students("c")) == utc(2024, 10, 27, 0, 30)


def test_what_canvas_answers(times):
    said = [{"user_id": 12, "submitted_at": "2024-12-23T20:00:00Z"}, {"user_id": 13, "submitted_at": None}]
    found = times(json.dumps(said))
    assert (found.of([id_of("canvas_id", "12")]), found.of([id_of("canvas_id", "13")])) == (
        utc(2024, 12, 23, 20),
        None,
    )


def test_the_worksheet_of_moodle(times):
    found = times(
        "Identifier;Full name;Last modified (submission)\n"
        'Participant 7;Ann;"Monday, 23 December 2024, 11:59 PM"\nParticipant 8;Ben;-\n'
    )
    assert found.of([id_of("moodle_id", "7")]) == utc(2024, 12, 23, 21, 59)
    assert found.of([id_of("moodle_id", "8")]) is None


def test_an_hour_of_one_digit_is_one_as_spreadsheets_write_it(times):
    found = times("student,time\nann,2024-12-23 7:00\nben,2024-12-23 7:00:30\n")
    assert found.of(students("ann")) == utc(2024, 12, 23, 5)
    assert found.of(students("ben")) == utc(2024, 12, 23, 5, 0, 30)


def test_of_a_team_the_latest_counts(times):
    found = times("student,time\nann,2024-12-23T10:00Z\nben,2024-12-23T11:00Z\n")
    assert found.of(students("ann", "ben")) == utc(2024, 12, 23, 11)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_list_by_address_or_number_as_a_spreadsheet_saves_it(encoding, tmp_path):
    file = tmp_path / "times.csv"
    lines = ("sep=;", "E-Mail;SIS ID;Submitted at", "Ann@x.org;;23.12.2024 22:10", ";S7;23.12.2024 22:10:30")
    file.write_bytes("\r\n".join(lines).encode(encoding))
    found = read_times(file, JERUSALEM)
    assert found.of([id_of("email", "ann@X.org")]) == utc(2024, 12, 23, 20, 10)
    assert found.of([id_of("sis_id", "s7")]) == utc(2024, 12, 23, 20, 10, 30)
    assert found.of([id_of("canvas_id", "S7"), *students("S7")]) is None, "numbers of two kinds may be equal"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("student,time\nann,soon\nben,later\n", "times:2: 'soon' is no date and time"),
        ("student,time\nann,0001-01-01 00:00\n", "times:2: '0001-01-01 00:00' is no date and time"),
        (
            "student,time\nann,2024-12-23T10:00Z\nANN,2024-12-23T11:00Z\n",
            "times:3: 'ann' has another time in line 2; keep one of them",
        ),
        (
            "student,time\nann,2024-12-23T10:00Z\nben;2024-12-23 20:30\n",
            "times:3: 'ben;2024-12-23 20:30' holds a semicolon, and the row has 1 of 2 cells; put a comma",
        ),
        (
            "student;name;time\nann;Ash;Ann;2024-12-23T10:00Z\n",
            "times:2: has 4 cells, and the heading 3; put a text with a semicolon in quotes",
        ),
        ("name,time\nann,2024-12-23T10:00Z\n", "times:1: needs columns"),
        ("student\nann\n", "times:1: needs columns"),
        ("student,submited at\nann,x\n", "time); submited at: did you mean submitted at?"),
        ("studnet,submitted at\nann,x\n", "time); studnet: did you mean student?"),
        ('[{"id": 1}]', "no list of submissions"),
        ("[", "no list of submissions"),
        ('student,time\n"ann,2024', "is no CSV"),
    ],
)
def test_what_is_wrong_is_one_line_each(times, text, message):
    try:
        problems = times(text).problems
    except UsageError as error:
        problems = error.problems
    assert message.replace("'", '"') in problems[0].replace("'", '"')
    assert len(problems) == (2 if "later" in text else 1)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        read_times(tmp_path / "none", UTC)


@pytest.mark.parametrize("day", ["2024-12-23", "20241223", "2024-W52-1"])
def test_a_day_alone_is_no_time(times, day):
    (problem,) = times(f"student,submitted at\nann,{day}\n").problems
    assert f'times:2: "{day}" is a day without a time; write it like 2024' in problem


def test_a_row_that_lacks_a_cell_is_told_for_its_time_may_be_in_another_column(times):
    found = times("student,name,time\nann,Ann,\nben,2024-12-23T10:00Z\n")
    (line,) = found.problems
    assert line.endswith(
        ':3: has 2 cells, and the heading 3, so that "time" would be empty; put a comma behind '
        "each cell that is empty"
    )
