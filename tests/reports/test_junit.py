from __future__ import annotations

import subprocess
import sys
from xml.etree import ElementTree

import pytest

from grader.model.observation import Fault, Outcome
from grader.reports.junit import LONGEST, JUnit


def cases(card):
    root = ElementTree.fromstring(JUnit().render(card.staff))
    return root, {case.get("name"): case for case in root.iter("testcase")}


def properties(element):
    return {p.get("name"): p.get("value") for p in element.find("properties")}


def test_an_item_is_a_case_below_its_assignment_and_section(stored):
    _, case = cases(stored("normal"))
    assert case["utils.add"].get("classname") == "cdp_hw1.utils"
    assert case["gpu"].get("classname") == "cdp_hw1"
    assert case["utils.add"].get("time") == "0.0123"


@pytest.mark.parametrize(
    ("item", "element", "kind", "message"),
    [
        ("utils.weights", "failure", "observed", "1/3 points: 1 of 2 cases agrees"),
        ("max.cpu", "failure", "crashed", "0/4 points: ended in ZeroDivisionError: division by zero"),
        ("max.fast", "skipped", "needs", 'skipped: needs "max_cpu finds the larger element"'),
        ("gpu", "skipped", "provisional", "no GPU on this machine: pending, not lost"),
    ],
)
def test_what_became_of_an_item_is_told_the_way_readers_of_junit_expect(stored, item, element, kind, message):
    _, case = cases(stored("normal"))
    (result,) = [child for child in case[item] if child.tag in ("failure", "error", "skipped")]
    assert (result.tag, result.get("type"), result.get("message")) == (element, kind, message)


def test_full_marks_pass(stored):
    _, case = cases(stored("normal"))
    assert [child.tag for child in case["utils.add"]] == ["properties"]


def test_held_lines_are_skipped_because_nobody_may_count_them_yet(stored):
    _, case = cases(stored("held"))
    assert {child.tag for c in case.values() for child in c} == {"properties", "skipped", "system-out"}


@pytest.mark.parametrize("fault", list(Fault))
def test_what_is_not_the_students_fault_is_an_error_that_says_whose(make, fault):
    seen = make.seen("a", outcome=Outcome.NOT_OBSERVED, note="the disk is full", fault=fault)
    _, case = cases(make.graded([make.item("a", "A")], [seen]))
    error = case["a"].find("error")
    assert (error.get("type"), error.get("message")) == (fault.value, "the disk is full")


def test_totals_are_counted(stored):
    root, _ = cases(stored("normal"))
    counts = [root.get(name) for name in ("tests", "failures", "skipped", "errors")]
    assert counts == ["6", "3", "2", "0"]


def test_points_travel_as_properties_and_those_of_the_suite_come_first(stored):
    root, case = cases(stored("normal"))
    suite = root.find("testsuite")
    assert suite[0].tag == "properties"
    assert (properties(suite)["points"], properties(suite)["max_points"]) == ("5.5", "21.0")
    assert (properties(suite)["students"], properties(suite)["adjusted.alice"]) == ("alice", "5.5")
    assert properties(suite)["isolation"] == "bubblewrap"
    assert properties(case["utils.weights"]) == {
        "title": "zeros_weights has the right shapes",
        "points": "1.0",
        "max_points": "3.0",
        "counts": "earns",
        "standing": "final",
        "visible": "always",
    }


def test_a_failure_says_what_was_called_and_what_came_back(stored):
    _, case = cases(stored("normal"))
    text = case["utils.weights"].find("failure").text
    assert "one layer: layer 0 has shape (2, 3), expected (3, 2)" in text
    assert "called zeros_weights([3, 2])" in text
    assert "returned [array((2, 3))]" in text
    assert "3 x 4" not in text  # the case that agrees


def test_what_the_program_printed_is_kept(stored):
    _, case = cases(stored("normal"))
    assert case["utils.weights"].find("system-out").text == "debug: (2, 3)\ndebug: (3, 2)\n"


def test_characters_that_xml_forbids_are_spelled_out(stored):
    root, _ = cases(stored("hostile"))
    assert root.find("testsuite").get("name").count(r"\x00\x07\x1b[31m\x9b2J\ud800\ufffe") == 1


def test_writing_it_does_not_load_what_only_tells_a_version():
    code = """
import sys
from grader.model.evidence import Evidence
from grader.model.rubric import Rubric
from grader.model.submission import Submission
from grader.reports.junit import JUnit
from grader.scoring.redact import staff_view
from grader.scoring.score import score
rubric = Rubric(name="a", assignment="a", points=0, items=())
submission = Submission(student="a", assignment="a", archive="a", digest="", files=())
evidence = Evidence(submission=submission, runs=(), observations={})
sys.stdout.write(JUnit().render(staff_view(rubric, evidence, score(rubric, evidence, {}))))
print("importlib.metadata" in sys.modules)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.startswith("<?xml")
    assert ran.stdout.splitlines()[-1] == "False"


def test_texts_are_shortened_before_readers_cut_their_tail(stored):
    root, _ = cases(stored("long"))
    texts = [e.text or "" for e in root.iter()] + [e.get("message") or "" for e in root.iter()]
    assert LONGEST - 100 < max(map(len, texts)) <= LONGEST
