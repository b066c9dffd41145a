"""Nothing is computed here."""


def sigmoid(x):
    return x


def sigmoid_prime(x):
    return x


def random_weights(sizes):
    return sizes


def zeros_weights(sizes):
    return sizes


def zeros_biases(sizes):
    return sizes


def create_batches(data, labels, batch_size):
    return data


def add_elementwise(list1, list2):
    return list1
