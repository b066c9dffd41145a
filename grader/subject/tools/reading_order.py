"""The order in which the characters of a page are read."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from .ligatures import Box, Character

GAP = 0.35
"""The least width of a space that is not written, as a share of the height of its line."""
NOWHERE: Box = (0.0, 0.0, 0.0, 0.0)
"""The place of a character that stands nowhere on the page."""
BACK = 0.25
"""How far back a letter begins a new place, as a share of its width; accents lie on letters."""
ALIGNED = 0.6
"""Letters whose middles are less apart across their line stand on one line, as a share of their height."""
_LEFTWARD = ("R", "AL")
_MARKS = frozenset(".,")


def in_reading_order(characters: Iterable[Character]) -> Iterator[Character]:
    """Yield characters; lines with letters that run to the left are read from their places on the page.

    PDFium turns names such as max_kernel round in them. A line begins at its right end if a letter stands
    there that runs to the left.
    """
    for end, whole in groupby(characters, key=lambda character: character[0] in "\r\n"):
        line = list(whole)
        if end or not any(_runs_left(character) and character[2] != NOWHERE for character in line):
            yield from line
            continue
        placed = sorted(
            (character for character in line if character[2] != NOWHERE),
            key=lambda character: character[2][0],
        )
        runs = [(runs_left, list(run)) for runs_left, run in groupby(_spaced(placed), key=_runs_left)]
        from_the_right = _runs_left(
            next(character for character in reversed(placed) if character[0].isalpha())
        )
        for runs_left, run in reversed(runs) if from_the_right else runs:
            yield from reversed(run) if runs_left else run


def backward(text: str, boxes: NDArray[np.float64], axes: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which letters and digits, (n,), stand before the one that the file names before them.

    Readers see another word then. Signs above and below one another stand on lines of their own.

    Args:
        text: n characters.
        boxes: (n, 4), the place of each: left, bottom, right and top.
        axes: (n, 2), how far its line runs across the page and up it.
    """
    steps_back = np.zeros(len(text), bool)
    words = np.cumsum([letter.isspace() for letter in text])
    placed = np.flatnonzero([_has_place(letter) for letter in text])
    before, now = placed[:-1], placed[1:]
    one_word = words[before] == words[now]
    before, now = before[one_word], now[one_word]
    along = axes[now] / np.maximum(np.hypot(*axes[now].T), 1e-12)[:, None]
    across = along[:, ::-1] * (-1, 1)
    sizes = boxes[:, 2:] - boxes[:, :2]
    step = (boxes[now, :2] + sizes[now] / 2) - (boxes[before, :2] + sizes[before] / 2)

    def extents(of: NDArray[np.int64], axis: NDArray[np.float64]) -> NDArray[np.float64]:
        extent: NDArray[np.float64] = (np.abs(axis) * sizes[of]).sum(1)
        return extent

    wide = np.minimum(extents(before, along), extents(now, along))
    high = np.maximum(extents(before, across), extents(now, across))
    aligned = np.abs((step * across).sum(1)) < ALIGNED * high
    steps_back[now] = aligned & ((step * along).sum(1) < -BACK * wide)
    return steps_back


def _has_place(letter: str) -> bool:
    return letter in _MARKS or (letter.isalnum() and unicodedata.bidirectional(letter) in ("L", "EN"))


def _runs_left(character: Character) -> bool:
    return unicodedata.bidirectional(character[0]) in _LEFTWARD


def _spaced(line: Sequence[Character]) -> Iterator[Character]:
    """Yield a line with a space wherever it has a gap."""
    high = max(box[3] - box[1] for _, _, box in line)
    for previous, character in zip((line[0], *line), line, strict=False):
        if character[2][0] - previous[2][2] > GAP * high:
            yield " ", 0, NOWHERE
        yield character
