"""Trains the course's multilayer perceptron with the hand-in's executors, as a driver or as a program."""

import hand_in
import numpy as np

ndarray = hand_in.module("ndarray")

CONTEXTS = {"numpy": None, "gpu": ndarray.gpu(0)}


def fit(x, y, vx, epochs, device):
    """Learn from pictures (uint8, shape (n, 784), n a multiple of 1000) and their labels.

    Returns:
        The mean loss of each epoch, and what the network then takes other pictures for (int64).
    """
    from digits import inputs
    from mnist_dlsys import MODELS, Network

    network = Network(MODELS["mlp"], CONTEXTS[device])
    losses = [network.learn(inputs(x), y) for _ in range(epochs)]
    return {"losses": losses, "predictions": network.predict(inputs(vx))}


def train(x, y, vx, vy, epochs, device):
    """The same; and the share of the other pictures that is right, which is then the program's own claim."""
    learnt = fit(x, y, vx, epochs, device)
    return {"losses": learnt["losses"], "accuracy": float(np.mean(learnt["predictions"] == vy))}


def losses(x, y, vx, epochs, device):
    """The mean loss of each epoch alone."""
    return fit(x, y, vx, epochs, device)["losses"]


def on_numpy(x, y, vx, epochs):
    """The mean loss of each epoch on NumPy."""
    return losses(x, y, vx, epochs, "numpy")


def on_gpu(x, y, vx, epochs):
    """The mean loss of each epoch on a GPU."""
    return losses(x, y, vx, epochs, "gpu")


if __name__ == "__main__":
    from mnist_dlsys import main

    main()
