"""How long orders took, kept beside the orders, so that packs last as long as they should."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from grader.engines.remote.stored import StoredOrder
from grader.files import write_whole

FILE = "durations.json"
LATEST = 0.1
"""The weight of the latest duration beside the mean of those before."""


@dataclass(slots=True)
class Durations:
    """Mean durations in seconds, by assignment and needs."""

    means: dict[str, float] = field(default_factory=dict)

    @classmethod
    def read(cls, root: Path) -> Durations:
        """Read those of earlier commands; none if there are none."""
        try:
            data = json.loads((root / FILE).read_bytes())
            return cls({str(name): float(mean) for name, mean in data.items()})
        except (OSError, ValueError, TypeError, AttributeError):
            return cls()

    def write(self, root: Path) -> None:
        """Keep them for later commands.

        Raises:
            OSError: they cannot be written.
        """
        if self.means:
            write_whole(root / FILE, json.dumps(self.means))

    def note(self, stored: StoredOrder, seconds: float) -> None:
        """Add the duration of one order."""
        name = _name(stored)
        before = self.means.get(name, seconds)
        self.means[name] = before + LATEST * (seconds - before)

    def expected(self, orders: Iterable[StoredOrder]) -> float | None:
        """Return the longest mean of these orders; None if nothing is known of one."""
        names = {_name(stored) for stored in orders}
        if not names <= self.means.keys():
            return None
        return max((self.means[name] for name in names), default=None)


def _name(stored: StoredOrder) -> str:
    wants = stored.wants
    items = len(stored.job.tasks)
    return f"{stored.job.submission.assignment} {items} items {wants.gpus} GPUs {wants.cores} cores"
