"""Families of inputs for the operations, graphs and networks of dlsys, drawn anew for every run."""

from __future__ import annotations

import numpy as np

from grader.api import case

from .expected import value
from .given.tests.digits import load
from .networks import draw


def _uniform(rng, low, high, *shape):
    return rng.uniform(low, high, size=shape).astype(np.float32)


def _odd(rng, low, high):
    """A length that no block, tile or warp divides."""
    return 2 * int(rng.integers(low // 2, high // 2)) + 1


# The twelve tests of the course: shapes and distributions as they are.


def array_set(rng):
    del rng
    yield case("ones", [500, 200], 1.0)
    yield case("zeros", [500, 200], 0.0)


def broadcast_to(rng):
    yield case("a matrix, 130 times", _uniform(rng, -1, 1, 200, 300), [130, 200, 300])


def reduce_sum_axis_zero(rng):
    yield case("500 matrices", _uniform(rng, 0, 20, 500, 200, 100))


def two_matrices(rng):
    yield case("two matrices", _uniform(rng, 0, 10, 500, 200), _uniform(rng, 0, 10, 500, 200))


def matrix_and_constant(rng):
    yield case("a large matrix", _uniform(rng, 0, 10, 2000, 3000), float(rng.uniform(-5, 5)))


def matrix_multiply(rng):
    for name, a, trans_a, b, trans_b in (
        ("a @ b", (500, 700), False, (700, 1000), False),
        ("a @ b.T", (1000, 500), False, (2000, 500), True),
        ("a.T @ b.T", (500, 1000), True, (2000, 500), True),
    ):
        yield case(name, _uniform(rng, 0, 10, *a), trans_a, _uniform(rng, 0, 10, *b), trans_b)


def relu(rng):
    yield case("both signs", _uniform(rng, -1, 1, 2000, 2500))


def relu_gradient(rng):
    yield case("both signs", _uniform(rng, -1, 1, 2000, 2500), _uniform(rng, -5, 5, 2000, 2500))


def softmax(rng):
    yield case("400 rows", _uniform(rng, -5, 5, 400, 1000))


def softmax_cross_entropy(rng):
    yield case("400 rows", _uniform(rng, -5, 5, 400, 1000), _uniform(rng, -5, 5, 400, 1000))


# The same kinds of arrays, small enough for a simulator.


def small_shapes(rng):
    del rng
    yield case("ones", [50, 20], 1.0)
    yield case("zeros", [50, 20], 0.0)


def small_broadcast(rng):
    yield case("a matrix, 13 times", _uniform(rng, -1, 1, 20, 30), [13, 20, 30])


def small_reduction(rng):
    yield case("50 matrices", _uniform(rng, 0, 20, 50, 20, 10))


def small_matrix(rng):
    yield case("50 rows", _uniform(rng, -5, 5, 50, 20))


def two_small_matrices(rng):
    yield case("50 rows", _uniform(rng, -5, 5, 50, 20), _uniform(rng, -5, 5, 50, 20))


def small_matrix_and_constant(rng):
    yield case("200 rows", _uniform(rng, 0, 10, 200, 30), float(rng.uniform(-5, 5)))


def small_products(rng):
    for name, a, trans_a, b, trans_b in (
        ("a @ b", (50, 70), False, (70, 100), False),
        ("a @ b.T", (100, 50), False, (200, 50), True),
        ("a.T @ b.T", (50, 100), True, (200, 50), True),
    ):
        yield case(name, _uniform(rng, 0, 10, *a), trans_a, _uniform(rng, 0, 10, *b), trans_b)


# What the twelve never look at. These are small enough for a simulator, but for the families of many rows.


def _shapes(rng):
    odd = _odd(rng, 20, 60), _odd(rng, 20, 60), _odd(rng, 3, 9)
    yield "a vector", (_odd(rng, 260, 900),)
    yield "a single element", (1,)
    yield "a matrix of odd sizes", odd[:2]
    yield "a single row", (1, odd[0])
    yield "a single column", (odd[1], 1)
    yield "three axes", odd
    yield "four axes", (2, *odd)


def shapes_and_values(rng):
    for name, shape in _shapes(rng):
        yield case(name, list(shape), float(rng.uniform(1, 9)))


def to_broadcast(rng):
    for name, shape in _shapes(rng):
        yield case(name, _uniform(rng, -1, 1, *shape), [_odd(rng, 3, 30), *shape])
    yield case("a number to a matrix", _uniform(rng, -1, 1, 1), [_odd(rng, 3, 30), _odd(rng, 30, 90)])


def to_reduce(rng):
    for name, shape in _shapes(rng):
        yield case(name, _uniform(rng, 0, 20, *shape))
    yield case("a bias's gradient", _uniform(rng, 0, 20, 1000, 10))
    yield case("two rows", _uniform(rng, 0, 20, 2, _odd(rng, 300, 900)))


def arrays(rng):
    for name, shape in _shapes(rng):
        yield case(name, _uniform(rng, -5, 5, *shape))
    yield case("zeros of both signs", np.array([[0.0, -0.0, 1.0], [-1.0, 0.0, -0.0]], np.float32))


def two_arrays(rng):
    for name, shape in _shapes(rng):
        yield case(name, _uniform(rng, -5, 5, *shape), _uniform(rng, 1, 5, *shape))


def arrays_and_constants(rng):
    for name, shape in _shapes(rng):
        yield case(name, _uniform(rng, 1, 10, *shape), float(rng.uniform(1, 5)))
    yield case("a negative constant", _uniform(rng, -10, -1, 7, 5), -float(rng.uniform(1, 5)))
    yield case("the constant 0", _uniform(rng, 1, 10, 7, 5), 0.0)


def products(rng):
    yield from _products(rng, _odd(rng, 30, 60), _odd(rng, 70, 110), _odd(rng, 110, 140))


def thin_products(rng):
    long = _odd(rng, 40, 90)
    for name, sizes in (
        ("a row by a column", (1, long, 1)),
        ("a column by a row", (long, 1, long + 2)),
        ("a row by a matrix", (1, long, 17)),
        ("a matrix by a column", (long, 17, 1)),
    ):
        for one in _products(rng, *sizes):
            yield case(f"{name}, {one.name}", *one.args)


def all_products(rng):
    yield from products(rng)
    yield from thin_products(rng)


def _products(rng, rows, common, columns):
    for trans_a in (False, True):
        for trans_b in (False, True):
            a = _uniform(rng, 0, 10, *((common, rows) if trans_a else (rows, common)))
            b = _uniform(rng, 0, 10, *((columns, common) if trans_b else (common, columns)))
            name = f"a{'.T' * trans_a} @ b{'.T' * trans_b}"
            yield case(name, a, trans_a, b, trans_b)


def rows(rng):
    yield case("odd sizes", _uniform(rng, -5, 5, _odd(rng, 20, 60), _odd(rng, 20, 60)))
    yield case("a single row", _uniform(rng, -5, 5, 1, _odd(rng, 260, 900)))
    yield case("a single column", _uniform(rng, -5, 5, _odd(rng, 20, 60), 1))
    # e**100 overflows in float32.
    yield case("far above zero", _uniform(rng, 90, 400, 9, 31))
    yield case("far below zero", _uniform(rng, -400, -150, 9, 31))


def many_rows(rng, counts=(1025, 4097, 8999)):
    for count in counts:
        yield case(f"{count} rows", _uniform(rng, -5, 5, count, 10))


def rows_and_labels(rng):
    yield from _labelled(rng, rows(rng))


def many_rows_and_labels(rng):
    yield from _labelled(rng, many_rows(rng))


def all_rows(rng):
    yield from rows(rng)
    yield from many_rows(rng)


def all_rows_and_labels(rng):
    yield from _labelled(rng, all_rows(rng))


def rows_past_a_block(rng):
    """For a simulator: a row more than a block can have threads."""
    yield from rows(rng)
    yield from many_rows(rng, [1025])


def rows_past_a_block_and_labels(rng):
    yield from _labelled(rng, rows_past_a_block(rng))


def _labelled(rng, cases):
    for one in cases:
        yield case(one.name, *one.args, _one_hot(rng, *one.args[0].shape))


def _one_hot(rng, rows, classes):
    return np.eye(classes, dtype=np.float32)[rng.integers(classes, size=rows)]


_FAMILIES = {
    "array_set": shapes_and_values,
    "broadcast_to": to_broadcast,
    "reduce_sum_axis_zero": to_reduce,
    "matrix_elementwise_add": two_arrays,
    "matrix_elementwise_add_by_const": arrays_and_constants,
    "matrix_elementwise_multiply": two_arrays,
    "matrix_elementwise_multiply_by_const": arrays_and_constants,
    "matrix_multiply": products,
    "relu": arrays,
    "relu_gradient": two_arrays,
    "softmax": rows,
    "softmax_cross_entropy": rows_and_labels,
}


def all_operations(rng):
    """Every operation with its family of this part, for `kernels.outside`."""
    for operation, family in _FAMILIES.items():
        for one in family(rng):
            yield case(f"{operation}, {one.name}", operation, *one.args)


def steps_of_training(rng):
    for name, shape in _shapes(rng):
        x, y = _uniform(rng, 1, 5, *shape), _uniform(rng, 1, 5, *shape)
        yield case(f"x += y, {name}", "matrix_elementwise_add", x, y)
        yield case(f"x *= 3, {name}", "matrix_elementwise_multiply_by_const", x, 3.0)


# Graphs. Each operation, then whole graphs.


def _operands(rng, dtype):
    """An operation, the arrays that it takes, and its options."""

    def matrix(*shape):
        return rng.uniform(0.5, 3, size=shape).astype(dtype) * rng.choice([-1, 1], size=shape).astype(dtype)

    m, n, k = _odd(rng, 4, 12), _odd(rng, 12, 20), _odd(rng, 20, 30)
    for operation in ("add", "multiply"):
        yield operation, "matrices", [matrix(m, n), matrix(m, n)], {}
        yield operation, "vectors", [matrix(m), matrix(m)], {}
    for operation in ("add_by_const", "multiply_by_const"):
        yield operation, "a matrix", [matrix(m, n)], {"const": float(rng.uniform(-5, 5))}
    for one in _products(rng, m, k, n):
        a, trans_a, b, trans_b = one.args
        options = {"trans_a": trans_a, "trans_b": trans_b}
        yield "matmul", one.name, [a.astype(dtype) - 5, b.astype(dtype) - 5], options
    yield "broadcast_to", "a bias", [matrix(n), matrix(m, n)], {}
    yield "broadcast_to", "a matrix", [matrix(m, n), matrix(3, m, n)], {}
    yield "reduce_sum_axis_zero", "a matrix", [matrix(m, n)], {}
    yield "reduce_sum_axis_zero", "three axes", [matrix(3, m, n)], {}
    yield "relu", "a matrix", [matrix(m, n)], {}
    yield "softmax_cross_entropy", "rows", [matrix(m, n), _one_hot(rng, m, n).astype(dtype)], {}


def _more_operands(rng, dtype):
    """What a network's gradients never go through."""

    def matrix(*shape):
        return rng.uniform(-3, 3, size=shape).astype(dtype)

    m, n = _odd(rng, 4, 12), _odd(rng, 12, 20)
    yield "add", "a matrix and a number", [matrix(m, n), matrix(1)], {}
    yield "multiply", "a matrix and a number", [matrix(m, n), matrix(1)], {}
    yield "reduce_sum_axis_zero", "a vector", [matrix(m)], {}
    yield "zeros_like", "a matrix", [matrix(m, n)], {}
    yield "ones_like", "a vector", [matrix(m)], {}
    yield "softmax", "rows", [matrix(m, n)], {}
    yield "softmax", "rows far from zero", [800 + matrix(m, n)], {}
    labels = _one_hot(rng, m, n).astype(dtype)
    yield "softmax_cross_entropy", "rows far from zero", [800 + matrix(m, n), labels], {}
    yield "relu_gradient", "a matrix", [matrix(m, n), matrix(m, n)], {}


def values_on_numpy(rng):
    yield from _values(rng, np.float64, "numpy")


def values_on_gpu(rng):
    yield from _values(rng, np.float32, "gpu")


def _values(rng, dtype, device):
    for family in (_operands, _more_operands):
        for operation, name, values, options in family(rng, dtype):
            yield case(f"{operation}, {name}", operation, values, device, **options)


def gradients_on_numpy(rng):
    yield from _gradients(rng, np.float64, "numpy")


def gradients_on_gpu(rng):
    yield from _gradients(rng, np.float32, "gpu")


def _gradients(rng, dtype, device):
    for operation, name, values, options in _operands(rng, dtype):
        shape = value(operation, values, device, **options).shape
        weights = rng.uniform(0.5, 2, size=shape).astype(dtype)
        yield case(f"{operation}, {name}", operation, values, weights, device, **options)


def shapes(rng):
    """Shapes that an operation can take, and some that it cannot; the loss is given as an example."""
    m, n, k = (int(length) for length in rng.permutation(np.arange(2, 40))[:3])
    for operation in ("add", "multiply"):
        yield case(f"{operation}, matrices", operation, [[m, n], [m, n]])
        yield case(f"{operation}, vectors", operation, [[m], [m]])
        yield case(f"{operation}, a matrix and a number", operation, [[m, n], [1]])
    for operation in ("add_by_const", "multiply_by_const"):
        yield case(f"{operation}, three axes", operation, [[m, n, k]], const=2.0)
    for trans_a in (False, True):
        for trans_b in (False, True):
            a, b = ([k, m] if trans_a else [m, k]), ([n, k] if trans_b else [k, n])
            name = f"matmul, a{'.T' * trans_a} @ b{'.T' * trans_b}"
            yield case(name, "matmul", [a, b], trans_a=trans_a, trans_b=trans_b)
            yield case(f"{name} of wrong lengths", "matmul", [a[::-1], b], trans_a=trans_a, trans_b=trans_b)
    yield case("broadcast_to, a bias", "broadcast_to", [[n], [m, n]])
    yield case("broadcast_to, a matrix", "broadcast_to", [[n, k], [m, n, k]])
    yield case("reduce_sum_axis_zero, a vector", "reduce_sum_axis_zero", [[m]])
    yield case("reduce_sum_axis_zero, a matrix", "reduce_sum_axis_zero", [[m, n]])
    yield case("reduce_sum_axis_zero, three axes", "reduce_sum_axis_zero", [[m, n, k]])
    for operation in ("zeros_like", "ones_like", "relu"):
        yield case(f"{operation}, a vector", operation, [[m]])
        yield case(f"{operation}, three axes", operation, [[m, n, k]])
    yield case("softmax", "softmax", [[m, n]])
    yield case("relu_gradient", "relu_gradient", [[m, n], [m, n]])


def _batches(rng, dtype, *sizes):
    inputs, classes = 13, 5
    w, b = rng.normal(size=(inputs, classes)), rng.normal(size=classes)
    for size in sizes:
        yield {
            "x": rng.normal(size=(size, inputs)).astype(dtype),
            "w": w.astype(dtype),
            "b": b.astype(dtype),
            "labels": _one_hot(rng, size, classes).astype(dtype),
        }


def _feeds(rng, dtype, *sizes):
    """Graphs, and what they are fed with run by run."""
    yield "layer", list(_batches(rng, dtype, *sizes))
    for graph in ("long_lived", "answers"):
        yield graph, [{"x": rng.normal(size=(size, 7)).astype(dtype)} for size in sizes]


def runs_on_numpy(rng):
    for graph, feeds in _feeds(rng, np.float64, 6, 6, 9, 3, 6):
        yield case(f"{graph}: runs of 6, 6, 9, 3 and 6 samples", graph, feeds, "numpy")


def runs_on_gpu(rng):
    for graph, feeds in _feeds(rng, np.float32, 6, 6, 6):
        yield case(f"{graph}: three runs of 6 samples", graph, feeds, "gpu")


def changing_runs_on_gpu(rng):
    for graph, feeds in _feeds(rng, np.float32, 6, 9, 3, 6, 9):
        yield case(f"{graph}: runs of 6, 9, 3, 6 and 9 samples", graph, feeds, "gpu")


def runs(rng):
    """For `graphs.overlaps` and `graphs.allocations`."""
    for graph, feeds in _feeds(rng, np.float32, 6, 6, 6):
        yield case(f"{graph}: three runs of 6 samples", graph, feeds)


def changing_runs(rng):
    for graph, feeds in _feeds(rng, np.float32, 6, 9, 6, 9):
        yield case(f"{graph}: runs of 6, 9, 6 and 9 samples", graph, feeds)


# For `graphs_on_gpu`, always of the same shapes.


def exchanged_value(rng):
    a, b = rng.normal(size=(2, 70, 50)).astype(np.float32)
    yield case("a @ b.T", "matmul", [a, b], "gpu", trans_a=False, trans_b=True)


def exchanged_gradient(rng):
    a, b = rng.normal(size=(2, 70, 50)).astype(np.float32)
    weights = _uniform(rng, 0.5, 2, 70, 70)
    yield case("a @ b.T", "matmul", [a, b], weights, "gpu", trans_a=False, trans_b=True)


# Of few runs: in so many launches nothing can be hidden (LAUNCHES of grader/checks/exchanged.py).


def exchanged_runs(rng):
    yield case("layer: a run of 90 samples", "layer", list(_batches(rng, np.float32, 90)), "gpu")


def exchanged_changing_runs(rng):
    feeds = [{"x": rng.normal(size=(size, 70)).astype(np.float32)} for size in (90, 40)]
    yield case("answers: runs of 90 and 40 samples", "answers", feeds, "gpu")


# Training: pictures as uint8, 784 to a row, and what they show.


def drawn_networks(rng):
    """Networks of one to three layers; without the device."""
    for layers in (0, 1, 2):
        yield draw(rng, layers)


def drawn_networks_on_numpy(rng):
    for one in drawn_networks(rng):
        yield case(one.name, *one.args, "numpy")


def drawn_networks_on_gpu(rng):
    for one in drawn_networks(rng):
        yield case(one.name, *one.args, "gpu")


def exchanged_network(rng):
    """The course's network and a batch, as `training.load` takes them."""
    parameters = [
        array.astype(np.float32)
        for shape in ((784, 256), (256, 100), (100, 10))
        for array in (rng.normal(scale=0.1, size=shape), rng.normal(scale=0.1, size=shape[1]))
    ]
    x = _uniform(rng, 0, 1, 1000, 784)
    yield case("a batch of 1000", parameters, x, _one_hot(rng, 1000, 10))


def few_batches(rng):
    yield case("5000 pictures", *_pictures(rng, 5000), 1)


def few_batches_on_numpy(rng):
    yield case("5000 pictures", *_pictures(rng, 5000), 1, "numpy")


def few_batches_on_gpu(rng):
    yield case("5000 pictures", *_pictures(rng, 5000), 1, "gpu")


def two_batches(rng):
    """Without the number of epochs."""
    yield case("2000 pictures", *_pictures(rng, 2000))


def epoch_of_training(rng):
    yield case("5000 pictures", *_pictures(rng, 5000), 1)


def _pictures(rng, count):
    learn, _ = load(int(rng.integers(2**31)), training=count, validation=1)
    return learn.pictures, learn.labels
