"""The pages of a PDF as lines of visible text, pictures and scans."""

from __future__ import annotations

import time
from contextlib import suppress

from .canvas import Luminance
from .contents import Contents, FullError, UnreadableError
from .page import PageView
from .pdf import PAGES_READ, READ_WITHIN_S, ElsewhereError, open_pdf, page_view
from .thumbnails import thumbnail

TEXT_WORDS = 3
"""A page that shows something beside fewer words, say a page number, is taken for a scan."""


def read_pdf_pages(path: str) -> Contents:
    """Read a PDF line by line.

    Raises:
        UnreadableError: it cannot be opened, or none of its pages can be rendered.
    """
    contents = Contents("pdf")
    until = time.process_time() + READ_WITHIN_S
    try:
        with open_pdf(path) as (opened, pages), suppress(FullError):
            contents.pages = pages
            opens = False
            for number in range(pages):
                if number >= PAGES_READ or time.process_time() > until:
                    contents.incomplete = f"only the first {number} of its {pages} pages are read"
                    break
                contents.page = number + 1
                page = page_view(opened, number, until, rendering=True)
                opens |= page.opened
                _add_page(contents, page)
            if not opens:
                raise UnreadableError("has pages that are damaged, or take too long to render")
    except ElsewhereError as error:
        raise UnreadableError(str(error)) from None
    return contents


def _add_page(contents: Contents, page: PageView) -> None:
    if not page.opened:
        contents.scanned.append(contents.page)
        contents.picture(0, 0)
        return
    if page.hidden:
        contents.hide("text without ink on the page", " ".join(page.hidden_words), count=page.hidden)
    scanned = page.depicted and sum(len(line.split()) for line, _ in page.lines) < TEXT_WORDS
    boxes = sorted(page.boxes if not scanned else (), key=lambda box: box[1])
    for line, bottom in page.lines:
        while boxes and boxes[0][1] + boxes[0][3] < 2 * bottom:
            _add_picture(contents, page.rendering, boxes.pop(0))
        contents.add(line)
    for box in boxes:
        _add_picture(contents, page.rendering, box)
    if scanned:
        contents.scanned.append(contents.page)
        height, width = page.rendering.shape if page.rendering is not None else (0, 0)
        _add_picture(contents, page.rendering, (0, 0, width, height))
    elif page.strays:
        contents.drawn.append(contents.page)


def _add_picture(contents: Contents, rendering: Luminance | None, box: tuple[int, int, int, int]) -> None:
    left, top, right, bottom = box
    if contents.room_for_pictures:
        shown = b"" if rendering is None else thumbnail(rendering[top:bottom, left:right])
        contents.picture(right - left, bottom - top, shown)
