"""Whether a function of torch that needs no GPU returns what it should."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, ClassVar

from grader.checks.matches_reference import MatchesReference
from grader.model.observation import Observation, Outcome

if TYPE_CHECKING:
    from grader.bench.bench import Bench

NO_TORCH = "torch is not installed on this machine"


class MatchesOnCpu(MatchesReference):
    """As `matches_reference`, for what needs torch and no GPU: on a machine without torch the item waits."""

    name: ClassVar[str] = "matches_on_cpu"

    def observe(self, options: MatchesReference.Options, bench: Bench) -> Observation:
        """Call each case, if there is a torch to call it with."""
        if find_spec("torch") is None:
            return Observation(item=bench.item, outcome=Outcome.NOT_OBSERVED, note=NO_TORCH, seed=bench.seed)
        return super().observe(options, bench)
