"""The visible text of HTML, alone or between pieces of Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser

from .contents import HTML_COMMENT
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

LEAST_CONTRAST = 40.0
"""Letters whose luminance differs less from that of their ground show nobody anything; as in a PDF."""

_WITHOUT_PICTURE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0*\.?0*\s*(?:;|$|!)"
    r"|font-size\s*:\s*(?:0|[01](?:\.\d+)?\s*(?:px|pt))\s*(?:;|$|!)"
    r"|(?<![-\w])color\s*:\s*transparent|filter\s*:\s*opacity\(\s*0*\.?0*%?\s*\)"
    r"|(?<![-\w])(?:left|right|top|bottom|text-indent|margin(?:-\w+)?)\s*:[^;]*-\s*\d{3,}\s*(?:px|pt|em|rem|%|vw|vh)"
    r"|(?<![-\w])(?:max-)?(?:height|width)\s*:\s*[01]?(?:\.\d+)?\s*(?:px|pt|em|%)?\s*(?:;|$|!)"
    r"|clip(?:-path)?\s*:\s*(?:inset\(\s*(?:100|[5-9]\d)%|circle\(\s*0|rect\((?:\s*[01](?:px)?[\s,]+){3}[01])"
    r"|scale(?:3d|x|y)?\s*[:(]\s*0*\.?0*\s*(?:[,);]|$)|font-size\s*:\s*0*\.[01]\d*\s*(?:em|rem)",
    re.IGNORECASE,
)
"""Styles that take a picture out of sight; of others some show it smaller, or with a shadow."""
_HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|-\s*\d{2,}"
    r"|(?:font-size|line-height)\s*:\s*(?:(?:0|[0-5](?:\.\d+)?\s*(?:px|pt)|[0-4]?\d(?:\.\d+)?\s*%)\s*(?:;|$|!)|0*\.[0-4])"
    r"|(?<![-\w])(?:max-)?(?:height|width)\s*:\s*"
    r"(?:[0-7](?:\.\d+)?\s*(?:px|pt|mm)|(?:[01](?:\.\d+)?|0*\.\d+)\s*[a-z%]*)\s*(?:;|$|!)",
    re.IGNORECASE,
)
"""Values that take text out of sight."""
_ANY_VALUE = re.compile(r"[\\(]|/\*|contents")
_PLAIN = re.compile(
    r"text-(?:align|decoration|transform|indent)[\w-]*|font-(?:weight|style|family|size|variant)|line-height"
    r"|(?:border|padding|margin|list-style|page-break|break)[\w-]*|(?:min-|max-)?(?:width|height)|overflow[\w-]*"
    r"|vertical-align|white-space|word-(?:wrap|break)|float|clear|display|table-layout|caption-side|box-sizing"
    r"|transform|color|background(?:-color)?|flex-(?:direction|wrap)|justify-content|align-(?:items|content|self)"
)
"""Properties by which a style hides nothing, where their values do not."""
_SCALED = re.compile(
    r"scale\(\s*(?:0?\.[2-9]\d*|[1-9]\d*(?:\.\d+)?)\s*\)|rgba?\(\s*[\d.]+[\s,]+[\d.]+[\s,]+[\d.]+\s*\)"
)
"""Functions in values that hide nothing by themselves."""
_COLOUR = re.compile(
    r"#(?P<hex>[0-9a-f]{3}|[0-9a-f]{6})|rgba?\((?P<rgb>[^)]+)\)|(?P<name>[a-z]+)", re.IGNORECASE
)
_NAMED = {
    **dict.fromkeys(("black", "inherit", "initial", "navy", "darkblue", "currentcolor", "windowtext"), 0.0),
    **dict.fromkeys(("blue", "maroon", "darkred", "purple", "indigo", "darkgreen", "green", "brown"), 60.0),
    **dict.fromkeys(
        ("red", "crimson", "firebrick", "teal", "olive", "dimgray", "dimgrey", "steelblue"), 90.0
    ),
    **dict.fromkeys(
        ("gray", "grey", "orange", "darkorange", "tomato", "royalblue", "magenta", "fuchsia"), 130.0
    ),
    **dict.fromkeys(("white", "none", "transparent"), 255.0),
}
"""The luminance of colours, of a ground without any that of paper."""

_DECORATIONS = ("border", "box-shadow", "text-shadow", "text-decoration", "list-style", "cursor")
"""Beginnings of properties whose values hide no text, whatever they are."""
_COMMENT_END = re.compile("--!?>")
_EMPTY_COMMENT = re.compile("<!--(?:-?>)")
_NAME = re.compile(r"</\s*[A-Za-z][^\s>/]*")
_READ_ELSEWHERE = frozenset({"alt", "title", "href", "src", "style"})
"""Attributes that some readers show, that are addresses, or that are looked at for what they hide."""
ATTRIBUTE_WORDS = 4
"""So many words in an attribute are more than a name or a number."""
_BEYOND_UNICODE = re.compile(r"&#\d{8,};?")
"""A reference of so many digits; Python refuses to read some thousands of them."""


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
        self._open: list[tuple[str, str, bool]] = []
        """The open elements, each with how it hides its text, if it does, and whether it strikes it out."""
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
        return next((how for _, how, _ in self._open if how), "")

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
        values = {name: value or "" for name, value in attrs}
        words = " ".join(f"{name} {value}" for name, value in values.items() if name not in _READ_ELSEWHERE)
        if len(words.split()) - len(values) >= ATTRIBUTE_WORDS or len(values) > ATTRIBUTE_WORDS:
            self._hide("attributes of HTML", words)
        self.styled |= tag == "style" or (tag == "link" and "stylesheet" in values.get("rel", "").lower())
        is_shown = "hidden" not in values and not _WITHOUT_PICTURE.search(values.get("style", ""))
        if tag == "img" and not self.hiding and is_shown:
            self._picture(values.get("src", ""))
        if tag in VOID or len(self._open) >= DEEP:
            return
        how = "an element that shows nothing" if tag in NEVER_SHOWN else ""
        strikes = tag in STRIKES or bool(LINE_THROUGH.search(values.get("style", "")))
        self._open.append((tag, how or ("HTML that hides it" if _hidden(values) else ""), strikes))
        if strikes and not self.hiding:
            self._shown(STRIKE)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open an element that ends in its own tag; one that hides its text stays open, as in HTML."""
        depth = len(self._open)
        self.handle_starttag(tag, attrs)
        if not any(how for _, how, _ in self._open[depth:]):
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        """Close an element, and those that were left open in it."""
        places = [place for place, (name, *_) in enumerate(self._open) if name == tag]
        if places:
            struck = any(strikes for *_, strikes in self._open[places[-1] :]) and not self.hiding
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


def _hidden(values: dict[str, str]) -> bool:
    """Tell whether an element may hide its text: by what is not known to show it, or by colours."""
    style = values.get("style", "").lower()
    named = [part.partition(":") for part in style.split(";") if part.strip()]
    given = {name.strip(): value.replace("!important", "").strip() for name, _, value in named}
    colour = given.get("color", values.get("color", "black").lower())
    ground = given.get("background-color", given.get("background", values.get("bgcolor", "none").lower()))
    given = {name: value for name, value in given.items() if not name.startswith(_DECORATIONS)}
    checked = _SCALED.sub("", ";".join(f"{name}:{value}" for name, value in given.items()))
    return (
        not {"hidden", "popover"}.isdisjoint(values)
        or not all(map(_PLAIN.fullmatch, given))
        or bool(_HIDING.search(checked) or _ANY_VALUE.search(checked))
        or abs(_luminance(colour, 255.0) - _luminance(ground, 0.0)) < LEAST_CONTRAST
    )


def _luminance(colour: str, unknown: float) -> float:
    """Return the luminance of a colour, from 0 to 255; `unknown` for one that is not read."""
    match = _COLOUR.fullmatch(colour.strip())
    if match is None:
        return unknown
    if match["name"]:
        return _NAMED.get(match["name"], unknown)
    if match["hex"]:
        digits = match["hex"] if len(match["hex"]) == 6 else "".join(2 * digit for digit in match["hex"])
        parts = [float(part) for part in bytes.fromhex(digits)]
    else:
        numbers = re.findall(r"\d+(?:\.\d+)?", match["rgb"])
        if len(numbers) != 3 or "%" in match["rgb"]:
            return unknown
        parts = [min(255.0, float(part[:6])) for part in numbers]
    red, green, blue = parts
    return (77 * red + 150 * green + 29 * blue) / 256
