"""Reads a document that a student wrote, of whatever format: what a reader sees of it, and what it hides."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from typing import Any, TypeVar

from .contents import Contents, UnreadableError
from .markdown import read_markdown, read_text
from .notebook import read_notebook
from .pdf import HEAD_BYTES, is_pdf
from .pdf_pages import read_pdf_pages
from .word import read_word

_READERS: dict[str, Callable[[str], Contents]] = {
    ".ipynb": read_notebook,
    ".md": read_markdown,
    ".markdown": read_markdown,
}
"""Readers of formats that are told by their names; other texts are plain."""
_BINARY = {
    ".pdf": "PDF",
    ".docx": "Word document (.docx)",
}
_TEXTS = {".ipynb": "the notebook itself", ".md": "a text file (.md)", ".txt": "a text file (.txt)"}
_ANY = "a PDF, a .docx, .ipynb, .md or .txt file"
"""What to hand in where the name is of no format that is read, so that the course accepts others as well."""
_FORMATS = {
    b"%PDF-": "a PDF",
    b"PK\x03\x04": "a Word file or another zip",
    b"PK\x05\x06": "an empty zip archive",
    b"\xd0\xcf\x11\xe0": "an old or an encrypted Word file",
    b"{\\rtf": "an RTF file",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"\x1f\x8b": "a compressed file",
    b"7z\xbc\xaf": "a 7z archive",
    b"Rar!": "a rar archive",
}
Result = TypeVar("Result")

_PACKAGES = {
    "docx": "python-docx",
    "lxml": "python-docx",
    "nbformat": "nbformat",
    "markdown_it": "markdown-it-py",
}


def main(path: str) -> dict[str, Any]:
    """Read a file; see `grader.model.document.Document`.

    The answer has `problem` alone if the file cannot be read, and `package` alone if this machine lacks the
    package that reads its format.
    """
    return answer_for(lambda: read_document(path).plain())


def answer_for(read: Callable[[], Result]) -> Result | dict[str, Any]:
    """Return what was read, or why it cannot be."""
    try:
        return read()
    except UnreadableError as error:
        return {"problem": str(error)}
    except MemoryError:
        return {"problem": "takes too much memory to read; make it smaller"}
    except RecursionError:
        return {"problem": "is nested too deeply to be read"}
    except ImportError as error:
        if error.name is None or (package := _PACKAGES.get(error.name.partition(".")[0])) is None:
            raise
        return {"package": package}


def read_document(path: str) -> Contents:
    """Read a file by what it holds, and texts by their name.

    Raises:
        UnreadableError: it is no document, or a damaged one.
        ImportError: the package that reads it is not installed.
    """
    head = _head(path)
    suffix = os.path.splitext(path)[1].lower()
    if is_pdf(head):
        return read_pdf_pages(path)
    if is_package(head) and suffix != ".pdf":
        return read_word(path)
    kind = kind_of(head)
    if suffix in _BINARY:
        raise UnreadableError(f"is no {_BINARY[suffix]}, but {kind}; hand in a {_BINARY[suffix]}")
    if kind != "text" and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UnreadableError(f"is {kind}; hand in {_TEXTS.get(suffix, _ANY)}")
    return _READERS.get(suffix, read_text)(path)


def is_package(head: bytes) -> bool:
    """Tell whether a file that begins so is a zip archive, as Word documents are."""
    return head.startswith(b"PK\x03\x04")


def kind_of(head: bytes) -> str:
    """Say what a file is that begins so."""
    for start, name in _FORMATS.items():
        if head.startswith(start):
            return name
    return "data" if b"\0" in head else "text"


def _head(path: str) -> bytes:
    """Return how a file begins; links are not followed.

    Raises:
        UnreadableError: there is no such file, or it is empty.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        raise UnreadableError("is no file that can be opened") from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise UnreadableError("is no file, but a folder or a device")
        head = os.read(descriptor, HEAD_BYTES)
    finally:
        os.close(descriptor)
    if not head:
        raise UnreadableError("is empty")
    return head
