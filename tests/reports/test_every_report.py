from __future__ import annotations

import json
import subprocess
import sys
from html.parser import HTMLParser

import pytest
from junitparser import JUnitXml

from grader.reports.html import Html
from grader.reports.junit import JUnit
from grader.reports.score_json import ScoreJson

VOID = {"meta", "wbr"}


class Balanced(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.seen = [], 0

    def handle_starttag(self, tag, attrs):
        self.seen += 1
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def parse_html(text):
    page = Balanced()
    page.feed(text)
    page.close()
    assert page.open == []
    assert page.seen


PARSERS = {Html: parse_html, JUnit: lambda text: JUnitXml.fromstring(text.encode()), ScoreJson: json.loads}


@pytest.fixture(params=PARSERS, ids=lambda report: report.name)
def report(request):
    return request.param


def test_writes_a_file_that_can_be_encoded_and_parsed(report, each):
    for view in (each.staff, each.student()):
        text = report().render(view)
        assert text.endswith("\n")
        PARSERS[report](text.encode("utf-8").decode("utf-8"))


def test_writes_the_same_file_of_the_same_evidence(report, each):
    assert report().render(each.staff) == report().render(each.staff)


@pytest.mark.parametrize("report", [Html, JUnit], ids=lambda report: report.name)
def test_no_character_that_a_terminal_obeys_gets_into_a_file_for_people(report, stored):
    text = report().render(stored("hostile").staff)
    assert not {"\x07", "\x1b", "\x9b", "\x00"}.intersection(text)


def test_names_and_filenames_tell_reports_apart():
    assert len({report.name for report in PARSERS}) == len(PARSERS)
    assert {report.filename for report in PARSERS} == {"report.html", "junit.xml", "score.json"}


def test_loading_the_reports_loads_nothing_slow():
    code = (
        "import sys, grader.reports.html, grader.reports.junit, grader.reports.score_json,"
        " grader.reports.terminal; print({'rich', 'junitparser', 'numpy', 'json'} & set(sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "set()"
