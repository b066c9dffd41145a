"""Lists of the class report: flags and open points for staff, and the reasons for lost points."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.reports.class_groups import Group, failures, flags, open_points
from grader.reports.markup import text
from grader.reports.words import counted

if TYPE_CHECKING:
    from grader.reports.class_view import ClassView

UNTIMED = "Without a time of submission: the late rule takes nothing off"
MOST = 40
"""Groups that are shown of one list, before it only says how many more there are."""
WHO = {
    "course": "staff of the course",
    "machine": "the administrator",
    "grader": "the authors of grader",
}
"""The person who has to act, by fault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """One list of messages that need a person."""

    title: str
    look: str
    """The class of its style."""
    groups: tuple[Group, ...]


def waiting(view: ClassView) -> tuple[Waiting, ...]:
    """Return the non-empty lists of held grades, open points and other flags."""
    lists = (
        Waiting(title="Held until a person has looked", look="held", groups=flags(view, holding=True)),
        Waiting(title="Open points", look="open", groups=open_points(view)),
        Waiting(title="Flags that cost nothing", look="notes", groups=flags(view, holding=False)),
    )
    return tuple(part for part in lists if part.groups)


def needs_a_person(view: ClassView, positions: Mapping[str, int]) -> str:
    """Render the lists that need a person, and students without a submission time or a submission.

    `positions` are the items' numbers.
    """
    parts = [
        f'<h3>{part.title}</h3>\n<ul class="groups {part.look}">{_groups(part.groups, positions)}</ul>'
        for part in waiting(view)
    ]
    if view.untimed:
        who = _who(counted(len(view.untimed), "student"), view.untimed)
        parts.append(f'<h3>{UNTIMED}</h3>\n<ul class="groups untimed"><li>{who}</li></ul>')
    if view.absent:
        who = _who(counted(len(view.absent), "student"), view.absent)
        parts.append(f'<h3>On the roster, without a mark</h3>\n<ul class="groups absent"><li>{who}</li></ul>')
    sheets = "\n".join(f'<div class="sheet">{part}</div>' for part in parts)
    return f"<section><h2>Needs a person</h2>\n{sheets or '<p>Nothing.</p>'}</section>"


def failed(view: ClassView, positions: Mapping[str, int]) -> str:
    """Render the reasons for lost points, the most frequent first; empty if there are none."""
    groups = failures(view)
    if not groups:
        return ""
    listed = _groups(groups, positions)
    return f"""<section><h2>Why points were lost</h2>
<p class="soft">By message; # stands for numbers. What was skipped because of it is not listed.</p>
<div class="sheet"><ul class="groups">{listed}</ul></div></section>"""


def acts(group: Group) -> str:
    """Return the person who has to act before the item can be observed; empty if it only waits."""
    return f"for {WHO.get(group.fault, group.fault)}" if group.fault else ""


def _groups(groups: Sequence[Group], positions: Mapping[str, int]) -> str:
    more = len(groups) - MOST
    rest = f'<li class="soft">And {counted(more, "more message")}.</li>' if more > 0 else ""
    return "\n".join((*(_group(group, positions) for group in groups[:MOST]), rest))


def _group(group: Group, positions: Mapping[str, int]) -> str:
    by_position = sorted((positions[item], count) for item, count in group.items.items())
    numbers = ", ".join(
        f"{place} ({count})" if len(by_position) > 1 else f"{place}" for place, count in by_position
    )
    where = f"{'item' if len(by_position) == 1 else 'items'} {numbers}"
    who = acts(group)
    chip = f' <span class="soft">({text(who)})</span>' if who else ""
    message = group.message if len(group.places) > 1 else group.example  # a single message keeps its numbers
    counts = f"{counted(len(group.students), 'submission')}, {where}"
    return f"<li><p>{text(message)}{chip}</p>{_who(counts, group.students)}</li>"


def _who(counts: str, students: Iterable[str]) -> str:
    names = ", ".join(text(student) for student in students)
    return f"<details><summary>{counts}</summary>{names}</details>"
