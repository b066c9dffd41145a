"""Text and pictures of a page of a PDF that a reader sees.

The page is rendered as it is, and again without its texts, its pictures or both. What differs in the place of
a character is the character's ink, whatever could hide it: render mode 3, white on white, a picture above it,
a clip path, optional content that is off, an alpha of 0, a place outside of the page. Texts that lie on one
another are taken away in turn, so that none lends its ink to another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pypdfium2.raw as pdfium

from .canvas import PAPER, Canvas, LateError, Luminance, span
from .characters import Characters
from .notes import painted_by_readers
from .pictures import may_be_picture, pictures

SIDE_POINTS = 1e6
SCAN = 0.5
"""Pictures over this share of a page may be a scan, whose text a program wrote wherever it liked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageView:
    """Text and pictures of one page that a reader sees."""

    text: str = ""
    unveiled: str = ""
    """The text with the words that surely no reader sees."""
    hidden: int = 0
    """Words of the file that no reader sees."""
    pictures: frozenset[tuple[int, int]] = field(default_factory=frozenset)
    """A key for each."""
    drawn: bool = False
    """Whether there is, or may be, ink beside the text's."""
    depicted: bool = False
    """Whether that may be a picture: lines of a plot, say, but not a bullet or one rule."""
    strays: bool = False
    """Whether something may be drawn beside text and pictures: handwriting, a note, lines of a table."""
    blank: bool = False
    """Whether it surely has one colour."""
    opened: bool = True
    hidden_words: tuple[str, ...] = ()
    """The first of the hidden words."""
    lines: tuple[tuple[str, float], ...] = ()
    """The lines of the text, each with where it ends on the rendering, in pixels from the top."""
    boxes: tuple[tuple[int, int, int, int], ...] = ()
    """The places of the pictures on the rendering: left, top, right, bottom."""
    rendering: Luminance | None = None
    """None if it was not asked for, or could not be made."""


def view(page: Any, late: Callable[[], bool], *, rendering: bool = False) -> PageView:
    """Render a page with and without its parts; `late` says when it is given up."""
    try:
        return _view(page, late, rendering=rendering)
    except LateError:
        return PageView(opened=False, drawn=True, depicted=True)


def _view(page: Any, late: Callable[[], bool], *, rendering: bool) -> PageView:
    width, height = pdfium.FPDF_GetPageWidthF(page), pdfium.FPDF_GetPageHeightF(page)
    if not (0 < width < SIDE_POINTS and 0 < height < SIDE_POINTS):
        return PageView(opened=False, drawn=True, depicted=True)
    canvas = Canvas(page, width, height, late)
    characters = Characters(page, canvas, late)
    images = list(pictures(page, width * height))
    whole = canvas.render()
    textless = canvas.render(without=characters.objects) if characters.objects else whole
    painted = painted_by_readers(page)
    characters.look(canvas, whole, textless, canvas.on_it(painted))
    bare = textless
    if images:
        bare = canvas.render(without=[*characters.objects, *(picture.object for picture in images)])
    shown = [picture for picture in images if picture.shows(canvas, whole, textless, bare)]
    reading = characters.read(scan=sum(picture.area for picture in shown) >= SCAN * width * height)
    undrawable = characters.undrawable or len(painted) > 0
    return PageView(
        text=reading.text,
        unveiled=reading.unveiled,
        hidden=reading.hidden,
        pictures=frozenset(picture.key() for picture in shown),
        drawn=undrawable or span(textless) > PAPER,
        depicted=undrawable or may_be_picture(textless, canvas.scale),
        strays=undrawable or may_be_picture(bare, canvas.scale),
        blank=not undrawable and span(whole) <= PAPER,
        hidden_words=reading.hidden_words,
        lines=reading.lines,
        boxes=tuple(picture.place(canvas) for picture in shown),
        rendering=whole if rendering else None,
    )
