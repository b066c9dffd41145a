"""Whether a harness uses as many threads as it is told, by what sums on so many threads are."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, ClassVar

from grader.api import CourseError, case
from grader.api.check import Observation, Outcome, cases_of

from .matches_on_cpu import MatchesOnCpu

if TYPE_CHECKING:
    from grader.api.check import CheckContext

CANDIDATES = 48
MOST_THREADS = 5
"""More than any case asks for; each has a sum of its own for the seeds that are used."""


class ThreadsUsed(MatchesOnCpu):
    """As `matches_on_cpu`, for a driver whose first argument is a clock that compares sums.

    Numbers of a seed add up to something else, in the last digits, on each number of threads. What they add
    up to a program of the reference's computes first, and no program of the submission knows.
    """

    name: ClassVar[str] = "threads_used"

    def observe(self, options: MatchesOnCpu.Options, context: CheckContext) -> Observation:
        """Give each case's clock its sums, and call the driver."""
        module, _, _ = options.of.rpartition(".")
        if find_spec("torch") is not None:
            with context.reference(module) as reference:
                for played in cases_of(context, options.inputs):
                    clock = played.args[0]
                    seeds = [clock.seed + number for number in range(1, CANDIDATES + 1)]
                    call = reference.call("sums", case("sums", seeds, MOST_THREADS))
                    if call.outcome is not Outcome.OBSERVED:
                        raise CourseError(f"given: sums: {call.note}")
                    pairs = zip(seeds, call.value, strict=True)
                    clock.sums = {seed: sums for seed, sums in pairs if len(set(sums)) == MOST_THREADS}
                    if not clock.sums:
                        raise CourseError("given: sums: torch adds up alike on any number of threads")
        return super().observe(options, context)
