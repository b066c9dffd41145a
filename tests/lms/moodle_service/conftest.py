"""A Moodle on loopback, and our side of it without waiting."""

from __future__ import annotations

from decimal import Decimal
from types import SimpleNamespace

import pytest

from grader.contracts.exporter import Grade
from grader.lms.loopback import moodle as loopback
from grader.lms.moodle_service.calls import WebService
from grader.lms.moodle_service.service import MoodlePlatform
from grader.lms.posting import DesiredGrade, PostRules, plan
from grader.model.roster import Roster
from grader.model.score import Standing


class Poster:
    """Plans and posts as the command does, with a gradebook that is a dictionary."""

    def __init__(self, moodle, points):
        self.moodle, self.points, self.posted, self.slept = moodle, dict(points), {}, []

    def service(self, token=loopback.TOKEN, module=loopback.MODULE):
        return MoodlePlatform(WebService(self.moodle.url, token, sleep=self.slept.append), module)

    def plan(self, service=None, roster=None, **rules):
        service = service or self.service()
        desired = {
            student: DesiredGrade(
                grade=Grade(student=student, points=points, possible=10.0, standing=Standing.FINAL),
                posted=self.posted.get(student, ()),
            )
            for student, points in self.points.items()
        }
        return plan(desired, service.target(), service.grades(), roster or Roster(), PostRules(**rules))

    def post(self, service=None, **rules):
        """Plan and apply once; the receipts by student."""
        service = service or self.service()
        lines = self.plan(service, **rules)
        grades = {line.who: line.new for line in lines}
        receipts = {}
        for receipt in service.apply([line.change for line in lines if line.change is not None]):
            receipts[receipt.student] = receipt
            if receipt.answer == "there":
                self.posted[receipt.student] = (Decimal(grades[receipt.student]),)
        return receipts

    def answers(self, **rules):
        return {student: receipt.answer.value for student, receipt in self.post(**rules).items()}

    def fates(self, **rules):
        return {line.who: line.outcome.name for line in self.plan(**rules)}


@pytest.fixture
def moodle():
    with loopback.LoopbackMoodle() as running:
        yield running
    assert running.violations == []


@pytest.fixture
def poster(moodle):
    """Grades for the three students of `moodle`."""
    return Poster(moodle, {"s001": 7.5, "s002": 9.0, "s003": 3.25})


@pytest.fixture(scope="session")
def server():
    return SimpleNamespace(
        Moodle=loopback.LoopbackMoodle,
        Poster=Poster,
        TOKEN=loopback.TOKEN,
        ME=loopback.ME,
        MODULE=loopback.MODULE,
        INSTANCE=loopback.INSTANCE,
        exception=loopback.exception,
        Trouble=loopback.Trouble,
    )
