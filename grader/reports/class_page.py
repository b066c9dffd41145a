"""The class report as one page for staff, complete in itself, that needs no scripts and no network."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from grader import __version__
from grader.model.magnitude import counted, number
from grader.model.roster import with_likeness
from grader.model.score import Standing
from grader.reports.class_counts import (
    Totals,
    gpu_seconds,
    items_of,
    median,
    speedups_of,
    standings_of,
    totals_of,
)
from grader.reports.class_drawings import distribution_in_words, ranking
from grader.reports.class_groups import failures, open_points
from grader.reports.class_lists import ANOTHER_RUN, FEW, IN_FUTURE, MOST, UNTIMED, acts, waiting, where
from grader.reports.class_map import MAP_ROWS, class_map
from grader.reports.pages import template
from grader.reports.words import SAME_FILES, LineState, local_time

if TYPE_CHECKING:
    from grader.reports.class_view import ClassView

FOR_STAFF = (
    "For staff: this page names students, and shows items that are hidden from them and what their "
    "programs said. It is not to be handed on."
)
SHARES = (
    LineState.FULL,
    LineState.PARTIAL,
    LineState.LOST,
    LineState.SKIPPED,
    LineState.HELD,
    LineState.OPEN,
)
"""From left to right in an item's bar."""


def page(view: ClassView) -> str:
    """Render the page; text from outside is escaped. Pure: no files, no clock."""
    items, totals = items_of(view), totals_of(view)
    positions = {tally.item: place for place, tally in enumerate(items, 1)}
    return template("class.html.j2").render(
        view=view,
        facts=facts(view),
        totals=totals,
        distribution=distribution_in_words(totals),
        waiting=waiting(view),
        another_run=open_points(view, for_person=False),
        items=items,
        failures=failures(view),
        rankings=[
            (place, tally.title, drawing)
            for place, tally in enumerate(items, 1)
            if (drawing := ranking(tuple(speedups_of(view, tally.item))))
        ],
        map=class_map(view, items),
        strangers=[with_likeness(student, view.absent) for student in view.strangers],
        notes=_notes(view),
        acts=acts,
        where=partial(where, positions=positions),
        ANOTHER_RUN=ANOTHER_RUN,
        FEW=FEW,
        FOR_STAFF=FOR_STAFF,
        IN_FUTURE=IN_FUTURE,
        MAP_ROWS=MAP_ROWS,
        MOST=MOST,
        SAME_FILES=SAME_FILES,
        SHARES=SHARES,
        UNTIMED=UNTIMED,
    )


def facts(view: ClassView) -> dict[str, str]:
    """Return the key figures of a class by label."""
    totals, standings = totals_of(view), standings_of(view)
    middle = f"{number(median(totals.settled))} / {number(totals.possible)}" if totals.settled else "…"
    figures = {
        "students": str(len(totals.settled) + len(totals.so_far)),
        "submissions": str(len(view.submissions)),
        _median_label(totals): middle,
        "grades that are final": str(standings[Standing.FINAL]),
        "provisional": str(standings[Standing.PROVISIONAL]),
        "held": str(standings[Standing.HELD]),
        "GPU minutes": _gpu_minutes(view),
    }
    return {name: figure for name, figure in figures.items() if figure}


def _gpu_minutes(view: ClassView) -> str:
    """Return the minutes of GPUs; empty if they round to 0, as where none was there to be used."""
    spent = gpu_seconds(view)
    minutes = "unknown" if spent is None else f"{spent / 60:.1f}"
    return "" if minutes == "0.0" else minutes


def _median_label(totals: Totals) -> str:
    """Return how many totals a median is of, where not all are final yet."""
    settled = len(totals.settled)
    some = settled and totals.so_far
    return f"median of {counted(settled, 'final total')}" if some else "median of final totals"


def _notes(view: ClassView) -> list[str]:
    rubrics = ", ".join(
        f"{name} ({counted(count, 'submission')})" for name, count in (view.rubrics or {}).items()
    )
    gpus = "GPU minutes: the seconds of items that need GPUs, times the GPUs, of the evidence that holds."
    if view.gpus is None:
        gpus = "GPU minutes are unknown, for the rubric is not at hand to say which items need a GPU."
    notes = [
        f"Grades as of {local_time(view.scored_at, view.time_zone)}." if view.scored_at else "",
        f"Graded by {rubrics}." if rubrics else "",
        "Not all are graded by the same rubric; grader rescore says what would change."
        if len(view.rubrics or {}) > 1
        else "",
        gpus if _gpu_minutes(view) else "",
        f"Grader {__version__}.",
    ]
    return [note for note in notes if note]
