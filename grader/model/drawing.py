"""Drawings: the evidence of a kind as plain values, which every report renders without knowing the kind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from grader.model.observation import Quantity

Role = Literal["measured", "ideal", "reference"]
"""What a line of a drawing of curves is."""
Cell = str | Quantity
"""A text, or a value that the report writes in a suitable unit; None as the value stands for unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """One part of what a kind shows; every drawing has these fields."""

    title: str = ""
    caption: str = ""
    """Sentences below it."""
    quantities: frozenset[str] = frozenset()
    """Names of the observation's quantities that it shows: reports do not list them again."""
    for_staff: bool = False
    """Whether it is left out of what students read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph(Drawing):
    """A remark in words; its caption is set in smaller type."""

    text: str = ""
    moment: str = ""
    """When it was, as ISO 8601; pages write it before the text, by the clock of the course."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedText(Drawing):
    """A text with its line breaks, of which some parts are marked."""

    text: str
    spans: tuple[tuple[int, int], ...] = ()
    """Where the marked parts begin and end, in order and without overlaps."""
    written: bool = False
    """Whether the student wrote it."""

    @property
    def parts(self) -> tuple[tuple[str, bool], ...]:
        """The text in parts, each with whether it is marked."""
        parts, end = [], 0
        for start, stop in self.spans:
            parts += [(self.text[end:start], False), (self.text[start:stop], True)]
            end = stop
        return tuple((part, marked) for part, marked in (*parts, (self.text[end:], False)) if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pictures(Drawing):
    """Small pictures beside each other."""

    pictures: tuple[str, ...]
    """PNG files in base64."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice(Drawing):
    """A line on where to look for a mistake; of several, the first one that applies is shown."""

    text: str
    applies: Literal["lost", "decided"] = "lost"
    """If points are lost, or, with `decided`, as soon as the item is not pending."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueTable(Drawing):
    """Rows of names and values."""

    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    groups: tuple[tuple[str, int], ...] = ()
    """A row above the head: titles, each with the number of columns that it spans."""
    names: int = 1
    """How many columns at the left name the row."""
    words: frozenset[int] = frozenset()
    """Columns, counted from 0, that hold words: they begin at the left, and may take several lines."""
    at_most: int = 12
    """Rows that are shown, before it only says how many more there are."""

    def __post_init__(self) -> None:
        """Refuse a number without a unit, which no page could write.

        Raises:
            TypeError: a cell is neither a text nor a Quantity.
        """
        for cell in (cell for row in self.rows for cell in row):
            if not isinstance(cell, str | Quantity):
                raise TypeError(f"ValueTable: a cell must be a text or a Quantity, and is {cell!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauge(Drawing):
    """A measured value with its interval against a threshold."""

    value: float
    low: float
    high: float
    needed: float
    unit: str = "times"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One bar: a measured value and the samples behind it."""

    name: str
    value: Quantity
    samples: tuple[float, ...] = ()
    """In the unit of the value, of which it is the median."""

    def __post_init__(self) -> None:
        """Refuse a value without a unit, which no page could write.

        Raises:
            TypeError: it is no Quantity.
        """
        if not isinstance(self.value, Quantity):
            raise TypeError(f"Bar {self.name!r}: value must be a Quantity, and is {self.value!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars(Drawing):
    """Values of one unit, to be compared by their lengths."""

    bars: tuple[Bar, ...]
    whole: float | None = None
    """The value of a bar of full length; None for the longest one's."""

    def __post_init__(self) -> None:
        """Refuse a number in place of a bar.

        Raises:
            TypeError: something in it is no Bar.
        """
        for bar in self.bars:
            if not isinstance(bar, Bar):
                raise TypeError(f"Bars: must be of Bar(name=…, value=…), and has {bar!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakdown(Drawing):
    """A whole that is divided into parts, from left to right."""

    parts: tuple[Bar, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveLine:
    """One line of a drawing of curves."""

    name: str
    """Its label in the legend."""
    role: Role
    """`measured`, `ideal` or `reference`."""
    points: tuple[tuple[float, float], ...]
    samples: tuple[tuple[float, float], ...] = ()
    """Further points around the line."""

    def __post_init__(self) -> None:
        """Refuse what would be left out of the drawing without a word.

        Raises:
            ValueError: there is no such role.
        """
        if self.role not in get_args(Role):
            roles = ", ".join(get_args(Role))
            raise ValueError(f"CurveLine {self.name!r}: role must be one of {roles}, and is {self.role!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Curves(Drawing):
    """Values over a number of things, on logarithmic axes; the first line is the measured one."""

    lines: tuple[CurveLine, ...]
    needed: tuple[tuple[float, float], ...] = ()
    """Thresholds."""
    across: str
    """What is counted from left to right, such as `cores`."""
    unit: str
    """The unit of the values."""


def listed(drawings: Iterable[Drawing]) -> frozenset[str]:
    """Return the names of all quantities that drawings show."""
    return frozenset().union(*(drawing.quantities for drawing in drawings))
