"""Shapes of tensors in a passage, in all usual writings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from grader.matching.passage import Passage

_SIZE = re.compile(r"(?<![\d.])\d{1,12}(?!\d)")
_BETWEEN = re.compile(
    r"[^\S\n]*(?:[,;xX×*·⨯]|by|mal|\\times|\\cdot)[^\S\n]*(?:[^\W\d_]\w{0,11}[^\S\n]*[=:][^\S\n]*)?"  # noqa: RUF001 - all crosses
)
_LONGEST_BETWEEN = 30
_MOST_SIZES = 16


@dataclass(frozen=True, slots=True)
class WrittenShape:
    """Two or more sizes in a row."""

    sizes: tuple[int, ...]
    start: int
    end: int


def shapes_in(passage: Passage) -> Iterator[WrittenShape]:
    """Yield every row of sizes that are joined by commas or crosses, in whatever brackets."""
    text = passage.text
    row: list[re.Match[str]] = []
    for size in _SIZE.finditer(text):
        if row and _joined(text, row[-1].end(), size.start()):
            row.append(size)
            continue
        yield from _shape(passage, row)
        row = [size]
    yield from _shape(passage, row)


def _joined(text: str, end: int, start: int) -> bool:
    return start - end <= _LONGEST_BETWEEN and _BETWEEN.fullmatch(text, end, start) is not None


def _shape(passage: Passage, row: list[re.Match[str]]) -> Iterator[WrittenShape]:
    if 2 <= len(row) <= _MOST_SIZES and passage.counts(row[0].start()):
        yield WrittenShape(tuple(int(size[0]) for size in row), row[0].start(), row[-1].end())
