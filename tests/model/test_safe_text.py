"""Values that quote what programs say hold it as lines, whoever builds them."""

from __future__ import annotations

import pytest

from grader.errors import GraderError
from grader.model.evidence import Evidence
from grader.model.rubric import Item, Rubric
from grader.model.score import Award, Line, Points, Scorecard, Standing
from grader.model.submission import Submission
from grader.model.view import AudienceView
from grader.testing.hostile import HOSTILE
from grader.text import one_line

ATTACKS = pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)


@ATTACKS
def test_an_award_is_told_in_lines(text):
    award = Award(fraction=1.0, reason=text, hint=text, flags=(text, "b"))
    assert (award.reason, award.hint, award.flags) == (one_line(text), one_line(text), (one_line(text), "b"))


@ATTACKS
def test_a_line_of_a_card_is_told_in_lines(text):
    line = Line(
        item="a",
        title=text,
        points=0.0,
        possible=1.0,
        reason=text,
        hint=text,
        flags=(text,),
        standing=Standing.FINAL,
        outcome="crashed",
    )
    assert {line.title, line.reason, line.hint, *line.flags} == {one_line(text)}


@ATTACKS
def test_a_problem_is_one_line(text):
    error = GraderError(f"a.zip: {text}", "b")
    assert error.problems == (one_line(f"a.zip: {text}"), "b")
    assert str(error).count("\n") == 1


@ATTACKS
def test_a_view_names_files_in_lines(text):
    submission = Submission(
        student="ann", assignment="a", archive=text, digest="sha256:a", files=(text,), dropped=("x", text)
    )
    card = Scorecard(
        student="ann",
        assignment="a",
        rubric="a",
        rubric_digest="",
        submission_digest="",
        lines=(),
        points=Points(),
        totals=(),
        standing=Standing.FINAL,
    )
    view = AudienceView(
        audience="staff",
        rubric=Rubric(name="a", assignment="a", points=0.0, items=()),
        evidence=Evidence(submission=submission, runs=(), observations={}),
        scorecard=card,
    )
    shown = view.evidence.submission
    assert (shown.archive, *shown.files, *shown.dropped) == (*[one_line(text)] * 2, "x", one_line(text))
    assert submission.files == (text,), "files are opened by the names that they have"


def test_a_title_and_a_hint_of_a_rubric_are_one_line_however_they_were_broken():
    item = Item(id="a", title="a\n b", hint="Look\n\n  again.\n", points=1.0, check="files", options=None)
    assert (item.title, item.hint) == ("a b", "Look again.")
