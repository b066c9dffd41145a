"""Evidence that earlier versions wrote: it must be read, and marked, as long as marks may be asked about."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.checks.matches_reference import MatchesReference
from grader.config.evidence_file import read_evidence
from grader.model.observation import Outcome
from grader.model.rubric import Item, Rubric
from grader.reports.html import Html
from grader.reports.junit import JUnit
from grader.reports.score_json import ScoreJson
from grader.scoring.redact import staff_view
from grader.scoring.score import score

STORED = sorted((Path(__file__).parent.parent / "stored_evidence").glob("v*/evidence.jsonl"))


@pytest.mark.parametrize("file", STORED, ids=lambda file: file.parent.name)
def test_what_an_earlier_version_observed_is_read_whole(file):
    evidence = read_evidence(file)
    assert evidence.submission.student == "bob"
    assert evidence.submission.students == ("bob",)
    told = (evidence.submission.marked_late, evidence.submission.lms_id, evidence.submission.attempt)
    assert told == (False, None, None)
    assert evidence.runs[0].isolation == "bubblewrap"
    assert [len(seen.cases) > 3 for seen in evidence.observations.values()] == [True, True]
    assert {seen.outcome for seen in evidence.observations.values()} == {Outcome.OBSERVED}


@pytest.mark.parametrize("file", STORED, ids=lambda file: file.parent.name)
def test_what_an_earlier_version_observed_earns_what_it_earned_then(file):
    evidence = read_evidence(file)
    items = tuple(
        Item(
            id=name,
            title=name,
            points=3.0,
            check="matches_reference",
            options=MatchesReference.Options(of=name, inputs="any"),
        )
        for name in evidence.observations
    )
    rubric = Rubric(name="then", assignment="cdp_hw1", points=6.0, items=items)
    card = score(rubric, evidence, {"matches_reference": MatchesReference()})
    assert {line.item: line.points for line in card.lines} == {
        "utils.create_batches": 0.0,
        "utils.zeros_weights": 3.0,
    }
    for report in (Html, JUnit, ScoreJson):
        page = report().render(staff_view(rubric, evidence, card))
        assert "utils.create_batches" in page.replace("<wbr>", ""), "a title may be broken between its parts"
