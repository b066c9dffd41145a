"""Rubrics that somebody's cat has edited, and what checking them must not do."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from fuzz_case import Finding, check_line, mutated

from grader.config.decode import keys_of
from grader.config.rubric import check_rubric, load_rubric
from grader.config.rubric_keys import ItemKeys, LateKeys, RubricKeys
from grader.errors import CourseError
from grader.plugins import Plugins

ROOT = Path(__file__).resolve().parent.parent

ODD = (
    *(
        "",
        "~",
        "true",
        "no",
        "-1",
        "0",
        "1e309",
        ".inf",
        "-.inf",
        ".nan",
        "1" * 400,
        "0x" + "f" * 90,
        "1e-400",
    ),
    *(
        "'x'",
        '"\\0"',
        '"a\\nb"',
        '"\\u2028"',
        '"\\ud800"',
        '"\\x9b"',
        '"\\e[2J"',
        "[]",
        "{}",
        "[[]]",
        "{a: b}",
        "[1, x]",
    ),
    *(
        "!!python/object/apply:os.system [id]",
        "!!binary x",
        "!x y",
        "!!str 1",
        "*a",
        "&a x",
        "&a [*a]",
        "{<<: *a}",
    ),
    *(
        "2024-02-30",
        "2024-12-23T23:59:00+02:00",
        "2024-12-23T23:59:00+99:99",
        "0001-01-01T00:00:00+14:00",
        "99999999d",
    ),
    *(
        "12:30:45",
        "15m",
        "10%",
        "1000%",
        "-3d",
        "|\n  x",
        ">-\n  x",
        "utils.sigmoid",
        "__class__",
        "x" * 5000,
        "? x",
    ),
    *(
        "[" * 70 + "]" * 70,
        "{a: " * 70 + "}" * 70,
        "[" * 20000,
        "\N{PILE OF POO}",
        "cycle",
        "'",
        '"',
        "@x",
        "`x",
        "%x",
    ),
)
ALMOST = (
    *(
        "{grace: 15m, per_day: 10%, at_most: 3d}",
        "{gpu: 1}",
        "{gpu: 1e9}",
        "[utils.sigmoid, utils.sigmoid]",
        "[1.5]",
    ),
    *(
        "{float16: {rtol: 1e-5, atol: .inf}}",
        "{float99: 0}",
        "utils",
        "utils.",
        ".utils",
        "a.b.c",
        "per_case",
        "0.0",
    ),
    *(
        "2024-12-23T23:59:00+02:00",
        "2024-12-23",
        "never",
        "earns",
        "1",
        "2",
        "-0.0",
        "[x: 1]",
        "{1: 2}",
        "{[a]: b}",
    ),
)


@cache
def _plugins() -> Plugins:
    return Plugins(ROOT)


@cache
def _keys() -> tuple[str, ...]:
    """Every key that a rubric may have somewhere."""
    kinds = [kind.Options for kind in _plugins().checks.values()]
    return tuple(key for keys in (RubricKeys, LateKeys, ItemKeys, *kinds) for key in keys_of(keys))


def _odd(rng: random.Random) -> str:
    if rng.random() < 0.1:
        return f"{{{rng.choice(_keys())}: {_odd(rng)}}}"
    if rng.random() < 0.1:
        return rng.choice(tuple(_plugins().checks))
    return rng.choice(rng.choice((ODD, ALMOST)))


def make_rubric(rng: random.Random) -> tuple[str, bytes]:
    """A rubric that somebody's cat has edited."""
    texts = [path.read_bytes() for path in sorted((ROOT / "rubrics").glob("*.yaml"))]
    data = rng.choice(texts)
    if rng.random() < 0.8:
        lines = data.decode().splitlines()
        if rng.random() < 0.3:  # few items, so that several changes meet in one
            lines = lines[: rng.randrange(5, 40)]
        for _ in range(rng.choice((1, 1, 2, 3, 8))):
            if lines:
                rng.choice(LINES)(lines, rng)
        data = "\n".join(lines).encode("utf-8", "surrogatepass")
    if rng.random() < 0.3:
        data = mutated(data, rng, rng.choice(texts))
    return "rubric.yaml", data


def _value(lines: list[str], rng: random.Random) -> None:
    at = rng.randrange(len(lines))
    key, colon, _ = lines[at].partition(": ")
    lines[at] = f"{key}{colon or ' '}{_odd(rng)}"


def _key(lines: list[str], rng: random.Random) -> None:
    at = rng.randrange(len(lines))
    key, colon, value = lines[at].partition(":")
    indent = key[: len(key) - len(key.lstrip(" -"))]
    lines[at] = f"{indent}{rng.choice((_odd(rng), *_keys()))}{colon}{value}"


def _drop(lines: list[str], rng: random.Random) -> None:
    at = rng.randrange(len(lines))
    del lines[at : at + rng.choice((1, 1, 3))]


def _repeat(lines: list[str], rng: random.Random) -> None:
    at = rng.randrange(len(lines))
    lines[at:at] = lines[at : at + rng.choice((1, 1, 10))] * rng.choice((1, 1, 50))


def _swap(lines: list[str], rng: random.Random) -> None:
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]


def _indent(lines: list[str], rng: random.Random) -> None:
    at = rng.randrange(len(lines))
    lines[at] = rng.choice(
        (f"  {lines[at]}", lines[at].lstrip(), f"\t{lines[at]}", f"- {lines[at].lstrip()}")
    )


def _insert(lines: list[str], rng: random.Random) -> None:
    indent = " " * rng.choice((0, 2, 4))
    line = f"{indent}{rng.choice(_keys())}: {_odd(rng)}"
    lines.insert(
        rng.randrange(len(lines) + 1), rng.choice((line, "---", "...", "%YAML 1.1", "&a", "*a", line))
    )


def _anchor(lines: list[str], rng: random.Random) -> None:
    for mark in ("&a ", "*a"):
        at = rng.randrange(len(lines))
        key, colon, value = lines[at].partition(": ")
        lines[at] = f"{key}{colon}{mark}{value if mark == '&a ' else ''}"


LINES = (_value, _value, _value, _key, _drop, _repeat, _swap, _indent, _insert, _anchor)


def rubric_prober(
    check: Callable[..., tuple[str, ...]] = check_rubric, load: Callable[..., Any] = load_rubric
) -> Callable[[Path], str]:
    """A probe that holds a rubric against the project's own course; checking and loading must agree."""
    known = {"kinds": _plugins().checks, "assignments": _plugins().assignment_folders}

    def probe(path: Path) -> str:
        problems = check(path, **known)
        for line in problems:
            check_line(line)
        if len(set(problems)) < len(problems):
            raise Finding(f"one line twice: {problems}")
        try:
            load(path, **known)
        except CourseError as error:
            if error.problems != problems:
                raise Finding(f"checking says {problems}, loading says {error.problems}") from None
            return "refused"
        if problems:
            raise Finding(f"loads in spite of {problems}")
        return "accepted"

    return probe
