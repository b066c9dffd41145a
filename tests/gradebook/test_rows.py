"""What the book keeps of a noun is all of it, and reads back as the same."""

from __future__ import annotations

import ast
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.checks import builtin
from grader.config.codec import dumps
from grader.config.evidence_file import read_evidence
from grader.gradebook.rows import TEXTS, card_text, join, read_card, revive, split
from grader.model.evidence import WorkerRun
from grader.model.observation import Case, Fault, Observation, Outcome, Quantity
from grader.model.rubric import LatePolicy
from grader.model.submission import Submission

STORED = Path(__file__).parent.parent / "stored_evidence"
CHECKS = Path(builtin.__file__).parent

values = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9)
words = st.text(max_size=9)
quantities = st.dictionaries(
    words, st.builds(Quantity, value=values, unit=words, taken_by=words | st.just("worker")), max_size=3
)
cases = st.builds(
    Case,
    name=words,
    outcome=st.sampled_from(Outcome),
    agrees=st.dictionaries(words, st.booleans(), max_size=2),
    called=words,
    returned=words,
    expected=words,
    note=words,
    inputs=st.none() | st.dictionaries(words, st.lists(values, max_size=2), max_size=2),
    quantities=quantities,
    changed_inputs=st.lists(words, max_size=2).map(tuple),
    longer=st.dictionaries(words, words, max_size=2),
)
observations = st.builds(
    Observation,
    item=words,
    outcome=st.sampled_from(Outcome),
    note=words,
    fault=st.none() | st.sampled_from(Fault),
    cases=st.lists(cases, max_size=3).map(tuple),
    quantities=quantities,
    facts=st.dictionaries(words, st.lists(values, max_size=2), max_size=2),
    output=words,
    seed=words,
    digest=words,
    simulated=st.booleans(),
    wall_s=st.floats(0, 9),
    program_s=st.floats(0, 9),
)


@given(st.dictionaries(words, observations, max_size=3))
def test_observations_read_back_as_they_were(stored):
    assert join(*split(stored)) == stored


def test_what_json_lacks_reads_back_too(tiny):
    stored = tiny.evidence("ann", tiny.observe("double", "w")).observations
    back = join(*split(stored))
    assert dumps(back) == dumps(stored)
    assert str(back["double"].cases[0].quantities["max_abs_error"].value) == "nan"


@given(st.dictionaries(words, observations, max_size=3))
def test_without_the_texts_everything_else_is_there(stored):
    judged, _ = split(stored)
    blind = {
        name: replace(
            observation,
            output="",
            cases=tuple(
                replace(c, called="", returned="", expected="", inputs=None, longer={})
                for c in observation.cases
            ),
        )
        for name, observation in stored.items()
    }
    assert join(judged) == blind


def test_evidence_of_an_early_version_reads_back_too():
    stored = read_evidence(STORED / "v1" / "evidence.jsonl").observations
    assert join(*split(stored)) == dict(stored)


def test_a_row_of_a_version_without_longer_texts_reads_back_too(monkeypatch):
    case = Case(name="a", outcome=Outcome.OBSERVED, called="f()", inputs={"args": []})
    stored = {"item": Observation(item="item", outcome=Outcome.OBSERVED, cases=(case,))}
    monkeypatch.setattr("grader.gradebook.rows.TEXTS", ("called", "returned", "expected", "inputs"))
    row = split(stored)
    monkeypatch.undo()
    assert join(*row) == stored


def test_a_card_reads_back_as_it_was_also_a_late_one_of_a_team(tiny):
    due = datetime(2024, 12, 20, 12, tzinfo=UTC)
    rubric = replace(tiny.RUBRIC, due=due, late=LatePolicy(per_day=0.1))
    of = tiny.evidence("ann+ben", submitted_at=datetime(2024, 12, 21, 13, tzinfo=UTC))
    card = tiny.card(of, rubric, extensions={"ben": 86_400.0})
    assert [total.late.days for total in card.totals] == [2, 1]
    assert read_card(card_text(card)) == card
    assert card_text(read_card(card_text(card))) == card_text(card)


def test_what_utf_8_cannot_hold_and_large_integers_read_back_too(tiny):
    of = tiny.evidence("ann", tiny.observe("double", "w", note="\ud800", facts={"large": 1 << 70}))
    assert dumps(join(*split(of.observations))) == dumps(of.observations)
    card = tiny.card(of)
    odd = replace(card, lines=tuple(replace(line, reason="\ud800") for line in card.lines))
    assert read_card(card_text(odd)) == odd


def test_a_submission_and_an_run_read_back_as_they_were(tiny):
    of = tiny.evidence("ann+ben", submitted_at=datetime(2024, 12, 21, 13, tzinfo=UTC))
    assert revive(Submission, dumps(of.submission)) == of.submission
    assert revive(WorkerRun, dumps(of.runs[0])) == of.runs[0]


@pytest.mark.parametrize("file", sorted(CHECKS.glob("*.py")), ids=lambda file: file.stem)
def test_no_built_in_kind_judges_by_the_texts_that_are_not_read(file):
    functions = {
        node.name: node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.FunctionDef)
    }
    judging = {"award"} & functions.keys()
    while more := {
        name.id
        for function in judging
        for name in ast.walk(functions[function])
        if isinstance(name, ast.Name) and name.id in functions.keys() - judging
    }:
        judging |= more
    looked_at = {
        node.attr
        for name in judging
        for node in ast.walk(functions[name])
        if isinstance(node, ast.Attribute)
        and not (isinstance(node.value, ast.Name) and node.value.id == "options")
    }
    assert looked_at & {*TEXTS, "output"} == set()
