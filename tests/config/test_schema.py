from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest

from grader.config.rubric import check_rubric
from grader.config.schema import rubric_schema
from grader.config.yaml_source import parse_yaml

GOOD = """\
schema: 1
assignment: hw1
points: 3
due: 2024-12-23T23:59:00+02:00
late: {grace: 1h30m, per_day: 2.5%, at_most: 3d}
items:
  - {id: a, title: A, points: 2, check: matches, of: utils.fast, tolerance: {float32: {rtol: 0.1}}}
  - {id: c, title: C, points: 9, check: matches, of: utils.fast, bonus: true, penalty: false,
     devices: {gpu: 1}, group: g}
  - {id: b, title: B, points: 1, check: speedup, needs: [a], of: utils.fast, over: utils.slow,
     inputs: vectors, at_least: 40, budget: 5s}
"""

MISTAKES = [
    ("schema: 1", "schema: 2"),
    ("points: 3", "points: three"),
    ("points: 3\n", "points: 3\nowner: me\n"),
    ("assignment: hw1\n", ""),
    ("1h30m", "30m1h"),
    ("1h30m", "''"),
    ("2.5%", "250%"),
    ("late: {", "late: {colour: 1, "),
    ("id: a", "id: A B"),
    ("points: 2", "points: -2"),
    ("title: A, ", ""),
    ("check: matches", "check: nothing"),
    ("check: matches, ", ""),
    ("check: matches", "check: speedup"),
    ("at_least: 40", "at_least: 0"),
    ("at_least: 40, ", ""),
    ("at_least: 40", "accept: [slow]"),
    ("rtol: 0.1", "rtol: no"),
    ("needs: [a]", "needs: a"),
    ("budget: 5s", "budget: 5"),
    ("needs: [a]", "visible: sometimes"),
    ("needs: [a]", "bonus: true, penalty: true"),
    ("needs: [a]", "on_flag: maybe"),
    ("needs: [a]", "devices: {tpu: 1}"),
    ("needs: [a]", "devices: {gpu: 0}"),
    ("points: 3\n", "points: 3\nfloor: low\n"),
]


@pytest.fixture
def validator(kinds: Mapping[str, Any]) -> jsonschema.Draft202012Validator:
    schema = json.loads(json.dumps(rubric_schema(kinds)))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.fixture
def accepted(
    course: SimpleNamespace, kinds: Mapping[str, Any], validator: jsonschema.Draft202012Validator
) -> Callable[[str], tuple[bool, bool]]:
    """Whether the schema and whether the loader takes a text."""

    def ask(text: str) -> tuple[bool, bool]:
        course.rubric.write_text(text)
        problems = check_rubric(course.rubric, kinds=kinds, assignments=course.assignments)
        return validator.is_valid(parse_yaml(text.encode(), "f").data), problems == ()

    return ask


def test_schema_and_loader_take_the_same_good_rubric(accepted: Callable[[str], tuple[bool, bool]]) -> None:
    assert accepted(GOOD) == (True, True)


@pytest.mark.parametrize(("old", "new"), MISTAKES)
def test_schema_and_loader_refuse_the_same_mistakes(
    accepted: Callable[[str], tuple[bool, bool]], old: str, new: str
) -> None:
    assert old in GOOD
    assert accepted(GOOD.replace(old, new)) == (False, False)


def test_editors_can_show_what_every_key_means(kinds: Mapping[str, Any]) -> None:
    item = rubric_schema(kinds)["properties"]["items"]["items"]
    assert item["properties"]["title"]["description"] == "One sentence that a student reads."
    assert {"const": "speedup", "description": "How many times faster one function is than another."} in item[
        "properties"
    ]["check"]["oneOf"]
    (speedup,) = (
        rule["then"] for rule in item["allOf"] if rule["if"]["properties"]["check"]["const"] == "speedup"
    )
    assert speedup["properties"]["at_least"] == {
        "description": "The ratio that earns everything.",
        "type": "number",
        "exclusiveMinimum": 0,
    }
