"""Nothing is computed here."""


def sigmoid(x):
    return []


def sigmoid_prime(x):
    return []


def random_weights(sizes):
    return []


def zeros_weights(sizes):
    return []


def zeros_biases(sizes):
    return []


def create_batches(data, labels, batch_size):
    return []


def add_elementwise(list1, list2):
    return []
