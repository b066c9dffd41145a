"""HTML pages by Jinja2 templates with autoescape; every text is shortened and made safe on its way in."""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.model.magnitude import counted, number, seconds, size, taken_off
from grader.reports import layout
from grader.reports.words import LineState
from grader.text import block

if TYPE_CHECKING:
    from jinja2 import Environment, FileSystemBytecodeCache, Template

    from grader.model.observation import Quantity

TEMPLATES = Path(__file__).parent / "templates"
LONGEST = 8_000
"""Characters of one text that are shown; head and tail of longer ones."""
MOST_LINES = 400
"""Lines of one text, likewise."""

SIGNS = {
    LineState.FULL: "✓",
    LineState.PARTIAL: "◐",
    LineState.LOST: "✗",
    LineState.SKIPPED: "·",
    LineState.OPEN: "…",
    LineState.HELD: "‖",
}


QUANTITIES = {
    "wall_s": "time",
    "cpu_s": "CPU time",
    "total": "elements compared",
    "wrong": "elements that differ",
    "max_abs_error": "largest difference",
    "max_rel_error": "largest relative difference",
    "reference_of_s": "the reference's fast function",
    "identity_s": "handing over a result",
    "disturbed_rounds": "not used, as the machine was busy",
    "of_first_call_s": "first call of the fast function",
    "over_first_call_s": "first call of the slow function",
    "reference_of_first_call_s": "first call of the reference's fast function",
    "reference_over_first_call_s": "first call of the reference's slow function",
}
"""Names of quantities in plain words; others are named as in the evidence, without their units."""

_WITHIN = re.compile(r"(?<=\w[_./-])(?=\w)")
"""Where a long word of a title may break: behind what joins the parts of a name of a function or a file."""
_LONG_WORD = re.compile(r"\S{17,}")
"""A word of a title that may be longer than a line on a phone."""
OF_DRAWN_VALUES = frozenset(
    [
        "z_mean",
        "z_mean_of",
        "mean",
        "mean_expected",
        "z_variance",
        "z_variance_of",
        "std",
        "std_expected",
        "ks",
        "ks_of",
        "ks_least",
        "z_turning",
        "dependence",
        "dependence_apart",
        "z_repeated",
        "repeated",
        "repeated_expected",
        "z_shared",
        "shared",
        "shared_expected",
    ]
)
"""Statistics of drawn values, for staff alone: the one that decides is in the reason, in words."""
PROPERTIES = {
    "structure": "shapes as expected",
    "finite": "all values finite",
    "range": "all values in range",
    "varied": "values that vary",
    "fresh": "drawn anew",
}
"""Names of what `properties` looks at, in plain words."""
OF_A_DIFFERENCE = frozenset({"wrong", "max_rel_error"})
"""Quantities that are 0 where the largest difference is."""


@cache
def template(name: str) -> Template:
    """Compile a template once per process; Jinja2 is imported here, when the first page is written."""
    return environment().get_template(name)


def quantity_name(name: str, unit: str) -> str:
    """Return the name of a quantity for people."""
    return QUANTITIES.get(name) or name.removesuffix(f"_{unit}").replace("_", " ")


def quantity_chips(by_name: Mapping[str, Quantity], note: str = "", *, for_staff: bool = True) -> list[str]:
    """Format measured values with their names; of a result that agrees exactly, one zero is enough.

    A count has its unit for a name: `7 rounds`, not `rounds: 7 rounds`. What the `note` of the case says, and
    a difference that is no finite number, is left out, and for students statistics of drawn values.
    """
    if not for_staff and ("ks" in by_name or "z_turning" in by_name):
        by_name = {name: by_name[name] for name in by_name if name not in OF_DRAWN_VALUES}
    exact = "max_abs_error" in by_name and not by_name["max_abs_error"].value
    compared = [by_name[name].value if name in by_name else None for name in ("wrong", "total")]
    counted_in_note = "({} of {} values differ)".format(*compared) in note
    chips = []
    for name, quantity in by_name.items():
        if exact and name in OF_A_DIFFERENCE and not quantity.value:
            continue
        if name == "max_rel_error" and not quantity.value:  # where 0 was expected there is none
            continue
        if exact and name == "max_abs_error" and note:  # what differs is a text, or a shape
            continue
        if counted_in_note and name in {"wrong", "total"}:
            continue
        if name in {"max_abs_error", "max_rel_error"} and layout.number(quantity.value) is None:
            continue
        is_claim = quantity.taken_by == "subject"
        if is_claim and quantity.value is None:  # a program that was stopped said nothing
            continue
        called, text = quantity_name(name, quantity.unit), quantity_text(quantity)
        claimed = " (as the program says)" if is_claim else ""
        chips.append(f"{text}{claimed}" if quantity.unit_text == called else f"{called}: {text}{claimed}")
    return chips


def quantity_text(quantity: Quantity) -> str:
    """Format a quantity with its unit: times and sizes in the one that suits them, counts with separators."""
    value, unit = quantity.value, quantity.unit_text
    if unit == "share" and (share := layout.number(value)) is not None:
        return layout.percentage(share)
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value > 0:
        if unit == "s":
            return seconds(value)
        if unit == "bytes":
            return size(value)
        if isinstance(value, int):
            return f"{value:,} {_singular(unit) if value == 1 else unit}".rstrip()
    return f"{plain(value)} {unit}".rstrip()


def _singular(unit: str) -> str:
    """Return `round` for `rounds`; symbols such as `ms` and `GB/s` stay as they are."""
    return unit.removesuffix("s") if unit.isalpha() and len(unit) > 3 else unit


def plain(value: Any) -> str:
    """Format plain data as JSON for people."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {plain(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(plain, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _with_breaks(word: re.Match[str]) -> str:
    return _WITHIN.sub("<wbr>", word[0])


def _bytecode() -> FileSystemBytecodeCache | None:
    """Return a cache of compiled templates, as Python keeps one of modules; None where it may not write."""
    from jinja2 import FileSystemBytecodeCache

    folder = TEMPLATES / "__pycache__"
    if sys.dont_write_bytecode:
        return None
    with suppress(OSError):
        folder.mkdir(exist_ok=True)
    return FileSystemBytecodeCache(str(folder), "%s.cache") if os.access(folder, os.W_OK) else None


@cache
def environment(*folders: Path) -> Environment:
    """Return the environment of our templates, and of those in further folders, which come first."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup, escape

    def safe(value: Any) -> Any:
        """Shorten a text and spell out what a reader's program would act on; escaping follows."""
        is_text = isinstance(value, str) and not hasattr(value, "__html__")  # which markup of ours has
        return block(value, LONGEST, MOST_LINES) if is_text else value

    environment = Environment(
        loader=FileSystemLoader([*folders, TEMPLATES]),
        autoescape=True,
        finalize=safe,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        keep_trailing_newline=True,
        bytecode_cache=_bytecode(),
    )
    environment.filters |= {
        "breakable": lambda text: Markup(_LONG_WORD.sub(_with_breaks, str(escape(safe(text))))),  # noqa: S704
        "percent": "{:.2f}%".format,
        "pixels": "{:.1f}".format,
    }
    environment.globals |= {
        "PROPERTIES": PROPERTIES,
        "SIGNS": SIGNS,
        "class_of": lambda drawing: type(drawing).__name__,
        "counted": counted,
        "layout": layout,
        "number": number,
        "quantity_chips": quantity_chips,
        "taken_off": taken_off,
        "value": layout.value,
    }
    return environment
