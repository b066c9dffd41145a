"""Shapes of tensors in a passage, in all usual writings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from grader.matching.passage import Passage, Span

_SIZE = re.compile(r"(?<![\d.])(?<!(?<!\w)[-−])\d{1,12}(?!\d)")  # noqa: RUF001 - typographers' minus
_BETWEEN = re.compile(
    r"[^\S\n]*(?:[,;xX×*·⨯]|by|mal|\\times|\\cdot)[^\S\n]*(?:[^\W\d_]\w{0,11}[^\S\n]*[=:][^\S\n]*)?"  # noqa: RUF001 - all crosses
)
_LONGEST_BETWEEN = 30
_MOST_SIZES = 16
_LONGEST_LINE = 200
_NAMED = re.compile(r"\s*(?:\w{1,20}\s*[=:]\s*)?")
_CLOSED = re.compile(r"\s*,?\s*(?:,\s*\w{1,30}\s*=[^,]*)*")


@dataclass(frozen=True, slots=True)
class WrittenShape:
    """Two or more sizes in a row."""

    sizes: tuple[int, ...]
    start: int
    end: int
    spans: tuple[Span, ...]
    """The whole of it; of sizes with names, as in (N=64, C=3), each size alone."""
    partial: bool
    """Whether more stands in the same brackets, as in (N, 64, 3)."""


def sizes_in(text: str) -> Iterator[re.Match[str]]:
    """Yield the whole numbers of a text, in digits."""
    return _SIZE.finditer(text)


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
        start, end = row[0].start(), row[-1].end()
        named = any(sign in passage.text[start:end] for sign in "=:")
        yield WrittenShape(
            sizes=tuple(int(size[0]) for size in row),
            start=start,
            end=end,
            spans=tuple(size.span() for size in row) if named else ((start, end),),
            partial=_is_partial(passage.text, start, end),
        )


def _is_partial(text: str, start: int, end: int) -> bool:
    """Tell whether another entry stands before or behind, in the same brackets; `dtype=…` is none."""
    before = re.split(r"[(\[{<\n]", text[max(0, start - _LONGEST_LINE) : start])
    behind = re.split(r"[)\]}>\n]", text[end : end + _LONGEST_LINE])
    return (
        len(before) > 1
        and len(behind) > 1
        and not (_NAMED.fullmatch(before[-1]) and _CLOSED.fullmatch(behind[0]))
    )
