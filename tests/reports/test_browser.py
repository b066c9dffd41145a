"""Chromium at work on a report: on a phone, and on paper."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest

from grader.model.drawing import ValueTable
from grader.reports.html import Html

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
playwright = pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (apt install chromium)")

BROKEN_WORDS = """() => {
    const broken = [];
    for (const table of document.querySelectorAll("table")) {
        const texts = document.createTreeWalker(table, NodeFilter.SHOW_TEXT);
        for (let text = texts.nextNode(); text; text = texts.nextNode()) {
            if (text.parentElement.closest(".sr")) continue;
            for (const word of text.data.matchAll(/\\S+/g)) {
                const range = document.createRange();
                range.setStart(text, word.index);
                range.setEnd(text, word.index + word[0].length);
                if (new Set([...range.getClientRects()].map(box => box.top)).size > 1) broken.push(word[0]);
            }
        }
    }
    return broken;
}"""
"""Words of tables that do not stand on one line."""
CUT_TABLES = """() => [...document.querySelectorAll(".scroll")]
    .filter(box => box.scrollWidth > box.clientWidth).map(box => box.innerText)"""


@pytest.fixture(scope="module")
def chromium():
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def opened(chromium, view, width=360):
    page = chromium.new_page(viewport={"width": width, "height": 740})
    page.set_content(Html().render(view))
    return page


SUGGESTED = ValueTable(
    title="Suggested points",
    head=("Criterion", "Finding", "Suggested", "Of"),
    words=frozenset({1}),
    rows=(
        ("collective communication: two functions, 2 points each", "partly met: 1 of 2", "2", "4"),
        ("methods for multiple machines", "not found", "0", "1.5"),
        ("differentiation", "uncertain", "0", "1"),
        ("Together", "", "2", "6.5"),
    ),
)


@pytest.mark.parametrize("width", [360, 1280])
def test_a_table_of_words_fits_and_breaks_none(make, chromium, width):
    card = make.graded([make.item("a", "Title")], [make.seen("a", 0.5)])
    page = opened(chromium, replace(card.staff, drawings={"a": (SUGGESTED,)}), width)
    assert page.evaluate(CUT_TABLES) == []
    assert page.evaluate(BROKEN_WORDS) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
