"""Times of named functions in the prose, the lists and the tables of a report."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from .mentions import Mention, full_name, mentions, phrase
from .numbers import Number, numbers, seconds_of

KEPT = 20
BEHIND = 120
"""How far behind a name its time may stand, in characters."""
BEFORE = 60
HEAD_LINES = 12
"""So many lines below a head of a table that names a unit, times without one are in it."""

RATIO = re.compile(r"speed|faster|ratio|factor", re.IGNORECASE)
_BESIDE = re.compile(r"[\s:=|(,\u2013-]*")
_PROSE = re.compile(r"[^\W\d_]{3}")
_SENTENCE_ENDS = re.compile(r"[.;!?]\s+(?=[A-Z])")
_APART = re.compile(rf"{_SENTENCE_ENDS.pattern}|\d|(?i:{RATIO.pattern})")
_IN_HEADS = r"ns|[u\u03bc]s|ms|(?:milli|micro|nano)?sec(?:ond)?s?|(?:milli|mikro)?sek(?:unden)?"
_UNIT_OF_A_COLUMN = re.compile(
    rf"[(\[]\s*(?:in )?(?P<bracketed>s|min|{_IN_HEADS})\.?\s*[)\]]|\bin (?P<word>{_IN_HEADS})\b",
    re.IGNORECASE,
)
_SAYS_ONLY_THE_TIME = re.compile(
    r"(?:[\s:=|(),\[\]*\u2013\u2248~>-]|\b(?:takes?|took|taken|times?|runs?|ran|runtime|running|execution|elapsed"
    r"|average|avg|mean|median|min|minimum|best|total|in|is|was|of|needs?|needed|only|about|for|on|per|call"
    r"|functions?|version|implementation|method|the|a|and|approximately|roughly|around|seconds?|secs?|ms|us|cpu"
    r"|result|it|just|braucht|benötigt|dauert|laufzeit|zeit|ist|nur|bei|etwa|rund))*",
    re.IGNORECASE,
)
"""What stands between a name and its time: `max_cpu takes only`, and not "the kernel of max_gpu takes"."""
_IS_A_FUNCTION = re.compile(r"\s+(?:version|implementation|function|variante?|method)\b", re.IGNORECASE)
_ENTRY_ENDS = re.compile(
    r"[|\t]|[,\s]\s*\w+_\w+\s*[:=]|\n(?!\(|(?:for|and|in|of|per|plus|with|für|und|mit|pour|et|por|y)\b)"
    rf"|{_SENTENCE_ENDS.pattern}|(?i:{RATIO.pattern})"
)
"""Where what a text says of one name ends; a line that goes on with a bracket or such a word is its own."""
_PER_LOOP = re.compile(r"[^\n]{0,20}\bper (?:loop|call|run|iteration)\b")
"""As timeit prints it; the runs that it names behind that are those of a mean."""
_DIVIDED = re.compile(r"[\s)]*[/\u00f7][\s(]*")
_EQUALS = re.compile(r"[\s)]*[=\u2248:]\s*")
_FROM_TO = re.compile(r"\b(?:from|von|de)\W+$", re.IGNORECASE)
_TO = re.compile(
    r"\s*(?:(?:all the way )?(?:down )?to|auf|bis|a)\W+(?:only |just |about |nur )?", re.IGNORECASE
)
_LINE_BEGINS = re.compile(r"[^\w\n]*$")


def times(text: str, names: Sequence[str]) -> dict[str, list[list[Any]]]:
    """Return for each name its times: [seconds, half a unit of the last digit, what is written, certain].

    A time stands behind its name (`max_cpu: 1.23 s`), before it with its unit (`0.02 s for max_gpu`), or in
    the same place of a list or row of a table as its name. A number without unit is in the unit that the head
    of its table names, or counts as seconds. It is certain where nothing but the time can be meant.
    """
    every = tuple(numbers_in_units(text))
    times_of: dict[str, list[list[Any]]] = {name: [] for name in names}
    for full, number in _from_one_to_another(text, names, every):
        times_of[full].append([number.value, number.half, written(text, number), False])
    for group, end in _groups(text, names):
        near = [n for n in every if group[-1].end <= n.start < end and not (n.percent or n.multiple)]
        pairs = _time_alone(text, group[0], near, every) if len(group) == 1 else _in_order(text, group, near)
        for name, number, certain in pairs:
            times_of[name.name].append([number.value, number.half, written(text, number), certain])
    return {
        name: distinct(sorted(of_name, key=lambda entry: not entry[3])) for name, of_name in times_of.items()
    }


def written(text: str, number: Number) -> str:
    """Return a number as the text has it."""
    return text[number.start : number.end].strip()


def distinct(entries: list[list[Any]]) -> list[list[Any]]:
    """Return the first entry of each value."""
    return list({(entry[0], entry[1]): entry for entry in reversed(entries)}.values())[::-1][:KEPT]


def numbers_in_units(text: str) -> Iterator[Number]:
    """Yield all numbers, those without a unit in that of the head of their table, if it names one alone."""
    heads: list[tuple[int, int, float]] = []
    place = 0
    lines = text.splitlines(keepends=True)
    for index, line in enumerate(lines):
        units = {
            seconds_of((m["bracketed"] or m["word"]).rstrip(".")) for m in _UNIT_OF_A_COLUMN.finditer(line)
        }
        place += len(line)
        if len(units) == 1:
            below = "".join(lines[index + 1 : index + 1 + HEAD_LINES]).lstrip("\n")
            end = place + len(re.split(r"\n\s*\n", below)[0]) + 2
            heads.append((place - len(line), end, units.pop()))
    for number in numbers(text):
        unit = next((unit for start, end, unit in reversed(heads) if start <= number.start < end), None)
        if unit is None or number.timed or number.multiple or number.percent:
            yield number
        else:
            yield replace(number, value=number.value * unit, half=number.half * unit)


def _from_one_to_another(
    text: str, names: Sequence[str], every: Sequence[Number]
) -> Iterator[tuple[str, Number]]:
    """Yield both times of "from 2.4 s down to 30 ms" for each of the two names of its sentence."""
    for above, below in pairwise(every):
        if not (above.timed and below.timed and _TO.fullmatch(text, above.end, below.start)):
            continue
        if not _FROM_TO.search(text, max(0, above.start - 10), above.start):
            continue
        before = _SENTENCE_ENDS.split(text[max(0, above.start - BEHIND) : above.start])[-1]
        behind = _SENTENCE_ENDS.split(text[below.end : below.end + BEHIND])[0]
        of_sentence = dict.fromkeys(mention.name for mention in mentions(f"{before} {behind}", names))
        if len(of_sentence) == 2:
            yield from ((name, number) for name in of_sentence for number in (above, below))


def _groups(text: str, names: Sequence[str]) -> Iterator[tuple[list[Mention], int]]:
    """Yield names that stand together without a number between them, and where the text behind them ends."""
    group: list[Mention] = []
    for mention in mentions(text, names):
        between = text[group[-1].end : mention.start] if group else ""
        if len(between) > BEFORE or any(map(str.isdigit, between)) or (group and _is_row(text, mention)):
            yield group, min(mention.start, group[-1].end + 2 * BEHIND)
            group = []
        group.append(mention)
    if group:
        yield group, group[-1].end + 2 * BEHIND


def _is_row(text: str, mention: Mention) -> bool:
    """Tell whether a line begins with a name and goes on with a number."""
    line = text[mention.end : mention.end + BEHIND].partition("\n")[0]
    return _begins_line(text, mention) and any(map(str.isdigit, line))


def _time_alone(
    text: str, name: Mention, near: Sequence[Number], every: Sequence[Number]
) -> Iterator[tuple[Mention, Number, bool]]:
    """Yield the time of a name that stands alone: of its own sentence first, rather behind it than before."""
    behind = _behind(text, name, near)
    if not behind or _SENTENCE_ENDS.search(text, name.end, behind[0].start + 1):
        behind = _before(text, name, every) or behind
    for number in behind:
        certain = _certain(text, name, number) and not _one_of_several(text, number, near)
        yield name, number, certain


def _one_of_several(text: str, number: Number, near: Sequence[Number]) -> bool:
    """Tell whether a time may be that of a part, or of several runs: another one or a count stands beside it.

    As in `4.81 ms for the copies and 0.012 ms for the kernel`, or `7.23 s (20 runs)`.
    """
    rest = _ENTRY_ENDS.split(text[number.end : number.end + BEFORE])[0]
    if _PER_LOOP.match(rest):
        return False
    beside = (n for n in near if number.end <= n.start < number.end + len(rest))
    return any(n.timed or (n.whole and n.value != 1 and not (n.multiple or n.percent)) for n in beside)


def _certain(text: str, name: Mention, number: Number) -> bool:
    """Tell whether a number behind a name is surely the time of all that the name means.

    An abbreviation ("GPU") means the function only where a line begins with it.
    """
    if _IS_A_FUNCTION.match(text, name.end):
        return number.start > name.end and bool(_SAYS_ONLY_THE_TIME.fullmatch(text, name.end, number.start))
    abbreviated = not phrase(full_name(name.name)).fullmatch(text, name.start, name.end)
    if number.start < name.end or (abbreviated and not _begins_line(text, name)):
        return False
    return (number.timed or not number.whole) and bool(
        _SAYS_ONLY_THE_TIME.fullmatch(text, name.end, number.start)
    )


def _begins_line(text: str, name: Mention) -> bool:
    return bool(_LINE_BEGINS.match(text, text.rfind("\n", 0, name.start) + 1, name.start))


def _behind(text: str, name: Mention, near: Sequence[Number]) -> list[Number]:
    near = [number for number in near if number.start < name.end + BEHIND]
    if timed := [number for number in near if number.timed]:
        return timed[:1]
    for number in near:
        between = text[name.end : number.start]
        before = text[max(0, name.start - BEFORE) : name.start]
        if _BESIDE.fullmatch(between):
            return [] if RATIO.search(before.rpartition("\n")[2]) else [number]
        if not (number.whole or RATIO.search(before + between)):
            return [number]
    return []


def _before(text: str, name: Mention, every: Sequence[Number]) -> list[Number]:
    timed = [n for n in every if n.timed and name.start - BEFORE <= n.start < name.start]
    return [n for n in timed[-1:] if not _APART.search(text, n.end, name.start + 1)]


def _divided(text: str, group: Sequence[Mention], near: Sequence[Number]) -> bool:
    """Tell whether a text has `a / b = 1.2 / 0.02`."""
    return (
        (len(group), len(near) > 1) == (2, True)
        and _DIVIDED.fullmatch(text, group[0].end, group[1].start) is not None
        and _EQUALS.fullmatch(text, group[1].end, near[0].start) is not None
        and _DIVIDED.fullmatch(text, near[0].end, near[1].start) is not None
    )


def _in_order(
    text: str, group: Sequence[Mention], near: Sequence[Number]
) -> Iterator[tuple[Mention, Number, bool]]:
    """Yield the times of `a and b take 2 s and 1 s`, or of the rows of a table with names in its head."""
    if _divided(text, group, near):
        yield from ((name, number, True) for name, number in zip(group, near[:2], strict=True))
        return
    timed = [number for number in near if number.timed]
    if len(timed) >= len(group):
        yield from ((name, number, False) for name, number in zip(group, timed, strict=False))
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
        of_a_ratio = line == 0 and RATIO.search(text, max(0, group[0].start - BEFORE), row[-1].start)
        prose = row and _PROSE.search(text, row[0].end, row[-1].start)
        if of_a_ratio or prose or all(number.whole for number in row):
            continue
        if len(row) == len(columns):
            yield from ((name, row[place], line > 0) for name, place in zip(group, places, strict=True))
        elif len(row) == len(group):
            yield from ((name, number, False) for name, number in zip(group, row, strict=True))
