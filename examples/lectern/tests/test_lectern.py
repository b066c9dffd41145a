"""Every promise of what the package brings, by the kits of `grader.testing`."""

from __future__ import annotations

import json

import pytest
from lectern.keeps_inputs import KeepsInputs
from lectern.one_by_one import OneByOne
from lectern.service import Lectern, LecternOptions
from lectern.summary import Summary
from lectern.worksheet import LecternSheet

from grader.testing.checks import CheckConformance, CheckExample
from grader.testing.engines import EngineConformance
from grader.testing.reports import ReportConformance
from grader.testing.worksheets import Example, WorksheetConformance


class TestKeepsInputs(CheckConformance):
    kind = KeepsInputs
    example = CheckExample(
        keys={"of": "work.double", "inputs": "vectors"},
        course={
            "inputs.py": """
                from grader.api import case

                def vectors(rng):
                    yield case("five numbers", rng.normal(size=5))
            """,
            "reference/work.py": "def double(x):\n    return 2 * x\n",
        },
        right={"work.py": "def double(x):\n    return 2 * x\n"},
        wrong={"work.py": "def double(x):\n    x *= 2\n    return x\n"},
    )


class TestSummary(ReportConformance):
    report = Summary

    def structure(self, text: str) -> int:
        return len(text.splitlines())


class TestOneByOne(EngineConformance):
    engine = OneByOne


class TestLecternSheet(WorksheetConformance):
    @pytest.fixture
    def example(self) -> Example:
        return Example(
            worksheet=LecternSheet,
            headings=("Name", "Login", "Maximum", "Points"),
            row=("{name}", "{student}", "{maximum}", "{grade}"),
        )


def test_what_a_posting_saved_is_read_back(tmp_path):
    """There is no kit for platforms: what they promise shows on their server alone."""
    from decimal import Decimal

    from grader.api.platform import Answer, Change

    file = tmp_path / "grades.json"
    file.write_text('{"ann": null, "ben": "2"}')
    options = LecternOptions(url="https://lectern.edu", assignments={"hw1": 7}, file=str(file))
    platform = Lectern.connect(options, "hw1", "t0ken")
    (receipt,) = platform.apply([Change(student="ann", id="ann", points=Decimal("2.5"))])
    assert receipt.answer is Answer.THERE
    assert [grade.points for grade in platform.grades()] == [Decimal("2.5"), Decimal(2)]
    assert json.loads(file.read_text()) == {"ann": "2.5", "ben": "2"}
