"""A team grades a class: several hosts run, record, import, judge and rescore on one PostgreSQL at once."""

# ruff: noqa: F811 - fixtures of another file are arguments here

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
import requests

from tests.gradebook.test_postgresql import location, pytestmark, server  # noqa: F401 - fixtures and marks
from tests.review.conftest import CSRF

STYLE = {"id": "style", "title": "Readable", "points": 4, "check": "manual", "asks": "Readable?"}
FILES = {"id": "files", "title": "work.py is there", "points": 1, "check": "files", "required": ["work.py"]}
STUDENTS = tuple(f"s{number}" for number in range(4))
ROOT = Path(__file__).parents[2]
HAS_NAMES = subprocess.call(["unshare", "--uts", "true"], stderr=subprocess.DEVNULL) == 0
"""Whether a process can play a host of another name."""


class Team:
    """Hosts with results folders of their own, and one gradebook."""

    def __init__(self, course, address: str) -> None:
        self.course = course
        self.address = address
        self._running: list[tuple[tuple[str, ...], subprocess.Popen[str]]] = []

    def out(self, host: str) -> str:
        return str(self.course.out.with_name(f"results-{host}"))

    def start(self, host: str, *arguments: str) -> subprocess.Popen[str]:
        naming = ["unshare", "--uts", "sh", "-c", f'hostname {host} && exec "$@"', "sh"] if HAS_NAMES else []
        process = subprocess.Popen(
            [*naming, sys.executable, "-m", "grader", *arguments],
            env={**self.course.environment, "GRADER_GRADEBOOK": self.address, "PYTHONPATH": str(ROOT)},
            cwd=self.course.cwd,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._running.append((arguments, process))
        return process

    def wait(self) -> dict[str, str]:
        """Wait for all; return what each kind of command printed to the error output."""
        printed = {}
        for arguments, process in self._running:
            _, stderr = process.communicate(timeout=300)
            assert "Traceback" not in stderr, stderr
            assert process.returncode in {0, 5}, stderr
            told = [line for line in stderr.splitlines() if line.startswith("grader: ")]  # others are sums
            assert told or not process.returncode, stderr
            for line in told if process.returncode else ():
                assert "a later run is recorded already" in line or "refused" in line, line
            printed[arguments[0]] = stderr
        self._running.clear()
        return printed

    def json(self, *arguments: str) -> list[dict]:
        process = self.start("gpu1", *arguments)
        stdout, stderr = process.communicate(timeout=300)
        self._running.pop()
        assert process.returncode == 0, stderr
        return json.loads(stdout)


@pytest.fixture
def team(course, location):
    course.rubric(STYLE, FILES)
    return Team(course, location)


def fill_in(path: Path, points: dict[str, str]) -> None:
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(row | {"points": points.get(row["student"], "")} for row in rows)


def judge(process: subprocess.Popen[str], students: dict[int, str]) -> None:
    """Give points on the page that a review server printed."""
    link = next(word for line in process.stdout for word in line.split() if "/enter?token=" in word)
    address = link.partition("/enter")[0]
    client = requests.Session()
    client.get(link)
    page = client.get(f"{address}/a/tiny/submissions").text
    word = CSRF.search(page)[1]
    for number, points in students.items():
        done = client.post(
            f"{address}/a/tiny/q/style/{number}",
            data={"csrf": word, "after": "0", "part-0": points},
            headers={"origin": address, "sec-fetch-site": "same-origin"},
        )
        assert done.status_code == 200, done.text


def test_hosts_that_work_at_once_lose_nothing_and_write_nothing_twice(team):
    archives = [team.course.submit(student) for student in STUDENTS]
    for host in ("gpu1", "gpu2"):  # the gradebook is created by both, every submission graded by both
        team.start(host, "run", *archives, "--out", team.out(host))
    team.wait()
    for student in STUDENTS:
        events = team.json("history", student, "--json")
        assert len({event["details"]["run"] for event in events}) == 2, "both runs stand in the history"
        assert sum(event["details"]["counts"] for event in events) >= 1
        assert all(first["at"] <= second["at"] for first, second in pairwise(events))
        if HAS_NAMES:
            hosts = {event["details"]["account"].partition("@")[2] for event in events}
            assert hosts == {"gpu1", "gpu2"}

    table = team.course.cwd / "points.csv"
    team.start("gpu1", "manual", "export", "--out", str(table), "--results", team.out("gpu1"))
    team.wait()
    fill_in(table, {"s0": "1", "s1": "2"})
    numbers = submission_numbers(team)
    review = team.start("desk", "review", "tiny", "--port", "0", "--person", "bob")
    team._running.pop()
    try:
        team.start("gpu1", "manual", "import", str(table), "--by", "ada", "--results", team.out("gpu1"))
        team.start("gpu2", "record", team.out("gpu2"))
        team.course.rubric(STYLE, FILES | {"points": 2})
        team.start("gpu3", "rescore", "tiny", "--apply")
        judge(review, {numbers["s2"]: "3", numbers["s3"]: "4"})
        team.wait()
    finally:
        review.terminate()
        review.communicate()
    team.start("gpu3", "rescore", "tiny", "--apply")  # what was recorded by the rubric of before
    team.wait()

    given = {"s0": ("ada", 1.0), "s1": ("ada", 2.0), "s2": ("bob", 3.0), "s3": ("bob", 4.0)}
    grades = {grade["student"]: grade for grade in team.json("export", "json")}
    assert set(grades) == set(STUDENTS)
    for student in STUDENTS:
        events = team.json("history", student, "--json")
        points = [event["details"] for event in events if event["what"] == "points"]
        assert [(row["by"], row["points"]) for row in points] == [given[student]] * (student in given)
        assert len({event["details"]["run"] for event in events if event["what"] == "score"}) == 2
        assert grades[student]["points"]["raw"] == 2 + given.get(student, ("", 0.0))[1], student
        assert grades[student]["points"]["possible"] == 6
        scores = [event["details"]["score"] for event in events if event["what"] == "score"]
        assert scores == sorted(set(scores))
        assert all(first["at"] <= second["at"] for first, second in pairwise(events))


def submission_numbers(team) -> dict[str, int]:
    code = (
        "import sys; from grader.gradebook.book import Gradebook; from sqlalchemy import text\n"
        "with Gradebook(sys.argv[1]) as book, book.database.reading() as connection:\n"
        "    for row in connection.execute(text('SELECT student, id FROM submissions')): print(*row)"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code, team.address],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    pairs = [line.split() for line in printed.stdout.splitlines()]
    assert len(pairs) == len({student for student, _ in pairs}), "a submission has one row"
    return {student: int(number) for student, number in pairs}
