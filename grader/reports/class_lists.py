"""The lists of the class report: what needs a person, and what points were lost by."""

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
    "machine": "whoever runs the machine",
    "grader": "the authors of grader",
}
"""Who has to act, by whose doing it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """One list of what needs a person."""

    title: str
    look: str
    """The class of its style."""
    groups: tuple[Group, ...]


def waiting(view: ClassView) -> tuple[Waiting, ...]:
    """What needs a person: what holds marks up, what is open, what may be looked at; no empty lists."""
    lists = (
        Waiting(title="Held until a person has looked", look="held", groups=flags(view, holding=True)),
        Waiting(title="Open points", look="open", groups=open_points(view)),
        Waiting(title="Flags that cost nothing", look="notes", groups=flags(view, holding=False)),
    )
    return tuple(one for one in lists if one.groups)


def needs_a_person(view: ClassView, positions: Mapping[str, int]) -> str:
    """What holds marks up, is open or may be looked at, and who handed in without a time, or nothing.

    `positions` are the items' numbers.
    """
    parts = [
        f'<h3>{one.title}</h3>\n<ul class="groups {one.look}">{_groups(one.groups, positions)}</ul>'
        for one in waiting(view)
    ]
    if view.untimed:
        who = _who(counted(len(view.untimed), "student"), view.untimed)
        parts.append(f'<h3>{UNTIMED}</h3>\n<ul class="groups untimed"><li>{who}</li></ul>')
    if view.absent:
        who = _who(counted(len(view.absent), "student"), view.absent)
        parts.append(f'<h3>On the roster, without a mark</h3>\n<ul class="groups absent"><li>{who}</li></ul>')
    told = "\n".join(f'<div class="sheet">{part}</div>' for part in parts)
    return f"<section><h2>Needs a person</h2>\n{told or '<p>Nothing.</p>'}</section>"


def failed(view: ClassView, positions: Mapping[str, int]) -> str:
    """Why points were lost, the most frequent first; empty if none were."""
    groups = failures(view)
    if not groups:
        return ""
    listed = _groups(groups, positions)
    return f"""<section><h2>Why points were lost</h2>
<p class="soft">By message; # stands for numbers. What was skipped because of it is not listed.</p>
<div class="sheet"><ul class="groups">{listed}</ul></div></section>"""


def acts(group: Group) -> str:
    """Who has to act before it can be observed; empty if nothing is wrong and it only waits."""
    return f"for {WHO.get(group.fault, group.fault)}" if group.fault else ""


def _groups(groups: Sequence[Group], positions: Mapping[str, int]) -> str:
    more = len(groups) - MOST
    rest = f'<li class="soft">And {counted(more, "more message")}.</li>' if more > 0 else ""
    return "\n".join((*(_group(group, positions) for group in groups[:MOST]), rest))


def _group(group: Group, positions: Mapping[str, int]) -> str:
    told = sorted((positions[item], count) for item, count in group.items.items())
    numbers = ", ".join(f"{place} ({count})" if len(told) > 1 else f"{place}" for place, count in told)
    where = f"{'item' if len(told) == 1 else 'items'} {numbers}"
    who = acts(group)
    chip = f' <span class="soft">({text(who)})</span>' if who else ""
    message = group.message if len(group.told) > 1 else group.example  # told once there is nothing to fold
    counts = f"{counted(len(group.students), 'hand-in')}, {where}"
    return f"<li><p>{text(message)}{chip}</p>{_who(counts, group.students)}</li>"


def _who(counts: str, students: Iterable[str]) -> str:
    names = ", ".join(text(student) for student in students)
    return f"<details><summary>{counts}</summary>{names}</details>"
