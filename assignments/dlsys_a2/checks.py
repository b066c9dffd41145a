"""Check kinds of homework 2: whether the course's network learns with the executors that were handed in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import inf, isnan, nan
from typing import TYPE_CHECKING, Any, ClassVar

from grader.api import case
from grader.bench.tolerance import Tolerance, Tolerances
from grader.checks.calls import cases_of
from grader.checks.watched import WATCHED, idle_device, unrecorded, watch, watched_of
from grader.config.codec import to_plain
from grader.model.observation import Case, Observation, Outcome, Quantity
from grader.model.options import InputsName, option
from grader.model.score import Award
from grader.model.trace import Watched

if TYPE_CHECKING:
    from grader.bench.bench import Bench, InputCase

DRIVER = "training"
Look = Callable[[Case, Any], Case]
"""What is seen in a value that came back: a case as it is, with more in it."""


class Learns:
    """Train the course's network with the hand-in's executors, and count what it gets right.

    On a GPU if the item has one, on NumPy otherwise. A short training in small steps must have the oracle's
    losses. Then the network learns as the course says: the loss must fall, and enough of other pictures be
    right. The labels of those never leave the examiner, who counts; a program's own word is a claim. The best
    epoch counts: the course's steps are large, and now and then one of a right program goes too far.

    On a GPU the short training is observed once more: what launches no kernel did not learn there.
    """

    name: ClassVar[str] = "learns"

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """The YAML keys."""

        inputs: InputsName = option("The family of the short training: pictures, labels and epochs.")
        tolerance: Tolerances = option(
            "How far its losses may be from the expected ones.",
            default=Tolerances(float64=Tolerance(rtol=1e-4, atol=0.0)),
        )
        epochs: int = option("How often the long one goes through its pictures.", default=10, above=1)
        fall_to: float = option(
            "The most that its least loss may be, as a share of its first.", judges=True, default=0.2, above=0
        )
        at_least: float = option(
            "The share of the other pictures that must be right.", judges=True, default=0.93, above=0
        )

    def observe(self, options: Options, bench: Bench) -> Observation:
        """Call by call, each of them with a time limit of its own, until one does not return."""
        cases: list[Case] = []
        with bench.subject(DRIVER) as subject:
            call = subject.imported
            for function, given, look in _steps(options, bench):
                if call.outcome is Outcome.OBSERVED:
                    call = subject.call(function, given)
                if call.outcome is Outcome.OBSERVED:
                    wall_s = Quantity(value=call.wall_s, unit="s")
                    seen = Case(name=given.name, outcome=call.outcome, quantities={"wall_s": wall_s})
                    cases.append(look(seen, call.value))
            output = subject.output
        facts = {}
        if call.outcome is Outcome.OBSERVED and bench.devices:
            watched = watch(bench, f"{DRIVER}.on_gpu", options.inputs, bench.expected("on_gpu"))
            if isinstance(watched, Watched):
                facts[WATCHED] = to_plain(watched)
            else:
                call = watched
        if call.traceback:
            facts["tracebacks"] = {"training": call.traceback}
        return Observation(
            item=bench.item,
            outcome=call.outcome,
            note=call.note,
            cases=tuple(cases),
            facts=facts,
            output=output,
            seed=bench.seed,
        )

    def award(self, options: Options, observation: Observation, related: Mapping[str, Observation]) -> Award:
        """All points if the losses are those of a training, and enough is right after it."""
        del related
        watched = watched_of(observation.facts)
        idle = idle_device(watched) if watched else ""
        if wrong := idle or "; ".join(_wrong(options, observation.cases)):
            return Award(fraction=0.0, reason=wrong)
        if watched and not watched.trace.complete:
            return unrecorded("it could not be seen whether the GPU does the work", watched)
        first, least, share = _figures(observation.cases)
        told = f"the loss falls from {first:.4g} to {least:.4g}; {share:.2%} of the other pictures are right"
        return Award(fraction=1.0, reason=told)


def _steps(options: Learns.Options, bench: Bench) -> Iterator[tuple[str, InputCase, Look]]:
    """What is called, with what, and what is seen in its result."""
    from .given.tests.digits import load

    device = "gpu" if bench.devices else "numpy"
    short = cases_of(bench, options.inputs)[-1]
    wanted = bench.expected("losses")(*short.args)
    yield "losses", replace(short, kwargs={"device": device}), partial(_compared, wanted, options.tolerance)
    training, others = load(int(bench.seed, 16))
    yield "begin", case(f"{len(training.labels)} pictures", *training, device=device), _as_it_is
    for epoch in range(1, options.epochs + 1):
        yield "epoch", case(f"epoch {epoch}", others.pictures), partial(_counted, others.labels)


def _compared(wanted: Any, tolerance: Tolerances, seen: Case, value: Any) -> Case:
    from grader.bench.compare import compare

    compared = compare(value, wanted, tolerance)
    return replace(seen, agrees={"losses": compared.agrees}, note=compared.note)


def _as_it_is(seen: Case, value: Any) -> Case:
    del value
    return seen


def _counted(labels: Any, seen: Case, value: Any) -> Case:
    from numpy import ndarray

    loss, answers = value if type(value) is tuple and len(value) == 2 else (None, None)
    if type(answers) is not ndarray or answers.shape != labels.shape or answers.dtype.kind not in "iu":
        return replace(seen, note=f"the network does not give one class for each of {len(labels)} pictures")
    measured = {
        "loss": Quantity(value=loss if type(loss) is float else None, taken_by="subject"),
        "accuracy": Quantity(value=float((answers == labels).mean())),
    }
    return replace(seen, quantities={**seen.quantities, **measured})


def _wrong(options: Learns.Options, cases: tuple[Case, ...]) -> Iterator[str]:
    short, *epochs = cases
    if not short.agrees["losses"]:
        yield f"the losses of a short training in small steps: {short.note}"
    if notes := [epoch.note for epoch in epochs if epoch.note]:
        yield notes[0]
        return
    first, least, share = _figures(cases)
    # Not `>`: a NaN is within no limit.
    if not least <= options.fall_to * first:
        yield f"the loss goes from {first:.4g} to {least:.4g}; {options.fall_to * first:.4g} is asked for"
    if share < options.at_least:
        yield f"{share:.2%} of the other pictures are right; {options.at_least:.0%} are asked for"


def _figures(cases: tuple[Case, ...]) -> tuple[float, float, float]:
    """The first and the least loss, and the largest share of the other pictures that was right."""
    first, *later = (_number(epoch, "loss") for epoch in cases[2:])
    return first, min(later, key=_nan_last), max(_number(epoch, "accuracy") for epoch in cases[2:])


def _number(case: Case, name: str) -> float:
    value = case.quantities[name].value
    return float(value) if isinstance(value, int | float) else nan


def _nan_last(number: float) -> float:
    return inf if isnan(number) else number
