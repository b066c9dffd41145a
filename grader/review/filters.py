"""Filters of the list of submissions: what about each one needs a person."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from sqlalchemy import select

from grader.checks.answer import AnswerKind
from grader.gradebook.rows import join
from grader.gradebook.tables import EVIDENCE
from grader.model.drawing import Gauge
from grader.model.score import Standing
from grader.review.desk import always_for_people
from grader.scoring.drawings import shown

if TYPE_CHECKING:
    from grader.gradebook.book import Gradebook
    from grader.model.observation import Observation
    from grader.review.class_index import ClassIndex, GradedEntry
    from grader.review.desk import Desk

NEAR = 0.05
"""A measured value is near its threshold if it is this share off, or its interval holds the threshold."""
MOST_REMEMBERED = 20_000
CHUNK = 200
"""Attempts whose evidence is read at once."""


class Traits:
    """Facts about submissions that only their evidence tells, read once for each attempt."""

    def __init__(self, book: Gradebook) -> None:
        self._book = book
        self._by_attempt: dict[tuple[int, str], tuple[bool, bool]] = {}

    def read(self, desk: Desk, entries: Sequence[GradedEntry]) -> None:
        """Read what is not known yet of these submissions, many at once."""
        if len(self._by_attempt) >= MOST_REMEMBERED:
            self._by_attempt.clear()
        attempts = [e.attempt for e in entries if (e.attempt, desk.rubric.digest) not in self._by_attempt]
        with self._book.database.reading() as connection:
            for start in range(0, len(attempts), CHUNK):
                rows = select(EVIDENCE.c.attempt, EVIDENCE.c.judged).where(
                    EVIDENCE.c.attempt.in_(attempts[start : start + CHUNK])
                )
                for attempt, judged in connection.execute(rows):
                    self._by_attempt[attempt, desk.rubric.digest] = _traits(desk, join(judged))

    def unanswered(self, desk: Desk, entry: GradedEntry) -> bool:
        """Tell whether a question of a submission that was read has no answer."""
        return self._by_attempt.get((entry.attempt, desk.rubric.digest), (False, False))[0]

    def near(self, desk: Desk, entry: GradedEntry) -> bool:
        """Tell whether a measured value of a submission that was read is near its threshold."""
        return self._by_attempt.get((entry.attempt, desk.rubric.digest), (False, False))[1]


def _traits(desk: Desk, observations: Mapping[str, Observation]) -> tuple[bool, bool]:
    unanswered = near = False
    for item in desk.items.values():
        observation = observations.get(item.id)
        if observation is None:
            continue
        if item.check == AnswerKind.name:
            unanswered |= bool(observation.facts.get("missing"))
        elif not always_for_people(item):
            kind = desk.plugins.checks[item.check]
            near |= any(map(_is_near, shown(kind, item, observation, observations)))
    return unanswered, near


def _is_near(drawing: object) -> bool:
    if not isinstance(drawing, Gauge) or min(drawing.value, drawing.needed) <= 0:
        return False
    return drawing.low <= drawing.needed <= drawing.high or abs(
        math.log(drawing.value / drawing.needed)
    ) <= math.log1p(NEAR)


Filter: TypeAlias = Callable[["Desk", "ClassIndex", "Traits", "GradedEntry"], bool]


def _waits(desk: Desk, index: ClassIndex, _traits: Traits, entry: GradedEntry) -> bool:
    return any(index.waits(entry, item) for item in desk.items)


FILTERS: Mapping[str, tuple[str, Filter]] = {
    "all": ("All", lambda *_: True),
    "waiting": ("To read", _waits),
    "open": ("Open", lambda _d, _i, _t, entry: entry.card.standing is Standing.PROVISIONAL),
    "held": ("Held", lambda _d, _i, _t, entry: entry.card.standing is Standing.HELD),
    "flagged": ("Flagged", lambda _d, _i, _t, entry: any(line.flags for line in entry.card.lines)),
    "late": (
        "Late",
        # by days that count: `late_s` also has the seconds of the grace
        lambda _d, _i, _t, entry: any(total.late and total.late.days > 0 for total in entry.card.totals),
    ),
    "unanswered": ("Without answer", lambda desk, _i, traits, entry: traits.unanswered(desk, entry)),
    "near": ("Near threshold", lambda desk, _i, traits, entry: traits.near(desk, entry)),
}
"""By the word in the address, the label and the test."""
QUICK = frozenset(FILTERS) - {"unanswered", "near"}
"""Filters that read no evidence, so that their numbers always stand beside them."""
