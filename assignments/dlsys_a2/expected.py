"""What the operations, graphs and networks of dlsys must give, in float64 and without a graph."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

LEARNING_RATE = 1e-4
"""A tenth of the course's; see `SMALL` of `given/training.py`."""
BATCH_SIZE = 1000
LAYERS = (784, 256, 100, 10)

REFUSED = "refused"

STEP = 1e-30
"""Of a derivative by a step along the imaginary axis: nothing is subtracted, so it may be tiny."""


def _wide(x):
    return np.asarray(x, dtype=np.result_type(x, np.float64))


# Operations.


def array_set(shape, value):
    return np.full(shape, value, dtype=np.float32)


def broadcast_to(x, shape):
    return np.array(np.broadcast_to(x, shape))


def reduce_sum_axis_zero(x):
    return np.atleast_1d(_wide(x).sum(axis=0))


def matrix_elementwise_add(a, b):
    return _wide(a) + _wide(b)


def matrix_elementwise_multiply(a, b):
    return _wide(a) * _wide(b)


matrix_elementwise_add_by_const = matrix_elementwise_add
matrix_elementwise_multiply_by_const = matrix_elementwise_multiply


def matrix_multiply(a, trans_a, b, trans_b):
    return _wide(a.T if trans_a else a) @ _wide(b.T if trans_b else b)


def relu(x):
    return np.where(np.real(x) > 0, _wide(x), 0)


def relu_gradient(x, gradient):
    return np.where(np.real(x) > 0, _wide(gradient), 0)


def _log_softmax(x):
    x = _wide(x) - np.max(np.real(x), axis=-1, keepdims=True)
    return x - np.log(np.exp(x).sum(axis=-1, keepdims=True))


def softmax(x):
    return np.exp(_log_softmax(x))


def softmax_cross_entropy(logits, labels):
    return np.atleast_1d(-(_wide(labels) * _log_softmax(logits)).sum(axis=-1).mean())


def outside(operation, *arguments):
    del operation, arguments
    return {
        "elements changed before the output": 0,
        "elements of the output not written": 0,
        "elements changed behind the output": 0,
        "elements changed in the inputs": 0,
    }


def in_place(operation, first, *others):
    return globals()[operation](first, *others)


# Graphs.

_OPERATIONS = {
    "add": matrix_elementwise_add,
    "multiply": matrix_elementwise_multiply,
    "add_by_const": lambda x, const: _wide(x) + const,
    "multiply_by_const": lambda x, const: _wide(x) * const,
    "matmul": lambda a, b, trans_a=False, trans_b=False: matrix_multiply(a, trans_a, b, trans_b),
    "broadcast_to": lambda x, like: np.array(np.broadcast_to(_wide(x), like.shape)),
    "reduce_sum_axis_zero": reduce_sum_axis_zero,
    "zeros_like": lambda x: np.zeros(x.shape),
    "ones_like": lambda x: np.ones(x.shape),
    "softmax": softmax,
    "softmax_cross_entropy": softmax_cross_entropy,
    "relu": relu,
    "relu_gradient": relu_gradient,
}


def value(operation, values, device, **options):
    del device
    return _OPERATIONS[operation](*values, **options)


def gradient(operation, values, weights, device, **options):
    del device
    values = [_wide(x) for x in values]
    # The course's gradient of the loss is the one of the sum over the rows. Labels count as constants.
    loss = operation == "softmax_cross_entropy"
    scale = len(values[0]) if loss else 1
    slopes = [np.zeros(x.shape) for x in values]
    for number in range(1 if loss else len(values)):
        for index in np.ndindex(values[number].shape):
            moved = [x.astype(np.complex128) for x in values]
            moved[number][index] += 1j * STEP
            there = _OPERATIONS[operation](*moved, **options)
            slopes[number][index] = scale * (np.imag(there) / STEP * weights).sum()
    return slopes


def shape_of(operation, shapes, **options):
    """By trying it out: NumPy knows the rules."""
    arrays = [np.zeros(shape) for shape in shapes]
    try:
        return _OPERATIONS[operation](*arrays, **options).shape
    except ValueError:
        return REFUSED


def _layer(x, w, b, labels):
    sums = x @ w + b
    y = relu(sums)
    by_sums = (softmax(y) - labels) * (sums > 0)
    return [softmax_cross_entropy(y, labels), y, x.T @ by_sums, by_sums.sum(axis=0)]


def _long_lived(x):
    late = early = 3 * x
    for _ in range(5):
        late = relu(late + 1) / 2
    return [late + early]


def _answers(x):
    first = x + 1
    third = relu(first**2 + first)
    return [first, third, first**2, 2 * third]


_GRAPHS = {"layer": _layer, "long_lived": _long_lived, "answers": _answers}


def runs(graph, feeds, device):
    del device
    return [_GRAPHS[graph](**{name: _wide(array) for name, array in feed.items()}) for feed in feeds]


def overlaps(graph, feeds):
    return {"overlaps": [], "shapes": _first_shapes(graph, feeds), "runs without arrays": 0}


def allocations(graph, feeds):
    shapes = [[array.shape for array in feed.values()] for feed in feeds]
    counts = [0 for number, those in enumerate(shapes) if those in shapes[:number]]
    return {"allocations": counts, "shapes": _first_shapes(graph, feeds)}


def _first_shapes(graph, feeds):
    return [list(value.shape) for value in runs(graph, feeds[:1], "gpu")[0]]


# Training.


def losses(x, y, epochs, device=""):
    """The mean loss of each epoch, by hand: forwards through the layers and back."""
    del device
    rng = np.random.RandomState(123)
    weights = [rng.normal(scale=0.1, size=shape) for shape in pairwise(LAYERS)]
    biases = [rng.normal(scale=0.1, size=size) for size in LAYERS[1:]]
    pictures, one_hot = x.astype(np.float32) / 255, np.eye(LAYERS[-1])[y]
    return [_epoch(weights, biases, pictures, one_hot) for _ in range(epochs)]


def on_gpu(x, y, epochs):
    return np.array(losses(x, y, epochs))


def _epoch(weights, biases, pictures, one_hot, rate=LEARNING_RATE):
    found = []
    for end in range(BATCH_SIZE, len(pictures) + 1, BATCH_SIZE):
        batch = slice(end - BATCH_SIZE, end)
        layers = [_wide(pictures[batch])]
        for w, b in zip(weights, biases, strict=True):
            layers.append((layers[-1] if len(layers) == 1 else relu(layers[-1])) @ w + b)
        found.append(float(softmax_cross_entropy(layers[-1], one_hot[batch])[0]))
        slope = softmax(layers[-1]) - one_hot[batch]
        for number in reversed(range(len(weights))):
            below = layers[number] if number == 0 else relu(layers[number])
            by_w, by_b = below.T @ slope, slope.sum(axis=0)
            if number:
                slope = (slope @ weights[number].T) * (layers[number] > 0)
            weights[number] -= rate * by_w
            biases[number] -= rate * by_b
    return sum(found) / len(found)


def batch(parameters, x, y):
    """The parameters after a step of the course's size, from 1000 pictures."""
    weights, biases = (list(part) for part in (parameters[: len(LAYERS) - 1], parameters[len(LAYERS) - 1 :]))
    weights, biases = ([_wide(array).copy() for array in part] for part in (weights, biases))
    _epoch(weights, biases, x.astype(np.float32) / 255, np.eye(LAYERS[-1])[y], rate=1e-3)
    return [*weights, *biases]


def classes(parameters, x):
    """What the network takes pictures for, int64."""
    value = x.astype(np.float32) / 255
    with np.errstate(all="ignore"):  # a step that went too far leaves infinities
        for number in range(len(LAYERS) - 1):
            value = (relu(value).astype(np.float32) if number else value) @ parameters[number]
            value = value + parameters[len(LAYERS) - 1 + number]
    return np.argmax(value, axis=1)


def drawn(graph, parameters, x, labels, rate, steps, device=""):
    from .networks import train

    del device
    return train(graph, parameters, x, labels, rate, steps)


def slopes(parameters, x, labels):
    """The loss of the course's network, and its gradients by each layer's weight and bias in turn."""
    weights, biases = ([_wide(array) for array in parameters[first::2]] for first in (0, 1))
    layers = [_wide(x)]
    for w, b in zip(weights, biases, strict=True):
        layers.append((layers[-1] if len(layers) == 1 else relu(layers[-1])) @ w + b)
    slope, gradients = softmax(layers[-1]) - labels, []
    for number in reversed(range(len(weights))):
        below = layers[number] if number == 0 else relu(layers[number])
        gradients[:0] = [below.T @ slope, slope.sum(axis=0)]
        slope = (slope @ weights[number].T) * (layers[number] > 0)
    return float(softmax_cross_entropy(layers[-1], labels)[0]), [g.astype(np.float32) for g in gradients]
