"""Glyphs that stand for several letters, and texts that a PDF names in place of what it draws."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from ctypes import byref, c_ulong, create_string_buffer
from itertools import groupby
from typing import Any, TypeAlias

import pypdfium2.raw as pdfium

from .canvas import Object, page_leaves, pointer

Box: TypeAlias = tuple[float, float, float, float]
"""Left, bottom, right and top, in points."""
Character: TypeAlias = tuple[str, Object, Box]
"""A letter, the text object that draws it (0 for none) and its place."""
Axis: TypeAlias = tuple[float, float]
"""How far a line of text runs across the page and up it, from letter to letter."""

LIGATURE = re.compile(r"ff[ijlbhkt]?|f[ijlbhkt]|[cs]t|T[hi]|t[ti]|tti|fft|sp|ck|ch|ij|IJ|ae|oe|AE|OE")
"""Letters that fonts draw by one glyph; a file that says so of other letters is not believed."""
_REPLACED = b"ActualText"
"""The mark of a text that is to be read in place of what is drawn."""
_BYTES = 512


def drop_replacements(page: Any) -> dict[Object, str]:
    """Remove the texts that are to be read in place of glyphs; return those that are ligatures.

    Browsers write them for ligatures. Elsewhere what the glyphs themselves say is read.
    """
    ligatures = {}
    for leaf in page_leaves(page):
        text = pointer(leaf)
        for number in reversed(range(max(0, pdfium.FPDFPageObj_CountMarks(text)))):
            mark = pdfium.FPDFPageObj_GetMark(text, number)
            replacement = _replacement(mark)
            if replacement is not None:
                pdfium.FPDFPageObj_RemoveMark(text, mark)
                if LIGATURE.fullmatch(replacement):
                    ligatures[leaf] = replacement
    return ligatures


def _replacement(mark: Any) -> str | None:
    data, size = create_string_buffer(_BYTES), c_ulong()
    text = pdfium.cast(data, pdfium.POINTER(pdfium.FPDF_WCHAR))
    if not pdfium.FPDFPageObjMark_GetParamStringValue(mark, _REPLACED, text, _BYTES, byref(size)):
        return None
    return data.raw[: min(size.value, _BYTES)].decode("utf-16-le", "replace").rstrip("\0")


def one_box_each(
    characters: Iterable[tuple[Character, Axis]], ligatures: dict[Object, str]
) -> Iterator[Character]:
    """Yield characters; the letters of a ligature, which share its box, get a part of it each.

    Args:
        characters: each with the axis of its line.
        ligatures: the letters of text objects whose font does not say them.
    """
    for (owner, box), run in groupby(characters, key=lambda character: character[0][1:]):
        same = list(run)
        letters = "".join(character[0] for character, _ in same)
        axis = same[0][1]
        if owner in ligatures and len(same) == 1 and not letters.isalnum():
            letters = ligatures[owner]
        elif len(same) == 1 or not owner or not LIGATURE.fullmatch(letters):
            yield from (character for character, _ in same)
            continue
        for number, letter in enumerate(letters):
            yield letter, owner, _part(box, number / len(letters), (number + 1) / len(letters), axis)


def _part(box: Box, start: float, end: float, axis: Axis) -> Box:
    left, bottom, right, top = box
    if sum(axis) < 0:  # to the left, or down
        start, end = 1 - end, 1 - start
    if abs(axis[1]) > abs(axis[0]):
        high = top - bottom
        return left, bottom + start * high, right, bottom + end * high
    wide = right - left
    return left + start * wide, bottom, left + end * wide, top
