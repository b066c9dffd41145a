from __future__ import annotations

import math
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from grader.config import yaml_source
from grader.config.yaml_source import YamlDocument, parse_yaml, read_yaml


@pytest.fixture(params=["CSafeLoader", pytest.param("SafeLoader", marks=pytest.mark.slow)], autouse=True)
def loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every rule holds for libyaml and for the loader of machines without it."""
    if not hasattr(yaml, request.param):
        pytest.skip("PyYAML has no libyaml here")
    monkeypatch.setattr(yaml_source, "LOADER", getattr(yaml, request.param))


def parse(text: str | bytes) -> YamlDocument:
    return parse_yaml(text if isinstance(text, bytes) else text.encode(), "f.yaml")


def lines(text: str | bytes) -> tuple[str, ...]:
    document = parse(text)
    return document.lines(document.problems)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("no", "no"),
        ("on", "on"),
        ("yes", "yes"),
        ("Off", "Off"),
        ("true", True),
        ("FALSE", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("12", 12),
        ("012", 12),
        ("-7", -7),
        ("+7", 7),
        ("0x1F", 31),
        ("0o17", 15),
        ("0b1", "0b1"),
        ("1_000", "1_000"),
        ("1e3", 1000.0),
        ("1.", 1.0),
        (".5", 0.5),
        ("-2.5E-1", -0.25),
        (".inf", math.inf),
        ("-.Inf", -math.inf),
        ("12:30:45", "12:30:45"),
        ("2024-12-23T23:59:00+02:00", "2024-12-23T23:59:00+02:00"),
        ("2024-12-23", "2024-12-23"),
        ("'12'", "12"),
        ('"true"', "true"),
        ("=", "="),
        ("10%", "10%"),
        (".", "."),
        ("9" * 400, math.inf),
    ],
)
def test_scalars_follow_the_core_schema_of_yaml_1_2(written: str, value: object) -> None:
    found = parse(f"key: {written}\n").data["key"]
    assert (found, type(found)) == (value, type(value))


def test_nan_is_a_number() -> None:
    assert math.isnan(parse("key: .nan").data["key"])


def test_every_value_and_every_key_has_its_position() -> None:
    document = parse("title: é\nitems:\n  - id: a\n    points: 3\n  - [x, y]\n")
    assert document.data == {"title": "é", "items": [{"id": "a", "points": 3}, ["x", "y"]]}
    assert document.values["title",] == (1, 8)
    assert document.keys["items",] == (2, 1)
    assert document.values["items", 0] == (3, 5)
    assert document.keys["items", 0, "points"] == (4, 5)
    assert document.values["items", 0, "points"] == (4, 13)
    assert document.values["items", 1, 1] == (5, 9)
    assert document.position(("items", 0, "missing")) == (3, 5)


def test_an_alias_stands_for_what_its_anchor_names() -> None:
    document = parse("a: &one {x: [1, 2]}\nb: *one\nc: *one\n")
    assert document.problems == ()
    assert document.data == {"a": {"x": [1, 2]}, "b": {"x": [1, 2]}, "c": {"x": [1, 2]}}
    assert document.values["b",] == (2, 4)


def test_an_alias_stands_for_the_latest_anchor_of_its_name() -> None:
    assert parse("[&a 1, *a, &a 2, *a]").data == [1, 1, 2, 2]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: 1\nb: 2\na: 3\n", "f.yaml:3:1: a: given twice, first in line 1; keep one"),
        ("x: {p: 1, p: 2}", "f.yaml:1:11: x.p: given twice, first in line 1; keep one"),
        ("x:\n- {o: 0, p: 1, p: 2}", "f.yaml:2:16: x[0].p: given twice, first in line 2; keep one"),
        (
            "x:\n- {p: 1, q: 2, p: 2, q: 3}",
            "f.yaml:2:16: x[0].p: given twice, first in line 2; keep one, "
            "or begin another entry of the list with a dash",
        ),
        (
            "a: &q {b: 1}\nc:\n  <<: *q\n",
            "f.yaml:3:3: c.<<: merge keys are not understood here; write the keys out",
        ),
        ("1: x", "f.yaml:1:1: a key must be text; put it in quotes"),
        ("a: {[b]: x}", "f.yaml:1:5: a: a key must be text; put it in quotes"),
        (
            "a: !!python/name:os.system x",
            (
                "f.yaml:1:4: a: the tag tag:yaml.org,2002:python/name:os.system is not "
                "understood here; remove it"
            ),
        ),
        ("a: !!str 12", "f.yaml:1:4: a: the tag tag:yaml.org,2002:str is not understood here; remove it"),
        ("a: *nothing", "f.yaml:1:4: no anchor &nothing before this alias"),
        ("a: 1\n---\nb: 2\n", "f.yaml:2:1: a second document starts here; keep one"),
        ("", "f.yaml: is empty; write at least its required keys"),
        ("# nothing\n", "f.yaml: is empty; write at least its required keys"),
        (b"a: 1\nb: \xff\n", "f.yaml: line 2 is not UTF-8; save the file as UTF-8"),
        ("a: 1\nb: \x07\n", "f.yaml: line 2 holds the control character '\\x07'; remove it"),
        ("a: '" + "x" * (1 << 20) + "'", "f.yaml: is larger than 1 MiB; no file of a course is"),
    ],
)
def test_what_is_refused_is_one_located_line(text: str | bytes, line: str) -> None:
    assert lines(text) == (line,)


def test_a_syntax_error_is_one_located_line_with_advice() -> None:
    (line,) = lines("a: 1\nb: c: d\n")
    assert line.startswith("f.yaml:2:5: not YAML (mapping values are not allowed")
    advice = "; put a text with a colon in it in quotes, or check indentation, quotes, brackets and colons"
    assert line.endswith(advice)


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        (
            "- b: 1\n\xa0\xa0c: 1\n  d: 1\n",
            "; line 2 begins with U+00A0, which looks like a space; write spaces",
        ),
        ("- b: 1\n  \u3000c: 1\nd\n", "; line 2 begins with U+3000, which looks like a space; write spaces"),
        ("a:\n\tb: 1\n", "; indent with spaces, not with tabs"),
        ("a:\n  b: 1\n\tc: 1\n", "; indent with spaces, not with tabs"),
        (
            "a:\n  b: 1\n\N{NO-BREAK SPACE}c: 2\n    d: 3\n",
            "; line 3 begins with U+00A0, which looks like a space; write spaces",
        ),
        ("a: @x\n", "; put a text that begins with it in quotes"),
        ("a: *what* is it\n", "begins with * in quotes, or check indentation, quotes, brackets and colons"),
        ("a: [1\n", "; check indentation, quotes, brackets and colons"),
    ],
)
def test_advice_fits_the_syntax_error(text: str, advice: str) -> None:
    (line,) = lines(text)
    assert line.endswith(advice)


def test_what_looks_like_a_space_is_named_where_it_makes_another_key_or_no_number() -> None:
    assert lines("\xa0a: 1\nb: 5\xa0\nc: some\xa0text\xa0\n'd\xa0': 1\n") == (
        "f.yaml:1:1: \xa0a: holds U+00A0, which looks like a space; write a space, or put it in quotes",
        "f.yaml:2:4: b: ends with U+00A0, which looks like a space; remove it",
    )


@pytest.mark.parametrize(
    "bomb",
    [
        "[" * 200_000,
        "a: &a [*a]",
        "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 9)),
        "[" + "x," * 120_000 + "]",
    ],
    ids=["brackets", "itself", "billion laughs", "many values"],
)
def test_a_bomb_is_refused_before_it_goes_off(bomb: str) -> None:
    (line,) = lines(bomb)
    assert "more than 64 levels or 50000 values, aliases counted; make it smaller" in line


def test_a_file_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    document = read_yaml(tmp_path / "no.yaml")
    (line,) = document.lines(document.problems)
    assert line.endswith(
        "no.yaml: cannot be read (No such file or directory); check its name and its permissions"
    )


def test_a_file_below_the_working_directory_is_named_as_seen_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.yaml").write_text("x: 1\n")
    monkeypatch.chdir(tmp_path)
    assert read_yaml(tmp_path / "a" / "b.yaml").name == "a/b.yaml"
    monkeypatch.chdir(tmp_path / "a")
    assert read_yaml(tmp_path / "a" / "b.yaml").name == "b.yaml"
    monkeypatch.chdir("/")
    assert read_yaml(Path("/dev/null")).name == "dev/null"


@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_a_byte_order_mark_is_not_content(bom: str) -> None:
    document = parse(f"{bom}a: 1")
    assert document.data == {"a": 1}
    assert document.keys["a",] == (1, 1)


@given(st.binary(max_size=60) | st.text(alphabet=" \n-:[]{},&*!|>'\"?#a1%@`~", max_size=60).map(str.encode))
def test_whatever_the_bytes_are_reading_ends_in_data_or_in_lines(content: bytes) -> None:
    document = parse_yaml(content, "f.yaml")
    for line in document.lines(document.problems):
        assert line.startswith("f.yaml:")
        assert "\n" not in line
