"""Renderings of a page of a PDF by PDFium, with and without some of its objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from ctypes import byref, c_int, c_ubyte, c_void_p, cast
from typing import Any, TypeAlias

import numpy as np
import pypdfium2.raw as pdfium
from numpy.typing import NDArray

Object: TypeAlias = int
"""The address of a page object of PDFium's."""
Luminance: TypeAlias = NDArray[np.int16]
"""A rendering, 0 to 255 by row and column."""

PIXELS = 2_000_000
"""Of one rendering; a larger page is rendered more coarsely."""
PER_POINT = 1.5
"""Pixels, for a page of a usual size: 108 dpi."""
CONTRAST = 40
"""The least difference in luminance that a reader sees."""
OBJECTS = 50_000
"""Of a page, with those of its forms; more are not told apart."""
PAPER = 8
"""What differs less is paper, however it was scanned or coloured."""

_OF_BLUE_GREEN_RED = np.array([29, 150, 77], np.int32)
_FINE = 1000
"""PDFium rounds places to whole pixels, so they are computed for a rendering this much larger."""


def pointer(page_object: Object) -> Any:
    """Return a page object as PDFium's functions take it."""
    return cast(page_object, pdfium.FPDF_PAGEOBJECT)


def address(page_object: Any) -> Object:
    """Return the address of what PDFium's functions return; 0 for none."""
    return cast(page_object, c_void_p).value or 0


class LateError(Exception):
    """A page takes too much time to render."""


class Canvas:
    """A page that is rendered several times, always alike but for the objects that are left out.

    `late` says when rendering is given up.
    """

    def __init__(self, page: Any, width: float, height: float, late: Callable[[], bool]) -> None:
        self.scale = min(PER_POINT, float((PIXELS / (width * height)) ** 0.5))
        """Pixels of a point."""
        self.width = max(1, min(round(width * self.scale), PIXELS))
        self.height = max(1, min(round(height * self.scale), PIXELS // self.width))
        self._page = page
        self._leaves = page_leaves(page)
        self._pause = pdfium.IFSDK_PAUSE(version=1)
        self._pause.NeedToPauseNow = type(self._pause.NeedToPauseNow)(lambda _: late())
        origin, right, up = (self._place(x, y) for x, y in ((0, 0), (1000, 0), (0, 1000)))
        self._right, self._up, self._origin = (right - origin) / 1000, (up - origin) / 1000, origin

    def render(
        self, without: Iterable[Object] = (), *, paper: int = 255, notes: int = pdfium.FPDF_ANNOT
    ) -> Luminance:
        """Render the page, on paper of a luminance, without some of its objects; with 0 without its notes.

        Raises:
            LateError: there is no time left.
        """
        hidden = [pointer(hidden_object) for hidden_object in without]
        pixels = np.full((self.height, self.width, 4), paper, np.uint8)
        data = cast(pixels.ctypes.data, pdfium.POINTER(c_ubyte))
        layout = (self.width, self.height, pdfium.FPDFBitmap_BGRx, data, self.width * 4)
        bitmap = pdfium.FPDFBitmap_CreateEx(*layout)
        for hidden_object in hidden:
            pdfium.FPDFPageObj_SetIsActive(hidden_object, 0)
        arguments = (bitmap, self._page, 0, 0, self.width, self.height, 0, notes)
        status = pdfium.FPDF_RenderPageBitmap_Start(*arguments, byref(self._pause))
        pdfium.FPDF_RenderPage_Close(self._page)
        for hidden_object in hidden:
            pdfium.FPDFPageObj_SetIsActive(hidden_object, 1)
        pdfium.FPDFBitmap_Destroy(bitmap)
        if status != pdfium.FPDF_RENDER_DONE:
            raise LateError
        return (pixels[:, :, :3] @ _OF_BLUE_GREEN_RED >> 8).astype(np.int16)

    def alone(self, objects: Iterable[Object]) -> tuple[Luminance, Luminance]:
        """Render objects as they are where nothing else is drawn: on white paper, and how opaque they are.

        The opacity, 0 to 255, is what white and black paper do not differ by.

        Raises:
            LateError: there is no time left.
        """
        shown = frozenset(objects)
        others = [leaf for leaf in self._leaves if leaf not in shown]
        white = self.render(others, notes=0)
        return white, 255 - (white - self.render(others, paper=0, notes=0))

    @property
    def is_only_text(self) -> bool:
        """Whether nothing but text is drawn, so that text alone can cover text."""
        kinds = {pdfium.FPDFPageObj_GetType(pointer(leaf)) for leaf in self._leaves}
        return kinds <= {pdfium.FPDF_PAGEOBJ_TEXT} and pdfium.FPDFPage_GetAnnotCount(self._page) < 1

    def on_it(self, boxes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Convert boxes (left, bottom, right, top) of the page to (left, top, right, bottom) in pixels."""
        x, y = boxes[:, (0, 2, 0, 2)], boxes[:, (1, 1, 3, 3)]
        across, down = (x * self._right[axis] + y * self._up[axis] + self._origin[axis] for axis in (0, 1))
        ends = np.stack([across.min(1), down.min(1), across.max(1), down.max(1)], 1)
        placed: NDArray[np.float64] = np.clip(np.nan_to_num(ends), -1e6, 1e6)
        return placed

    def whole(self, boxes: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the pixels of such boxes that lie on the page."""
        ends = np.concatenate([np.floor(boxes[:, :2] + 0.01), np.ceil(boxes[:, 2:] - 0.01)], 1)
        pixels: NDArray[np.int64] = np.clip(ends, 0, (self.width, self.height) * 2).astype(np.int64)
        return pixels

    def _place(self, x: float, y: float) -> NDArray[np.float64]:
        across, down = c_int(), c_int()
        size = (0, 0, self.width * _FINE, self.height * _FINE)
        pdfium.FPDF_PageToDevice(self._page, *size, 0, x, y, byref(across), byref(down))
        return np.array([across.value, down.value]) / _FINE


def page_leaves(page: Any) -> tuple[Object, ...]:
    """Return the objects of a page, and of its forms in place of these, in the order of drawing."""
    return _leaves(_members(page, pdfium.FPDFPage_CountObjects, pdfium.FPDFPage_GetObject))


def leaves(page_object: Object) -> tuple[Object, ...]:
    """Return an object, or in place of a form the objects that it draws."""
    return _leaves([pointer(page_object)])


def _leaves(pending: list[Any]) -> tuple[Object, ...]:
    """Return at most `OBJECTS` leaves of objects, of which the last one is drawn first."""
    drawn = []
    for _ in range(OBJECTS):
        if not pending:
            break
        page_object = pending.pop()
        if pdfium.FPDFPageObj_GetType(page_object) == pdfium.FPDF_PAGEOBJ_FORM:
            pending += _members(page_object, pdfium.FPDFFormObj_CountObjects, pdfium.FPDFFormObj_GetObject)
        else:
            drawn.append(address(page_object))
    return tuple(drawn)


def _members(container: Any, count: Callable[[Any], int], get: Callable[[Any, int], Any]) -> list[Any]:
    """Return the objects of a page or of a form, the last one first."""
    return [get(container, number) for number in reversed(range(min(max(0, count(container)), OBJECTS)))]


def span(luminance: NDArray[np.int16]) -> int:
    """Return how far luminances lie apart; 0 for none."""
    return int(luminance.max() - luminance.min()) if luminance.size else 0
