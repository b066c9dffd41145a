"""Views of a score, for tests of reports and exporters."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace

from grader.model.evidence import Evidence
from grader.model.observation import Case, Observation, Outcome, Quantity
from grader.model.rubric import Item, LatePolicy, Rubric
from grader.model.score import Standing
from grader.model.submission import Submission
from grader.model.view import Audience, AudienceView
from grader.scoring.score import score
from grader.testing.kinds import AwardOnly

__all__ = ["view"]


def view(
    standing: Standing = Standing.FINAL,
    *,
    title: str = "A title",
    program_text: str = "",
    audience: Audience = "student",
    untimed: bool = False,
) -> AudienceView:
    """Return a view of a grade of 7.5 of ten points in two items; `program_text` is a program's text."""
    on_hold, waits = standing is Standing.HELD, standing is Standing.PROVISIONAL
    items = (
        Item(id="a", title=title, points=7.5, check="award_only", options=SimpleNamespace(), on_flag="holds"),
        Item(id="b", title="Another", points=2.5, check="award_only", options=SimpleNamespace()),
    )
    rubric = Rubric(name="kit", assignment="kit", points=10.0, items=items, digest="sha256:0")
    if untimed:
        rubric = replace(rubric, due=datetime(2024, 12, 23, tzinfo=UTC), late=LatePolicy(per_day=0.1))
    outcome = Outcome.NOT_OBSERVED if waits else Outcome.OBSERVED
    observations = {
        "a": Observation(item="a", outcome=Outcome.OBSERVED, facts={"flags": ("look",) if on_hold else ()}),
        "b": Observation(
            item="b",
            outcome=outcome,
            note=program_text,
            output=program_text,
            cases=_cases(program_text),
            facts={"fraction": 0.0, **({"reason": program_text} if program_text else {})},
        ),
    }
    submission = Submission(
        student="ann",
        assignment="kit",
        archive=f"ann{program_text}.zip",
        digest="sha256:0",
        files=(f"work{program_text}.py",),
        dropped=(program_text,),
    )
    evidence = Evidence(submission=submission, runs=(), observations=observations)
    card = score(rubric, evidence, {"award_only": AwardOnly()})
    return AudienceView(audience=audience, rubric=rubric, evidence=evidence, scorecard=card)


def _cases(program_text: str) -> tuple[Case, ...]:
    """Return a case whose texts are all the program's; none if the text is empty."""
    if not program_text:
        return ()
    measured = {program_text: Quantity(value=program_text, unit=program_text, taken_by="subject")}
    return (
        Case(
            name=program_text,
            outcome=Outcome.CRASHED,
            agrees={program_text: False},
            called=program_text,
            returned=program_text,
            expected=program_text,
            longer=dict.fromkeys(("called", "returned", "expected"), program_text),
            note=program_text,
            quantities=measured,
            changed_inputs=(program_text,),
        ),
    )
