"""Scorecard and progress on a terminal, or as plain text in a file or pipe."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, tzinfo
from itertools import groupby
from typing import TYPE_CHECKING, TextIO

from grader.model.observation import Outcome
from grader.reports.words import (
    LineState,
    figure,
    lateness,
    missing_files,
    out_of,
    standing_remark,
    state_of,
    sums,
)
from grader.text import one_line

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

    from grader.model.observation import Observation
    from grader.model.score import Line, Scorecard

WIDEST = 100
"""Columns: longer lines are hard to read, however wide the terminal."""
NARROWEST = 40
LONGEST = 600
"""Characters of one title, reason or hint; the page for the student has more."""

SIGNS = {
    LineState.FULL: ("✓", "+"),
    LineState.PARTIAL: ("◐", "~"),
    LineState.LOST: ("✗", "x"),
    LineState.SKIPPED: ("·", "-"),
    LineState.OPEN: ("…", "?"),
    LineState.HELD: ("‖", "!"),
}
"""Signs before a title, each with its replacement for encodings without the character."""
BARS = ("│", "|")
"""Bars before every line of a reason, a hint or a flag, likewise: students choose parts of their text, and no
line of it may look like one of ours. All lines of one text but its first are indented, so that no part of a
reason looks like a hint."""

STYLES = {
    LineState.FULL: "green",
    LineState.PARTIAL: "yellow",
    LineState.LOST: "red",
    LineState.SKIPPED: "dim",
    LineState.OPEN: "cyan",
    LineState.HELD: "magenta",
}


@dataclass(frozen=True, slots=True)
class StyledLine:
    """One printed line: pieces of text, each with its style where there are colours."""

    pieces: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return "".join(text for text, _ in self.pieces).rstrip()


def table(scorecard: Scorecard, *, zone: tzinfo = UTC, width: int = WIDEST, unicode: bool = True) -> str:
    """Format the card as plain text of at most `width` columns, without colours."""
    return "".join(f"{row}\n" for row in _rows(scorecard, zone, width, unicode))


def show(scorecard: Scorecard, zone: tzinfo, stream: TextIO) -> None:
    """Print the card: with colours on a terminal, as plain text anywhere else; never fails on a character."""
    layout = _rows(scorecard, zone, _columns(stream), speaks_unicode(stream))
    if not stream.isatty():
        stream.writelines(encodable(f"{row}\n", stream) for row in layout)
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream)
    for row in layout:
        pieces = [(encodable(text, stream), style) for text, style in row.pieces]
        console.print(Text.assemble(*pieces), soft_wrap=True)


def print_remark(text: str, stream: TextIO) -> None:
    """Print a remark below the card in which students chose words; its further lines stand behind a bar."""
    bar = BARS[0 if speaks_unicode(stream) else 1]
    columns = max(NARROWEST, min(_columns(stream), WIDEST))
    first, *more = wrapped(one_line(text), columns - 6)
    lines = [f"    {first}\n", *(f"    {bar} {part}\n" for part in more)]
    stream.writelines(encodable(line, stream) for line in lines)


class Progress:
    """Progress of one submission on a terminal's last line; silent on anything else."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._bar: Bar | None = None
        self._task: TaskID | None = None

    def started(self, total: int) -> None:
        """Show that `total` items are going to be observed."""
        if self._stream.isatty():
            self._bar, self._task = started_bar(self._stream, total)

    def observed(self, observation: Observation, title: str) -> None:
        """Show one more observation and its outcome; points are not known here."""
        if self._bar is None or self._task is None:
            return
        ended = (
            "" if observation.outcome is Outcome.OBSERVED else f": {observation.outcome.replace('_', ' ')}"
        )
        self._bar.update(self._task, description=encodable(one_line(f"{title}{ended}"), self._stream))
        self._bar.advance(self._task)

    def waits(self, message: str) -> None:
        """Show what the run waits for."""
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, description=encodable(one_line(message), self._stream))

    def finished(self) -> None:
        """Clear the line. Also right if nothing was started, or a second time."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def started_bar(stream: TextIO, total: int) -> tuple[Bar, TaskID]:
    """Start a progress line with a count out of `total` and a text; it disappears when stopped."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

    bar = Progress(
        SpinnerColumn("dots" if speaks_unicode(stream) else "line"),
        MofNCompleteColumn(),
        BarColumn(bar_width=20),
        TextColumn("{task.description}", markup=False),
        console=Console(file=stream),
        transient=True,
        redirect_stdout=False,  # data written there must not arrive here
    )
    task = bar.add_task("", total=total)
    bar.start()
    return bar, task


def _rows(scorecard: Scorecard, zone: tzinfo, width: int, unicode: bool) -> Iterator[StyledLine]:
    width = max(NARROWEST, min(width, WIDEST))
    signs = {what: pair[0 if unicode else 1] for what, pair in SIGNS.items()}
    bar = BARS[0 if unicode else 1]
    figures = [figure(line, signs[LineState.OPEN]) for line in scorecard.lines]
    total = out_of(scorecard.points.raw, scorecard.points.possible)
    across = max(map(len, (*figures, total)))
    longest = max((cells(one_line(line.title)) for line in scorecard.lines), default=0)
    room = max(len("total"), min(longest, width - across - 6))  # figures stand near what they are of
    yield StyledLine(((one_line(scorecard.assignment), "bold"), (f"  {one_line(scorecard.student)}", "")))
    yield StyledLine()
    for text in missing_files(scorecard):
        yield from (
            StyledLine(((f"  {part}", "bold"),)) for part in wrapped(one_line(text, LONGEST), width - 2)
        )
        yield StyledLine()
    for _, group in groupby(zip(scorecard.lines, figures, strict=True), key=lambda row: _cause(row[0])):
        rows = list(group)
        for line, shown in rows:
            yield from _item(line, shown.rjust(across), room, signs)
        yield from _why(rows[0][0], len(rows), width, bar)
    yield StyledLine()
    yield StyledLine((("    ", ""), ("total".ljust(room), "bold"), (f"  {total:>{across}}", "bold")))
    for text in _remarks(scorecard, zone):
        yield from (
            StyledLine(((f"    {part}", ""),)) for part in wrapped(one_line(text, LONGEST), width - 4)
        )


def _cause(line: Line) -> tuple[str, ...]:
    """Return what is explained once of items in a row; of one that earned everything its own name."""
    what = state_of(line)
    return (line.item,) if what is LineState.FULL else (what.name, line.reason, line.hint, *line.flags)


def _item(line: Line, points: str, room: int, signs: dict[LineState, str]) -> Iterator[StyledLine]:
    what = state_of(line)
    first, *more = wrapped(one_line(line.title, LONGEST), room) or [""]
    gap = " " * (room - cells(first) + 2)
    yield StyledLine(((f"  {signs[what]} ", STYLES[what]), (first, ""), (gap, ""), (points, STYLES[what])))
    yield from (StyledLine(((f"    {part}", ""),)) for part in more)


def _why(line: Line, items: int, width: int, bar: str) -> Iterator[StyledLine]:
    """Yield what explains the points of an item, or of several that share it."""
    shared = f"{items} items: " if items > 1 else ""
    for text, style in _explanations(line, state_of(line), shared):
        for at, part in enumerate(wrapped(one_line(text, LONGEST), width - 8)):
            yield StyledLine(((f"    {bar} ", "dim"), (f"{'  ' if at else ''}{part}", style)))


def _explanations(line: Line, what: LineState, shared: str) -> Iterator[tuple[str, str]]:
    if what is not LineState.FULL:
        yield f"{shared}{line.reason}", ""
        if line.hint:
            yield f"hint: {line.hint}", "italic"
    for flag in line.flags:
        yield f"flag: {flag}", "magenta"


def _remarks(scorecard: Scorecard, zone: tzinfo) -> Iterator[str]:
    yield standing_remark(scorecard)
    yield from sums(scorecard)
    yield from lateness(scorecard, zone)


def wrapped(line: str, columns: int) -> list[str]:
    """Wrap a safe line at `columns`, because a terminal would break it anywhere."""
    from textwrap import wrap

    if len(line) <= columns and cells(line) <= columns:
        return [line.strip()] if line.strip() else []
    parts = wrap(line, columns, break_on_hyphens=False)
    return [piece for part in parts for piece in _pieces(part, columns)]


def _pieces(line: str, columns: int) -> Iterator[str]:
    """Yield pieces of a line that are not too wide: some characters take two columns."""
    begin = wide = 0
    for at, letter in enumerate(line if cells(line) > columns else ""):
        if wide + cells(letter) > columns:
            yield line[begin:at]
            begin, wide = at, 0
        wide += cells(letter)
    yield line[begin:]


_ALSO_WIDE = (
    ("\u2630", "\u2637"),
    ("\u268a", "\u268f"),
    ("\u3248", "\u324f"),
    ("\u4dc0", "\u4dff"),
    ("\U00016ff0", "\U00016ff6"),
    ("\U0001d300", "\U0001d376"),
)
"""Wide in newer versions of Unicode than that of this Python, or in C libraries, as signs of the I Ching."""


def cells(text: str) -> int:
    """Return how many columns a text takes at most: some characters take two, some none."""
    if text.isascii():
        return len(text)
    return sum(map(_cells, text))


def _cells(letter: str) -> int:
    from unicodedata import category, combining, east_asian_width

    if combining(letter) and category(letter) != "Mc":  # marks that take room
        return 0
    wide = east_asian_width(letter) in "WF" or any(begin <= letter <= end for begin, end in _ALSO_WIDE)
    return 2 if wide else 1


def _columns(stream: TextIO) -> int:
    if not stream.isatty():
        return WIDEST
    try:
        return os.get_terminal_size(stream.fileno()).columns or WIDEST
    except OSError:
        return WIDEST


def speaks_unicode(stream: TextIO) -> bool:
    """Tell whether the stream can encode our signs."""
    signs = "".join(sign for sign, _ in SIGNS.values())
    return encodable(signs, stream) == signs


def sign_of(state_of: LineState, stream: TextIO) -> str:
    """Return the sign of a state, or its replacement if the stream cannot encode it."""
    sign, plain = SIGNS[state_of]
    return sign if encodable(sign, stream) == sign else plain


def encodable(text: str, stream: TextIO) -> str:
    """Replace characters that the stream cannot encode by `?`."""
    encoding = stream.encoding or "utf-8"
    return text.encode(encoding, "replace").decode(encoding)
