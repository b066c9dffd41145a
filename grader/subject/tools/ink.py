"""Measures of the ink that a page's characters leave in their boxes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .canvas import Luminance, span

INK = 0.06
"""The least share of a character's box that is ink."""
CELLS = 4
"""The shape of a character: the share of ink in so many cells of its box across, and as many down."""
UNCOVERED = 0.65
"""The least share of a character's ink that nothing lies on."""
OPAQUE = 64
"""A pixel that a glyph covers so far, of 255, belongs to it."""
SHOWS = 0.25
"""It shows if it changes the page by that share of what the glyph's other pixels change it by."""
FAINT = 20
"""A difference in luminance that is less than this shows no reader a letter."""


def touched(sums: NDArray[np.int64], pixels: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which boxes hold any ink."""
    found: NDArray[np.bool_] = _counted(sums, *pixels.T) > 0
    return found


def varied(picture: Luminance, pixels: NDArray[np.int64], least: float) -> NDArray[np.bool_]:
    """Return in which boxes of a rendering luminances differ by at least so much."""
    places = (picture[top:bottom, left:right] for left, top, right, bottom in pixels.tolist())
    return np.array([span(place) >= least for place in places], bool)


def corner_sums(ink: NDArray[np.bool_ | np.int16]) -> NDArray[np.int64]:
    """Return how much ink there is above and to the left of each corner of a pixel."""
    sums = np.zeros((ink.shape[0] + 1, ink.shape[1] + 1), np.int64)
    sums[1:, 1:] = ink.cumsum(0, np.int64).cumsum(1)
    return sums


def _counted(sums: NDArray[np.int64], left: Any, top: Any, right: Any, bottom: Any) -> Any:
    """Return how much ink there is in boxes."""
    return sums[bottom, right] - sums[top, right] - sums[bottom, left] + sums[top, left]


def filled(
    sums: NDArray[np.int64], pixels: NDArray[np.int64], boxes: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Return which boxes hold ink: enough of it, and in each of their halves, so that nothing is cut off."""
    left, top, right, bottom = pixels.T
    x, y = (left + right + 1) // 2, (top + bottom + 1) // 2
    halves = (
        (_counted(sums, left, top, right, y) > 0)
        & ((_counted(sums, left, y, right, bottom) > 0) | (bottom - top < 4))
        & (_counted(sums, left, top, x, bottom) > 0)
        & ((_counted(sums, x, top, right, bottom) > 0) | (right - left < 4))
    )
    area = np.prod(boxes[:, 2:] - boxes[:, :2], axis=1)
    found: NDArray[np.bool_] = halves & (_counted(sums, *pixels.T) >= np.maximum(1, INK * area))
    return found


def stands_out(
    ink: NDArray[np.bool_], page: Luminance, textless: Luminance, pixels: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return in which boxes the ink is on the whole darker or lighter than what it lies on.

    Letters on noise, or stripes on stripes, change every pixel and show nobody their shapes.
    """
    left, top, right, bottom = pixels.T
    amount = _counted(corner_sums(ink), *pixels.T)
    of_ink = _counted(corner_sums(page * ink), *pixels.T) / np.maximum(1, amount)
    below = _counted(corner_sums(textless), *pixels.T) / np.maximum(1, (right - left) * (bottom - top))
    found: NDArray[np.bool_] = np.abs(of_ink - below) >= FAINT
    return found


def uncovered(
    difference: Luminance, opacity: Luminance, pixels: NDArray[np.int64], asked: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return of which glyphs enough shows: what they change of the page, against what they cover of it."""
    found = asked.copy()
    for number in np.flatnonzero(asked).tolist():
        left, top, right, bottom = pixels[number].tolist()
        covers = opacity[top:bottom, left:right].ravel()
        inside = covers >= OPAQUE
        shares = difference[top:bottom, left:right].ravel()[inside] / covers[inside]
        found[number] = not shares.size or (shares >= SHOWS * shares.max()).mean() >= UNCOVERED
    return found


def shapes(sums: NDArray[np.int64], pixels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the share of ink in each cell of each box."""
    left, top, right, bottom = pixels.T
    height, width = (size - 1 for size in sums.shape)
    cells = []
    for row in range(CELLS):
        begin = top + (bottom - top) * row // CELLS
        end = np.minimum(np.maximum(begin + 1, top + (bottom - top) * (row + 1) // CELLS), height)
        for column in range(CELLS):
            x = left + (right - left) * column // CELLS
            until = np.minimum(np.maximum(x + 1, left + (right - left) * (column + 1) // CELLS), width)
            area = np.maximum(1, (until - x) * (end - begin))
            cells.append(_counted(sums, np.minimum(x, until), np.minimum(begin, end), until, end) / area)
    return np.stack(cells, 1)
