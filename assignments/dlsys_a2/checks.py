"""Check kinds of homework 2: whether the course's network learns with the executors that were handed in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from grader.api import case
from grader.api.check import (
    Award,
    Case,
    CheckKind,
    InputsName,
    Observation,
    Outcome,
    Quantity,
    Tolerance,
    Tolerances,
    cases_of,
    option,
    to_plain,
)
from grader.checks.drawings.gpu import gpu_drawings
from grader.checks.exchanged import watch_exchange
from grader.checks.watched import WATCHED, idle_or_wrong, off_the_device, watched_of
from grader.model.trace import Watched

if TYPE_CHECKING:
    from grader.api.check import Call, CheckContext, Drawing, InputCase

DRIVER = "training"
BATCH = 1000
SHAPES = [(784, 256), (256, 100), (100, 10), (256,), (100,), (10,)]
"""Of the course's network: weights, then biases."""
A_STEP = Tolerances(float32=Tolerance(rtol=1e-2, atol=3e-3))
"""Of a batch of the course's step: near zero a relu may go either way for a few of 1000 pictures."""
FROM_DRAWN = Tolerances(float32=Tolerance(rtol=1e-3, atol=1e-3))
"""Of a step from drawn parameters; a relu that goes the other way for one picture is a third of that."""
SLOPES = Tolerance(rtol=1e-2, atol=0.5)
"""Of gradients, sums over 1000 pictures; for the same reason."""
_OBSERVED_DRAWS = (1_000_201, 1_000_202)
ON_MNIST = "on_mnist"
"""The fact whether the pictures are MNIST's."""
NO_PARAMETERS = "the network's parameters are no longer arrays of the course's shapes"
UNCOMPARED = "no batch of the training could be computed again: its parameters grow beyond single precision"
FINITE_AGAIN = "the network's parameters are numbers again after they were NaN or infinite"
Look = Callable[[Case, Any], Case]
"""What is seen in a value that came back: a case as it is, with more in it."""


class Learns(CheckKind):
    """Train networks with the submission's executors, and count what the course's gets right.

    On a GPU if the item has one, on NumPy otherwise. A driver trains in the student's process: nothing that
    it says is believed, and no expected value is there. First it trains networks whose layers and operations
    are drawn from the seed: losses and parameters must be the oracle's. Then the course's network takes a
    step from parameters that are drawn outside, and learns as the course says. After each epoch, and after
    single batches at epochs that are drawn, its parameters leave the process: the batch is computed again
    outside, and what the network takes other pictures for is computed from the parameters, and counted. The
    best epoch counts: the course's steps are large, and now and then one of a right program goes too far.
    An epoch from which the next step leads to infinity does not count, for that step proves nothing.

    On a GPU a batch of the course's network is observed once more, with other arrays on the GPU than on the
    host: losses and gradients must be those of the arrays on the GPU, which hardly anything may leave.
    """

    name: ClassVar[str] = "learns"
    shares_gpu: ClassVar[bool] = True

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """The YAML keys."""

        inputs: InputsName = option(
            "The family of the network that is observed on a GPU, with other arrays there than on the host."
        )
        networks: InputsName = option("The family of networks that are drawn, without the device.")
        tolerance: Tolerances = option(
            "How far losses (float64) and parameters (float32) may be from the expected ones.",
            default=Tolerances(
                float64=Tolerance(rtol=1e-4, atol=0.0), float32=Tolerance(rtol=1e-3, atol=1e-3)
            ),
        )
        epochs: int = option("How often the course's network goes through its pictures.", default=10, above=1)
        at_least: float = option(
            "The share of the other pictures that must be right.", judges=True, default=0.93, above=0
        )
        at_least_on_mnist: float = option(
            "The same where `mnist.npz` lies beside the stand-in.", judges=True, default=0.95, above=0
        )

    def observe(self, options: Options, context: CheckContext) -> Observation:
        """Call by call, each of them with a time limit of its own, until one does not return."""
        cases: list[Case] = []
        with context.subject(DRIVER) as subject:
            call = subject.imported
            for function, given, look in _steps(options, context):
                if call.outcome is Outcome.OBSERVED:
                    call = subject.call(function, given)
                if call.outcome is Outcome.OBSERVED:
                    wall_s = Quantity(value=call.wall_s, unit="s")
                    seen = Case(name=given.name, outcome=call.outcome, quantities={"wall_s": wall_s})
                    cases.append(look(seen, call.value))
            output = subject.output
        from .given.tests.digits import FOLDER

        facts: dict[str, Any] = {ON_MNIST: (FOLDER / "mnist.npz").exists()}
        if call.outcome is Outcome.OBSERVED and context.devices:
            watched = _exchanged(options, context)
            if isinstance(watched, Watched):
                facts[WATCHED] = to_plain(watched)
            else:
                call = watched
        if call.traceback:
            facts["tracebacks"] = {"training": call.traceback}
        return Observation(
            item=context.item,
            outcome=call.outcome,
            note=call.note,
            cases=tuple(cases),
            facts=facts,
            output=output,
            seed=context.seed,
        )

    def award(self, options: Options, observation: Observation, related: Mapping[str, Observation]) -> Award:
        """All points if every step is that of a training, and enough is right after it."""
        del related
        watched = watched_of(observation.facts)
        if watched and (problem := idle_or_wrong(watched)):
            return Award(fraction=0.0, reason=problem)
        wrong = next((case for case in observation.cases if not all(case.agrees.values())), None)
        if wrong:
            return Award(fraction=0.0, reason=f"{wrong.name}: {wrong.note}")
        if not any(case.agrees.get("parameters") for case in observation.cases):
            return Award(fraction=0.0, reason=UNCOMPARED)
        share = max(
            (
                float(case.quantities["accuracy"].value or 0.0)
                for case in observation.cases
                if "accuracy" in case.quantities
            ),
            default=0.0,
        )
        told = f"{share:.2%} of the other pictures are right"
        on_mnist = observation.facts.get(ON_MNIST, False)  # older evidence does not say it
        at_least = options.at_least_on_mnist if on_mnist else options.at_least
        if share < at_least:
            return Award(fraction=0.0, reason=f"{told}; {at_least:.0%} are asked for")
        if watched and (award := off_the_device(watched)):
            return award
        return Award(fraction=1.0, reason=told)

    def show(self, options: Options, observation: Observation) -> Iterator[Drawing]:
        """Draw what the GPU did."""
        del options
        return gpu_drawings(observation)


def _exchanged(options: Learns.Options, context: CheckContext) -> Watched | Call:
    placed, loaded = (cases_of(context, options.inputs, draw=draw)[-1] for draw in _OBSERVED_DRAWS)
    slopes = context.expected("slopes")
    tolerances = replace(options.tolerance, float32=SLOPES)
    return watch_exchange(
        context, DRIVER, placed, loaded, (slopes(*placed.args), slopes(*loaded.args)), tolerances
    )


def _steps(options: Learns.Options, context: CheckContext) -> Iterator[tuple[str, InputCase, Look]]:
    """What is called, with what, and what is seen in its result."""
    from numpy.random import default_rng

    from .given.tests.digits import load

    device = "gpu" if context.devices else "numpy"
    for network in cases_of(context, options.networks):
        look = partial(_compared, context.expected("drawn")(*network.args), options.tolerance)
        yield "drawn", replace(network, kwargs={"device": device}), look
    training, others = load(int(context.seed, 16))
    rng = default_rng(int(context.seed, 16))

    def batch() -> list[Any]:
        begin = int(rng.integers(len(training.labels) - BATCH))
        return [array[begin : begin + BATCH] for array in training]

    parameters = [rng.normal(scale=0.1, size=shape).astype("float32") for shape in SHAPES]
    samples = batch()
    after = context.expected("batch")(parameters, *samples)
    yield "step", case("a step from drawn parameters", parameters, *samples, device), partial(_stepped, after)
    yield "begin", case(f"{len(training.labels)} pictures", *training, device=device), _as_it_is
    learning = _Learning(context, others.pictures, others.labels)
    compared = {1, int(rng.integers(2, options.epochs + 1))}
    for epoch in range(1, options.epochs + 1):
        samples = batch()
        yield "epoch", case(f"epoch {epoch}"), partial(learning.epoch, samples)
        if epoch in compared:
            yield "batch", case(f"a batch after epoch {epoch}", *samples), partial(learning.batch, samples)


class _Learning:
    """The course's network as its parameters say that come back."""

    def __init__(self, context: CheckContext, pictures: Any, labels: Any) -> None:
        self._context = context
        self._pictures = pictures
        self._labels = labels
        self._parameters: list[Any] = []

    def epoch(self, samples: list[Any], seen: Case, value: Any) -> Case:
        """Count what the network takes the other pictures for, if a step with `samples` can follow."""
        if wrong := self._take(value):
            return replace(seen, agrees={"parameters": False}, note=wrong)
        if self._after(samples) is None:
            return seen
        answers = self._context.expected("classes")(self._parameters, self._pictures)
        measured = {
            "loss": Quantity(value=value[0], taken_by="subject"),
            "accuracy": Quantity(value=float((answers == self._labels).mean())),
        }
        return replace(seen, quantities={**seen.quantities, **measured})

    def batch(self, samples: list[Any], seen: Case, value: Any) -> Case:
        """Compute a batch again, from the parameters that the network had before."""
        from grader.api.values import compare

        after = self._after(samples)
        if wrong := self._take(value):
            return replace(seen, agrees={"parameters": False}, note=wrong)
        if after is None:
            return seen  # a step goes too far, this one or an earlier one, which is no wrong one
        compared = compare(self._parameters, after, A_STEP)
        note = f"the parameters after one more batch: {compared.note}" if compared.note else ""
        return replace(seen, agrees={"parameters": compared.agrees}, note=note)

    def _after(self, samples: list[Any]) -> Any:
        """Return the parameters after one more step; None if single precision does not hold them."""
        if not _are_finite(self._parameters):
            return None
        after = self._context.expected("batch")(self._parameters, *samples)
        return after if _are_finite(after) else None

    def _take(self, value: Any) -> str:
        """Take the parameters of a loss and parameters; what is wrong with them, empty if nothing is."""
        parameters = _parameters_of(value)
        if parameters is None:
            return NO_PARAMETERS
        were_finite = not self._parameters or _are_finite(self._parameters)
        self._parameters = parameters
        # no step leads from NaN, or from infinity, to a number
        return "" if were_finite or not _are_finite(self._parameters) else FINITE_AGAIN


def _parameters_of(value: Any) -> list[Any] | None:
    """Return the parameters of a loss and parameters, float32; None if it is anything else."""
    from numpy import errstate, ndarray

    if type(value) is not tuple or len(value) != 2 or type(value[0]) is not float:
        return None
    arrays = value[1]
    if type(arrays) is not list or any(type(array) is not ndarray for array in arrays):
        return None
    if [array.shape for array in arrays] != SHAPES or any(array.dtype.kind != "f" for array in arrays):
        return None
    with errstate(over="ignore"):
        return [array.astype("float32") for array in arrays]


def _stepped(after: Any, seen: Case, value: Any) -> Case:
    """Compare the parameters after a step from drawn ones with the oracle's."""
    from grader.api.values import compare

    parameters = _parameters_of(value)
    if parameters is None:
        return replace(seen, agrees={"step": False}, note=NO_PARAMETERS)
    compared = compare(parameters, after, FROM_DRAWN)
    note = f"the parameters afterwards: {compared.note}" if compared.note else ""
    return replace(seen, agrees={"step": compared.agrees}, note=note, symptom=compared.symptom)


def _are_finite(arrays: Iterable[Any]) -> bool:
    """Whether single precision holds all numbers of some arrays."""
    from numpy import errstate, isfinite

    with errstate(over="ignore"):
        return all(isfinite(array.astype("float32")).all() for array in arrays)


def _compared(wanted: Any, tolerance: Tolerances, seen: Case, value: Any) -> Case:
    from grader.api.values import compare

    compared = compare(value, wanted, tolerance)
    agrees = {"training": compared.agrees}
    return replace(seen, agrees=agrees, note=compared.note, symptom=compared.symptom)


def _as_it_is(seen: Case, value: Any) -> Case:
    del value
    return seen
