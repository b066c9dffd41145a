"""Grades, tables as platforms give them, and a view for Gradescope."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from grader.contracts.exporter import Grade, Rules
from grader.model.evidence import Evidence
from grader.model.observation import Case, Observation, Outcome
from grader.model.roster import Roster, Student
from grader.model.rubric import Item, Rubric
from grader.model.score import Award, Standing
from grader.model.submission import Submission
from grader.scoring.redact import closes, staff_view, student_view
from grader.scoring.score import score
from grader.testing.kinds import AwardOnly

NOW = datetime(2024, 12, 24, tzinfo=UTC)


class Told(AwardOnly):
    """A kind that awards what the observation says."""

    name = "told"

    def award(self, options, observation, related):
        return Award(
            fraction=observation.facts["share"],
            reason=f"reason of {observation.item}",
            flags=tuple(observation.facts.get("flags", ())),
        )


def grade(student="ann", points=7.5, possible=10.0, standing=Standing.FINAL, **keys):
    return Grade(student=student, points=points, possible=possible, standing=standing, **keys)


def grades_by_student(*all_grades):
    return {grade.student: grade for grade in all_grades}


def roster(*students):
    return Roster(students=tuple(Student(**student) for student in students), file="roster.csv")


def fill(worksheet, text, grades, people=None, **rules):
    """Fill grades into a file of this text."""
    content = text if isinstance(text, bytes) else text.encode()
    return worksheet.fill(
        content, "sheet.csv", grades_by_student(*grades), people or roster(), Rules(**rules)
    )


def results_of(done):
    """What is said of each student, and to whom nothing is to say."""
    return {result.who: (result.outcome.name, result.note) for result in done.results}


def table(text, delimiter=","):
    return list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=delimiter))


def item(name="a", points=10.0, **keys):
    keys = {"title": f"title of {name}", "check": "told", "options": SimpleNamespace(), **keys}
    return Item(id=name, points=points, **keys)


def observe(name="a", share=1.0, outcome=Outcome.OBSERVED, flags=(), **keys):
    case = Case(
        name=f"case of {name}",
        outcome=outcome,
        agrees={name: share == 1},
        called=f"called {name}",
        returned=f"returned {name}",
        expected=f"expected {name}",
        note="" if share == 1 else f"note of {name}",
    )
    return Observation(
        item=name,
        outcome=outcome,
        cases=(case,),
        facts={"share": share, "flags": flags},
        output=f"printed by {name}",
        **keys,
    )


def view(items=None, observations=None, *, audience="student", members=(), extensions=None, **of_rubric):
    """A grade of hand-made items, as its audience may see it."""
    items = items or [item()]
    observations = observations if observations is not None else [observe(item.id) for item in items]
    submitted_at = of_rubric.pop("submitted_at", None)
    rubric = Rubric(
        name="tiny",
        assignment="tiny",
        points=sum(item.points for item in items if item.counts == "earns"),
        items=tuple(items),
        digest="sha256:r",
        **of_rubric,
    )
    evidence = Evidence(
        submission=Submission(
            student="+".join(members) or "ann",
            members=members,
            assignment="tiny",
            archive="ann.tar.gz",
            digest="sha256:w",
            files=("work.py",),
            submitted_at=submitted_at,
        ),
        runs=(),
        observations={observation.item: observation for observation in observations},
    )
    card = score(rubric, evidence, {"told": Told()}, extensions=extensions)
    if audience == "staff":
        return staff_view(rubric, evidence, card)
    return student_view(rubric, evidence, card, now=NOW, closes=closes(rubric, extensions or {}))


@pytest.fixture(scope="session")
def lms():
    """The functions of this file, for tests to call."""
    functions = (grade, grades_by_student, roster, fill, results_of, table, item, observe, view)
    return SimpleNamespace(**{function.__name__: function for function in functions})
