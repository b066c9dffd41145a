"""Whatever is wrong in a file of the course, each other mistake of it has its line as well."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from grader.checks.manual import Manual
from grader.checks.script import Script
from grader.config.course import load_course
from grader.config.rubric import check_rubric
from grader.errors import CourseError
from grader.model.assignment import Assignment

Mistake = tuple[str, str, str]
"""What stands in the right file, what stands in its place, and a part of the line on it."""

RUBRIC = """\
schema: 1
assignment: hw1
points: 10
due: 2024-12-23T23:59:00+00:00
late: {grace: 15m}
items:
  - {id: right, title: Right., points: 1, check: matches, of: utils.fast, accept: [slow_too]}
  - {id: quick, title: Quick., points: 2, check: speedup, of: utils.fast, over: utils.slow, inputs: vectors,
     at_least: 40, needs: [right], visible: after_due}
  - id: judged
    title: Judged.
    points: 3
    check: manual
    criteria:
      - {name: form, points: 1}
      - {name: sense, points: 2}
  - id: program
    title: A program.
    points: 4
    check: script
    file: count.py
    numbers: {count: "primes: {}", sum: "sum: {}"}
    at_least: {count: 3}
    at_most: {sum: 9}
    exit_status: 1
"""
OF_RUBRIC: tuple[Mistake, ...] = (
    ("points: 10", "points: 11", "points: must equal the sum of the items"),
    ("2024-12-23", "2024-02-30", "due: must be a date"),
    ("grace: 15m", "grace: 15", "late.grace: must be a duration"),
    ("id: quick", "id: Quick", "items[1].id: must be of lower-case letters"),
    ("id: program", "id: judged", 'items[3].id: "judged" is the id of items[2] too'),
    ("accept: [slow_too]", "accept: [slow_to]", 'items[0].accept[0]: no function of expected.py'),
    ("needs: [right]", "needs: [wrong]", 'items[1].needs[0]: no item has the id "wrong"'),
    ("at_least: 40", "at_least: 0", "items[1].at_least: must be a number > 0"),
    ("title: Judged.", "title: 3", "items[2].title: must be text"),
    ("name: sense, points: 2", "name: sense, points: 3", "criteria: their points must add up"),
    ("at_least: {count: 3}", "at_least: {cont: 3}", "cont: is not among the numbers"),
    ('count: "primes: {}"', 'count: "primes: "', "numbers.count: must hold {} once"),
    ("exit_status: 1", "exit_status: 300", "items[3].exit_status: a program ends with 0 to"),
    ("file: count.py", "file: cuont.py", 'items[3].file: given/ has no "cuont.py"'),
    ("title: A program.", "titel: A program.", "items[3].titel: unknown key; did you mean title?"),
)  # fmt: skip
COURSE = """\
title: Primes
time_zone: Europe/Berlin
min_isolation: process
roster: roster.csv
extensions:
  anna: {hw1: 3d}
  ben: {hw1: 2d}
"""
OF_COURSE: tuple[Mistake, ...] = (
    ("title: Primes", "title: 3", "title: must be text"),
    ("Europe/Berlin", "Europe/Berlim", "time_zone: no time zone is called"),
    ("min_isolation: process", "min_isolation: 1", "min_isolation: must be text"),
    ("roster: roster.csv", "roster: roster.csv\nrooster: x", "rooster: unknown key"),
    ("anna: {hw1: 3d}", "anna: {hw2: 3d}", "extensions.anna.hw2: no assignment is called"),
    ("hw1: 2d", "hw1: 2", "extensions.ben.hw1: must be a duration"),
    ("ben: {", "bne: {", "extensions.bne: nobody on the roster is called so"),
)


def unmentioned(
    text: str, mistakes: tuple[Mistake, ...], lines: Callable[[str], tuple[str, ...]]
) -> list[str]:
    """Return the mistakes that have no line once another one is in the file as well."""
    missing = []
    for pair in combinations(mistakes, 2):
        wrong = text
        for right, replacement, _ in sorted(pair, key=lambda mistake: -len(mistake[0])):
            wrong = wrong.replace(right, replacement)
        messages = "\n".join(lines(wrong))
        both = " and ".join(replacement for _, replacement, _ in pair)
        missing += [f"{part} ({both})" for _, _, part in pair if part not in messages]
    return missing


@pytest.fixture
def rubric_lines(course: SimpleNamespace, kinds: Mapping[str, Any]) -> Callable[[str], tuple[str, ...]]:
    """Return the function that checks a rubric of this text."""
    (course.folder / "assignments" / "hw1" / "reference" / "count.py").write_text("print(3)\n")
    for kind in kinds.values():
        kind.builds = False
    everything = {**kinds, "manual": Manual(), "script": Script()}
    declared = {"hw1": Assignment(name="hw1", title="One", accepts=("count.py", "utils.py"))}

    def check(text: str) -> tuple[str, ...]:
        course.rubric.write_text(text)
        return check_rubric(
            course.rubric, kinds=everything, assignments=course.assignments, declared=declared
        )

    return check


def test_two_mistakes_of_a_rubric_are_shown_whichever_they_are(
    rubric_lines: Callable[[str], tuple[str, ...]],
) -> None:
    assert rubric_lines(RUBRIC) == ()
    assert unmentioned(RUBRIC, OF_RUBRIC, rubric_lines) == []


def test_two_mistakes_of_a_course_file_are_shown_whichever_they_are(tmp_path: Path) -> None:
    (tmp_path / "assignments" / "hw1").mkdir(parents=True)
    (tmp_path / "assignments" / "hw1" / "assignment.py").touch()
    (tmp_path / "roster.csv").write_text("student\nanna\nben\n")

    def lines(text: str) -> tuple[str, ...]:
        (tmp_path / "course.yaml").write_text(text)
        try:
            return load_course(tmp_path).extensions_for_nobody()
        except CourseError as error:
            return error.problems

    assert lines(COURSE) == ()
    assert unmentioned(COURSE, tuple(m for m in OF_COURSE if m[0] != "hw1: 2d"), lines) == []
    assert unmentioned(COURSE, tuple(m for m in OF_COURSE if m[0] != "ben: {"), lines) == []
