"""Markdown and plain text as a reader sees them."""

from __future__ import annotations

import os
import re
import stat
from base64 import b64decode
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import unquote

from .contents import CHARACTERS, Contents, FullError, UnreadableError
from .html_text import ATTRIBUTE_WORDS, HtmlText
from .strikes import STRIKE
from .thumbnails import decoded

PICTURE_BYTES = 8 * 2**20

_DATA = re.compile(r"data:image/[\w.+-]+;base64,(?P<content>[\sA-Za-z0-9+/=]+)", re.IGNORECASE)
_BLANK_LINES = re.compile(r"\n[^\S\n]*\n\s*")
_EMPTY_LIST = ["ordered_list_open", "list_item_open", "list_item_close", "ordered_list_close"]
_ENTRY = _EMPTY_LIST[1:3]
_LISTS = frozenset(
    f"{element}_{end}"
    for element in ("ordered_list", "bullet_list", "list_item")
    for end in ("open", "close")
)
_NO_PARAGRAPH = frozenset(
    ("ordered_list_open", "bullet_list_open", "list_item_close", "table_open", "fence", "code_block")
)
"""What an entry may hold, or end with, before its first paragraph."""
_LIST_STYLES = {".": 0, ")": 1}

Fetch = Callable[[str], bytes]
"""Returns the bytes of a picture by the address that a document gives it; none if it has none of its own."""


def read_text(path: str) -> Contents:
    """Read a plain text: paragraphs between blank lines, pages between form feeds."""
    contents = Contents("text")
    text = _decoded(path, contents)
    pages = text.split("\f")
    contents.pages = len(pages)
    with suppress(FullError):
        for number, page in enumerate(pages, start=1):
            contents.page = number
            for paragraph in _BLANK_LINES.split(page):
                contents.add(paragraph.strip("\n"))
    return contents


def read_markdown(path: str) -> Contents:
    """Read a Markdown file; its pictures are taken from its own folder and from within it, never fetched."""
    contents = Contents("markdown")
    text = _decoded(path, contents)
    with suppress(FullError):
        add_markdown(contents, text, lambda address: _beside(path, address))
    return contents


def add_markdown(contents: Contents, text: str, fetch: Fetch) -> None:
    """Add the blocks of a Markdown text.

    Raises:
        FullError: there is no room for all of it.
    """
    from markdown_it import MarkdownIt

    environment: dict[str, Any] = {}
    tokens = _with_numbers(
        MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text, environment)
    )
    _MarkdownBlocks(contents, fetch).add(tokens)
    references = environment.get("references", {})
    for reference in [*references.values(), *environment.get("duplicate_refs", ())]:
        if title := str(reference.get("title") or ""):
            contents.hide("a link that is not shown", title)
    for label in references:
        if len(label.split()) >= ATTRIBUTE_WORDS:
            contents.hide("the name of a link", label)


class _MarkdownBlocks:
    """Walks over the tokens of a Markdown text."""

    def __init__(self, contents: Contents, fetch: Fetch) -> None:
        self._contents = contents
        self._fetch = fetch
        self._text: list[str] = []
        self._html = HtmlText(self._text.append, contents.hide, self._picture)
        self._pictures: list[str] = []
        self._series: list[int] = []
        """How the numbers of each open list are written."""
        self._number = ""
        self._numbers: dict[int, str] = {}
        self._row: list[str] | None = None
        self._heading = 0
        self._entry = False
        """Whether the next paragraph is the first one of a list's entry."""

    def add(self, tokens: Sequence[Any]) -> None:
        """Add a block for each paragraph, heading, entry, row and piece of code."""
        self._numbers = _numbers(tokens)
        for token in tokens:
            if token.type in _NO_PARAGRAPH:
                self._number_alone()
            if token.type in _LISTS:
                self._list(token)
            elif token.type == "heading_open":
                self._heading = int(token.tag[1:])
            elif token.type == "tr_open":
                self._row = []
            elif token.type == "tr_close":
                self._contents.add("\t".join(self._row or ()), "table")
                self._row = None
            elif token.type == "inline":
                self._inline(token.children or ())
                self._end_inline()
            elif token.type in ("fence", "code_block"):
                if len(token.info.split()) >= ATTRIBUTE_WORDS:
                    self._contents.hide("the name of a language", token.info)
                self._html.text(token.content)
                self._block("code")
            elif token.type == "html_block":
                self._html.feed(token.content)
                self._block("paragraph")
            self._add_pictures()
        self._html.end()
        if self._html.styled:
            self._contents.incomplete = "it has a style sheet, which is not read and may hide text"
        if self._html.malformed:
            self._contents.incomplete = "it has HTML that cannot be read, from <![ on"

    def _list(self, token: Any) -> None:
        """Open or close a list or an entry of one."""
        if token.type in ("ordered_list_open", "bullet_list_open"):
            self._series.append(_LIST_STYLES.get(token.markup, 0))
        elif token.type in ("ordered_list_close", "bullet_list_close"):
            self._series.pop()
        elif token.type == "list_item_open":
            self._entry = True
            self._number = self._numbers[id(token)]
        else:
            self._entry = False  # what follows is no text of an empty one

    def _number_alone(self) -> None:
        """Add the number of an entry that has no paragraph yet."""
        if self._entry and self._number:
            self._block("paragraph")

    def _end_inline(self) -> None:
        if self._row is not None:
            self._row.append(self._taken().replace("\n", " "))
        else:
            self._block("heading" if self._heading else "paragraph", self._heading)
            self._heading = 0

    def _inline(self, tokens: Sequence[Any]) -> None:
        products = _products(tokens)
        for place, token in enumerate(tokens):
            match token.type:
                case "text" | "code_inline":
                    self._html.text(token.content)
                case _ if place in products:
                    self._html.text(token.markup)
                case "s_open" | "s_close":
                    self._html.text(STRIKE)
                case "softbreak" | "hardbreak":
                    self._html.text("\n")
                case "html_inline":
                    self._html.feed(token.content)
                case "image" if not self._html.hiding:
                    self._picture(str(token.attrs.get("src", "")))

    def _taken(self) -> str:
        text = "".join(self._text)
        self._text.clear()
        return text.strip("\n")

    def _block(self, kind: str, level: int = 0) -> None:
        text = self._taken()
        if self._entry and kind != "code":
            self._entry = False
            depth = len(self._series)
            self._contents.add(
                text, "list", number=self._number, level=level or depth, series=self._series[-1]
            )
        else:
            self._contents.add(text, kind, level=level)

    def _picture(self, address: str) -> None:
        self._pictures.append(address)

    def _add_pictures(self) -> None:
        for address in self._pictures[: self._contents.room_for_pictures]:
            self._contents.picture(*decoded(_embedded(address) or self._fetch(address)))
        self._pictures.clear()


def _with_numbers(tokens: Sequence[Any]) -> list[Any]:
    """Return the tokens with some empty entries of lists as the numbers that they are (`20.`).

    Those are a list of one entry, and an entry that does not follow from the one before. So is the number of
    a list of one entry with which another entry begins: `1. 20. These are weights`.
    """
    from markdown_it.token import Token

    def typed(entry: Any, behind: str = "") -> Any:
        return Token("text", "", 0, content=f"{entry.info}{entry.markup}{behind}")

    def block(entry: Any) -> Any:
        return Token("inline", "", 0, children=[typed(entry)])

    rewritten: list[Any] = []
    entries: list[Any] = []
    before: list[int] = []
    """Of each open list the number of the last entry; 0 for none."""
    opened: list[int] = []
    """The places at which open lists begin."""
    for token in tokens:
        rewritten.append(token)
        if token.type in ("ordered_list_open", "bullet_list_open"):
            before.append(0)
            opened.append(len(rewritten) - 1)
        elif token.type in ("ordered_list_close", "bullet_list_close"):
            before.pop()
            start = opened.pop()
            entry = rewritten[start + 1]
            is_alone = sum(each.level == entry.level for each in rewritten[start + 1 :]) == len(_ENTRY)
            begins_entry = start and rewritten[start - 1].type == "list_item_open"
            if [each.type for each in rewritten[start:]] == _EMPTY_LIST:
                rewritten[start:] = [block(entry)]
            elif (
                is_alone
                and begins_entry
                and int(entry.info or 1) > 1
                and rewritten[start + 3].type == "inline"
            ):
                rewritten[start + 3].children.insert(0, typed(entry, " "))
                rewritten[start:] = rewritten[start + 2 : -2]
        elif token.type == "list_item_open":
            entries.append(token)
        elif token.type == "list_item_close":
            entry = entries.pop()
            number = int(entry.info or 0)
            if rewritten[-2] is entry and before[-1] and number not in (before[-1], before[-1] + 1):
                rewritten[-2:] = [block(entry)]
            before[-1] = number
    return rewritten


def _products(tokens: Sequence[Any]) -> set[int]:
    """Return the places of stars that join words, as in `c*k*k` and `x**2 + y**2`: formulas, no emphasis."""
    products: set[int] = set()
    opened: list[int] = []
    for place, token in enumerate(tokens):
        if token.type in ("em_open", "strong_open"):
            opened.append(place)
        elif token.type in ("em_close", "strong_close"):
            begin = opened.pop()
            before = tokens[begin - 1].content[-1:] if begin else ""
            behind = tokens[place + 1].content[:1] if place + 1 < len(tokens) else ""
            if token.markup[0] == "*" and before.isalnum() and behind.isalnum():
                products |= {begin, place}
    return products


def _numbers(tokens: Sequence[Any]) -> dict[int, str]:
    """Return the number of each entry by the identity of its token: as typed, or counted if all are alike."""
    numbers: dict[int, str] = {}
    lists: list[list[Any]] = []
    for token in tokens:
        if token.type in ("ordered_list_open", "bullet_list_open"):
            lists.append([])
        elif token.type == "list_item_open":
            lists[-1].append(token)
        elif token.type in ("ordered_list_close", "bullet_list_close"):
            entries = lists.pop()
            typed = [str(entry.info) if token.type == "ordered_list_close" else "" for entry in entries]
            if len(typed) > 1 and typed[0] and len(set(typed)) == 1:
                typed = [str(int(typed[0]) + place) for place in range(len(typed))]
            numbers |= {id(entry): number for entry, number in zip(entries, typed, strict=True)}
    return numbers


def _embedded(address: str) -> bytes:
    match = _DATA.match(address)
    if match is None:
        return b""
    try:
        return b64decode(match["content"])
    except ValueError:
        return b""


def _beside(path: str, address: str) -> bytes:
    """Return a picture that lies in the document's folder or below; nothing of links and other places."""
    name = unquote(address.partition("#")[0].partition("?")[0])
    parts = name.split("/")
    if "\0" in name or "" in parts or ".." in parts or ":" in parts[0] or len(parts) > 20:
        return b""
    folder = os.path.dirname(path) or "."
    for part in parts:
        folder = os.path.join(folder, part)
        try:
            mode = os.lstat(folder).st_mode
        except OSError:
            return b""
        if stat.S_ISLNK(mode):
            return b""
    if not stat.S_ISREG(mode) or os.path.getsize(folder) > PICTURE_BYTES:
        return b""
    try:
        with open(folder, "rb") as file:
            return file.read(PICTURE_BYTES)
    except OSError:
        return b""


def _decoded(path: str, contents: Contents) -> str:
    """Read a text, of which no more than its first part is taken.

    Raises:
        UnreadableError: it is no text.
    """
    with open(path, "rb") as file:
        content = file.read(4 * CHARACTERS)
        cut = bool(file.read(1))
    encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    if encoding == "utf-8-sig" and not _is_utf_8(content):
        encoding = "cp1252"
    text = content.decode(encoding, "replace")
    if "\0" in text:
        raise UnreadableError("is no text, but other data; hand in a text file")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if cut:
        contents.incomplete = "only its first part is read, for it is too long"
    return contents.start_of(text)


def _is_utf_8(content: bytes) -> bool:
    """Tell whether most characters beyond ASCII are UTF-8: one damaged place does not change the encoding."""
    text = content.decode("utf-8-sig", "replace")
    damaged = text.count("\ufffd")
    beyond = sum(letter > "\x7f" for letter in text)
    return damaged * 4 <= beyond
