"""Whether a reader of a Word document sees a run: hidden text, colours, sizes, inherited from styles."""

from __future__ import annotations

import re
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
_DARK_OF_THEME = frozenset({"tx1", "dk1"})
DARK = 60.0
"""The greatest luminance of letters with a filling that are taken for black."""
_OFF = frozenset({"0", "false", "off", "none"})
_STRIKES = ("strike", "dstrike")
ALTERNATIVES = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
W14 = "{http://schemas.microsoft.com/office/word/2010/wordml}"
FILL = f"{W14}textFill"
_LEGIBLE = frozenset(
    f"{W}{name}"
    for name in (
        *("rStyle", "b", "bCs", "i", "iCs", "u", "caps", "smallCaps", "outline", "shadow"),
        *("emboss", "imprint"),
        *("noProof", "snapToGrid", "webHidden", "kern", "effect", "bdr", "vertAlign", "rtl", "cs", "em"),
        *("lang", "specVanish", "oMath", "ins", "del", "moveFrom", "moveTo", "rPrChange"),
    )
) | frozenset(
    f"{W14}{name}"
    for name in (
        *("glow", "shadow", "reflection", "textOutline", "props3d", "scene3d"),
        *("ligatures", "numForm", "numSpacing", "stylisticSets", "cntxtAlts"),
    )
)
"""Properties of a run that leave its text legible, whatever they say."""
_READ = ("vanish", "color", "sz", "szCs", "w", "shd", "highlight", "rFonts", "spacing", "position", *_STRIKES)
"""Properties of a run that are read."""
_SYMBOLS = re.compile(
    r"^symbol|standard symbols|wingding|webding|dingbat|\bmt extra\b|barcode|marlett", re.IGNORECASE
)
"""Names of fonts whose glyphs are not the letters of a text."""
MOST_CLOSER = 40
"""Twentieths of a point: letters that are moved closer together lie on each other."""
FARTHEST = 20_000
"""Twentieths of a point, beyond the sides of a sheet of paper."""
MOST_RAISED = 48
"""Half points; text that is raised or lowered further leaves its line."""


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
        frame = self.paragraph_property(paragraph, "framePr")
        if frame is not None and not all(0 <= _place(frame, axis) <= FARTHEST for axis in ("x", "y")):
            return Ground(luminance=around.luminance, hidden="a frame outside of the page")
        shade = shading(self.paragraph_property(paragraph, "shd"))
        return around if shade is None else Ground(luminance=shade, hidden=around.hidden)

    def hidden(self, run: Any, style: str, ground: Ground) -> str:
        """Return how a run in a paragraph of some style is hidden; empty if a reader sees it."""
        return ground.hidden or _hidden(self._look(run, style), ground)

    def hidden_by_table(self, style: str, ground: Ground) -> str:
        """Return how the style of a table hides, or strikes out, text in some of its cells; empty if not."""
        for owner in self.style_chain(style):
            for properties in owner.iter(f"{W}rPr"):
                look = dict(_properties(properties))
                if how := _hidden(look, ground):
                    return how
                if any(name in look and on(look[name].get(f"{W}val")) for name in _STRIKES):
                    return "text that the style of its table strikes out"
        return ""

    def struck(self, run: Any, style: str) -> bool:
        """Tell whether a run in a paragraph of some style is struck out."""
        look = self._look(run, style)
        return any(name in look and on(look[name].get(f"{W}val")) for name in _STRIKES)

    def _look(self, run: Any, style: str) -> dict[str, Any]:
        properties = run.find(f"{W}rPr")
        character = value(properties, "rStyle") if properties is not None else ""
        look = dict(self._from_styles(style, character))
        return look | dict(_properties(properties))

    def _from_styles(self, paragraph: str, character: str) -> dict[str, Any]:
        key = paragraph, character
        if key not in self._inherited:
            owners = [*self.style_chain(character), *self.style_chain(paragraph)]
            parts = [owner.find(f"{W}rPr") for owner in owners] + [self._defaults]
            look: dict[str, Any] = {}
            for part in parts:
                for name, element in _properties(part):
                    look.setdefault(name, element)
            # Toggles add up: off in the style of characters leaves on what that of a paragraph turns on.
            for name in ("vanish", *_STRIKES):
                for chain in (self.style_chain(character), self.style_chain(paragraph)):
                    found = (owner.find(f"{W}rPr/{W}{name}") for owner in chain)
                    nearest = next((element for element in found if element is not None), None)
                    if nearest is not None and on(nearest.get(f"{W}val")):
                        look[name] = nearest
            self._inherited[key] = look
        return self._inherited[key]


def _place(frame: Any, axis: str) -> float:
    """Return where a frame stands, in twentieths of a point; what cannot be read lies outside."""
    place = number(frame.get(f"{W}{axis}", "0"))
    return -1.0 if place is None else place


def _properties(part: Any) -> Iterator[tuple[str, Any]]:
    """Yield what run properties say about how text looks: by short names what is read, else by tags."""
    for element in part if part is not None else ():
        if not isinstance(element.tag, str) or element.tag in _LEGIBLE:
            continue
        if element.tag.startswith(ALTERNATIVES):
            yield from _properties(element)
            continue
        name = element.tag.removeprefix(W)
        yield (name if name in _READ else element.tag), element


def _hidden(look: dict[str, Any], ground: Ground) -> str:
    vanish = look.get("vanish")
    if vanish is not None and on(vanish.get(f"{W}val")):
        return "hidden text"
    size, complex_size, width = (
        number(look[name].get(f"{W}val")) if name in look else None for name in ("sz", "szCs", "w")
    )
    for half_points in (size, complex_size):
        if half_points is not None and half_points < LEAST_HALF_POINTS:
            return f"text of {half_points / 2:g} points"
    if width is not None and 0 < width < LEAST_WIDTH:
        return "text that is squeezed to lines"
    if how := _misplaced(look):
        return how
    paper = ground.luminance
    shade = shading(look.get("shd"))
    highlight = value_of(look.get("highlight"))
    if highlight and highlight not in _OFF:
        paper = _HIGHLIGHTS.get(highlight, WHITE if highlight in ("white", "lightGray") else None)
    elif shade is not None:
        paper = shade
    ink = 0.0 if FILL in look else _ink(look.get("color"))
    if paper is None or ink is None or abs(ink - paper) >= CONTRAST:
        return ""
    return "text in the colour of the paper"


def _misplaced(look: dict[str, Any]) -> str:
    """Return how letters are replaced, moved, or drawn in a way that is not read; empty if they are not."""
    fonts = look.get("rFonts")
    if fonts is not None and any(_SYMBOLS.search(name) for name in fonts.attrib.values()):
        return "text in a font of symbols"
    closer, raised = (
        number(value_of(look.get(name))) if name in look else 0.0 for name in ("spacing", "position")
    )
    if closer is None or closer < -MOST_CLOSER:
        return "letters on each other"
    if raised is None or abs(raised) > MOST_RAISED:
        return "text beside its line"
    unread = next((n for n in look if n.startswith("{") and not (n == FILL and _is_dark(look[n]))), "")
    return f"text with a property that is not read ({unread.rpartition('}')[2]})" if unread else ""


def _is_dark(fill: Any) -> bool:
    """Tell whether letters are filled with one dark colour that lets nothing shine through."""
    colours = fill.findall(f"{W14}solidFill/*")
    if len(fill) != 1 or len(colours) != 1 or fill.find(".//{*}alpha") is not None:
        return False
    if colours[0].get(f"{W14}val") in _DARK_OF_THEME:
        return len(colours[0]) == 0
    ink = luminance(colours[0].get(f"{W14}val") or "")
    return ink is not None and ink < DARK and len(colours[0]) == 0


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
    if element is None:
        return None
    ground = "color" if element.get(f"{W}val") == "solid" else "fill"
    return luminance(element.get(f"{W}{ground}") or "")


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
