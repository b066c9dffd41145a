from __future__ import annotations

from pathlib import Path

import pytest

from grader.config.course import load_course
from grader.errors import CourseError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("hw1", "hw2"):
        (tmp_path / "assignments" / name).mkdir(parents=True)
        (tmp_path / "assignments" / name / "assignment.py").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def course(folder: Path, extensions: str):
    (folder / "course.yaml").write_text(f"title: x\ntime_zone: Asia/Jerusalem\n{extensions}")
    return load_course(folder)


def problems(folder: Path, extensions: str) -> tuple[str, ...]:
    with pytest.raises(CourseError) as caught:
        course(folder, extensions)
    return caught.value.problems


def table(folder: Path, *rows: str) -> None:
    (folder / "more.csv").write_text("\n".join(rows) + "\n", encoding="utf-8-sig")


def test_a_course_says_who_has_more_time_for_what(folder: Path) -> None:
    found = course(folder, "extensions: {alice: {hw1: 2d, hw2: 12h}, red: {hw1: 1d}}\n")
    assert found.extensions_of("hw1") == {"alice": 172_800.0, "red": 86_400.0}
    assert found.extensions_of("hw2") == {"alice": 43_200.0}
    assert course(folder, "").extensions_of("hw1") == {}


def test_the_clocks_of_a_course_are_those_of_its_time_zone(folder: Path) -> None:
    assert str(course(folder, "").zone) == "Asia/Jerusalem"


def test_mistakes_in_course_yaml_are_all_located(folder: Path) -> None:
    assert problems(folder, "extensions:\n  alice: {hw1: 2 days}\n  bob: {hw3: 1d}\n") == (
        "course.yaml:4:11: extensions.alice.hw1: must be a duration such as 20s, 15m, 1h30m or 3d, "
        'got "2 days"',
        'course.yaml:5:9: extensions.bob.hw3: no assignment is called "hw3"; did you mean hw1 or hw2?',
    )
    assert problems(folder, "extensions:\n  alice: {hw1: 2d}\n  bob: {hw3: 1d}\n") == (
        'course.yaml:5:9: extensions.bob.hw3: no assignment is called "hw3"; did you mean hw1 or hw2?',
    )
    (line,) = problems(folder, "extensions: [alice]\n")
    assert line == "course.yaml:3:1: extensions: must be a mapping, got a list; write {NAME: {NAME: …}}"


def test_extensions_may_be_a_table_that_people_keep_reasons_in(folder: Path) -> None:
    table(folder, "student,reason,assignment,extension", 'alice,"ill, twice", hw1 ,2d', "bob,,hw2,1d")
    found = course(folder, "extensions: more.csv\n")
    assert found.extensions == {"alice": {"hw1": 172_800.0}, "bob": {"hw2": 86_400.0}}


def test_a_row_with_more_cells_than_the_heading_is_refused(folder: Path) -> None:
    table(folder, "student,assignment,extension", "alice,hw1,1d,12h", "bob,hw1,1d,,")
    assert problems(folder, "extensions: more.csv\n") == (
        "more.csv:2: has 4 cells, and the heading 3; put a text with a comma in quotes",
    )


def test_mistakes_in_a_table_are_all_located(folder: Path) -> None:
    table(
        folder,
        "student,assignment,extension",
        ",hw1,1d",
        "bob,hw9,1d",
        "bob,hw1,soon",
        "bob,hw2,1d",
        "bob,hw2,2d",
        "bob",
    )
    assert problems(folder, "extensions: more.csv\n") == (
        "more.csv:2: student: missing; say whose extension it is",
        'more.csv:3: assignment: no assignment is called "hw9"; did you mean hw1 or hw2?',
        'more.csv:4: extension: must be a duration such as 20s, 15m, 1h30m or 3d, got "soon"',
        "more.csv:6: bob has an extension of hw2 in a line above; give one",
        'more.csv:7: assignment: no assignment is called ""; there are hw1, hw2',
        'more.csv:7: extension: must be a duration such as 20s, 15m, 1h30m or 3d, got ""',
    )


def test_a_table_without_its_columns_or_itself_is_one_line(folder: Path) -> None:
    assert problems(folder, "extensions: more.csv\n") == (
        "course.yaml:3:1: extensions: more.csv cannot be read (No such file or directory); "
        "name a CSV file beside course.yaml",
    )
    table(folder, "student,extension", "alice,1d")
    assert problems(folder, "extensions: more.csv\n") == (
        "more.csv:1: the first line must name the columns student, assignment, extension; "
        "assignment is missing",
    )
    (folder / "more.csv").write_bytes(b"student,assignment,extension\n\xff,hw1,1d\n")
    assert problems(folder, "extensions: more.csv\n") == ("more.csv: is not UTF-8; save it as CSV UTF-8",)


@pytest.mark.parametrize(("encoding", "delimiter"), [("utf-8-sig", ";"), ("utf-16", "\t")])
def test_a_table_may_be_as_a_spreadsheet_saves_it(folder: Path, encoding: str, delimiter: str) -> None:
    rows = ("Student,Assignment,Extension,Why", "alice,hw1,2d,ill", ",,,", "bob,hw1,soon,")
    text = "\r\n".join(row.replace(",", delimiter) for row in rows)
    (folder / "more.csv").write_bytes(text.encode(encoding))
    (line,) = problems(folder, "extensions: more.csv\n")
    assert line.startswith("more.csv:4: extension: must be a duration")
    (folder / "more.csv").write_bytes(text.replace("soon", "1d").encode(encoding))
    assert course(folder, "extensions: more.csv\n").extensions_of("hw1") == {"alice": 172_800, "bob": 86_400}


def test_a_row_with_the_delimiter_of_another_table_is_told_as_in_the_roster(folder: Path) -> None:
    table(folder, "student,assignment,extension", "bob,hw1,1d", "ann;hw1;2d")
    assert problems(folder, "extensions: more.csv\n") == (
        'more.csv:3: "ann;hw1;2d" holds a semicolon, and the row has 1 of 3 cells; put a comma between '
        "cells, as the first line does",
    )


def test_a_team_may_be_named_by_its_name_or_its_members_in_any_order(folder: Path) -> None:
    (folder / "roster.csv").write_text("student,team\nbob,red\nann,red\ncy,\n")
    table(folder, "student,assignment,extension", "red,hw1,1d", "bob+ann,hw1,2d", "bob,hw1,3d", "bea,hw1,1d")
    found = course(folder, "roster: roster.csv\nextensions: more.csv\n")
    assert found.extensions_of("hw1") == {"ann+bob": 172_800, "bob": 259_200, "bea": 86_400}
    assert found.extensions_for_nobody() == (
        'more.csv:5: student: "bea": nobody on the roster is called so; there are ann, bob, cy, red',
    )


@pytest.mark.parametrize(
    ("who", "why"),
    [
        ("ann+cy", "ann is in team red, with bob; name the team, or each student alone"),
        ("bob+ann+cy", "bob is in team red; name the team, or each student alone"),
        ("cy+dee", ""),
        ("bob+ann", ""),
    ],
)
def test_an_extension_for_some_of_a_team_and_others_is_for_nobody(folder: Path, who: str, why: str) -> None:
    (folder / "roster.csv").write_text("student,team\nbob,red\nann,red\ncy,\ndee,\n")
    table(folder, "student,assignment,extension", f"{who},hw1,1d")
    lines = course(folder, "roster: roster.csv\nextensions: more.csv\n").extensions_for_nobody()
    assert lines == ((f'more.csv:2: student: "{who}": {why}',) if why else ())


def test_a_row_that_lacks_a_cell_is_told_with_what_would_be_empty(folder: Path) -> None:
    table(folder, "student,assignment,extension,reason", "alice,hw1,2d,", "bob,hw1,1d")
    (line,) = problems(folder, "extensions: more.csv\n")
    assert line.startswith('more.csv:3: has 3 cells, and the heading 4, so that "reason" would be empty; put')
