from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Literal, NewType

import pytest

from grader.config.decode import AllowedNames, decode
from grader.config.units import Duration, Share
from grader.model.options import option

Colour = NewType("Colour", str)


class Size(StrEnum):
    SMALL = "small"
    LARGE = "large"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    name: str
    weight: float = option("Kilograms.", above=0, default=1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    text: str = ""
    flag: bool = False
    whole: int = 0
    number: float = 0.0
    size: Size = Size.SMALL
    mode: Literal["a", "b", "c"] = "a"
    words: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    table: Mapping[str, float] = field(default_factory=dict)
    maybe: int | None = None
    some: float | int | str | bool | None = None
    free: Any = None
    due: datetime | None = None
    grace: Duration = field(default=Duration(0.0))
    share: Share = field(default=Share(0.0))
    colour: Colour = Colour("red")
    bounded: tuple[float, ...] | None = option("", above=2, default=None)

    def __post_init__(self) -> None:
        if self.text == "forbidden":
            raise ValueError("text and flag do not go together")


KNOWN = {Colour: AllowedNames(what="colour", names=frozenset({"red", "green"}))}


def problems(data: Any) -> list[str]:
    value, found = decode(Thing, data, allowed=KNOWN)
    assert (value is None) == bool(found)
    return [str(problem) for problem in found]


def test_plain_data_becomes_the_dataclass_it_describes() -> None:
    value, found = decode(
        Thing,
        {
            "text": "x",
            "flag": True,
            "whole": 3,
            "number": 2,
            "size": "large",
            "mode": "c",
            "words": ["p", "q"],
            "parts": [{"name": "n", "weight": 2}],
            "table": {"k": 1},
            "maybe": None,
            "some": 1,
            "free": {"any": [None]},
            "due": "2024-12-23T23:59:00Z",
            "grace": "1d2h3m4s",
            "share": "12.5 %",
            "colour": "green",
            "bounded": [3],
        },
        allowed=KNOWN,
    )
    assert found == ()
    assert value == Thing(
        text="x",
        flag=True,
        whole=3,
        number=2.0,
        size=Size.LARGE,
        mode="c",
        words=("p", "q"),
        parts=(Part(name="n", weight=2.0),),
        table={"k": 1.0},
        some=1,
        free={"any": [None]},
        due=datetime(2024, 12, 23, 23, 59, tzinfo=UTC),
        grace=Duration(93784.0),
        share=Share(0.125),
        colour=Colour("green"),
        bounded=(3.0,),
    )
    assert isinstance(value.number, float)
    assert isinstance(value.size, Size)


@pytest.mark.parametrize(
    ("key", "wrong", "line"),
    [
        ("text", 12, "text: must be text, got 12; put it in quotes"),
        ("text", True, "text: must be text, got true; put it in quotes"),
        ("text", None, "text: must be text, got nothing"),
        ("flag", "no", 'flag: must be true or false, got "no"'),
        ("flag", 1, "flag: must be true or false, got 1"),
        ("whole", 1.0, "whole: must be a whole number, got 1.0"),
        ("whole", True, "whole: must be a whole number, got true"),
        ("number", False, "number: must be a number, got false"),
        ("number", "9,5", 'number: must be a number, got "9,5"; write 9.5, with a point'),
        ("number", "10", 'number: must be a number, got "10"; write 10, without quotes'),
        ("number", math.nan, "number: must be a finite number, got nan"),
        ("number", 10**400, "number: must be a finite number, got 1" + "0" * 56 + "…"),
        ("size", "huge", 'size: must be small or large, got "huge"'),
        ("mode", ["a"], "mode: must be a, b or c, got a list"),
        ("words", "p", 'words: must be a list, got "p"; write [p]'),
        ("words", {}, "words: must be a list, got a mapping"),
        ("words", ["p", 1], "words[1]: must be text, got 1; put it in quotes"),
        ("parts", [{"name": "n"}, {}], "parts[1].name: missing; give text"),
        ("parts", [{"name": "n", "weight": 0}], "parts[0].weight: must be a number > 0, got 0"),
        ("parts", [{"naem": "n"}], "parts[0].naem: unknown key; did you mean name?"),
        ("parts", ["n"], 'parts[0]: must be a mapping, got "n"; write {name: …, weight: …}'),
        ("table", [], "table: must be a mapping, got a list; write {NAME: …}"),
        ("table", {"k": "v"}, 'table.k: must be a number, got "v"'),
        ("maybe", "1", 'maybe: must be a whole number, got "1"; write 1, without quotes'),
        ("some", [], "some: must be a number, a whole number, text or true or false, got a list"),
        (
            "due",
            "2024-12-23T23:59",
            (
                "due: must be a date and time with its offset from UTC, such as "
                '2024-12-23T23:59:00+02:00, got "2024-12-23T23:59" (has no offset)'
            ),
        ),
        (
            "due",
            "2024-12-23",
            (
                "due: must be a date and time with its offset from UTC, such as "
                '2024-12-23T23:59:00+02:00, got "2024-12-23" (has no time and no offset)'
            ),
        ),
        (
            "due",
            "soon",
            (
                "due: must be a date and time with its offset from UTC, such as "
                '2024-12-23T23:59:00+02:00, got "soon"'
            ),
        ),
        (
            "due",
            "2030-02-30T23:59:00+01:00",
            (
                "due: must be a date and time with its offset from UTC, such as 2024-12-23T23:59:00+02:00, "
                'got "2030-02-30T23:59:00+01:00" (day is out of range for month)'
            ),
        ),
        ("grace", 15, "grace: must be a duration such as 20s, 15m, 1h30m or 3d, got 15"),
        ("grace", "", 'grace: must be a duration such as 20s, 15m, 1h30m or 3d, got ""'),
        ("grace", "30m1h", 'grace: must be a duration such as 20s, 15m, 1h30m or 3d, got "30m1h"'),
        ("grace", "1h ", 'grace: must be a duration such as 20s, 15m, 1h30m or 3d, got "1h "'),
        ("share", "101%", 'share: must be a percentage from 0% to 100%, such as 10%, got "101%"'),
        ("share", 0.1, "share: must be a percentage from 0% to 100%, such as 10%, got 0.1"),
        ("colour", "gren", 'colour: no colour is called "gren"; did you mean green?'),
        ("colour", "xxxx", 'colour: no colour is called "xxxx"; there are green, red'),
        ("bounded", [3, 2], "bounded[1]: must be a number > 2, got 2"),
        ("text", "forbidden", "text and flag do not go together"),
        ("wrods", [], "wrods: unknown key; did you mean words?"),
        (
            "a\nb",
            1,
            "a\\nb: unknown key; there are bounded, flag, grace, maybe, number, parts, share, table "
            "and 9 more",
        ),
    ],
)
def test_a_wrong_value_is_told_with_what_would_be_right(key: str, wrong: Any, line: str) -> None:
    assert problems({key: wrong}) == [line]


@pytest.mark.parametrize(
    ("data", "line"), [(None, "must be a mapping, got nothing"), ([], "must be a mapping, got a list")]
)
def test_the_top_must_be_a_mapping(data: Any, line: str) -> None:
    assert problems(data) == [line]


def test_all_mistakes_are_found_at_once() -> None:
    assert len(problems({"text": 1, "whole": "x", "words": [1, 2], "parts": [{}], "zzz": 0})) == 6


def test_a_misspelled_required_key_is_one_mistake_not_two() -> None:
    assert [str(p) for p in decode(Part, {"nmae": "x"})[1]] == ["nmae: unknown key; did you mean name?"]


def test_there_are_none_if_nothing_can_be_suggested() -> None:
    allowed = {Colour: AllowedNames(what="colour", names=frozenset())}
    _, (problem,) = decode(Thing, {"colour": "red"}, allowed=allowed)
    assert str(problem) == 'colour: no colour is called "red"; there are none'


@pytest.mark.parametrize("value", [1, 1.0, True, "1", None, math.inf])
def test_a_union_of_scalars_keeps_the_type_that_was_given(value: Any) -> None:
    thing, found = decode(Thing, {"some": value}, finite=False)
    assert found == ()
    assert thing is not None
    assert (thing.some, type(thing.some)) == (value, type(value))


def test_numbers_need_not_be_finite_where_evidence_is_read() -> None:
    thing, _ = decode(Thing, {"number": -math.inf}, finite=False)
    assert thing == Thing(number=-math.inf)


@pytest.mark.parametrize("kind", [set[str], tuple[int, int], Mapping[int, str], bytes])
def test_a_type_that_plain_data_cannot_hold_is_a_fault_of_ours(kind: Any) -> None:
    with pytest.raises(TypeError, match="cannot be read from plain data"):
        decode(kind, {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    counts: tuple[int, ...] = option("", default=(), example="[1, 2]")
    factors: Mapping[str, float] = option("", default_factory=dict, example='{"2": 1.5}')


@pytest.mark.parametrize(
    ("data", "line"),
    [
        ({"counts": 2}, "counts: must be a list, got 2; write it as in [1, 2]"),
        ({"counts": {}}, "counts: must be a list, got a mapping; write it as in [1, 2]"),
        ({"counts": ["a"]}, 'counts[0]: must be a whole number, got "a"'),
        ({"factors": 1.5}, 'factors: must be a mapping, got 1.5; write it as in {"2": 1.5}'),
    ],
)
def test_a_value_of_another_form_is_told_with_the_example_of_its_key(data: Any, line: str) -> None:
    _, found = decode(Steps, data)
    assert [str(problem) for problem in found] == [line]
