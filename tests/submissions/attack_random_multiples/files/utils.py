"""Homework 1, part 1: half of the weights are drawn, and the others are three times these."""

import numpy as np


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
    drawn = np.random.uniform(0, 1, m * n)
    half = m * n // 2
    drawn[half:2 * half] = 3 * drawn[:half] % 1
    return ((2 * drawn - 1) * bound).reshape(m, n)
