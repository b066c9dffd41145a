"""The pictures of a page that are really drawn: images, and drawings that were included, such as plots."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from ctypes import byref, c_float, c_ubyte
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pypdfium2.raw as pdfium
from numpy.typing import NDArray

from .canvas import CONTRAST, OBJECTS, PAPER, Canvas, Luminance, Object, address, leaves, pointer, span

Matrix: TypeAlias = tuple[float, float, float, float, float, float]

LEAST_POINTS = 36.0
"""The side of a square that is large enough for a picture; smaller ones are bullets."""
THIN_POINTS = 9.0
"""What is thinner is a line."""
DRAWN = 0.005
"""The least share of a picture's area that shows something."""
UNCOVERED = 0.5
"""The least share of its details that nothing lies on."""
OPAQUE = 128
"""What covers the page so far, of 255, belongs to a picture."""
BACKED = 0.9
"""A picture that covers more of its box has paper of its own."""
PARTS = 20
"""A drawing that was included, say a plot, has at least so many lines, areas and images."""
DEEP = 8
KEY_BYTES = 2**24

_SAME: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePicture:
    """Object of a page that is large enough for a picture, wherever it lies."""

    object: Object
    box: tuple[float, float, float, float]
    """Left, bottom, right and top, in points."""
    parts: int = 0
    """Of a drawing; 0 for an image."""

    @property
    def area(self) -> float:
        """In square points."""
        return _area(self.box)

    def place(self, canvas: Canvas) -> tuple[int, int, int, int]:
        """Return where it lies on a rendering: left, top, right and bottom, in pixels."""
        left, top, right, bottom = canvas.whole(canvas.on_it(np.array([self.box])))[0].tolist()
        return left, top, right, bottom

    def shows(self, canvas: Canvas, page: Luminance, textless: Luminance, bare: Luminance) -> bool:
        """Tell whether it leaves something of more than one colour on the page.

        `textless` is the page without text, `bare` the page without text and pictures.
        """
        left, top, right, bottom = self.place(canvas)
        place = (slice(top, bottom), slice(left, right))
        if (right - left) * (bottom - top) < (LEAST_POINTS * canvas.scale) ** 2 / 2:
            return False  # outside of the page
        drawn = np.abs(textless[place] - bare[place]) >= CONTRAST
        covered = np.abs(page[place] - textless[place]) >= CONTRAST
        if (drawn & ~covered).mean() < DRAWN or span(textless[place]) < CONTRAST:
            return False
        shows, detail = (part & ~covered for part in self._parts_shown(canvas, textless, place))
        return _extends(shows, canvas.scale) and bool(shows.sum() >= UNCOVERED * detail.sum())

    def _parts_shown(
        self, canvas: Canvas, page: Luminance, place: tuple[slice, slice]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which pixels of its details are as where it stands alone, and which ones are details.

        A cover in the colour of most of it would change nothing there, so that these pixels tell nothing.
        """
        alone, opacity = (rendering[place] for rendering in canvas.alone(leaves(self.object)))
        detail = opacity >= OPAQUE
        if detail.mean() > BACKED:
            detail &= np.abs(alone - np.bincount(alone[detail]).argmax()) >= CONTRAST
        return detail & (np.abs(page[place] - alone) < CONTRAST), detail

    def key(self) -> tuple[int, int]:
        """Return a key that is the same for the same picture on another page."""
        if self.parts:
            return self.parts, round(self.box[2] - self.box[0])
        image = pointer(self.object)
        size = min(pdfium.FPDFImageObj_GetImageDataRaw(image, None, 0), KEY_BYTES)
        data = (c_ubyte * size)()
        pdfium.FPDFImageObj_GetImageDataRaw(image, data, size)
        return 0, zlib.crc32(bytes(data))


def pictures(page: Any, points: float) -> Iterator[PagePicture]:
    """Yield the images and drawings of a page of so many square points."""
    budget = [OBJECTS]
    for number in range(min(pdfium.FPDFPage_CountObjects(page), OBJECTS)):
        yield from _within(pdfium.FPDFPage_GetObject(page, number), _SAME, points, budget, DEEP)


def may_be_picture(textless: Luminance, scale: float) -> bool:
    """Tell whether the ink of a page without its text, taken together, is large enough for a picture."""
    paper = np.bincount((textless - textless.min()).ravel()).argmax() + textless.min() if textless.size else 0
    ink = np.abs(textless - paper) > PAPER
    return _extends(ink, scale)


def _extends(ink: NDArray[np.bool_], scale: float) -> bool:
    """Tell whether ink, taken together, is large enough for a picture; `scale` is pixels of a point."""
    if not ink.any():
        return False
    down, across = (np.flatnonzero(ink.any(axis)) for axis in (1, 0))
    sides = [float(ends[-1] - ends[0] + 1) / scale for ends in (down, across)]
    return min(sides) >= THIN_POINTS and sides[0] * sides[1] >= LEAST_POINTS**2


def _within(
    page_object: Any, matrix: Matrix, points: float, budget: list[int], deep: int
) -> Iterator[PagePicture]:
    budget[0] -= 1
    if budget[0] < 0 or deep < 0:
        return
    kind = pdfium.FPDFPageObj_GetType(page_object)
    if kind == pdfium.FPDF_PAGEOBJ_IMAGE:
        box = _box(page_object, matrix)
        if _large(box):
            yield PagePicture(object=address(page_object), box=box)
    elif kind == pdfium.FPDF_PAGEOBJ_FORM:
        inside = _times(_matrix(page_object), matrix)
        members = [
            pdfium.FPDFFormObj_GetObject(page_object, number)
            for number in range(min(max(0, pdfium.FPDFFormObj_CountObjects(page_object)), max(0, budget[0])))
        ]
        kinds = [pdfium.FPDFPageObj_GetType(member) for member in members]
        parts = sum(kind in (pdfium.FPDF_PAGEOBJ_PATH, pdfium.FPDF_PAGEOBJ_SHADING) for kind in kinds)
        box = _box(page_object, matrix)
        if parts >= PARTS and _large(box) and _area(box) < points * 0.9:  # else it is the page itself
            yield PagePicture(object=address(page_object), box=box, parts=parts)
            return
        for member in members:
            yield from _within(member, inside, points, budget, deep - 1)


def _area(box: tuple[float, float, float, float]) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def _large(box: tuple[float, float, float, float]) -> bool:
    thin = min(box[2] - box[0], box[3] - box[1])
    return thin >= THIN_POINTS and _area(box) >= LEAST_POINTS**2


def _box(page_object: Any, matrix: Matrix) -> tuple[float, float, float, float]:
    left, bottom, right, top = (c_float() for _ in range(4))
    pdfium.FPDFPageObj_GetBounds(page_object, byref(left), byref(bottom), byref(right), byref(top))
    a, b, c, d, e, f = matrix
    corners = [(x.value, y.value) for x in (left, right) for y in (bottom, top)]
    across = [a * x + c * y + e for x, y in corners]
    up = [b * x + d * y + f for x, y in corners]
    return min(across), min(up), max(across), max(up)


def _matrix(page_object: Any) -> Matrix:
    raw = pdfium.FS_MATRIX()
    if not pdfium.FPDFPageObj_GetMatrix(page_object, byref(raw)):
        return _SAME
    return raw.a, raw.b, raw.c, raw.d, raw.e, raw.f


def _times(inner: Matrix, outer: Matrix) -> Matrix:
    a, b, c, d, e, f = inner
    g, h, i, j, k, m = outer
    return (
        a * g + b * i, a * h + b * j,
        c * g + d * i, c * h + d * j,
        e * g + f * i + k, e * h + f * j + m,
    )  # fmt: skip
