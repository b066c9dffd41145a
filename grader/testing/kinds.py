"""A check kind for tests of scoring and reports, where nothing is observed."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar, NoReturn

from grader.contracts.check import CheckKind
from grader.contracts.context import CheckContext
from grader.model.observation import Observation
from grader.model.score import Award

__all__ = ["AwardOnly"]


class AwardOnly(CheckKind):
    """A check kind that only judges: each observation has its award in `facts`, a full one by default."""

    name: ClassVar[str] = "award_only"
    Options: ClassVar[type] = SimpleNamespace

    def observe(self, options: Any, context: CheckContext) -> NoReturn:
        """Refuse: the test brings the observations."""
        raise AssertionError("AwardOnly judges observations that the test brings, and makes none")

    def award(self, options: Any, observation: Observation, related: Mapping[str, Observation]) -> Award:
        """Return the award in the observation's facts."""
        del options, related
        return Award(**{"fraction": 1.0, "reason": "as observed", **observation.facts})
