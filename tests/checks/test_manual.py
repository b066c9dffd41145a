"""Points that people give: they wait, come in as a table, and stay with the submission that was looked at."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

from grader.checks.manual import Manual
from grader.config.points_csv import COLUMNS, PointsRow, read_table, write_table
from grader.config.points_file import (
    FILE,
    PointsGiven,
    append_missing,
    append_points,
    read_points,
    with_points,
)
from grader.errors import NotObservedError, UsageError
from grader.model.job import Task
from grader.model.observation import Observation, Outcome
from grader.model.submission import Submission

KIND = Manual()
OPTIONS = Manual.Options(asks="Is the explanation right?")
SUBMISSION = Submission(student="ann", assignment="hw1", archive="ann.zip", digest="sha256:abc", files=())
TASKS = (
    Task(item="style", check="manual", options={}, digest="d1"),
    Task(item="f", check="files", options={}),
)
GIVEN = PointsGiven(
    item="style", points=7.5, possible=10, by="Ada", at="2025-01-01T00:00:00+00:00", submission="sha256:abc"
)


def award(seen):
    return KIND.award(OPTIONS, seen["style"], {})


def test_an_item_waits_until_a_person_has_looked(tmp_path):
    seen = with_points(tmp_path, SUBMISSION, TASKS, {})
    assert list(seen) == ["style"]
    assert (seen["style"].outcome, seen["style"].fault) == (Outcome.NOT_OBSERVED, None)
    assert seen["style"].note == "waits for a person"


def test_given_points_are_earned_as_the_share_they_were(tmp_path):
    append_points(tmp_path, [replace(GIVEN, comment="clear, but short")])
    seen = with_points(tmp_path, SUBMISSION, TASKS, {})
    assert seen["style"].outcome is Outcome.OBSERVED
    assert seen["style"].quantities["points_given"].taken_by == "Ada"
    assert (award(seen).fraction, award(seen).reason) == (0.75, "a person gave 7.5 of 10: clear, but short")


def test_no_points_are_points_too(tmp_path):
    append_points(tmp_path, [replace(GIVEN, points=0)])
    assert award(with_points(tmp_path, SUBMISSION, TASKS, {})).fraction == 0.0


def test_the_last_word_counts_and_every_word_is_kept(tmp_path):
    append_points(tmp_path, [GIVEN, replace(GIVEN, points=2)])
    append_points(tmp_path, [replace(GIVEN, points=9, by="Bob")])
    assert award(with_points(tmp_path, SUBMISSION, TASKS, {})).fraction == 0.9
    assert len((tmp_path / FILE).read_text().splitlines()) == 3


def test_only_records_that_are_new_and_not_older_than_the_last_are_added(tmp_path):
    older, later = (replace(GIVEN, points=at, at=f"2024-12-0{at}T00:00:00+00:00") for at in (1, 9))
    append_missing(tmp_path, [older, later])
    append_missing(tmp_path, [older, later, replace(older, points=5)])
    assert (tmp_path / FILE).read_text().count("\n") == 2
    assert read_points(tmp_path, "sha256:abc")["style"].points == 9


def test_points_for_an_earlier_submission_are_not_those_of_a_later_one(tmp_path):
    append_points(tmp_path, [GIVEN])
    later = replace(SUBMISSION, digest="sha256:def")
    assert with_points(tmp_path, later, TASKS, {})["style"].outcome is Outcome.NOT_OBSERVED


def test_a_person_stands_above_what_was_observed(tmp_path):
    append_points(tmp_path, [replace(GIVEN, item="f", points=10)])
    crashed = Observation(item="f", outcome=Outcome.CRASHED, note="damaged", facts={"file": "hw1.pdf"})
    seen = with_points(tmp_path, SUBMISSION, TASKS, {"f": crashed})["f"]
    assert (seen.outcome, seen.note, seen.facts["file"]) == (Outcome.OBSERVED, "", "hw1.pdf")


def test_a_torn_last_line_is_mended_and_a_strange_one_is_named(tmp_path):
    append_points(tmp_path, [GIVEN])
    with (tmp_path / FILE).open("a") as file:
        file.write('{"item": "sty')
    append_points(tmp_path, [replace(GIVEN, points=1)])
    assert read_points(tmp_path, "sha256:abc")["style"].points == 1
    (tmp_path / FILE).write_text("[]\n")
    with pytest.raises(NotObservedError, match=r"manual\.jsonl:1"):
        read_points(tmp_path, "sha256:abc")


@pytest.mark.parametrize(
    "evil",
    [
        "=cmd|' /C calc'!A0",
        "+1",
        "-1",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "\n=1",
        " =1",
        "\u200b+1",
        "'=1",
        "\uff1d1",
    ],
)
def test_no_cell_is_a_formula_and_every_text_comes_back(evil):
    row = PointsRow(
        student="ann", assignment="hw1", item="style", title=evil, comment=f"x, {evil}\nnew line", points="3"
    )
    content = write_table([row])
    for cells in csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")):
        assert not any(
            cell.strip("\u200b \n").startswith(("=", "+", "-", "@", "\t", "\r", "\uff1d")) for cell in cells
        )
    assert list(read_table(content, "p.csv")) == [(2, row)]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_table_is_read_as_any_spreadsheet_saves_it(delimiter, encoding):
    lines = [
        "Student,Assignment,ITEM,Points,Submission,comment",
        "ann,hw1,style,7,sha256:0,",
        ",,,,,",
        'b,hw1,style,8,sha256:0,"two',
        'lines"',
        "c,hw1,x,1,sha256:0,",
    ]
    text = "\r\n".join(lines).replace(",", delimiter)
    found = [(number, row.student, row.points) for number, row in read_table(text.encode(encoding), "p.csv")]
    assert found == [(2, "ann", "7"), (4, "b", "8"), (5, "c", "1")]


def test_columns_of_ones_own_are_left_out():
    lines = [
        "to do;student;assignment;item;points;submission;",
        "x;ann;hw1;style;7;z;y",
        "sum;;;;;;",
        ";b;hw1;style;8;z;",
    ]
    found = [(line, row.student, row.points) for line, row in read_table("\n".join(lines).encode(), "p.csv")]
    assert found == [(2, "ann", "7"), (4, "b", "8")]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "p.csv:1: there is no column 'student'"),
        (b"student,assignment,item,pionts", "p.csv:1: unknown column 'pionts'; did you mean"),
        (b"student,assignment,item,points,part1", "p.csv:1: unknown column 'part1'; did you mean part 1"),
        (b"student,assignment,item,points,points", "p.csv:1: there are two columns 'points'"),
        (
            b"student,assignment,item,points",
            "p.csv:1: there is no column 'submission'; export the table again",
        ),
        (b"student,assignment,item,points,sub", "p.csv:1: there is no column 'submission'; export the table"),
        (b"student,assignment,item,points,submission\n\xff\xfe", "p.csv: is not UTF-8"),
        (b'student,assignment,item,points,submission\n"a"b,c', "p.csv:2: is no CSV"),
    ],
)
def test_what_is_no_such_table_is_said_in_a_line(content, said):
    with pytest.raises(UsageError) as caught:
        list(read_table(content, "p.csv"))
    assert said in str(caught.value)


def test_the_table_says_what_a_person_needs():
    columns = (
        "item,student,assignment,title,asks,answer,model,criteria,suggested,now,possible,points,comment,reason,"
        "document,submission"
    )
    assert ",".join(COLUMNS) == columns
