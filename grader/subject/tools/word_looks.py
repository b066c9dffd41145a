"""Whether a reader of a Word document sees a run: hidden text, colours, sizes, inherited from styles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"

CONTRAST = 40.0
"""The least difference in luminance that a reader sees."""
LEAST_HALF_POINTS = 5
"""A smaller font shows nobody a letter."""
LEAST_WIDTH = 10
"""Letters that are drawn narrower, in per cent of their width, are lines."""
LEAST_LINE = 40
"""Twentieths of a point; a line of an exact height below it shows no letter."""
STYLES_DEEP = 20
WHITE = 255.0

_HIGHLIGHTS = {"black": 0.0, "darkBlue": 15.0, "darkRed": 38.0, "darkGreen": 75.0, "blue": 29.0, "red": 76.0}
"""Luminances of dark highlights; others are bright, and are taken for white."""
_LIGHT = frozenset({"background1", "light1", "bg1", "lt1"})
_OFF = frozenset({"0", "false", "off", "none"})
_STRIKES = ("strike", "dstrike")
_LOOKS = ("vanish", "color", "sz", "w", "shd", "highlight", *_STRIKES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """The place on which runs stand."""

    luminance: float | None = WHITE
    """None where it is not known, so that no colour hides a text."""
    hidden: str = ""
    """How everything there is hidden; empty if it is not."""


class Looks:
    """The styles of a document, and how runs look by them."""

    def __init__(self, styles: Any) -> None:
        """`styles` is the root of the part with the styles, None if there is none."""
        self._styles: dict[str, Any] = {}
        self._default = ""
        self._defaults: Any = None
        for style in styles if styles is not None else ():
            if style.tag == f"{W}style":
                name = style.get(f"{W}styleId") or ""
                self._styles[name] = style
                if style.get(f"{W}type") == "paragraph" and on(style.get(f"{W}default"), absent=False):
                    self._default = name
            elif style.tag == f"{W}docDefaults":
                self._defaults = style.find(f"{W}rPrDefault/{W}rPr")
        self._inherited: dict[tuple[str, str], dict[str, Any]] = {}

    def style_chain(self, name: str) -> Iterator[Any]:
        """Yield a style and those that it is based on."""
        for _ in range(STYLES_DEEP):
            style = self._styles.get(name)
            if style is None:
                return
            yield style
            name = value(style, "basedOn")

    def paragraph_style(self, paragraph: Any) -> str:
        """Return the name of a paragraph's style."""
        properties = paragraph.find(f"{W}pPr")
        return (value(properties, "pStyle") if properties is not None else "") or self._default

    def paragraph_property(self, paragraph: Any, name: str) -> Any:
        """Return an element of a paragraph's properties, or of its styles'; None if there is none."""
        for owner in (paragraph, *self.style_chain(self.paragraph_style(paragraph))):
            element = owner.find(f"{W}pPr/{W}{name}")
            if element is not None:
                return element
        return None

    def style_name(self, style: str) -> str:
        """Return the name of a style as people read it, in lower case."""
        element = self._styles.get(style)
        return (value(element, "name") if element is not None else "").lower()

    def ground(self, paragraph: Any, around: Ground) -> Ground:
        """Return the ground of a paragraph on that of its page or cell."""
        spacing = self.paragraph_property(paragraph, "spacing")
        if spacing is not None and spacing.get(f"{W}lineRule") == "exact":
            height = number(spacing.get(f"{W}line"))
            if height is not None and 0 <= height < LEAST_LINE:
                return Ground(luminance=around.luminance, hidden="lines without height")
        shade = shading(self.paragraph_property(paragraph, "shd"))
        return around if shade is None else Ground(luminance=shade, hidden=around.hidden)

    def hidden(self, run: Any, style: str, ground: Ground) -> str:
        """Return how a run in a paragraph of some style is hidden; empty if a reader sees it."""
        return ground.hidden or _hidden(self._look(run, style), ground)

    def struck(self, run: Any, style: str) -> bool:
        """Tell whether a run in a paragraph of some style is struck out."""
        look = self._look(run, style)
        return any(name in look and on(look[name].get(f"{W}val")) for name in _STRIKES)

    def _look(self, run: Any, style: str) -> dict[str, Any]:
        properties = run.find(f"{W}rPr")
        character = value(properties, "rStyle") if properties is not None else ""
        look = dict(self._from_styles(style, character))
        for name in _LOOKS:
            element = properties.find(f"{W}{name}") if properties is not None else None
            if element is not None:
                look[name] = element
        return look

    def _from_styles(self, paragraph: str, character: str) -> dict[str, Any]:
        key = paragraph, character
        if key not in self._inherited:
            owners = [*self.style_chain(character), *self.style_chain(paragraph)]
            parts = [owner.find(f"{W}rPr") for owner in owners] + [self._defaults]
            look: dict[str, Any] = {}
            for part in parts:
                for name in _LOOKS if part is not None else ():
                    element = part.find(f"{W}{name}")
                    if element is not None:
                        look.setdefault(name, element)
            self._inherited[key] = look
        return self._inherited[key]


def _hidden(look: dict[str, Any], ground: Ground) -> str:
    vanish = look.get("vanish")
    if vanish is not None and on(vanish.get(f"{W}val")):
        return "hidden text"
    size, width = (number(look[name].get(f"{W}val")) if name in look else None for name in ("sz", "w"))
    if size is not None and size < LEAST_HALF_POINTS:
        return f"text of {size / 2:g} points"
    if width is not None and 0 < width < LEAST_WIDTH:
        return "text that is squeezed to lines"
    paper = ground.luminance
    shade = shading(look.get("shd"))
    highlight = value_of(look.get("highlight"))
    if highlight and highlight not in _OFF:
        paper = _HIGHLIGHTS.get(highlight, WHITE if highlight in ("white", "lightGray") else None)
    elif shade is not None:
        paper = shade
    ink = _ink(look.get("color"))
    if paper is None or ink is None or abs(ink - paper) >= CONTRAST:
        return ""
    return "text in the colour of the paper"


def _ink(colour: Any) -> float | None:
    """Return the luminance of a text's colour; None if it is automatic, which is always legible."""
    if colour is None:
        return None
    ink = luminance(colour.get(f"{W}val") or "")
    if ink is None and colour.get(f"{W}themeColor") in _LIGHT:
        return WHITE
    return ink


def shading(element: Any) -> float | None:
    """Return the luminance of a shaded ground; None if it is not shaded or has the automatic colour."""
    return luminance(element.get(f"{W}fill") or "") if element is not None else None


def luminance(colour: str) -> float | None:
    """Return the luminance of a colour in hexadecimal, from 0 to 255; None if it is none."""
    try:
        red, green, blue = bytes.fromhex(colour)
    except ValueError:
        return None
    return (77 * red + 150 * green + 29 * blue) / 256


def value(owner: Any, name: str) -> str:
    """Return the value of a child element; empty if there is none."""
    return value_of(owner.find(f"{W}{name}"))


def value_of(element: Any) -> str:
    """Return the value of an element; empty if there is none."""
    return (element.get(f"{W}val") or "") if element is not None else ""


def number(text: str | None) -> float | None:
    """Return a number as Word writes it; None if it is none."""
    try:
        return float((text or "").removesuffix("%")[:20])
    except ValueError:
        return None


def on(text: str | None, *, absent: bool = True) -> bool:
    """Return the value of a switch; `absent` if it has none."""
    return absent if text is None else text.lower() not in _OFF
