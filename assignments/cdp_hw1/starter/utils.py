"""The building blocks of a neural network: seven functions for you to write, and one that is given."""

import numpy as np


def sigmoid(x):
    """The standard sigmoid function, 1 / (1 + e**-x).

    Args:
        x: a number, or a NumPy array of any shape, also of whole numbers.

    Returns:
        A number for a number, an array of the same shape for an array.
    """
    # To do
    raise NotImplementedError("sigmoid is still to do")


def sigmoid_prime(x):
    """The derivative of the sigmoid function at x.

    Args:
        x: a number, or a NumPy array of any shape, also of whole numbers.

    Returns:
        A number for a number, an array of the same shape for an array.
    """
    # To do
    raise NotImplementedError("sigmoid_prime is still to do")


def random_weights(sizes):
    """Random weights for a network, from `xavier_initialization` at the end of this file.

    Args:
        sizes: a list with the number of neurons of each layer, input layer first.

    Returns:
        A list of matrices, one for every two neighbouring layers, of shape (sizes[i], sizes[i + 1]).
    """
    # To do
    raise NotImplementedError("random_weights is still to do")


def zeros_weights(sizes):
    """Weights of the same shapes as `random_weights` gives, all of them zero.

    Args:
        sizes: a list with the number of neurons of each layer, input layer first.

    Returns:
        A list of matrices, one for every two neighbouring layers, of shape (sizes[i], sizes[i + 1]).
    """
    # To do
    raise NotImplementedError("zeros_weights is still to do")


def zeros_biases(sizes):
    """Biases of a network, all of them zero.

    Args:
        sizes: a list with the number of neurons of each layer, input layer first.

    Returns:
        A list of one-dimensional vectors, one for every layer after the input layer.
    """
    # To do
    raise NotImplementedError("zeros_biases is still to do")


def create_batches(data, labels, batch_size):
    """The training set in batches, in the order given.

    Args:
        data: an array with one sample per row.
        labels: an array with the label of each sample.
        batch_size: how many samples a batch has; the last one takes what remains.

    Returns:
        A list of tuples (data of the batch, labels of the batch).
    """
    # To do
    raise NotImplementedError("create_batches is still to do")


def add_elementwise(list1, list2):
    """The sums of the elements that stand at the same place of two lists.

    Args:
        list1: a list of numbers or of NumPy arrays, which may differ in shape from one another.
        list2: a list of the same length, with elements of the same shapes.

    Returns:
        A list of the same length.
    """
    # To do
    raise NotImplementedError("add_elementwise is still to do")


def xavier_initialization(m, n):
    """A random matrix of shape (m, n), uniform between -1/sqrt(m) and 1/sqrt(m). Given: leave it as it is."""
    bound = 1 / np.sqrt(m)
    return np.random.uniform(-bound, bound, size=(m, n))
