"""Conformance tests of reports (`grader.api.report.Report`).

An author derives a class in a file of tests, names the report, and says what no text may change in its file:

    class TestSummary(ReportConformance):
        report = Summary

        def structure(self, text):
            return len(text.splitlines())
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, ClassVar, get_args

from grader.contracts.report import Report
from grader.model.score import Standing
from grader.model.view import Audience, AudienceView
from grader.testing.hostile import HOSTILE, unsafe
from grader.testing.imports import heavy_imports
from grader.testing.views import view

__all__ = ["ReportConformance"]

LARGEST = 4_000_000
"""Characters of a file in which a dozen places hold the largest text that is let through."""


class ReportConformance:
    """One test for each promise of a report."""

    report: ClassVar[type[Report]]

    def structure(self, text: str) -> Any:
        """Return what is the same in two files that differ in a student's texts alone, as their tags.

        The author's class overrides this.
        """
        raise NotImplementedError("override `structure`: it returns what no text may change in the file")

    def render(self, audience_view: AudienceView) -> str:
        """Render the file by a new report."""
        return self.report().render(audience_view)

    def test_it_has_a_name_and_one_for_its_file(self) -> None:
        assert re.fullmatch("[a-z][a-z0-9_-]*", self.report.name)
        assert re.fullmatch(r"[\w-]+\.\w+", self.report.filename)

    def test_every_audience_and_standing_has_a_file_of_whole_lines(self) -> None:
        for audience_view in _views():
            text = self.render(audience_view)
            assert text.endswith("\n")
            text.encode("utf-8")

    def test_the_same_view_gives_the_same_file(self) -> None:
        for audience_view in _views():
            assert self.render(audience_view) == self.render(audience_view)

    def test_another_grade_gives_another_file(self) -> None:
        files = {self.render(view(standing)) for standing in Standing}
        assert len(files) == len(Standing)

    def test_nothing_that_a_program_says_acts_on_whoever_reads_it(self) -> None:
        for attack, program_text in HOSTILE.items():
            for audience in get_args(Audience):
                text = self.render(view(program_text=program_text, audience=audience))
                assert unsafe(text) == [], attack
                assert len(text) < LARGEST, attack
                text.encode("utf-8")

    def test_nothing_that_a_program_says_changes_what_the_file_is_made_of(self) -> None:
        plain = self.structure(self.render(view(program_text="a text")))
        for attack, program_text in HOSTILE.items():
            assert self.structure(self.render(view(program_text=program_text))) == plain, attack

    def test_the_host_imports_nothing_heavy_for_it(self) -> None:
        assert heavy_imports(self.report.__module__) == []


def _views() -> Iterator[AudienceView]:
    for audience in get_args(Audience):
        for standing in Standing:
            for untimed in (False, True):
                yield view(standing, audience=audience, untimed=untimed)
