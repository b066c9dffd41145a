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
from typing import Any, ClassVar

import pytest

from grader.contracts.exporter import ResultsFile, Rules
from grader.model.view import AudienceView
from grader.testing.hostile import HOSTILE, unsafe
from grader.testing.views import view
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
