"""Notes and fields of a page that readers paint, each in its own way, and PDFium does not draw."""

from __future__ import annotations

from ctypes import byref
from typing import Any

import numpy as np
import pypdfium2.raw as pdfium
from numpy.typing import NDArray

WHOLE_PAGE = (-1e6, -1e6, 1e6, 1e6)
"""Where a note may be painted: readers take its corners from other keys than its box."""
_COVERS_NOTHING = (
    pdfium.FPDF_ANNOT_TEXT,
    pdfium.FPDF_ANNOT_LINK,
    pdfium.FPDF_ANNOT_HIGHLIGHT,
    pdfium.FPDF_ANNOT_UNDERLINE,
    pdfium.FPDF_ANNOT_SQUIGGLY,
    pdfium.FPDF_ANNOT_POPUP,
    pdfium.FPDF_ANNOT_FILEATTACHMENT,
)
_NOT_SHOWN = pdfium.FPDF_ANNOT_FLAG_HIDDEN | pdfium.FPDF_ANNOT_FLAG_NOVIEW


def painted_by_readers(page: Any) -> NDArray[np.float64]:
    """Return the boxes (n, 4) of the fields of forms, and of notes without an appearance, in points.

    A box is left, bottom, right and top. Readers show fields filled in, on paper of their own.
    """
    boxes = []
    for number in range(max(0, pdfium.FPDFPage_GetAnnotCount(page))):
        note = pdfium.FPDFPage_GetAnnot(page, number)
        kind = pdfium.FPDFAnnot_GetSubtype(note)
        if pdfium.FPDFAnnot_GetFlags(note) & _NOT_SHOWN or kind in _COVERS_NOTHING:
            pass
        elif kind == pdfium.FPDF_ANNOT_WIDGET:
            boxes.append(_box(note))
        elif not pdfium.FPDFAnnot_HasKey(note, b"AP"):
            boxes.append(WHOLE_PAGE)
        pdfium.FPDFPage_CloseAnnot(note)
    return np.array(boxes, float).reshape(-1, 4)


def _box(note: Any) -> tuple[float, float, float, float]:
    rectangle = pdfium.FS_RECTF()
    pdfium.FPDFAnnot_GetRect(note, byref(rectangle))
    across = sorted((rectangle.left, rectangle.right))
    up = sorted((rectangle.bottom, rectangle.top))
    return across[0], up[0], across[1], up[1]
