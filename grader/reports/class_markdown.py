"""The class report as Markdown, for the summary of a run in continuous integration; it names no student."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape
from typing import TYPE_CHECKING

from grader.model.magnitude import counted, number
from grader.reports.class_counts import items_of, speedups_of, totals_of
from grader.reports.class_drawings import distribution_in_words, speedups_in_words
from grader.reports.class_groups import ANY, failures, open_points
from grader.reports.class_lists import ANOTHER_RUN, IN_FUTURE, UNTIMED, acts, waiting
from grader.reports.class_page import facts
from grader.text import one_line

if TYPE_CHECKING:
    from grader.reports.class_groups import Group
    from grader.reports.class_view import ClassView

MOST = 15
"""Messages of one list: the page has them all."""
LONGEST = 240
"""Characters of one text."""
_MARKUP = re.compile(r"([\\`*_\[\]|~!$])")
_LINK = re.compile(r"(?i)@|#(?=\w)|(?<=:)(?=//)|(?<=mailto)(?=:)|(?<=xmpp)(?=:)|(?<=www)(?=\.)")
"""Positions where Markdown would make a link of an address, a name, an issue or a commit."""
_CUT = r"\g<0><!-- -->"
"""An empty comment, which breaks a link and is invisible."""


def markdown(view: ClassView) -> str:
    """Render counts, items and messages, without names: a summary has more readers than a page for staff."""
    return "\n".join(_lines(view)).rstrip() + "\n"


def md(of: str) -> str:
    """Escape a text from outside as one line without Markdown, HTML or cell ends."""
    line = " ".join(one_line(of, LONGEST).split())
    return _LINK.sub(_CUT, escape(_MARKUP.sub(r"\\\1", line), quote=False))


def _lines(view: ClassView) -> Iterator[str]:
    items = items_of(view)
    positions = {tally.item: place for place, tally in enumerate(items, 1)}
    yield f"## {md(view.assignment)}: the class"
    yield ""
    yield from _table(("", ""), facts(view).items())
    for title, students in ((UNTIMED, view.untimed), (IN_FUTURE, view.in_future)):
        if students:
            yield f"> **{title}** ({counted(len(students), 'student')}). No such grade is posted."
            yield ""
    yield distribution_in_words(totals_of(view))
    yield ""
    if items:
        yield from _table(
            ("no.", "item", "points", "decided", "passed"),
            (
                (
                    str(place),
                    md(tally.title),
                    number(tally.possible),
                    f"{tally.decided} of {sum(tally.counts.values())}",
                    "…" if tally.passed is None else f"{100 * tally.passed:.0f} %",
                )
                for place, tally in enumerate(items, 1)
            ),
        )
    lists = [(entries.title, entries.groups) for entries in waiting(view)]
    lists.append((ANOTHER_RUN, open_points(view, for_person=False)))
    for title, groups in (*lists, ("Why points were lost", failures(view))):
        if groups:
            yield from _messages(title, groups, positions)
    if view.absent:
        yield f"{counted(len(view.absent), 'student')} on the roster without a grade."
        yield ""
    if view.strangers:
        are = "is" if len(view.strangers) == 1 else "are"
        yield f"{counted(len(view.strangers), 'student')} with a grade who {are} not on the roster."
        yield ""
    for tally in items:
        if measured := tuple(speedups_of(view, tally.item)):
            yield f"**{md(tally.title)}:** {speedups_in_words(measured)}"
            yield ""


def _messages(title: str, groups: tuple[Group, ...], positions: dict[str, int]) -> Iterator[str]:
    yield f"### {title}"
    yield ""
    yield from _table(
        ("submissions", "items", f"message ({ANY} stands for a number)"),
        (
            (
                str(len(group.students)),
                ", ".join(map(str, sorted(positions[item] for item in group.items))),
                md(group.message) + (f" ({acts(group)})" if acts(group) else ""),
            )
            for group in groups[:MOST]
        ),
    )
    if len(groups) > MOST:
        yield f"And {counted(len(groups) - MOST, 'more message')}."
        yield ""


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    for row in (head, ("---",) * len(head), *rows):
        yield f"| {' | '.join(row)} |"
    yield ""
