"""Networks that are drawn as graphs of operations, and their training by hand, in double precision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.api import case

from .expected import softmax, softmax_cross_entropy

if TYPE_CHECKING:
    from grader.api.check import InputCase

LARGEST_PARAMETER, LARGEST_LOGIT = 5, 40
"""Beyond these single precision shows: not every right softmax subtracts the largest logit, e**89 is none."""
BETWEEN = ("relu", "square", "double", "scale", "branch")
"""What may be done with the sums of a layer."""


@dataclass(frozen=True, kw_only=True)
class Graph:
    """Says how each value of a network is made, one at a time; it stays outside of the process that asks.

    Value 0 is the network's input, the next ones are its parameters, and the last one is its logits.
    """

    inputs: int
    """How many values are not made by an operation."""
    operations: list[list[Any]] = field(default_factory=list)
    """An operation and its operands: numbers of earlier values, and last the number of `add_const` and
    `multiply_const`."""

    def __call__(self, number: int) -> list[Any] | None:
        """How value `number` is made; None behind the last one."""
        place = number - self.inputs
        return self.operations[place] if place < len(self.operations) else None

    def add(self, operation: str, *operands: float) -> int:
        """Make one more value; its number."""
        self.operations.append([operation, *operands])
        return self.inputs + len(self.operations) - 1


def values(graph: Graph, inputs: Sequence[Any]) -> list[Any]:
    """All values of a network, the given ones first."""
    every = [np.asarray(value, np.float64) for value in inputs]
    for operation, *operands in graph.operations:
        every.append(_FORWARDS[operation](every, *operands))
    return every


def gradients(graph: Graph, every: Sequence[Any], slope: Any) -> list[Any]:
    """The gradient by each value, from that by the last one."""
    slopes: list[Any] = [np.zeros_like(value) for value in every]
    slopes[-1] = slope
    for number in reversed(range(graph.inputs, len(every))):
        operation, *operands = graph.operations[number - graph.inputs]
        for operand, share in _BACKWARDS[operation](every, slopes[number], *operands):
            slopes[operand] = slopes[operand] + share
    return slopes


def train(
    graph: Graph, parameters: Any, x: Any, labels: Any, rate: float, steps: int
) -> tuple[list[float], Any]:
    """The loss before each step, and the parameters after the last one."""
    parameters, losses = [np.asarray(array, np.float64) for array in parameters], []
    for _ in range(steps):
        every = values(graph, [x, *parameters])
        losses.append(float(softmax_cross_entropy(every[-1], labels)[0]))
        slopes = gradients(graph, every, softmax(every[-1]) - labels)[1 : graph.inputs]
        parameters = [array - rate * slope for array, slope in zip(parameters, slopes, strict=True)]
    return losses, parameters


def draw(rng: np.random.Generator, layers: int) -> InputCase:
    """Draw a network with so many hidden layers, weights, samples and steps, without the device."""
    while True:
        network = _network(rng, layers)
        if _is_calm(*network.args):
            return network


def _network(rng: np.random.Generator, layers: int) -> InputCase:
    sizes = [int(size) for size in rng.permutation(np.arange(7, 40))[: layers + 2]]
    sizes[-1] = int(rng.integers(3, 7))
    parameters = [
        array.astype(np.float32)
        for below, above in pairwise(sizes)
        for array in (rng.normal(size=(below, above)) / below**0.5, rng.normal(scale=0.2, size=above))
    ]
    graph = Graph(inputs=1 + len(parameters))
    between = [str(how) for how in rng.permutation(BETWEEN)[:layers]]
    value = 0
    for layer in range(layers + 1):
        product = graph.add("matmul", value, 2 * layer + 1)
        if rng.integers(2):
            product = graph.add("multiply_const", product, float(rng.uniform(0.5, 1.5)))
        value = graph.add("add", product, graph.add("broadcast", 2 * layer + 2, product))
        if layer < layers:
            value = _between(rng, graph, value, between[layer])
    count = int(rng.integers(20, 60))
    x = rng.normal(size=(count, sizes[0])).astype(np.float32)
    labels = np.eye(sizes[-1], dtype=np.float32)[rng.integers(sizes[-1], size=count)]
    rate, steps = float(rng.uniform(0.1, 0.3)) / count, int(rng.integers(2, 5))
    name = f"a network of {'-'.join(map(str, sizes))} neurons"
    return case(name, graph, parameters, x, labels, rate, steps)


def _between(rng: np.random.Generator, graph: Graph, sums: int, how: str) -> int:
    """What is made of the sums of a layer: one of the plain ways, and now and then more of it."""
    match how:
        case "relu":
            value = graph.add("relu", sums)
        case "square":
            value = graph.add("multiply", sums, sums)
        case "double":
            value = graph.add("add", sums, graph.add("relu", sums))
        case "scale":
            value = graph.add("multiply_const", sums, float(rng.uniform(0.5, 1.5)))
        case _:
            shifted = graph.add("add_const", sums, float(rng.uniform(-1, 1)))
            value = graph.add("multiply", graph.add("relu", shifted), sums)
    alike = [sums, value]
    for _ in range(int(rng.integers(0, 3))):
        one, other = (int(number) for number in rng.choice(alike, size=2))
        value = graph.add(str(rng.choice(["add", "multiply"])), one, other)
        if rng.integers(2):
            value = graph.add("relu", value)
        value = graph.add("multiply_const", value, float(rng.uniform(0.3, 0.8)))
        alike.append(value)
    return value


def _is_calm(graph: Graph, parameters: Any, x: Any, labels: Any, rate: float, steps: int) -> bool:
    """Whether no number grows so large that single precision shows."""
    passed = [train(graph, parameters, x, labels, rate, step)[1] for step in range(steps + 1)]
    largest = max(np.abs(array).max() for array in passed[-1])
    logits = (np.abs(values(graph, [x, *at])[-1]).max() for at in passed)
    return bool(largest < LARGEST_PARAMETER and max(logits) < LARGEST_LOGIT)


_FORWARDS = {
    "matmul": lambda v, a, b: v[a] @ v[b],
    "broadcast": lambda v, a, like: np.broadcast_to(v[a], v[like].shape),
    "add": lambda v, a, b: v[a] + v[b],
    "multiply": lambda v, a, b: v[a] * v[b],
    "relu": lambda v, a: np.maximum(v[a], 0.0),
    "add_const": lambda v, a, constant: v[a] + constant,
    "multiply_const": lambda v, a, constant: v[a] * constant,
}
_BACKWARDS = {
    "matmul": lambda v, slope, a, b: [(a, slope @ v[b].T), (b, v[a].T @ slope)],
    "broadcast": lambda v, slope, a, like: [(a, slope.sum(axis=0))],
    "add": lambda v, slope, a, b: [(a, slope), (b, slope)],
    "multiply": lambda v, slope, a, b: [(a, slope * v[b]), (b, slope * v[a])],
    "relu": lambda v, slope, a: [(a, slope * (v[a] > 0))],
    "add_const": lambda v, slope, a, constant: [(a, slope)],
    "multiply_const": lambda v, slope, a, constant: [(a, slope * constant)],
}
