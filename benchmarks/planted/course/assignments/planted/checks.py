"""A check kind that judges nothing: it writes down what each clock says of the same calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from grader.api import CourseError
from grader.api.check import Award, CheckKind, FunctionName, InputsName, Observation, Outcome, option

if TYPE_CHECKING:
    from grader.api.check import Call, CheckContext, Subject

_OBSERVED_DRAW = 1_000_000
"""Numbers of draws from here on are for the observed calls."""


class Clocks(CheckKind):
    """Time calls of a function that times itself: it returns its result together with its seconds."""

    name: ClassVar[str] = "clocks"
    timed: ClassVar[bool] = True

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """The YAML keys."""

        of: FunctionName = option("The function that times itself, as module.function.")
        inputs: InputsName = option("The family of inputs; its only case is drawn anew for each call.")
        calls: int = option("How many calls are timed.", default=40, above=0)
        observed_calls: int = option("How many more are observed on a GPU.", default=10, above=0)

    def observe(self, options: Options, context: CheckContext) -> Observation:
        """Make the timed calls, then the observed ones; the first of each compiles and does not count."""
        module = options.of.rpartition(".")[0]
        context.quiet.begin()
        with context.subject(module) as subject:
            timed = list(_timed(options, context, subject))
        disturbance = context.quiet.end(sum(call["cpu_s"] for call in timed))
        observed = []
        if context.devices:
            with context.subject(module, observed=True) as subject:
                observed = list(_observed(options, context, subject))
        return Observation(
            item=context.item,
            outcome=Outcome.OBSERVED,
            facts={"timed": timed[1:], "observed": observed[1:], "disturbance": disturbance},
            seed=context.seed,
        )

    def award(self, options: Options, observation: Observation, related: Mapping[str, Observation]) -> Award:
        """All points, whatever the clocks say."""
        del options, observation, related
        return Award(fraction=1.0, reason="timed")


def _timed(options: Clocks.Options, context: CheckContext, subject: Subject) -> Iterator[dict[str, float]]:
    """Seconds of each call from outside, those of handing over its result, and its own."""
    for number in range(options.calls + 1):
        call, own_s = _call(options, context, subject, number)
        again = subject.again(context.draw(options.inputs, number)[0])
        yield {
            "wall_s": call.wall_s,
            "again_s": again.wall_s,
            "own_s": own_s,
            "cpu_s": (call.cpu_s or 0.0) + (again.cpu_s or 0.0),
        }


def _observed(options: Clocks.Options, context: CheckContext, subject: Subject) -> Iterator[dict[str, float]]:
    """Seconds of each call by its own clock, and those of the copies and kernels in it."""
    for number in range(options.observed_calls + 1):
        call, own_s = _call(options, context, subject, _OBSERVED_DRAW + number)
        if call.trace is None or not call.trace.complete:
            raise CourseError(f"an observed call has no record: {call.trace and call.trace.problem}")
        yield {
            "own_s": own_s,
            "kernels_s": sum(launch.seconds or 0.0 for launch in call.trace.launches),
            "copies_s": sum(copies.seconds or 0.0 for copies in call.trace.copies.values()),
        }


def _call(
    options: Clocks.Options, context: CheckContext, subject: Subject, number: int
) -> tuple[Call, float]:
    """One call, of which the result was right, and its own seconds."""
    import numpy as np

    function = options.of.rpartition(".")[2]
    (case,) = context.draw(options.inputs, number)
    call = subject.call(function, case)
    if call.outcome is not Outcome.OBSERVED:
        raise CourseError(f"{options.of}: {call.note or subject.imported.note}")
    result, own_s = call.value
    wanted: Any = context.expected(function)(*case.args)
    if not np.array_equal(result, wanted):
        raise CourseError(f"{options.of}: a call is wrong")
    return call, own_s
