"""The visible text of HTML, alone or between pieces of Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import NamedTuple

from .contents import HTML_COMMENT
from .html_styles import HIDES, PLAIN, HtmlStyle, shows_picture
from .strikes import LINE_THROUGH, STRIKE, STRIKES

NEVER_SHOWN = frozenset(
    {"script", "style", "template", "head", "title", "object", "iframe", "noscript", "noembed", "noframes"}
    | {"datalist", "dialog", "annotation", "annotation-xml", "audio", "video", "canvas"}
    | {"rp", "meter", "progress", "frameset"}
)
VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
)
BREAKS = frozenset(
    {"p", "div", "br", "li", "tr", "table", "ul", "ol", "pre", "h1", "h2", "h3", "h4", "h5", "h6", "details"}
)
DEEP = 200

_COMMENT_END = re.compile("--!?>")
_EMPTY_COMMENT = re.compile("<!--(?:-?>)")
_NAME = re.compile(r"</\s*[A-Za-z][^\s>/]*")
_READ_ELSEWHERE = frozenset({"alt", "title", "href", "src", "style"})
"""Attributes that some readers show, that are addresses, or that are looked at for what they hide."""
ATTRIBUTE_WORDS = 4
"""So many words in an attribute are more than a name or a number."""
_BEYOND_UNICODE = re.compile(r"&#\d{8,};?")
"""A reference of so many digits; Python refuses to read some thousands of them."""


class _Element(NamedTuple):
    """An open element."""

    name: str
    how: str
    """How it hides its text; empty if it does not."""
    strikes: bool
    """Whether it strikes its text out."""
    style: HtmlStyle


class HtmlText(HTMLParser):
    """Passes on visible text, hidden text with how it is hidden, and pictures; may be fed piece by piece."""

    def __init__(
        self,
        shown: Callable[[str], object],
        hide: Callable[[str, str], object],
        picture: Callable[[str], object],
    ) -> None:
        super().__init__(convert_charrefs=True)
        self._shown = shown
        self._hide = hide
        self._picture = picture
        self._within_tag = False
        """Whether what was fed last ends in a tag: readers show nothing up to its end."""
        self._open: list[_Element] = []
        self.styled = False
        """Whether a style sheet was there, which is not read and may hide or strike out anything."""
        self.malformed = False
        """Whether a declaration was there that Python's parser does not read, with what came behind it."""

    def feed(self, data: str) -> None:
        """Take a piece of HTML; a reference to a character beyond Unicode stands for none."""
        self._within_tag = False
        try:
            super().feed(_BEYOND_UNICODE.sub("\ufffd", data))
        except AssertionError:  # so Python's parser ends on `<![word[`
            self.malformed = True
            self.reset()
        self._within_tag = self.rawdata.startswith("<") and self.cdata_elem is None

    def end(self) -> None:
        """Take what came last: a comment that nothing ends hides the rest of the document."""
        if self.rawdata.startswith("<!--"):
            self.handle_comment(self.rawdata[len("<!--") :])
            self.reset()

    def parse_comment(self, i: int, report: bool = True) -> int:
        """Read a comment to the end that HTML gives it: Python's parser also ends one at `-- >`."""
        if empty := _EMPTY_COMMENT.match(self.rawdata, i):
            return empty.end()
        end = _COMMENT_END.search(self.rawdata, i + len("<!--"))
        if end is None:
            return -1
        if report:
            self.handle_comment(self.rawdata[i + len("<!--") : end.start()])
        return end.end()

    def parse_endtag(self, i: int) -> int:
        """Read an end tag, in which words may stand behind the name."""
        end = super().parse_endtag(i)
        name = _NAME.match(self.rawdata, i)
        if name and end > name.end() and (words := self.rawdata[name.end() : end].strip("> \n\t/")):
            self._hide(HTML_COMMENT, words)
        return end

    @property
    def hiding(self) -> str:
        """How text that comes now is hidden; empty if it is not."""
        if self._within_tag:
            return "a tag that does not end"
        return next((element.how for element in self._open if element.how), "")

    def text(self, text: str) -> None:
        """Take text that is no HTML, and stands between pieces of it."""
        if how := self.hiding:
            self._hide(how, text)
        else:
            self._shown(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open an element."""
        if tag in BREAKS and not self.hiding:
            self._shown("\n")
        elif tag in ("td", "th") and not self.hiding:
            self._shown("\t")
        values = {name: value or "" for name, value in reversed(attrs)}  # of two the first counts
        words = " ".join(f"{name} {value}" for name, value in values.items() if name not in _READ_ELSEWHERE)
        if len(words.split()) - len(values) >= ATTRIBUTE_WORDS or len(values) > ATTRIBUTE_WORDS:
            self._hide("attributes of HTML", words)
        self.styled |= tag == "style" or (tag == "link" and "stylesheet" in values.get("rel", "").lower())
        if tag == "img" and not self.hiding and shows_picture(values):
            self._picture(values.get("src", ""))
        if tag in VOID:
            return
        if len(self._open) >= DEEP:  # what elements in it do to their text is not looked at
            self._open[-1] = self._open[-1]._replace(how=self._open[-1].how or HIDES)
            return
        style = HtmlStyle.of(tag, values, self._open[-1].style if self._open else PLAIN)
        how = "an element that shows nothing" if tag in NEVER_SHOWN else style.how
        strikes = tag in STRIKES or bool(LINE_THROUGH.search(values.get("style", "")))
        self._open.append(_Element(tag, how, strikes, style))
        if strikes and not self.hiding:
            self._shown(STRIKE)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open an element that ends in its own tag; one that hides its text stays open, as in HTML."""
        depth = len(self._open)
        self.handle_starttag(tag, attrs)
        if not any(element.how for element in self._open[depth:]):
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        """Close an element, and those that were left open in it."""
        places = [place for place, element in enumerate(self._open) if element.name == tag]
        if places:
            struck = any(element.strikes for element in self._open[places[-1] :]) and not self.hiding
            del self._open[places[-1] :]
            if struck:
                self._shown(STRIKE)
        if tag in BREAKS and not self.hiding:
            self._shown("\n")

    def handle_data(self, data: str) -> None:
        """Take text."""
        self.text(data)

    def handle_comment(self, data: str) -> None:
        """Take a comment."""
        self._hide(HTML_COMMENT, data)

    def handle_pi(self, data: str) -> None:
        """Take an instruction to a program."""
        self._hide(HTML_COMMENT, data)

    def handle_decl(self, decl: str) -> None:
        """Take a declaration, which shows nothing."""
        if decl.lower().split() != ["doctype", "html"]:
            self._hide(HTML_COMMENT, decl)

    def unknown_decl(self, data: str) -> None:
        """Take a section such as CDATA, which shows nothing."""
        self._hide(HTML_COMMENT, data)
