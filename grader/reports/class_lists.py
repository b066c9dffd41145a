"""Lists of the class report that need a person: held grades, open points and flags."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from grader.reports.class_groups import Group, flags, open_points

if TYPE_CHECKING:
    from grader.reports.class_view import ClassView

UNTIMED = "Without a time of submission: the late rule takes nothing off"
IN_FUTURE = "Held: the time of submission had not come yet, so the late rule takes nothing off"
MOST = 40
"""Groups that are shown of one list, before it only says how many more there are."""
ANOTHER_RUN = "Waits for another run"
"""The title of points that are open until a machine has looked again."""
FEW = 3
"""Students that are named at once; more are listed on a click."""
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
    """Return the non-empty lists of held grades, points open until somebody acts, and other flags.

    Flags of items that somebody gave points for come last: nobody has to look at them again.
    """
    lists = (
        Waiting(title="Held until a person has looked", look="held", groups=flags(view, holding=True)),
        Waiting(title="Open points", look="open", groups=open_points(view, for_person=True)),
        Waiting(title="Flags that cost nothing", look="notes", groups=flags(view)),
        Waiting(title="Flags, decided by points of a person", look="notes", groups=flags(view, decided=True)),
    )
    return tuple(part for part in lists if part.groups)


def acts(group: Group) -> str:
    """Return the person who has to act before the item can be observed; empty if it only waits."""
    return f"for {WHO.get(group.fault, group.fault)}" if group.fault else ""


def where(group: Group, positions: Mapping[str, int]) -> str:
    """Return the items of a group by their numbers, with how many have it where these differ."""
    by_position = sorted((positions[item], count) for item, count in group.items.items())
    if len(by_position) == 1:
        return f"item {by_position[0][0]}"
    if len({count for _, count in by_position}) > 1:
        return f"items {', '.join(f'{place} ({count})' for place, count in by_position)}"
    return f"items {', '.join(_runs([place for place, _ in by_position]))}"


def _runs(places: Sequence[int]) -> Iterator[str]:
    """Yield `3`, and `5 to 8` for three or more numbers that follow each other."""
    for _, run in groupby(enumerate(places), key=lambda pair: pair[1] - pair[0]):
        numbers = [place for _, place in run]
        if len(numbers) > 2:
            yield f"{numbers[0]} to {numbers[-1]}"
        else:
            yield from map(str, numbers)
