"""Style of an element of HTML: its colours and sizes, and whether it may hide the text in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

LEAST_CONTRAST = 40.0
"""Letters whose luminance differs less from that of their ground show nobody anything; as in a PDF."""
LEAST_SIZE = 0.4
"""Letters that are smaller, as a share of the usual size, nobody reads."""
HIDES = "HTML that hides it"
LONGEST = 2000
"""Characters of a style that is looked at."""

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
    r"[\\(]|/\*|-\s*\d{2,}|-\s*[\d.]+\s*(?:in|cm|mm|pc|r?em|ch|ex|v\w+|%)|(?<![#\w])[\d.]+e[-+]?\d"
    r"|display\s*:\s*(?!(?:block|list-item|(?:inline-)?(?:flex|grid|table)|inline(?:-block)?|table-(?:row|cell))\s*(?:;|$|!))"
    r"|overflow[\w-]*\s*:\s*(?:hidden|clip)|font-family\s*:[^;]*dings"
    r"|line-height\s*:\s*(?:(?:0|[0-5](?:\.\d+)?\s*(?:px|pt)|[0-4]?\d(?:\.\d+)?\s*%)\s*(?:;|$|!)|0*\.[0-4])"
    r"|(?<![-\w])(?:max-)?(?:height|width)\s*:\s*"
    r"(?:[0-7](?:\.\d+)?\s*(?:px|pt|mm)|(?:[01](?:\.\d+)?|0*\.\d+)\s*[a-z%]*)\s*(?:;|$|!)"
    r"|(?:margin|padding|text-indent)[\w-]*\s*:[^;]*(?:\d{4}|\d{3}\s*(?:%|v\w+|mm)|\d{2}(?:\.\d+)?\s*(?:in|cm|pc|r?em|ch|ex))",
    re.IGNORECASE,
)
"""Values that take text out of sight, and what may be any value."""
_PLAIN_NAME = re.compile(
    r"text-(?:align|transform|indent)[\w-]*|font-(?:weight|style|family|size|variant)|line-height"
    r"|(?:padding|margin|page-break|break)[\w-]*|(?:min-|max-)?(?:width|height)|overflow[\w-]*"
    r"|vertical-align|white-space|word-(?:wrap|break)|float|clear|display|table-layout|caption-side|box-sizing"
    r"|transform|color|background(?:-color)?|flex-(?:direction|wrap)|justify-content|align-(?:items|content|self)"
)
"""Properties by which a style hides nothing, where their values do not."""
_DECORATIONS = ("border", "box-shadow", "text-shadow", "text-decoration", "list-style", "cursor")
"""Beginnings of properties whose values hide no text, whatever they are."""
_SCALE = re.compile(r"scale\(\s*(\d{0,2}(?:\.\d{1,9})?)\s*\)")
_SIZE = re.compile(r"(\d{1,6}(?:\.\d{0,9})?|\.\d{1,9})\s*(px|pt|em|rem|%)")
_UNITS = {"px": 1 / 16, "pt": 1 / 12, "rem": 1.0}
_SIZES = {
    "xx-small": 0.5,
    "x-small": 0.6,
    "small": 0.8,
    "medium": 1.0,
    "large": 1.2,
    "x-large": 1.5,
    "xx-large": 2.0,
}
_STEPS = {"smaller": 0.8, "larger": 1.2, "inherit": 1.0}
_DRAWN = frozenset({"svg", "mphantom"})
"""Elements whose parts lie where they say, or are left out."""
_SMALL = frozenset({"small", "sub", "sup"})
_COLOUR = re.compile(r"#(?P<hex>[0-9a-f]{3}|[0-9a-f]{6})|rgba?\((?P<rgb>[^)]+)\)|(?P<name>[a-z]+)")
_RGB = re.compile(r"[\s\d.,]+")
_INHERITED = frozenset({"inherit", "none", "transparent", "unset"})
"""What stands for the colour, or the ground, around an element."""
_NAMED = {
    name: luminance
    for luminance, names in (
        (0.0, "black navy darkblue midnightblue mediumblue"),
        (
            60.0,
            "blue maroon darkred purple indigo darkgreen green brown darkslategray darkslategrey saddlebrown",
        ),
        (90.0, "red crimson firebrick teal olive dimgray dimgrey steelblue forestgreen seagreen darkviolet"),
        (
            130.0,
            "gray grey orange darkorange tomato royalblue magenta fuchsia slategray slategrey dodgerblue",
        ),
        (150.0, "chocolate coral salmon violet deeppink hotpink deepskyblue darkgray darkgrey"),
        (225.0, "lightgray lightgrey whitesmoke lightyellow beige lavender aliceblue lightblue"),
        (255.0, "white"),
    )
    for name in names.split()
}
"""The luminance of colours, roughly."""


class HtmlStyle(NamedTuple):
    """How the text of an element looks."""

    ink: float
    """The luminance of its letters, from 0 to 255."""
    ground: float
    """The luminance of what is behind them."""
    size: float
    """The size of its letters as a share of the usual one."""
    how: str = ""
    """How its text may be hidden; empty if it is not."""

    @classmethod
    def of(cls, tag: str, values: Mapping[str, str], outer: HtmlStyle) -> HtmlStyle:
        """Return the style of an element with these attributes within another one."""
        style = values.get("style", "").lower()
        if len(style) > LONGEST:
            return outer._replace(how=HIDES)
        named = [part.partition(":") for part in style.split(";") if part.strip()]
        given = {name.strip(): value.replace("!important", "").strip() for name, _, value in named}
        colour = given.get("color", values.get("color", values.get("text", "inherit")).lower())
        ground = given.get("background-color", given.get("background", values.get("bgcolor", "none").lower()))
        ink = None if colour in ("none", "transparent") else _luminance(colour, outer.ink)
        behind = _luminance(ground, outer.ground)
        size = _sized(given.get("font-size", "inherit"), outer.size * (0.8 if tag in _SMALL else 1.0))
        if scale := _SCALE.fullmatch(given.get("transform", "")):
            del given["transform"]
            size = size and size * float(scale[1] or 0)
        checked = {
            name: value
            for name, value in given.items()
            if not name.startswith(_DECORATIONS)
            and name not in ("color", "background", "background-color", "font-size")
        }
        is_plain = tag not in _DRAWN and {"hidden", "popover"}.isdisjoint(values)
        is_plain = is_plain and all(map(_PLAIN_NAME.fullmatch, checked))
        text = ";".join(f"{name}:{value}" for name, value in checked.items())
        known = cls(ink or 0.0, outer.ground if behind is None else behind, size or outer.size)
        if not is_plain or _HIDING.search(text) or ink is None or behind is None or size is None:
            return known._replace(how=HIDES)
        is_seen = abs(ink - behind) >= LEAST_CONTRAST and size >= LEAST_SIZE
        return known if is_seen else known._replace(how=HIDES)


PLAIN = HtmlStyle(ink=0.0, ground=255.0, size=1.0)
"""Black letters of the usual size on white paper."""


def shows_picture(values: Mapping[str, str]) -> bool:
    """Tell whether a picture with these attributes is in sight."""
    style = values.get("style", "")
    return "hidden" not in values and len(style) <= LONGEST and not _WITHOUT_PICTURE.search(style)


def _sized(size: str, outer: float) -> float | None:
    """Return a size of letters as a share of the usual one; None if it is not read."""
    if size in _SIZES or size in _STEPS:
        return _SIZES.get(size) or outer * _STEPS[size]
    match = _SIZE.fullmatch(size)
    if match is None:
        return None
    number, unit = float(match[1]), match[2]
    return number * _UNITS[unit] if unit in _UNITS else outer * (number / 100 if unit == "%" else number)


def _luminance(colour: str, inherited: float) -> float | None:
    """Return the luminance of a colour, from 0 to 255; None for one that is not read."""
    match = _COLOUR.fullmatch(colour)
    if match is None:
        return None
    if match["name"]:
        return inherited if match["name"] in _INHERITED else _NAMED.get(match["name"])
    if match["hex"]:
        digits = match["hex"] if len(match["hex"]) == 6 else "".join(2 * digit for digit in match["hex"])
        parts = [float(part) for part in bytes.fromhex(digits)]
    else:
        numbers = re.findall(r"\d+(?:\.\d+)?", match["rgb"])
        if len(numbers) != 3 or not _RGB.fullmatch(match["rgb"]):
            return None
        parts = [min(255.0, float(part[:6])) for part in numbers]
    red, green, blue = parts
    return (77 * red + 150 * green + 29 * blue) / 256
