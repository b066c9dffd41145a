"""The page of one profile: what took how much of the time, with bars."""

from __future__ import annotations

from grader import __version__
from grader.model.drawing import Bar, Bars, Drawing, ValueTable
from grader.model.magnitude import counted, seconds
from grader.model.observation import Quantity
from grader.model.profile import Profile, ProfileTable, tables_of
from grader.reports.pages import template

MOST_BARS, MOST_ROWS, LONGEST_LABEL = 8, 200, 90


def profile_page(profile: Profile) -> str:
    """Render a page that is complete in itself."""
    return template("profile.html.j2").render(
        profile=profile,
        duration=seconds(profile.wall_s),
        tables=[
            (table.title, f"{seconds(table.seconds)}, {counted(table.count, table.noun)}", drawings_of(table))
            for table in tables_of(profile)
        ],
        version=__version__,
    )


def drawings_of(table: ProfileTable) -> tuple[Drawing, ...]:
    """Return bars of the longest rows, and a table of all."""
    rows = table.shares()
    copied = any(row.bytes for row in table.rows)
    bars = tuple(
        Bar(name=_label(row.name), value=Quantity(value=row.seconds, unit="s"))
        for row, _, _ in rows[:MOST_BARS]
    )
    cells = tuple(
        (
            row.name,
            f"{share:.2%}",
            f"{running:.2%}",
            Quantity(value=row.seconds, unit="s"),
            f"{row.count:,}",
            *((Quantity(value=row.bytes, unit="bytes"),) if copied else ()),
        )
        for row, share, running in rows
    )
    head = ("name", "share", "running sum", "time", "times", *(("size",) if copied else ()))
    return Bars(bars=bars), ValueTable(head=head, rows=cells, at_most=MOST_ROWS)


def _label(name: str) -> str:
    return name if len(name) <= LONGEST_LABEL else f"{name[: LONGEST_LABEL - 1]}…"
