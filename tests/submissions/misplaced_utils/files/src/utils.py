"""The building blocks of a neural network."""

from itertools import pairwise

import numpy as np


def sigmoid(x):
    """The standard sigmoid function of a number or of every element of an array."""
    return 1 / (1 + np.exp(-x))


def sigmoid_prime(x):
    """The derivative of the sigmoid function at x."""
    return sigmoid(x) * (1 - sigmoid(x))


def random_weights(sizes):
    """A random matrix for every two neighbouring layers, of shape (sizes[i], sizes[i + 1])."""
    return [xavier_initialization(m, n) for m, n in pairwise(sizes)]


def zeros_weights(sizes):
    """A matrix of zeros for every two neighbouring layers, of shape (sizes[i], sizes[i + 1])."""
    return [np.zeros((m, n)) for m, n in pairwise(sizes)]


def zeros_biases(sizes):
    """A vector of zeros for every layer but the input layer."""
    return [np.zeros(n) for n in sizes[1:]]


def create_batches(data, labels, batch_size):
    """The training set as (data, labels) pairs of batch_size samples; the last one takes what remains."""
    return [(data[i : i + batch_size], labels[i : i + batch_size]) for i in range(0, len(data), batch_size)]


def add_elementwise(list1, list2):
    """The sums of the elements that stand at the same place of two lists."""
    return [one + other for one, other in zip(list1, list2, strict=True)]


def xavier_initialization(m, n):
    """A random matrix of shape (m, n), uniform between -1/sqrt(m) and 1/sqrt(m)."""
    bound = 1 / np.sqrt(m)
    return np.random.uniform(-bound, bound, size=(m, n))
