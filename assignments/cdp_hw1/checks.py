"""Check kinds of homework 1: whether the network learns with the functions that were handed in."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from grader.api import CourseError, case
from grader.api.check import (
    Award,
    Case,
    CheckKind,
    ModuleName,
    Observation,
    Outcome,
    Quantity,
    failed_observation,
    option,
)

if TYPE_CHECKING:
    from grader.api.check import Call, CheckContext, Subject

    from .training import Function, Network

RATE = re.compile(rb"(?m)^[ \t]*learning_rate[ \t]*=[ \t]*([0-9.]+(?:[eE][-+]?[0-9]+)?)[ \t]*(?:#.*)?\r?$")
"""A line of main.py that assigns a plain number."""
TRAINING_CPU_S = 120.0
"""The most CPU time of a training, which takes 5 s; numbers below 1e-38 slow some processors down."""
COMPARED_STEPS = 4
"""At so many steps of the training, drawn from the seed, the student's functions are called with its sums."""


class Trains(CheckKind):
    """Train the course's network with the student's functions and count what it gets right.

    The network, its data and its arithmetic stay outside the student's process, and so do all labels: what is
    called there are the functions of `utils.py`. `random_weights` and `zeros_biases` give the network's first
    values, `create_batches` the order of the samples. `sigmoid` and `sigmoid_prime` are called with numbers
    first: where they give ours, ours compute the training, and otherwise a table of what they gave. At steps
    that are drawn from the seed, and with the test set at the end, they are called with the sums of each
    layer, and must give what was used. The drawn weights of a matrix get another order and other signs, so
    that nobody hands in what was learnt elsewhere.
    """

    name: ClassVar[str] = "trains"

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """The YAML keys."""

        module: ModuleName = option(
            "The student's file with the functions, without `.py`.", default=ModuleName("utils")
        )
        sizes: tuple[int, ...] = option("Neurons of each layer.", default=(784, 128, 64, 10))
        learning_rate: float = option(
            "The learning rate, unless the submission's main.py chooses another.", default=0.1, above=0
        )
        mini_batch_size: int = option("Samples before each step.", default=16, above=0)
        epochs: int = option("How often the training set is gone through.", default=5, above=0)
        at_least: float = option(
            "The share of the test set that must be right.", judges=True, default=0.95, above=0
        )

    def observe(self, options: Options, context: CheckContext) -> Observation:
        """Call the functions, train with what they gave, and count after each epoch."""
        from .data import WrongData, load
        from .training import Unusable

        try:
            training, _, test = load(seed=int(context.seed, 16))
        except WrongData as error:
            raise CourseError(str(error)) from None
        chosen = _chosen_rate(context)
        rate = options.learning_rate if chosen is None else chosen
        with context.subject(options.module) as subject:
            try:
                _check(subject.imported)
                functions = _Functions(subject)
                cases = _train(options, rate, int(context.seed, 16), functions, training, test)
            except _EndedError as error:
                return failed_observation(context, error.call, "training", subject.output)
            except Unusable as error:
                cases = [Case(name="training", outcome=Outcome.OBSERVED, note=str(error))]
            output = subject.output
        quantities = {"learning_rate": Quantity(value=rate)}
        if accuracy := cases[-1].quantities.get("accuracy"):
            quantities["accuracy"] = accuracy
        return Observation(
            item=context.item,
            outcome=Outcome.OBSERVED,
            cases=tuple(cases),
            quantities=quantities,
            output=output,
            seed=context.seed,
        )

    def award(self, options: Options, observation: Observation, related: Mapping[str, Observation]) -> Award:
        """All points if enough of the test set is right after the last epoch."""
        del related
        last = observation.cases[-1]
        if "accuracy" not in last.quantities:
            return Award(fraction=0.0, reason=f"the network cannot be trained: {last.note}")
        accuracy = float(last.quantities["accuracy"].value or 0.0)
        reason = f"{accuracy:.2%} of the test set is right after {options.epochs} epochs"
        if accuracy >= options.at_least:
            return Award(fraction=1.0, reason=reason)
        return Award(fraction=0.0, reason=f"{reason}; wanted are {options.at_least:.0%}")


class _EndedError(Exception):
    """A call of the student's function did not return."""

    def __init__(self, call: Call) -> None:
        super().__init__(call.note)
        self.call = call


class _OtherValuesError(Exception):
    """A function gave other values for the sums of a step than the training used."""


def _check(call: Call) -> Any:
    """Return the value of a call.

    Raises:
        _EndedError: it did not return.
    """
    if call.outcome is not Outcome.OBSERVED:
        raise _EndedError(call)
    return call.value


class _Functions:
    """The student's functions, and what stands for the two that every step needs."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._stand_ins: dict[str, Function] = {}

    def call(self, name: str, what: str, *args: Any) -> Any:
        """Call one of them and return its value.

        Raises:
            _EndedError: it did not return.
        """
        return _check(self._subject.call(name, case(what, *args)))

    def choose(self, samples: Any, *, tables: bool) -> tuple[Function, Function]:
        """Choose stand-ins for `sigmoid` and `sigmoid_prime`: ours where both give the same for `samples`.

        Otherwise, and with `tables`, a table of what the student's function gives.

        Raises:
            _EndedError: one did not return.
            Unusable: one gives no array of the same shape.
        """
        from . import training

        for name in ("sigmoid", "sigmoid_prime"):
            ours = getattr(training, name)
            if tables or not training.same(self._values(name, "numbers", samples), ours(samples)):
                self._stand_ins[name] = training.interpolated(self._values(name, "a table", training.TABLE))
            else:
                self._stand_ins[name] = ours
        return self._stand_ins["sigmoid"], self._stand_ins["sigmoid_prime"]

    def compare(self, what: str, sums: Sequence[Any]) -> None:
        """Call both with the sums of a step or of the test set, layer by layer, as the course's network does.

        What is right in other shapes alone is of no use there.

        Raises:
            _EndedError: one did not return.
            _OtherValuesError: one gives other values than what stands for it.
            Unusable: one gives no array of the same shape.
        """
        from .training import same_as_used

        for layer in sums:
            numbers = layer.astype("float64")
            for name, stand_in in self._stand_ins.items():
                if not same_as_used(self._values(name, what, numbers), stand_in, numbers):
                    raise _OtherValuesError(name)

    def _values(self, name: str, what: str, samples: Any) -> Any:
        from .training import numbers

        return numbers(name, self.call(name, what, samples), samples.shape)


def _train(
    options: Trains.Options, rate: float, seed: int, functions: _Functions, training: Any, test: Any
) -> list[Case]:
    """Train epoch by epoch and count what is right of the test set.

    Raises:
        _EndedError: one of the student's functions did not return.
        Unusable: one of them gave what no network can be trained with.
    """
    from time import thread_time

    from numpy import arange
    from numpy.random import default_rng

    from .data import inputs
    from .training import Network, Unusable, drawn_batches, drawn_weights, in_list, zero_biases

    rng = default_rng(seed)
    sizes = list(options.sizes)
    weights = drawn_weights(functions.call("random_weights", "the layers", sizes), sizes)
    # Numbers that are drawn around 0 are as good in any order and with any signs; what was learnt elsewhere
    # is not. An order alone leaves weights as they are that are all alike, and with them sums that are known.
    weights = [
        rng.permuted(matrix, axis=None) * rng.choice([-1, 1], matrix.shape).astype("float32")
        for matrix in weights
    ]
    biases = zero_biases(functions.call("zeros_biases", "the layers", sizes), sizes)
    in_list("zeros_weights", functions.call("zeros_weights", "the layers", sizes), len(weights))
    rows = arange(len(training.labels))[:, None]
    value = functions.call("create_batches", "row numbers", rows, training.labels, options.mini_batch_size)
    batches = drawn_batches(value, len(rows), options.mini_batch_size, sizes[-1])
    samples = rng.normal(scale=4, size=(64, 64))
    compared = {int(step) for step in rng.integers(len(batches) * options.epochs, size=COMPARED_STEPS)}
    other, ends_s = "", thread_time() + TRAINING_CPU_S
    for tables in (False, True):
        network = Network(weights, biases, rate, *functions.choose(samples, tables=tables))
        cases: list[Case] = []
        try:
            while len(cases) < options.epochs:
                cases.append(_epoch(len(cases), network, batches, functions, compared, training, test))
                if thread_time() > ends_s:
                    raise Unusable(
                        "a training with the values of utils.py computes for longer than "
                        f"{TRAINING_CPU_S:g} s; do they hold numbers that are no zeros and below 1e-38?"
                    )
            functions.compare("the test set", network.sums(inputs(test.pictures)))
        except _OtherValuesError as error:
            other = str(error)
        else:
            return cases
    raise Unusable(f"{other} does not give one value for a number, whatever stands beside it")


def _epoch(
    epoch: int,
    network: Network,
    batches: Sequence[tuple[Any, Any]],
    functions: _Functions,
    compared: Collection[int],
    training: Any,
    test: Any,
) -> Case:
    """Learn from every batch once, and count what is right of the test set.

    Raises:
        Unusable: a sum is NaN, and with it every later one: the rest of the training would be in vain.
    """
    from numpy import isnan

    from .data import inputs
    from .training import Unusable

    for number, (rows, labels) in enumerate(batches, epoch * len(batches)):
        sums = network.step(inputs(training.pictures[rows]), labels)
        if isnan(sums[-1]).any():
            raise Unusable(
                f"the network computes NaN (not a number) from step {number + 1} on; do sigmoid and "
                "sigmoid_prime give a number for every number?"
            )
        if number in compared:
            functions.compare(f"step {number + 1}", sums)
    accuracy = float((network.predict(inputs(test.pictures)) == test.labels).mean())
    return Case(
        name=f"epoch {epoch + 1}",
        outcome=Outcome.OBSERVED,
        note=f"{accuracy:.2%} of {len(test.labels)} pictures are right",
        quantities={"accuracy": Quantity(value=accuracy)},
    )


def _chosen_rate(context: CheckContext) -> float | None:
    """The learning rate that main.py assigns last; None without main.py, or if it assigns no plain number."""
    if "main.py" not in context.files:
        return None
    try:
        rates = RATE.findall(context.read("main.py"))
        return float(rates[-1]) if rates else None
    except (OSError, ValueError):
        return None
