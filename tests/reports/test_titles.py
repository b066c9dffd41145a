"""The titles of course and assignment, as people know them, stand on the pages."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.reports.class_page import page
from grader.reports.class_view import ClassView
from grader.reports.html import Html
from grader.testing.views import view


@pytest.mark.parametrize("audience", ["student", "staff"])
def test_the_page_of_a_submission_has_both_titles(audience):
    titled = replace(view(audience=audience), assignment_title="Soft<max", course_title="Deep learning")
    text = Html().render(titled)
    assert "Soft&lt;max" in text
    assert "Deep learning" in text
    assert "<title>Soft&lt;max: ann</title>" in text


def test_the_page_of_a_class_has_both_titles():
    text = page(ClassView(assignment="nets", assignment_title="Soft<max", course_title="Deep learning"))
    assert "<h1>Soft&lt;max</h1>" in text
    assert "Deep learning" in text


def test_without_titles_the_name_of_the_assignment_stands_there():
    assert "<title>kit: ann</title>" in Html().render(view())
    assert "<h1>nets</h1>" in page(ClassView(assignment="nets"))
