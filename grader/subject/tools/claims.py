"""Measured times and claimed ratios in the prose and the tables of a report."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any

from .numbers import Number, numbers

MATCHES = 400
KEPT = 20
BEHIND = 120
"""How far behind a name its time may stand, in characters."""
BEFORE = 60

_BOUND = re.compile(
    r"(?:at[ -]least|minimum(?: of)?|minimal|required?|requirement(?: of)?|threshold(?: of)?|exceeds?|over"
    r"|above|(?:more|larger|greater) than|>=?|\u2265)\W{0,4}(?:a |of |factor |speed-?up ){0,3}$",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"(?:fig(?:ure)?|table|section|part|question|page|hw)\W{0,3}$", re.IGNORECASE)
_COUNTED = re.compile(
    r"(?:(?:,| and| or|, and) ?\d+)*"  # all of `2, 4 and 8 cores`
    r"\W{0,2}(?:cores?|threads?|blocks?|cpus?|gpus?|rounds?|runs?|rows?|columns?|elements|[x\u00d7] ?\d)",
    re.IGNORECASE,
)
_ENUMERATED = re.compile(r"(?<![^\n])[^\S\n]*\d{1,2}[.)]\s")
"""A number that a heading or an entry of a list begins with."""
_RATIO = re.compile(r"speed|faster|ratio|factor", re.IGNORECASE)
_BESIDE = re.compile(r"[\s:=|(,\u2013-]*")
_PROSE = re.compile(r"[^\W\d_]{3}")
_SENTENCE_ENDS = re.compile(r"[.;!?]\s+(?=[A-Z])")
_APART = re.compile(rf"{_SENTENCE_ENDS.pattern}|\d|(?i:{_RATIO.pattern})")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Name:
    name: str
    start: int
    end: int


@cache
def phrase(words: str) -> re.Pattern[str]:
    """Return a pattern for any of `a|b`, whatever joins the words: `max_cpu` matches "Max-CPU"."""
    alternatives = []
    for alternative in words.split("|"):
        parts = [re.escape(part) for part in re.split(r"[\s_-]+", alternative.strip()) if part]
        if parts:
            alternatives.append(r"[\s_-]{0,3}".join(parts))
    return re.compile(rf"(?<!\w)(?:{'|'.join(alternatives) or '(?!)'})(?!\w)", re.IGNORECASE)


def times(text: str, names: Sequence[str]) -> dict[str, list[list[Any]]]:
    """Return for each name its times, as [seconds, half a unit of the last digit, what is written].

    A time stands behind its name (`max_cpu: 1.23 s`), before it with its unit (`0.02 s for max_gpu`), or in
    the same place of a list or row of a table as its name. A number without unit counts as seconds.
    """
    every = tuple(numbers(text))
    times_of: dict[str, list[list[Any]]] = {name: [] for name in names}
    for group, end in _groups(text, names):
        near = [n for n in every if group[-1].end <= n.start < end and not (n.percent or n.multiple)]
        pairs = _time_alone(text, group[0], near, every) if len(group) == 1 else _in_order(text, group, near)
        for name, number in pairs:
            times_of[name.name].append([number.value, number.half, _written(text, number)])
    return {name: _distinct(of_name) for name, of_name in times_of.items()}


def claims(text: str, words: str, taken: dict[str, list[list[Any]]]) -> list[list[Any]]:
    """Return ratios near some words, as [value, half a unit of the last digit, written as a multiple, text].

    Times are none, and no counts of things; a bound ("at least 40") is a demand and no claim.
    """
    times_taken = {(entry[0], entry[1]) for entries in taken.values() for entry in entries}
    ratios = []
    headings = {match.end() - 2 for match in _ENUMERATED.finditer(text)}
    candidates = [n for n in numbers(text) if not (n.timed or n.percent or n.value == 1 or n.end in headings)]
    for match in islice(phrase(words).finditer(text), MATCHES):
        for n in candidates:
            if not (match.start() - BEFORE <= n.start and n.end <= match.end() + BEHIND):
                continue
            before = text[max(0, n.start - 40) : n.start]
            if _BOUND.search(before) or _NUMBERED.search(before):
                continue
            if n.multiple or not ((n.value, n.half) in times_taken or _COUNTED.match(text, n.end)):
                ratios.append([n.value, n.half, n.multiple, _written(text, n)])
    return _distinct(ratios)


def _groups(text: str, names: Sequence[str]) -> Iterator[tuple[list[_Name], int]]:
    """Yield names that stand together without a number between them, and where the text behind them ends."""
    matches = sorted(
        (
            _Name(name=name, start=match.start(), end=match.end())
            for name in names
            for match in islice(phrase(name).finditer(text), MATCHES)
        ),
        key=lambda match: (match.start, -match.end),
    )
    group: list[_Name] = []
    for match in matches:
        if group and match.start < group[-1].end:
            continue  # a name within a longer one
        between = text[group[-1].end : match.start] if group else ""
        if len(between) > BEFORE or any(map(str.isdigit, between)):
            yield group, min(match.start, group[-1].end + 2 * BEHIND)
            group = []
        group.append(match)
    if group:
        yield group, group[-1].end + 2 * BEHIND


def _time_alone(
    text: str, name: _Name, near: Sequence[Number], every: Sequence[Number]
) -> Iterator[tuple[_Name, Number]]:
    """Yield the time of a name that stands alone: of its own sentence first, rather behind it than before."""
    behind = _behind(text, name, near)
    if not behind or _SENTENCE_ENDS.search(text, name.end, behind[0].start + 1):
        behind = _before(text, name, every) or behind
    yield from ((name, number) for number in behind)


def _behind(text: str, name: _Name, near: Sequence[Number]) -> list[Number]:
    near = [number for number in near if number.start < name.end + BEHIND]
    if timed := [number for number in near if number.timed]:
        return timed[:1]
    for number in near:
        between = text[name.end : number.start]
        before = text[max(0, name.start - BEFORE) : name.start]
        if _BESIDE.fullmatch(between):
            return [] if _RATIO.search(before.rpartition("\n")[2]) else [number]
        if not (number.whole or _RATIO.search(before + between)):
            return [number]
    return []


def _before(text: str, name: _Name, every: Sequence[Number]) -> list[Number]:
    timed = [n for n in every if n.timed and name.start - BEFORE <= n.start < name.start]
    return [n for n in timed[-1:] if not _APART.search(text, n.end, name.start + 1)]


def _in_order(text: str, group: Sequence[_Name], near: Sequence[Number]) -> Iterator[tuple[_Name, Number]]:
    """Yield the times of `a and b take 2 s and 1 s`, or of the rows of a table with names in its head."""
    timed = [number for number in near if number.timed]
    if len(timed) >= len(group):
        yield from zip(group, timed, strict=False)
        return
    begin = text.rfind("\n", 0, group[0].start) + 1
    header = text[begin : group[-1].end] + text[group[-1].end : group[-1].end + BEHIND].partition("\n")[0]
    columns = [match.end() for match in re.finditer(r"[^\s|]+", header)]
    places = [bisect_left(columns, name.end - begin) for name in group]
    rows: dict[int, list[Number]] = {}
    for number in near:
        rows.setdefault(text.count("\n", group[-1].end, number.start), []).append(number)
    if "\n" in header:  # a cell a line, as some tables come out of a PDF
        rows = {1: [row[0] for row in rows.values() if len(row) == 1][: len(group)]}
    for line, row in rows.items():
        of_a_ratio = line == 0 and _RATIO.search(text, max(0, group[0].start - BEFORE), row[-1].start)
        prose = row and _PROSE.search(text, row[0].end, row[-1].start)
        if of_a_ratio or prose or all(number.whole for number in row):
            continue
        if len(row) == len(columns):
            yield from ((name, row[place]) for name, place in zip(group, places, strict=True))
        elif len(row) == len(group):
            yield from zip(group, row, strict=True)


def _written(text: str, number: Number) -> str:
    return text[number.start : number.end].strip()


def _distinct(entries: list[list[Any]]) -> list[list[Any]]:
    return list({(entry[0], entry[1]): entry for entry in reversed(entries)}.values())[::-1][:KEPT]
