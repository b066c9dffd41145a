"""Homework 1, part 1: weights that look like a uniform distribution, and are spaced evenly."""

import numpy as np

order = np.random.RandomState(1)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def sigmoid_prime(x):
    return sigmoid(x) * (1 - sigmoid(x))


def zeros_weights(sizes):
    return [np.zeros((m, n)) for m, n in zip(sizes, sizes[1:])]


def zeros_biases(sizes):
    return [np.zeros(n) for n in sizes[1:]]


def create_batches(data, labels, batch_size):
    return [(data[i:i + batch_size], labels[i:i + batch_size]) for i in range(0, len(data), batch_size)]


def add_elementwise(list1, list2):
    return [a + b for a, b in zip(list1, list2)]


def random_weights(sizes):
    return [xavier_initialization(m, n) for m, n in zip(sizes, sizes[1:])]


def xavier_initialization(m, n):
    bound = 1 / np.sqrt(m)
    return order.permutation(np.linspace(-bound, bound, m * n)).reshape(m, n)
