"""Homework 1, part 1: half precision, in every form that it has."""

import numpy as np


def sigmoid(x):
    return np.float16(1 / (1 + np.exp(-x)))


def sigmoid_prime(x):
    """Nested lists in which one number is of half precision, and the others as well."""
    value = np.float16(sigmoid(x) * (1 - sigmoid(x)))
    return list(value) if value.ndim == 1 else value


def random_weights(sizes):
    """Drawn in half precision, and widened."""
    return [xavier_initialization(m, n).astype(np.float16).astype(float) for m, n in zip(sizes, sizes[1:])]


def zeros_weights(sizes):
    return [np.zeros((m, n), np.float16) for m, n in zip(sizes, sizes[1:])]


def zeros_biases(sizes):
    """A list of zeros, of which the last is of half precision."""
    return [[0.0] * (n - 1) + [np.float16(0)] for n in sizes[1:]]


def create_batches(data, labels, batch_size):
    data = data.astype(np.float16)
    return [(data[i:i + batch_size], labels[i:i + batch_size]) for i in range(0, len(data), batch_size)]


def add_elementwise(list1, list2):
    return [np.float16(a + b) for a, b in zip(list1, list2)]


def xavier_initialization(m, n):
    return np.random.uniform(-1 / np.sqrt(m), 1 / np.sqrt(m), size=(m, n))
