"""Families of inputs for the functions of homework 1, drawn anew for every run."""

from __future__ import annotations

import numpy as np

from grader.api import case


def numbers_and_arrays(rng):
    yield case("a number", float(rng.uniform(0.5, 3)))
    yield case("a negative whole number", -int(rng.integers(1, 9)))
    yield case("an array without axes", np.array(rng.uniform(-3, -0.5)))
    yield case("a vector", rng.normal(size=rng.integers(11, 40)))
    yield case("a vector of one element", rng.normal(size=1))
    yield case("a matrix", rng.normal(scale=4, size=rng.integers(3, 30, size=2)))
    yield case("a float32 matrix", rng.uniform(-20, 20, size=(7, 13)).astype(np.float32))
    yield case("whole numbers around zero", rng.permutation(np.arange(-12, 13)))


def activations(rng):
    yield from numbers_and_arrays(rng)
    # e**1000 overflows: 1 / (1 + inf) still is the right answer, inf / inf is none.
    far = rng.uniform(710, 1000, size=8)
    yield case("far from zero", rng.permutation(np.concatenate([far, -far, [1000.0, -1000.0, 0.0]])))


def slopes(rng):
    yield from numbers_and_arrays(rng)
    # Not beyond 300: there even e**-x / (1 + e**-x)**2, a formula as right as any other, stays finite.
    far = rng.uniform(100, 300, size=8)
    yield case("far from zero", rng.permutation(np.concatenate([far, -far, [0.0, 1.0]])))


def layer_sizes(rng):
    def sizes(layers):
        # Neighbours differ, or a matrix and its transpose would have the same shape.
        return [int(size) for size in rng.permutation(np.arange(2, 42))[:layers]]

    yield case("two layers", sizes(2))
    yield case("three layers", sizes(3))
    yield case("many layers", sizes(int(rng.integers(6, 10))))
    first, last = sizes(2)
    yield case("a layer of one neuron", [first, 1, last])


def layer_sizes_to_draw(rng):
    def between(low, high):
        return int(rng.integers(low, high))

    yield case("a small network", [between(2, 5), between(5, 9), between(9, 12)])
    yield case("a network for pictures", [between(200, 400), between(60, 120), 10])
    same = between(40, 70)
    yield case("layers of equal size", [same, same, same])
    yield case("a wide layer after a narrow one", [between(3, 6), between(1500, 2000)])
    yield case("one input", [1, between(400, 800), 2])


def training_sets(rng):
    def samples(count, batch_size):
        data = rng.normal(size=(count, int(rng.integers(2, 9)))).astype(np.float32)
        return data, rng.integers(0, 10, size=count), batch_size

    size, full = (int(n) for n in rng.integers([5, 3], [20, 9]))
    yield case("some samples left over", *samples(full * size + int(rng.integers(2, size - 1)), size))
    yield case("one sample left over", *samples(full * size + 1, size))
    yield case("one sample short of a full batch", *samples(full * size + size - 1, size))
    yield case("nothing left over", *samples(full * size, size))
    yield case("batches of one sample", *samples(int(rng.integers(5, 14)), 1))
    yield case("exactly one batch", *samples(size, size))
    yield case("fewer samples than a batch", *samples(int(rng.integers(2, size)), size))


def pairs_of_lists(rng):
    def arrays(*shapes, dtype=np.float64):
        return tuple([rng.normal(size=shape).astype(dtype) for shape in shapes] for _ in range(2))

    a, b, c, d = (int(n) for n in rng.permutation(np.arange(2, 20))[:4])
    yield case("the weights of a network", *arrays((a, b), (b, c), (c, d)))
    yield case("the biases of a network", *arrays(b, c, d))
    yield case("a single matrix", *arrays((c, a)))
    yield case("float32 matrices", *arrays((a, c), (c, b), dtype=np.float32))
    yield case("numbers", *rng.normal(size=(2, a + 1)).tolist())
    yield case("whole numbers", *rng.integers(-50, 50, size=(2, b + 1)).tolist())


def byte_matrices(rng):
    yield case("two matrices of 1000 rows and columns", *_bytes(rng, (1000, 1000)))


def small_byte_matrices(rng):
    rows, columns = (int(n) for n in rng.permutation(np.arange(3, 40))[:2])
    yield case("more rows than columns", *_bytes(rng, (max(rows, columns), min(rows, columns))))
    yield case("more columns than rows", *_bytes(rng, (min(rows, columns), max(rows, columns))))
    yield case("a single row", *_bytes(rng, (1, columns)))
    yield case("a single column", *_bytes(rng, (rows, 1)))
    A, B = _bytes(rng, (rows, columns))
    yield case("the first one is nowhere smaller", np.maximum(A, B), np.minimum(A, B))
    yield case("the second one is nowhere smaller", np.minimum(A, B), np.maximum(A, B))
    yield case("equal matrices", A, A.copy())


def few_bytes(rng):
    """Matrices that are followed an element at a time: each larger one is met in both places."""
    rows, columns = (int(n) for n in rng.permutation(np.arange(4, 9))[:2])
    yield case("a few more rows than columns", *_bytes(rng, (max(rows, columns), min(rows, columns))))
    yield case("a few more columns than rows", *_bytes(rng, (min(rows, columns), max(rows, columns))))
    yield case("a row of a few elements", *_bytes(rng, (1, columns)))
    yield case("a column of a few elements", *_bytes(rng, (rows, 1)))


def _bytes(rng, shape):
    """Whole numbers from 0 to 255 as NumPy's randint gives them: int64."""
    A, B = rng.integers(0, 256, size=(2, *shape))
    # Both ends of the range, and a tie where there is room for one.
    A.flat[0], B.flat[0] = 0, 255
    A.flat[-1] = B.flat[-1]
    return A, B


def tall_matrices(rng):
    yield case("784 rows of 128 numbers", rng.standard_normal((784, 128)))


def tenth_of_a_tall_matrix(rng):
    yield case("78 rows of 128 numbers", rng.standard_normal((78, 128)))


def small_matrices(rng):
    rows, columns = (int(n) for n in rng.permutation(np.arange(3, 24))[:2])
    yield case("more rows than columns", rng.standard_normal((max(rows, columns), min(rows, columns))))
    yield case("more columns than rows", rng.standard_normal((min(rows, columns), max(rows, columns))))
    yield case("a single row", rng.standard_normal((1, columns)))
    yield case("a single column", rng.standard_normal((rows, 1)))
    yield case("more rows than a block has threads for", rng.standard_normal((33 + rows, 3)))


def few_numbers(rng):
    rows, columns = (int(n) for n in rng.permutation(np.arange(4, 9))[:2])
    yield case("a few more rows than columns", rng.standard_normal((max(rows, columns), min(rows, columns))))
    yield case("a few more columns than rows", rng.standard_normal((min(rows, columns), max(rows, columns))))
    yield case("a row of a few elements", rng.standard_normal((1, columns)))
    yield case("a column of a few elements", rng.standard_normal((rows, 1)))


def matrices_of_all_sizes(rng):
    yield from small_matrices(rng)
    yield from tall_matrices(rng)
