"""Homework 1, with containers that have names or two ends."""

from collections import deque
from typing import NamedTuple

import numpy as np


class Batch(NamedTuple):
    data: np.ndarray
    labels: np.ndarray


def sigmoid(x):
    # tanh does not overflow, so no warnings for large x
    return 0.5 * (1.0 + np.tanh(np.multiply(x, 0.5)))


def sigmoid_prime(x):
    s = sigmoid(x)
    return s - s * s


def _between_layers(sizes):
    """(rows, columns) of every weight matrix"""
    return list(zip(sizes, sizes[1:]))


def random_weights(sizes):
    weights = deque()
    for rows, columns in _between_layers(sizes):
        weights.append(xavier_initialization(rows, columns))
    return weights


def zeros_weights(sizes):
    return list(map(np.zeros, _between_layers(sizes)))


def zeros_biases(sizes):
    # network.py also looks at biases[0]
    return [np.zeros((size,)) for size in sizes]


def create_batches(data, labels, batch_size):
    n = len(data)
    batches = []
    start = 0
    while start < n:
        stop = min(start + batch_size, n)
        batches.append(Batch(data=data[start:stop], labels=labels[start:stop]))
        start = stop
    return batches


def add_elementwise(list1, list2):
    list3 = deque()
    for i in range(len(list1)):
        list3.append(np.add(list1[i], list2[i]))
    return list3


def xavier_initialization(m, n):
    """A random matrix of shape (m, n), uniform between -1/sqrt(m) and 1/sqrt(m). Given: leave it as it is."""
    bound = 1 / np.sqrt(m)
    return np.random.uniform(-bound, bound, size=(m, n))


if __name__ == "__main__":
    print(create_batches(np.arange(7), np.arange(7), 3))
