"""Check kinds for tests of scoring and reports, where nothing is observed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, ClassVar, NoReturn

from grader.contracts.check import CheckKind
from grader.contracts.context import CheckContext

__all__ = ["AwardOnly"]


class AwardOnly(CheckKind):
    """A check kind that only judges; a subclass gives it `award`, and a `name` where one is needed."""

    name: ClassVar[str] = "award_only"
    Options: ClassVar[type] = SimpleNamespace

    def observe(self, options: Any, context: CheckContext) -> NoReturn:
        """Refuse: the test brings the observations."""
        raise NotImplementedError
