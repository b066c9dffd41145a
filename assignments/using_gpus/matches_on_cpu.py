"""Whether a function of torch that needs no GPU returns what it should."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, ClassVar

from grader.api.check import Observation, Outcome
from grader.checks.matches_reference import MatchesReference

if TYPE_CHECKING:
    from grader.api.check import CheckContext

NO_TORCH = "torch is not installed on this machine"


class MatchesOnCpu(MatchesReference):
    """As `matches_reference`, for what needs torch and no GPU: on a machine without torch the item waits."""

    name: ClassVar[str] = "matches_on_cpu"

    def observe(self, options: MatchesReference.Options, context: CheckContext) -> Observation:
        """Call each case, if there is a torch to call it with."""
        if find_spec("torch") is None:
            return Observation(
                item=context.item, outcome=Outcome.NOT_OBSERVED, note=NO_TORCH, seed=context.seed
            )
        return super().observe(options, context)
