"""HTML fragments that several parts of `report.html` share; text from outside is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import TYPE_CHECKING, Any

from grader.reports.words import LineState, state_of
from grader.text import block

if TYPE_CHECKING:
    from grader.model.observation import Quantity
    from grader.model.score import Line

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


def text(of: str) -> str:
    """Escape a text for an element or an attribute, shortened and safe to show."""
    return escape(block(of, LONGEST, MOST_LINES))


def pre(of: str) -> str:
    """Render a text with its spaces and lines."""
    return f"<pre>{text(of)}</pre>"


def chips(of: Iterable[str]) -> str:
    """Short remarks beside each other; their markup is taken as it is."""
    entries = "".join(f"<li>{chip}</li>" for chip in of)
    return f'<ul class="chips">{entries}</ul>' if entries else ""


def sign(what: LineState) -> str:
    """Render the sign of a result, with its name for screen readers."""
    return f'<span class="sign" aria-hidden="true">{SIGNS[what]}</span><span class="sr">{what.value}</span>'


def look(line: Line) -> str:
    """Return the CSS class for a line."""
    return state_of(line).name.lower()


def quantities(of: Mapping[str, Quantity]) -> str:
    """Render measured values, marking those that the student's process reported."""
    return chips(
        f"{text(name.replace('_', ' '))}: {text(plain(quantity.value))} {text(quantity.unit)}".rstrip()
        + (" (as the program says)" if quantity.taken_by == "subject" else "")
        for name, quantity in of.items()
    )


def plain(value: Any) -> str:
    """Format plain data as JSON for people."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {plain(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(plain, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)
