"""Every report against every text that a student may choose: nothing acts, and no line of ours is forged."""

from __future__ import annotations

import io
import json
import xml.etree.ElementTree as ET
from datetime import UTC
from html.parser import HTMLParser

import pytest

from grader.model.observation import Case, Outcome, Quantity
from grader.plugins import Plugins
from grader.reports.terminal import NARROWEST, WIDEST, cells, show, table
from grader.testing.hostile import FORGED, HOSTILE, unsafe

REPORTS = Plugins().reports
LARGEST = 4_000_000
"""Characters of a file in which a dozen places hold the largest text that is let through."""
ATTACKS = pytest.mark.parametrize("attack", HOSTILE)
WITH_A_BAR = ("    │ ", "    | ")


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, tuple(name for name, _ in attrs)))


def keys(document):
    """What a JSON document is made of, without its texts."""
    if isinstance(document, dict):
        return [keys(entry) for entry in document.values()]
    return [keys(entry) for entry in document] if isinstance(document, list) else type(document).__name__


STRUCTURES = {
    "html": lambda text: Tags(text).tags,
    "junit": lambda text: [
        (element.tag, sorted(element.keys())) for element in ET.fromstring(text.encode()).iter()
    ],
    "score": lambda text: keys(json.loads(text)),
}
"""What a text must not change, by report."""


def said(make, text):
    """A card whose titles are the course's, and everything else a student's."""
    case = Case(
        name=text,
        outcome=Outcome.OBSERVED,
        agrees={"a": False},
        called=text,
        returned=text,
        expected=text,
        note=text,
        quantities={text: Quantity(value=text, unit=text, taken_by="subject")},
    )
    items = [make.item(name, f"{name} is right") for name in ("crashed", "wrong", "open", "flagged")]
    return make.graded(
        items,
        [
            make.seen("crashed", outcome=Outcome.CRASHED, note=text, output=text, cases=(case,)),
            make.seen("wrong", 0.0, facts={"reason": text}, cases=(case,), output=text),
            make.seen("open", outcome=Outcome.NOT_OBSERVED, note=text),
            make.seen("flagged", facts={"flags": [text]}),
        ],
        archive=text,
        files=(text,),
        dropped=(text,),
    )


@ATTACKS
@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.covering
def test_nothing_that_acts_gets_into_a_file(make, name, attack):
    for card in (make.hostile(HOSTILE[attack]), said(make, HOSTILE[attack])):
        for view in (card.staff, card.student()):
            text = REPORTS[name].render(view)
            assert unsafe(text) == []
            assert len(text) < LARGEST
            text.encode("utf-8")


@ATTACKS
@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.covering
def test_no_text_changes_what_a_file_is_made_of(make, name, attack):
    structure = STRUCTURES.get(name)
    assert structure is not None, "say above what a text must not change in this report"
    right = structure(REPORTS[name].render(said(make, "some text").staff))
    assert structure(REPORTS[name].render(said(make, HOSTILE[attack]).staff)) == right


@ATTACKS
@pytest.mark.parametrize("unicode", [True, False])
@pytest.mark.parametrize("width", [NARROWEST, WIDEST])
@pytest.mark.covering
def test_every_line_of_a_card_is_ours_or_begins_with_a_bar(make, attack, width, unicode):
    def ours(text):
        lines = table(said(make, text).scorecard, width=width, unicode=unicode).split("\n")
        assert max(map(cells, lines)) <= width
        return [line for line in lines if not line.startswith(WITH_A_BAR)]

    assert ours(HOSTILE[attack]) == ours("some text")


@ATTACKS
def test_what_follows_the_bar_is_a_hint_or_a_flag_only_if_it_is_ours(make, attack):
    item = make.item("a", "a is right", hint="Look again.")
    seen = make.seen("a", outcome=Outcome.CRASHED, note=f"a(): {HOSTILE[attack]}")
    lines = table(make.graded([item], [seen]).scorecard).split("\n")
    first = [line for line in lines if line.startswith(WITH_A_BAR[0]) and line[6] != " "]
    assert [line for line in first if line[6:].startswith(FORGED)] == ["    │ hint: Look again."]


@ATTACKS
def test_a_card_in_a_log_holds_nothing_that_acts(make, attack):
    stream = io.StringIO()
    show(make.hostile(HOSTILE[attack]).scorecard, UTC, stream)
    assert unsafe(stream.getvalue()) == []


@ATTACKS
def test_details_of_a_test_case_tell_our_lines_from_those_of_a_program(make, attack):
    text = REPORTS["junit"].render(said(make, f"got {HOSTILE[attack]}").staff)
    for details in (element.text for element in ET.fromstring(text.encode()).iter("failure")):
        ours = [line for line in (details or "").split("\n") if not line.startswith("  | ")]
        assert len(ours) == 4, "the note, and what was called, returned and expected"
        assert not any(line.strip().startswith(FORGED) for line in ours)
