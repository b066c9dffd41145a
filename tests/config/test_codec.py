from __future__ import annotations

import json
import math
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.config.codec import digest, dumps, from_plain, loads, to_plain, unstorable
from grader.errors import NotObservedError
from grader.model.evidence import Evidence, WorkerRun
from grader.model.job import Job
from grader.model.observation import Case, Observation, Outcome, Quantity
from grader.model.score import Late, Scorecard, Total
from grader.model.submission import Submission

texts = st.text(st.characters(codec=None), max_size=8)
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
moments = st.datetimes(timezones=st.integers(-1439, 1439).map(lambda m: timezone(timedelta(minutes=m))))
quantities = st.dictionaries(texts, st.builds(Quantity, unit=texts), max_size=2)
cases = st.builds(Case, inputs=plain, quantities=quantities, agrees=st.dictionaries(texts, st.booleans()))
observations = st.builds(
    Observation,
    cases=st.lists(cases, max_size=2).map(tuple),
    quantities=quantities,
    facts=st.dictionaries(texts, plain, max_size=2),
)
submissions = st.builds(Submission, submitted_at=st.none() | moments)
runs = st.builds(WorkerRun, environment=st.dictionaries(texts, plain, max_size=2))
lates = st.builds(Late, due=moments, submitted_at=st.none() | moments)
totals = st.builds(Total, late=st.none() | lates)
nouns = (
    observations
    | submissions
    | st.builds(
        Evidence,
        submission=submissions,
        runs=st.lists(runs, max_size=2).map(tuple),
        observations=st.dictionaries(texts, observations, max_size=2),
        schema=st.just(1),
    )
    | st.builds(Scorecard, totals=st.lists(totals, max_size=2).map(tuple))
    | st.builds(Job, submission=submissions, tasks=st.just(()))
)


@given(nouns)
def test_a_noun_comes_back_from_json_as_it_was(value: Any) -> None:
    text = dumps(value)
    assert text.isascii()
    assert "\n" not in text
    back = from_plain(type(value), loads(text), where="f")
    # repr, because NaN differs from itself; it also tells 1 from 1.0 and a list from a tuple.
    assert _sorted(back) == _sorted(value)


def _sorted(value: Any) -> str:
    return repr(_ordered(to_plain(value))) + type(value).__name__


def _ordered(value: Any) -> Any:
    if isinstance(value, dict):
        return sorted((key, _ordered(entry)) for key, entry in value.items())
    return [_ordered(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize(("number", "name"), [(math.nan, "nan"), (math.inf, "inf"), (-math.inf, "-inf")])
def test_what_json_has_no_number_for_is_written_as_a_mapping(number: float, name: str) -> None:
    assert dumps({"x": number}) == f'{{"x":{{"$float":"{name}"}}}}'
    assert repr(loads(dumps([number]))) == repr([number])


def test_a_mapping_that_only_looks_like_a_number_is_left_alone() -> None:
    for entries in ({"$float": "1"}, {"$float": "nan", "more": 1}, {"$float": None}, {"$float": ["nan"]}):
        assert loads(json.dumps(entries)) == entries


def test_json_of_other_programs_may_not_smuggle_nan_in() -> None:
    with pytest.raises(ValueError, match="NaN is not JSON"):
        loads("[NaN]")


def test_nesting_without_end_is_refused() -> None:
    with pytest.raises(ValueError, match="nested too deep"):
        loads("[" * 1_000_000)


@pytest.mark.parametrize("value", [b"x", {1: 2}, {"a": {3}}, object(), Observation])
def test_what_is_not_kept_is_refused_by_name(value: Any) -> None:
    with pytest.raises(TypeError, match="written as JSON"):
        to_plain(value)


def test_equal_values_have_equal_digests_whatever_the_order_of_keys() -> None:
    assert digest({"a": 1, "b": [2.0]}) == digest({"b": (2.0,), "a": 1})
    assert digest({"a": 1}) != digest({"a": 2})
    assert digest([]) == "sha256:4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"


def test_a_time_keeps_its_offset() -> None:
    at = datetime(2024, 12, 23, 23, 59, tzinfo=UTC)
    assert to_plain(at) == "2024-12-23T23:59:00+00:00"


def test_an_unknown_key_of_stored_json_names_the_file() -> None:
    with pytest.raises(NotObservedError) as caught:
        from_plain(Observation, {"item": "a", "outcome": "observed", "seeed": ""}, where="r/e.jsonl:3")
    assert caught.value.problems == ("r/e.jsonl:3: seeed: unknown key; did you mean seed?",)


def test_every_mistake_of_stored_json_is_named() -> None:
    with pytest.raises(NotObservedError) as caught:
        from_plain(Observation, {"outcome": "fine", "wall_s": "x"}, where="f")
    assert len(caught.value.problems) == 3
    assert "f: item: missing; give text" in caught.value.problems


@pytest.mark.parametrize(
    ("schema", "line"),
    [
        (7, "f: written by a newer grader (schema 7, this one reads 1): update grader"),
        (0, "f: written by an older grader (schema 0, this one reads 1): observe again"),
    ],
)
def test_another_schema_number_is_one_line(schema: int, line: str) -> None:
    with pytest.raises(NotObservedError) as caught:
        from_plain(Evidence, {"schema": schema, "whatever": 1}, where="f")
    assert caught.value.problems == (line,)


def test_outcomes_are_written_by_their_value() -> None:
    assert to_plain(Outcome.TIMED_OUT) == "timed_out"
    assert type(to_plain(Outcome.TIMED_OUT)) is str


@pytest.mark.parametrize(
    ("keeps", "problem"),
    [
        ({"facts": {"a": [1, float("nan"), None, "x"]}, "quantities": {"b": Quantity(value=1)}}, ""),
        (
            {"quantities": {"b": Quantity(value=1j)}},
            "quantities.b.value: a complex cannot be written as JSON",
        ),
        ({"facts": {"a": [{"b": b"x"}]}}, "facts.a[0].b: a bytes cannot be written as JSON"),
        ({"facts": {"a": {1: 2}}}, "facts.a: a key must be text to be written as JSON, got 1"),
        (
            {"facts": {"a": 10**5000}},
            "facts.a: Exceeds the limit (4300 digits) for integer string conversion; "
            "use sys.set_int_max_str_digits() to increase the limit",
        ),
        ({"note": None}, "note: must be text, got nothing"),
    ],
)
def test_the_part_of_a_noun_that_cannot_be_stored_is_named(keeps, problem):
    assert unstorable(Observation(item="i", outcome=Outcome.OBSERVED, **keeps)) == problem
