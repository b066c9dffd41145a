"""Lists of the class report that need a person: held grades, open points and flags."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.reports.class_groups import Group, flags, open_points

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


def acts(group: Group) -> str:
    """Return the person who has to act before the item can be observed; empty if it only waits."""
    return f"for {WHO.get(group.fault, group.fault)}" if group.fault else ""


def where(group: Group, positions: Mapping[str, int]) -> str:
    """Return the items of a group by their numbers, with how often each has it if there are several."""
    by_position = sorted((positions[item], count) for item, count in group.items.items())
    numbers = ", ".join(
        f"{place} ({count})" if len(by_position) > 1 else f"{place}" for place, count in by_position
    )
    return f"{'item' if len(by_position) == 1 else 'items'} {numbers}"
