"""A Canvas on loopback, and our side of it without waiting."""

from __future__ import annotations

from decimal import Decimal

import pytest

from grader.contracts.exporter import Grade
from grader.lms.canvas.poster import CanvasPlatform
from grader.lms.http import Http
from grader.lms.loopback import canvas as loopback
from grader.lms.posting import DesiredGrade, PostRules, plan
from grader.model.roster import Roster
from grader.model.score import Standing


class Poster:
    """Plans and posts as the command does, with a gradebook that is a dictionary."""

    def __init__(self, canvas, grades):
        self.canvas, self.posted, self.slept = canvas, {}, []
        self.desired = {
            student: DesiredGrade(
                grade=Grade(student=student, points=points, possible=10.0, standing=Standing.FINAL)
            )
            for student, points in grades.items()
        }

    def client(self, token=loopback.TOKEN):
        def sleep(seconds):
            self.slept.append(seconds)
            self.canvas.tick(seconds)

        http = Http(self.canvas.url, token, sleep=sleep)
        return CanvasPlatform(http, loopback.COURSE, loopback.ASSIGNMENT)

    def plan(self, client=None, roster=None, **rules):
        client = client or self.client()
        target, present = client.target(), client.grades()
        from dataclasses import replace

        desired = {
            who: replace(grade, posted=self.posted.get(who, ())) for who, grade in self.desired.items()
        }
        return plan(desired, target, present, roster or Roster(), PostRules(**rules))

    def post(self, **rules):
        """Plan and apply once, some time after the last time; the receipts by student."""
        self.canvas.settle()
        client = self.client()
        lines = self.plan(client, **rules)
        changes = [line.change for line in lines if line.change is not None]
        grades = {line.who: line.new for line in lines}
        receipts = {}
        for receipt in client.apply(changes):
            receipts[receipt.student] = receipt
            if receipt.answer == "there":
                self.posted[receipt.student] = (Decimal(grades[receipt.student]),)
        return receipts


@pytest.fixture
def canvas():
    with loopback.LoopbackCanvas() as running:
        yield running
    assert running.violations == []


@pytest.fixture
def poster(canvas):
    """Grades for the three students of `canvas`."""
    return Poster(canvas, {"s001": 7.5, "s002": 9.0, "s003": 3.25})


@pytest.fixture(scope="session")
def loopback_canvas():
    return loopback


@pytest.fixture(scope="session")
def poster_for():
    return Poster
