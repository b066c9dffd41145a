"""The network of homework 1, trained outside the student's process from values that their functions gave."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from grader.api.values import describe

SAME = 1e-5
"""How far a value of a student's function may be from ours where both are used for the same."""
TABLE_SAME = 2e-3
"""The same for a table of it: half precision and interpolation stay below."""
TABLE_SHARE = 0.99
"""At so many places."""
TABLE_STEP = 1 / 1024
TABLE = np.linspace(-100.0, 100.0, 200 * 1024 + 1)
"""The arguments of a table, evenly spaced; activations of this network stay far inside."""

LARGEST_BATCH = 64
"""A batch may hold this many times the samples that belong in it; with larger ones nothing is learnt."""

Function = Callable[[np.ndarray], np.ndarray]


class Unusable(ValueError):
    """What a function gave cannot be trained with; one line that names the function."""


def sigmoid(z):
    """1 / (1 + e⁻ᶻ), which is 0 where e⁻ᶻ overflows."""
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-z))


def sigmoid_prime(z):
    """The derivative of `sigmoid`."""
    value = sigmoid(z)
    return value * (1 - value)


def interpolated(values: np.ndarray) -> Function:
    """A function of single numbers by its values at `TABLE`, constant beyond both ends."""
    return lambda z: np.interp(z, TABLE, values).astype(z.dtype)


def numbers(name: str, value: object, shape: tuple[int, ...]) -> np.ndarray:
    """What a function gave for an array of a shape: float64 numbers of the same shape.

    Raises:
        Unusable: it is something else.
    """
    try:
        array = _floats(value)
    except ValueError:
        raise Unusable(f"{name} does not give numbers") from None
    if array.shape != shape:
        raise Unusable(f"{name} gives shape {array.shape} for an array of shape {shape}")
    return array


def same(values: np.ndarray, others: np.ndarray) -> bool:
    """Whether two arrays hold the same numbers, or NaN, as a network can tell."""
    return bool(_close(values, others, SAME).all())


def same_as_used(values: np.ndarray, stand_in: Function, z: np.ndarray) -> bool:
    """Whether a function's values at `z` are what stood for it gives there, or one step of a table beside.

    Where a function jumps, a table gives a number between both sides, which is no value of the function's.
    """
    close = np.zeros(z.shape, bool)
    for beside in (0.0, -TABLE_STEP, TABLE_STEP):
        close |= _close(values, stand_in(z + beside), TABLE_SAME)
    return bool(close.size == 0 or close.mean() >= TABLE_SHARE)


def _close(values: np.ndarray, others: np.ndarray, within: float) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.isclose(values, others, rtol=within, atol=within, equal_nan=True)


def drawn_weights(value: object, sizes: Sequence[int]) -> list[np.ndarray]:
    """The matrices that `random_weights` gave, in float32.

    Raises:
        Unusable: there are not as many, or one has another shape, or holds NaN or infinity, or nothing in it
            was drawn.
    """
    shapes = list(pairwise(sizes))
    values = in_list("random_weights", value, len(shapes))
    with np.errstate(over="ignore"):
        matrices = [
            numbers("random_weights", matrix, shape).astype(np.float32)
            for matrix, shape in zip(values, shapes, strict=True)
        ]
    _check_finite("random_weights", matrices)
    if any(matrix.min() == matrix.max() for matrix in matrices):
        raise Unusable("random_weights gives one number at every place of a matrix")
    return matrices


def zero_biases(value: object, sizes: Sequence[int]) -> list[np.ndarray]:
    """The vectors that `zeros_biases` gave for layers 1 to L, in float32; one for layer 0 is left out.

    Raises:
        Unusable: there are not as many, or one cannot be added to the rows of its layer, or holds NaN or
            infinity.
    """
    count = len(sizes) - 1
    without_input_layer = value[-count:] if isinstance(value, list | tuple) else value
    biases = []
    for vector, size in zip(in_list("zeros_biases", without_input_layer, count), sizes[1:], strict=True):
        try:
            with np.errstate(over="ignore"):
                biases.append(np.broadcast_to(_floats(vector).astype(np.float32), (1, size)).copy())
        except ValueError:
            raise Unusable(f"zeros_biases gives no vector of length {size} where one belongs") from None
    _check_finite("zeros_biases", biases)
    return biases


def drawn_batches(value: object, count: int, size: int, classes: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Row numbers and labels of each batch, from what `create_batches` made of a column of row numbers.

    Raises:
        Unusable: a batch is no pair, or holds what was not among the samples, or there are far too many.
    """
    if not isinstance(value, list | tuple) or not value:
        raise Unusable(f"create_batches returned {describe(value)}; a list of batches is expected")
    needed = -(-count // size)
    if len(value) > 2 * needed:
        raise Unusable(
            f"create_batches gives {len(value)} batches; {count} samples, {size} in each, fill {needed}"
        )
    batches, total = [], 0
    for batch in value:
        if not isinstance(batch, list | tuple) or len(batch) != 2:
            raise Unusable(
                f"create_batches gives a batch that is {describe(batch)}; a pair (data, labels) is expected"
            )
        for part in batch:  # before it is converted, which takes up to eight times its memory
            sized = isinstance(part, list | tuple) or (isinstance(part, np.ndarray) and part.ndim)
            if sized and len(part) > LARGEST_BATCH * size:
                raise Unusable(f"create_batches gives a batch of {len(part)} samples where {size} belong")
        try:
            rows, labels = map(_floats, batch)
        except ValueError:
            raise Unusable("create_batches gives a batch that does not hold numbers") from None
        if rows.shape != (labels.size, 1) or labels.ndim != 1:
            raise Unusable("create_batches gives a batch with another number of labels than rows of data")
        if not (_whole(rows, count) and _whole(labels, classes)):
            raise Unusable("create_batches gives a batch that holds what was not in the training set")
        total += len(labels)
        if total > 2 * count:
            raise Unusable("create_batches gives every sample more than twice")
        batches.append((rows[:, 0].astype(np.int64), labels.astype(np.int64)))
    return batches


def in_list(name: str, value: object, count: int) -> Sequence[object]:
    """Return the value that a function gave, if it is a list or a tuple of `count` values.

    Raises:
        Unusable: it is something else.
    """
    if not isinstance(value, list | tuple) or len(value) != count:
        arrays = "1 array" if count == 1 else f"{count} arrays"
        raise Unusable(f"{name} returned {describe(value)}; a list of {arrays} is expected")
    return value


def _check_finite(name: str, arrays: Sequence[np.ndarray]) -> None:
    """Refuse NaN and infinities, with which nothing is learnt however long it takes.

    Raises:
        Unusable: there are some.
    """
    if not all(np.isfinite(array).all() for array in arrays):
        raise Unusable(f"{name} gives NaN or infinity, or a number beyond single precision")


def _floats(value: object) -> np.ndarray:
    """Convert a value of the student's to float64.

    Raises:
        ValueError: it holds something else than real numbers, or an integer that no float64 is near.
    """
    if isinstance(value, np.ndarray) and value.dtype.kind == "c":
        raise ValueError("complex numbers")  # NumPy would leave out the imaginary part, and warn
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            return np.array(value, dtype=np.float64)
    except (TypeError, OverflowError) as error:
        raise ValueError(str(error)) from None


def _whole(values: np.ndarray, below: int) -> bool:
    return bool(np.all((values >= 0) & (values < below) & (values == np.floor(values))))


class Network:
    """Layers of neurons with an activation, trained by gradient descent on the squared error, in float32.

    Args:
        weights: a matrix (neurons below, neurons above) for every two neighbouring layers.
        biases: a row (1, neurons) for each layer but the first.
        rate: how far a step goes down the slope, which is summed over a batch.
        activation: from a layer's sums, an array of any shape.
        slope: its derivative.
    """

    def __init__(
        self,
        weights: Sequence[np.ndarray],
        biases: Sequence[np.ndarray],
        rate: float,
        activation: Function,
        slope: Function,
    ) -> None:
        self._weights = [np.array(matrix) for matrix in weights]
        self._biases = [np.array(row) for row in biases]
        self._rate = np.float32(rate)
        self._activation = activation
        self._slope = slope

    def step(self, samples: np.ndarray, labels: np.ndarray) -> list[np.ndarray]:
        """Learn from one batch: samples (n, inputs) in float32, labels (n,).

        Returns:
            The sums of each layer before the step, each (n, neurons).
        """
        with np.errstate(all="ignore"):  # what the student's values lead to is counted, and no warning
            return self._step(samples, labels)

    def _step(self, samples: np.ndarray, labels: np.ndarray) -> list[np.ndarray]:
        sums, activations = self._forward(samples)
        error = activations[-1].copy()
        error[np.arange(len(labels)), labels] -= 1
        error *= self._slope(sums[-1])
        for layer in reversed(range(len(self._weights))):
            downhill = self._rate * error
            if layer:
                error = (error @ self._weights[layer].T) * self._slope(sums[layer - 1])
            self._weights[layer] -= activations[layer].T @ downhill
            self._biases[layer] -= downhill.sum(axis=0, keepdims=True)
        return sums

    def predict(self, samples: np.ndarray) -> np.ndarray:
        """The class of each sample, (n,) whole numbers."""
        with np.errstate(all="ignore"):
            return np.argmax(self._forward(samples)[1][-1], axis=1)

    def sums(self, samples: np.ndarray) -> list[np.ndarray]:
        """The sums of each layer for samples (n, inputs) in float32, each (n, neurons)."""
        with np.errstate(all="ignore"):
            return self._forward(samples)[0]

    def _forward(self, samples: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
        sums, activations = [], [samples]
        for weights, biases in zip(self._weights, self._biases, strict=True):
            sums.append(activations[-1] @ weights + biases)
            activations.append(self._activation(sums[-1]))
        return sums, activations
