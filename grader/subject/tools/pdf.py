"""A PDF, opened by PDFium: how many pages it has, and what a reader sees on them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ctypes import c_char_p
from dataclasses import dataclass, field
from typing import Any

import pypdfium2.raw as pdfium

from .contents import UnreadableError
from .page import PageView, view

PAGES_READ = 200
READ_WITHIN_S = 20.0
PAGE_WITHIN_S = 5.0
"""CPU time: a page that others keep from its core is read like any other."""
NAMED = 5
CHARACTERS = 400_000
HEAD_BYTES = 1024
"""A PDF names itself within so many bytes; readers forgive what stands before."""

_NO_PASSWORD = c_char_p(None)


class ElsewhereError(Exception):
    """Other programs may show what a PDF holds, and PDFium cannot; says of the file why, and what to do.

    Args:
        why: what it is, to be read after "it" or a file's name.
        instead: what to do.
    """

    def __init__(self, why: str, instead: str) -> None:
        super().__init__(f"{why}; {instead}")
        self.why = why


@dataclass(slots=True, kw_only=True)
class VisibleReport:
    """Text and pictures of a document that a reader sees."""

    pages: int
    texts: list[str] = field(default_factory=list)
    """The visible text of each page that was read."""
    unveiled: list[str] = field(default_factory=list)
    """The same with the words that surely no reader sees; empty where a page could not be looked at."""
    pictures: set[tuple[int, int]] = field(default_factory=set)
    """A key for each picture; one that stands on every page has one key."""
    hidden: int = 0
    """Words that are in the file and that no reader sees."""
    hidden_texts: list[list[Any]] = field(default_factory=list)
    """How each text is hidden that is known as one, its number of words, its first words, and its page."""
    drawn: bool = False
    """Whether something is drawn beside the text."""
    depicted: bool = False
    """Whether what is drawn beside the text may be a picture."""
    blank: bool = False
    """Whether every page is of one colour, and nothing else can be there."""
    unread: str = ""
    """Why its text cannot be read; empty if it can."""
    incomplete: str = ""
    """Which part was not read, and why; empty if all was."""


def is_pdf(head: bytes) -> bool:
    """Tell whether a file that begins so is a PDF."""
    return b"%PDF-" in head[:HEAD_BYTES]


@contextmanager
def open_pdf(path: str) -> Iterator[tuple[Any, int]]:
    """Open a PDF, and give it with the number of its pages.

    Raises:
        UnreadableError: it cannot be opened, or has no pages.
        ElsewhereError: it is encrypted in a way that PDFium does not know, or a form without pages.
    """
    opened = pdfium.FPDF_LoadDocument(path.encode(), _NO_PASSWORD)
    if not opened:
        error = pdfium.FPDF_GetLastError()
        if error == pdfium.FPDF_ERR_PASSWORD:
            raise UnreadableError("asks for a password; hand it in without one")
        if error == pdfium.FPDF_ERR_SECURITY:
            raise ElsewhereError("is encrypted, and cannot be opened here", "hand it in without a password")
        raise UnreadableError("is damaged, and cannot be opened")
    try:
        pages = pdfium.FPDF_GetPageCount(opened)
        if pages < 1:
            raise UnreadableError("has no pages")
        if pdfium.FPDF_GetFormType(opened) == pdfium.FORMTYPE_XFA_FULL:
            raise ElsewhereError("is a form that only some programs show (XFA)", "print it to a PDF")
        yield opened, pages
    finally:
        pdfium.FPDF_CloseDocument(opened)


def read_pdf(path: str) -> VisibleReport:
    """Open a PDF and look at its pages, at most `PAGES_READ` of them in `READ_WITHIN_S`.

    Raises:
        UnreadableError: it cannot be opened, or has no pages.
    """
    try:
        with open_pdf(path) as (opened, pages):
            return _contents(opened, pages)
    except ElsewhereError as error:
        return VisibleReport(pages=0, drawn=True, depicted=True, unread=f"it {error.why}")


def _contents(opened: Any, pages: int) -> VisibleReport:
    document = VisibleReport(pages=pages)
    until = time.process_time() + READ_WITHIN_S
    views = []
    for number in range(min(pages, PAGES_READ)):
        if time.process_time() > until or sum(map(len, document.texts)) > CHARACTERS:
            break
        views.append(page_view(opened, number, until))
        document.texts.append(views[-1].text)
        document.pictures |= views[-1].pictures
    if len(views) == pages and all(page.opened for page in views):
        document.unveiled = [page.unveiled for page in views]
    document.hidden = sum(page.hidden for page in views)
    document.drawn = len(views) < pages or any(page.drawn for page in views)
    document.depicted = len(views) < pages or any(page.depicted for page in views)
    document.blank = len(views) == pages and all(page.blank for page in views)
    if not any(page.opened for page in views):
        document.unread = "its pages are damaged, or take too long to render"
    else:
        document.incomplete = "; ".join(_missing_pages(views, pages))
    return document


def _missing_pages(views: Sequence[PageView], pages: int) -> Iterator[str]:
    """Yield a sentence on pages that could not be rendered, and one on those that were left out."""
    damaged = [str(number) for number, page in enumerate(views, start=1) if not page.opened]
    listed = ", ".join(damaged[:NAMED]) + (", …" if len(damaged) > NAMED else "")
    if len(damaged) == 1:
        yield f"page {listed} is damaged, or takes too long to render"
    elif damaged:
        yield f"pages {listed} are damaged, or take too long to render"
    if len(views) < pages:
        yield f"only the first {len(views)} of its {pages} pages are read"


def page_view(opened: Any, number: int, until: float, *, rendering: bool = False) -> PageView:
    """Look at one page, for `PAGE_WITHIN_S` at most; one damaged page takes no other with it."""
    page = pdfium.FPDF_LoadPage(opened, number)
    if not page:
        return PageView(opened=False, drawn=True, depicted=True)
    until = min(until, time.process_time() + PAGE_WITHIN_S)
    try:
        return view(page, lambda: time.process_time() > until, rendering=rendering)
    finally:
        pdfium.FPDF_ClosePage(page)
