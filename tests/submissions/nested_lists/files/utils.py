import numpy as np


def sigmoid(x):
    return (1 / (1 + np.exp(-np.asarray(x)))).tolist()


def sigmoid_prime(x):
    s = np.asarray(sigmoid(x))
    return (s * (1 - s)).tolist()


def random_weights(sizes):
    return [xavier_initialization(m, n).tolist() for m, n in zip(sizes, sizes[1:])]


def zeros_weights(sizes):
    return [[[0.0] * n for _ in range(m)] for m, n in zip(sizes, sizes[1:])]


def zeros_biases(sizes):
    return [[0] * n for n in sizes[1:]]


def create_batches(data, labels, batch_size):
    starts = range(0, len(data), batch_size)
    return [[data[i:i + batch_size].tolist(), labels[i:i + batch_size].tolist()] for i in starts]


def add_elementwise(list1, list2):
    return [np.add(a, b).tolist() for a, b in zip(list1, list2)]


def xavier_initialization(m, n):
    return np.random.uniform(-1 / np.sqrt(m), 1 / np.sqrt(m), size=(m, n))
