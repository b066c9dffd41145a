"""What the functions of homework 1 must give, worked out by other means than the reference's."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from grader.api import UNUSED
from grader.api.values import Uniform


def sigmoid(x):
    # e**-|x| cannot overflow, so both tails keep all their digits.
    tail = np.exp(-np.abs(_wide(x)))
    return (np.where(np.less(x, 0), tail, 1.0) / (1.0 + tail)).astype(_precision(x))


def sigmoid_prime(x):
    tail = np.exp(-np.abs(_wide(x)))
    return (tail / (1.0 + tail) ** 2).astype(_precision(x))


def _wide(x):
    return np.asarray(x, dtype=np.float64)


def _precision(x):
    # Nobody can be asked for more digits than a float32 input has, not even in a list of Python's floats.
    return np.result_type(np.asarray(x).dtype, np.float32)


def random_weights(sizes):
    return [Uniform(low=-(m**-0.5), high=m**-0.5, shape=(m, n)) for m, n in pairwise(sizes)]


def zeros_weights(sizes):
    return [np.zeros((m, n)) for m, n in pairwise(sizes)]


def zeros_biases(sizes):
    return [np.zeros(n) for n in sizes[1:]]


def zeros_biases_with_layer_0(sizes):
    """The course's network takes the one of layer 0 away, and looks at it no more."""
    return [UNUSED, *zeros_biases(sizes)]


def create_batches(data, labels, batch_size):
    batches = []
    for sample, label in zip(data, labels, strict=True):
        if not batches or len(batches[-1][0]) == batch_size:
            batches.append(([], []))
        batches[-1][0].append(sample)
        batches[-1][1].append(label)
    return [(np.array(samples), np.array(their_labels)) for samples, their_labels in batches]


def add_elementwise(list1, list2):
    total = [np.add(one, other) for one, other in zip(list1, list2, strict=True)]
    # Of numbers, an array is as good an answer as a list.
    return np.array(total) if all(np.ndim(value) == 0 for value in total) else total


def max_cpu(A, B):
    # Not np.maximum, which a submission may have called where it should not.
    return np.where(A < B, B, A)


max_numba = max_gpu = max_cpu


def matmul_transpose_trivial(X):
    return X @ X.T


matmul_transpose_numba = matmul_transpose_gpu = matmul_transpose_trivial
