"""Elements of a Word document: their names, and what of tables, alternatives and runs is shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .word_formulas import symbol
from .word_looks import ALTERNATIVES, WHITE, Ground, W, luminance, number, on, shading

RELATIONSHIPS = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
VML = "{urn:schemas-microsoft-com:vml}"
WORD_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}"
DELETED = frozenset({f"{W}del", f"{W}moveFrom"})
INNER = frozenset(
    {
        f"{W}{name}"
        for name in ("ins", "moveTo", "smartTag", "hyperlink", "fldSimple", "customXml", "dir", "bdo")
    }
)
"""Elements around runs or paragraphs that show what is in them."""
LETTERS = {f"{W}tab": "\t", f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "-", f"{W}ptab": "\t"}
NOTES = {f"{W}footnoteReference": "footnotes", f"{W}endnoteReference": "endnotes"}


def shown_alternatives(element: Any) -> Iterator[Any]:
    """Yield what is shown of an element with alternatives, or with contents of its own."""
    if element.tag == f"{ALTERNATIVES}AlternateContent":
        for choice in element:
            if choice.tag in (f"{ALTERNATIVES}Choice", f"{ALTERNATIVES}Fallback"):
                yield choice
                return
    elif element.tag == f"{W}sdt":
        yield from element.iterchildren(f"{W}sdtContent")


def rows_of(table: Any) -> Iterator[Any]:
    """Yield the rows of a table, also those inside content controls."""
    return _parts(table, f"{W}tr")


def cells_of(row: Any) -> Iterator[Any]:
    """Yield the cells of a row, also those inside content controls."""
    return _parts(row, f"{W}tc")


def _parts(element: Any, tag: str) -> Iterator[Any]:
    for child in element:
        if child.tag == tag:
            yield child
        elif child.tag in (f"{W}sdt", *INNER):
            yield from child.iter(tag)


def how_row_is_hidden(properties: Any) -> str:
    """Return how a row of a table is hidden; empty if it is not."""
    height = properties.find(f"{W}trHeight")
    if properties.find(f"{W}del") is not None:
        return "deleted text"
    hidden = properties.find(f"{W}hidden")
    if hidden is not None and on(hidden.get(f"{W}val")):
        return "hidden text"
    exact = height is not None and height.get(f"{W}hRule") == "exact"
    size = number(height.get(f"{W}val")) if height is not None else None
    return "a row without height" if exact and size is not None and size < 60 else ""


def ground_of_cell(cell: Any, ground: Ground) -> Ground:
    """Return the ground under the text of a cell: its shading, or that around it."""
    shade = shading(cell.find(f"{W}tcPr/{W}shd"))
    return ground if shade is None else Ground(luminance=shade, hidden=ground.hidden)


def parents_of(element: Any, top: Any) -> Iterator[Any]:
    """Yield the elements around an element, from within to below `top`."""
    parent = element.getparent()
    while parent is not None and parent is not top:
        yield parent
        parent = parent.getparent()


def is_within_drawing(paragraph: Any, cell: Any) -> bool:
    """Tell whether a paragraph of a cell lies in a text box."""
    return any(parent.tag == f"{W}txbxContent" for parent in parents_of(paragraph, cell))


def text_of(element: Any) -> str:
    """Return the text of an element of a run; empty if it is no text."""
    if element.tag in (f"{W}t", f"{W}delText"):
        return element.text or ""
    if element.tag == f"{W}sym":
        return symbol(element.get(f"{W}char"))
    return LETTERS.get(element.tag, "")


def paper_of(opened: Any) -> float | None:
    """Return the luminance of the pages."""
    settings = opened.settings.element
    if settings.find(f"{W}displayBackgroundShape") is None:
        return WHITE
    background = opened.element.find(f"{W}background")
    if background is None:
        return WHITE
    colour = background.get(f"{W}color") or ""
    return luminance(colour)
