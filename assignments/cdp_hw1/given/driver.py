"""Trains the course's network with a hand-in's functions, epoch by epoch; it has no label of the test set."""

import ast
from pathlib import Path

import numpy as np
from network import NeuralNetwork

LEVELS = 256
"""What pixels are divided by."""

_trained = {}


def begin(pictures, labels, sizes, learning_rate, mini_batch_size):
    """Take the training set (uint8 pictures, one per row) and build the network.

    Returns:
        The learning rate that is used: the one in the hand-in's `main.py`, otherwise the one given.
    """
    rate = chosen("main.py", "learning_rate", learning_rate)
    _trained["network"] = NeuralNetwork(sizes, rate, mini_batch_size, 1, np.matmul)
    _trained["data"] = _inputs(pictures), labels.copy()
    return rate


def epoch(pictures):
    """Learn from every sample of the training set once.

    Returns:
        What the network now takes other pictures for, as whole numbers.
    """
    network = _trained["network"]
    network.fit(_trained["data"])
    return np.asarray(network.predict(_inputs(pictures))).astype(np.int64)


def chosen(file, name, otherwise):
    """The number that a file of the hand-in assigns to a name last, found without running it."""
    path = Path(file)
    if not path.is_file():
        return otherwise
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return otherwise
    numbers = [
        node.value.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Constant)
        and type(node.value.value) in (int, float)
        and any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
    ]
    return float(numbers[-1]) if numbers else otherwise


def _inputs(pictures):
    return pictures.astype(np.float32) / LEVELS
