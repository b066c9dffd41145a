import numpy as np


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def sigmoid_prime(x):
    return sigmoid(x) * (1 - sigmoid(x))


def random_weights(sizes):
    return [xavier_initialization(sizes[i], sizes[i + 1]) for i in range(len(sizes) - 1)]


def zeros_weights(sizes):
    return [np.full(shape, 0) for shape in zip(sizes[:-1], sizes[1:])]


def zeros_biases(sizes):
    return [np.full(size, 0) for size in sizes[1:]]


def create_batches(data, labels, batch_size):
    cuts = range(batch_size, len(data), batch_size)
    return list(zip(np.split(data, cuts), np.split(labels, cuts)))


def add_elementwise(list1, list2):
    return [a + b for a, b in zip(list1, list2)]


def xavier_initialization(m, n):
    return np.random.uniform(-1 / np.sqrt(m), 1 / np.sqrt(m), size=(m, n))
