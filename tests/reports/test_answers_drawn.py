"""Marked texts and pictures on the page: nothing of a student's becomes markup or an address."""

from __future__ import annotations

import pytest

from grader.model.drawing import MarkedText, Pictures
from tests.reports.conftest import rendered


def test_marked_words_stand_in_their_text():
    text = MarkedText(title="Answer", text="a <b> & register", spans=((2, 5), (8, 16)), written=True)
    assert "a <mark>&lt;b&gt;</mark> &amp; <mark>register</mark>" in rendered([text])


@pytest.mark.parametrize("picture", ['"><script>', "javascript:alert(1)", "aGk=\n", "", "é"])
def test_what_is_no_base64_is_no_address(picture):
    assert 'src="data:image/png;base64,"' in rendered([Pictures(pictures=(picture,))])


def test_a_thumbnail_is_an_address_that_fetches_nothing():
    assert 'src="data:image/png;base64,aGk="' in rendered([Pictures(title="Pictures", pictures=("aGk=",))])
