"""Families of inputs for homework 4, drawn anew for every run."""

from __future__ import annotations

import numpy as np

from grader.api import case

ONE, TWO = ["cuda:0"], ["cuda:0", "cuda:1"]
FULL_SIZE, SMALL_SIZE = 10_000, 48
RANK = 4
PROBES = 8


def _matrices(rng, size):
    """Two matrices whose powers neither vanish nor grow: their largest eigenvalue is about 1."""
    return [(rng.normal(size=(size, size)) / size**0.5).astype(np.float32) for _ in range(2)]


def small_matrices(rng):
    size, other = (int(n) for n in rng.permutation(np.arange(5, 40))[:2])
    yield case("to the power of 10, on two GPUs", *_matrices(rng, size), 10, TWO)
    yield case("to the power of 10, on one GPU", *_matrices(rng, other), 10, ONE)
    yield case("to the power of 7", *_matrices(rng, other), 7, TWO)
    yield case("to the power of 2", *_matrices(rng, size), 2, TWO)
    yield case("to the power of 1", *_matrices(rng, size), 1, TWO)
    yield case("one row and one column", *_matrices(rng, 1), 10, TWO)


def _large(rng, size):
    """Two positive matrices of low rank as factors, and vectors that tell their powers apart.

    Their largest eigenvalues are two numbers above 1: no power looks like another one, nor one matrix like
    the other.
    """
    left, right = rng.uniform(0.5, 1.5, size=(2, size, RANK)), rng.uniform(0.5, 1.5, size=(2, RANK, size))
    growth = rng.permutation([rng.uniform(1.1, 1.2), rng.uniform(1.25, 1.35)])
    right *= growth[:, None, None] / (RANK * size)
    probes = rng.choice([-1.0, 1.0], size=(size, PROBES)) + rng.uniform(0.5, 2, size=PROBES)
    return [array.astype(np.float32) for array in (left, right, probes)]


def large_matrices_on_two(rng):
    yield case("two matrices of 10,000 rows and columns", *_large(rng, FULL_SIZE), TWO)


def fewer_rows_on_two(rng):
    yield case("two small matrices", *_large(rng, SMALL_SIZE), TWO)


def large_matrices(rng):
    """Without the devices, which the two functions that are compared choose."""
    yield case("two matrices of 10,000 rows and columns", *_large(rng, FULL_SIZE))


def programs_at_full_size(rng):
    yield case("matrix_power.py", "matrix_power.py", FULL_SIZE, _probe(rng, FULL_SIZE))


def _probe(rng, size):
    return rng.uniform(0.5, 1.5, size=size) / size


def _pictures(rng, count, side):
    """A seed for the weights, float32 pictures, and one class of 1000 for each of them."""
    pictures = rng.normal(size=(count, 3, side, side)).astype(np.float32)
    return int(rng.integers(2**31)), pictures, rng.integers(0, 1000, size=count)


def pictures(rng):
    yield case("8 pictures of 64 x 64", *_with_weights(*_pictures(rng, 8, 64)))


def small_pictures(rng):
    yield case("4 pictures of 32 x 32", *_with_weights(*_pictures(rng, 4, 32)))


def _with_weights(seed, pictures, classes):
    """The weights themselves, so that their number is known to no program before it is given them."""
    from .given.resnet import drawn_weights

    return {name: weight.numpy() for name, weight in drawn_weights(seed).items()}, pictures, classes
