"""Conformance tests of `ResultsFile`, an exporter that writes a file for each student.

An author derives a class in a file of tests, names the exporter, and says how its file is read:

    class TestMine(ResultsConformance):
        exporter = Mine

        def shown(self, text):
            read = json.loads(text)
            return read["points"] if read["published"] else None
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from grader.contracts.exporter import ResultsFile, Rules
from grader.model.evidence import Evidence
from grader.model.observation import Case, Observation, Outcome, Quantity
from grader.model.rubric import Item, LatePolicy, Rubric
from grader.model.score import Award, Standing
from grader.model.submission import Submission
from grader.model.view import Audience, AudienceView
from grader.scoring.score import score
from grader.testing.hostile import HOSTILE, unsafe
from grader.testing.kinds import AwardOnly
from grader.testing.worksheets import FORMULAS, NAMES, OPEN

__all__ = ["ResultsConformance", "view"]


class ResultsConformance:
    """One test for each promise of a results file."""

    exporter: ClassVar[type[ResultsFile]]

    def shown(self, text: str) -> float | None:
        """Return the points that a student reads in a file; None if only staff reads them.

        The author's class overrides this.
        """
        raise NotImplementedError("override `shown`: it returns the points that a student reads in the file")

    def render(self, audience_view: AudienceView, **rules: Any) -> str:
        """Render the file by a new exporter."""
        return self.exporter().render(audience_view, Rules(**rules))

    def test_it_has_a_name_for_a_command_and_one_for_its_file(self) -> None:
        assert re.fullmatch("[a-z][a-z0-9-]*", self.exporter.name)
        assert re.fullmatch(r"[\w-]+\.\w+", self.exporter.filename)

    def test_a_final_grade_is_shown(self) -> None:
        assert self.shown(self.render(view())) == 7.5

    def test_what_is_not_final_is_for_staff_alone(self) -> None:
        for standing in OPEN:
            assert self.shown(self.render(view(standing))) is None

    def test_what_is_not_final_is_shown_where_told(self) -> None:
        for standing in OPEN:
            assert self.shown(self.render(view(standing), include_provisional=True)) == 7.5

    def test_what_the_late_rule_could_not_be_applied_to_is_for_staff_alone(self) -> None:
        assert self.shown(self.render(view(untimed=True), include_provisional=True)) is None

    def test_what_the_late_rule_could_not_be_applied_to_is_shown_where_told(self) -> None:
        assert self.shown(self.render(view(untimed=True), include_untimed=True)) == 7.5

    def test_the_view_of_staff_is_refused(self) -> None:
        with pytest.raises(ValueError, match="student"):
            self.render(view(audience="staff"))

    def test_no_title_disturbs_a_grade(self) -> None:
        for title in (*NAMES, *FORMULAS, *HOSTILE.values()):
            text = self.render(view(title=title))
            assert self.shown(text) == 7.5, title
            text.encode("utf-8")

    def test_nothing_that_a_program_says_disturbs_a_grade_or_acts_on_whoever_reads_it(self) -> None:
        for attack, program_text in HOSTILE.items():
            text = self.render(view(program_text=program_text))
            assert self.shown(text) == 7.5, attack
            assert unsafe(text) == [], attack
            assert len(text) < 1_000_000, attack

    def test_the_same_grade_gives_the_same_file(self) -> None:
        assert self.render(view()) == self.render(view())


class _Awards(AwardOnly):
    """A check kind whose award is the share in the observation's facts."""

    def award(self, options: Any, observation: Observation, related: Mapping[str, Observation]) -> Award:
        flags = tuple(observation.facts.get("flags", ()))
        return Award(
            fraction=observation.facts["share"], reason=observation.note or "as it was told", flags=flags
        )


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
            note=program_text,
            quantities=measured,
            changed_inputs=(program_text,),
        ),
    )


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
        Item(id="a", title=title, points=7.5, check="told", options=SimpleNamespace(), on_flag="holds"),
        Item(id="b", title="Another", points=2.5, check="told", options=SimpleNamespace()),
    )
    rubric = Rubric(name="kit", assignment="kit", points=10.0, items=items, digest="sha256:0")
    if untimed:
        rubric = replace(rubric, due=datetime(2024, 12, 23, tzinfo=UTC), late=LatePolicy(per_day=0.1))
    outcome = Outcome.NOT_OBSERVED if waits else Outcome.OBSERVED
    observations = {
        "a": Observation(
            item="a", outcome=Outcome.OBSERVED, facts={"share": 1.0, "flags": ("look",) if on_hold else ()}
        ),
        "b": Observation(
            item="b",
            outcome=outcome,
            note=program_text,
            output=program_text,
            cases=_cases(program_text),
            facts={"share": 0.0},
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
    evidence = Evidence(submission=submission, exams=(), observations=observations)
    card = score(rubric, evidence, {"told": _Awards()})
    return AudienceView(audience=audience, rubric=rubric, evidence=evidence, scorecard=card)
