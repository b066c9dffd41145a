"""Check kinds of homework 1: whether the network learns with the functions that were handed in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from grader.api import CourseError, case
from grader.model.observation import Case, Observation, Outcome, Quantity
from grader.model.options import ModuleName, option
from grader.model.score import Award

if TYPE_CHECKING:
    from grader.bench.bench import Bench, Call


class Trains:
    """Train the course's network with the hand-in's functions and count what it gets right.

    A program's own word on its accuracy is a claim. Here `driver.py` trains in the student's process and
    says what it takes each picture of the test set for; the labels never leave the examiner, who counts.
    """

    name: ClassVar[str] = "trains"

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """The YAML keys."""

        driver: ModuleName = option(
            "The course's file that trains, without `.py`.", default=ModuleName("driver")
        )
        sizes: tuple[int, ...] = option("Neurons of each layer.", default=(784, 128, 64, 10))
        learning_rate: float = option(
            "The learning rate, unless the hand-in's main.py chooses another.", default=0.1, above=0
        )
        mini_batch_size: int = option("Samples before each step.", default=16, above=0)
        epochs: int = option("How often the training set is gone through.", default=5, above=0)
        at_least: float = option(
            "The share of the test set that must be right.", judges=True, default=0.95, above=0
        )

    def observe(self, options: Options, bench: Bench) -> Observation:
        """Train epoch by epoch, each of them a call with a time limit of its own."""
        from .data import WrongData, load

        try:
            training, _, test = load(seed=int(bench.seed, 16))
        except WrongData as error:
            raise CourseError(str(error)) from None
        cases: list[Case] = []
        quantities = {}
        with bench.subject(options.driver) as subject:
            call = subject.imported
            if call.outcome is Outcome.OBSERVED:
                begin = case(
                    "begin",
                    training.pictures,
                    training.labels,
                    list(options.sizes),
                    options.learning_rate,
                    options.mini_batch_size,
                )
                call = subject.call("begin", begin)
                quantities = {"learning_rate": Quantity(value=_number(call.value), taken_by="subject")}
            while call.outcome is Outcome.OBSERVED and len(cases) < options.epochs:
                call = subject.call("epoch", case("test set", test.pictures))
                if call.outcome is Outcome.OBSERVED:
                    cases.append(_case(f"epoch {len(cases) + 1}", call, test.labels))
            output = subject.output
        trained = len(cases) == options.epochs
        if trained:
            quantities["accuracy"] = cases[-1].quantities["accuracy"]
            quantities["training"] = Quantity(
                value=sum(float(one.quantities["wall_s"].value or 0) for one in cases), unit="s"
            )
        return Observation(
            item=bench.item,
            outcome=Outcome.OBSERVED if trained else call.outcome,
            note="" if trained else call.note,
            cases=tuple(cases),
            quantities=quantities,
            facts={"tracebacks": {"training": call.traceback}} if call.traceback else {},
            output=output,
            seed=bench.seed,
        )

    def award(self, options: Options, observation: Observation, related: Mapping[str, Observation]) -> Award:
        """All points if enough of the test set is right after the last epoch."""
        del related
        last = observation.cases[-1]
        accuracy = last.quantities["accuracy"].value
        if accuracy is None:
            return Award(fraction=0.0, reason=last.note)
        reason = f"{accuracy:.2%} of the test set is right after {options.epochs} epochs"
        if accuracy >= options.at_least:
            return Award(fraction=1.0, reason=reason)
        return Award(fraction=0.0, reason=f"{reason}; wanted are {options.at_least:.0%}")


def _case(name: str, call: Call, labels: Any) -> Case:
    from numpy import ndarray

    answers = call.value
    accuracy, note = None, ""
    if type(answers) is not ndarray or answers.shape != labels.shape or answers.dtype.kind not in "iu":
        note = f"{name}: the network does not give one class for each of {len(labels)} pictures"
    else:
        accuracy = float((answers == labels).mean())
        note = f"{accuracy:.2%} of {len(labels)} pictures are right"
    return Case(
        name=name,
        outcome=call.outcome,
        note=note,
        quantities={
            "accuracy": Quantity(value=accuracy),
            "wall_s": Quantity(value=call.wall_s, unit="s"),
        },
    )


def _number(value: Any) -> float | None:
    return float(value) if type(value) in (int, float) else None
