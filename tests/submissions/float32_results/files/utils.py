import numpy as np


def sigmoid(x):
    return np.float32(1) / (1 + np.exp(-np.asarray(x, dtype=np.float32)))


def sigmoid_prime(x):
    return sigmoid(x) * (1 - sigmoid(x))


def random_weights(sizes):
    return [xavier_initialization(m, n).astype(np.float32) for m, n in zip(sizes, sizes[1:])]


def zeros_weights(sizes):
    return [np.zeros(shape, dtype=np.float32) for shape in zip(sizes, sizes[1:])]


def zeros_biases(sizes):
    return [np.zeros(size, dtype=np.float32) for size in sizes[1:]]


def create_batches(data, labels, batch_size):
    data, labels = np.float32(data), np.float32(labels)
    return [(data[i:i + batch_size], labels[i:i + batch_size]) for i in range(0, len(data), batch_size)]


def add_elementwise(list1, list2):
    return [np.add(a, b, dtype=np.float32) for a, b in zip(list1, list2)]


def xavier_initialization(m, n):
    return np.random.uniform(-1 / np.sqrt(m), 1 / np.sqrt(m), size=(m, n))
