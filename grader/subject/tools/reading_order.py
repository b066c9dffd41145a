"""The order in which the characters of a page are read."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from .ligatures import Box, Character

GAP = 0.35
"""The least width of a space that is not written, as a share of the height of its line."""
NOWHERE: Box = (0.0, 0.0, 0.0, 0.0)
"""The place of a character that stands nowhere on the page."""
_LEFTWARD = ("R", "AL")


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


def _runs_left(character: Character) -> bool:
    return unicodedata.bidirectional(character[0]) in _LEFTWARD


def _spaced(line: Sequence[Character]) -> Iterator[Character]:
    """Yield a line with a space wherever it has a gap."""
    high = max(box[3] - box[1] for _, _, box in line)
    for previous, character in zip((line[0], *line), line, strict=False):
        if character[2][0] - previous[2][2] > GAP * high:
            yield " ", 0, NOWHERE
        yield character
