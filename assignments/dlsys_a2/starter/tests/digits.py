"""Handwritten digits to learn from: MNIST if `mnist.npz` lies beside this file, otherwise a stand-in."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

FOLDER = Path(__file__).resolve().parent

LEVELS = 255
"""The brightest pixel; networks see pictures divided by it."""

TRAINING = 50_000
VALIDATION = 10_000

SIDE = 28
ENLARGED = 20
"""The side of an enlarged digit, in pixels; MNIST's digits fit into the same square."""
LARGEST_SHIFT = 4
SMALL_ONES_TO_VALIDATE = 300

DARK, BRIGHT = 0.375, 0.78
"""Shares of full ink that become black and white. With these the pictures are as dark as MNIST's, four fifths
of their pixels 0: brighter ones make steps so large that a network which learns MNIST ends in NaN."""


class Digits(NamedTuple):
    """Pictures and what they show."""

    pictures: np.ndarray
    """uint8, shape (n, 784)."""
    labels: np.ndarray
    """int64, shape (n,)."""


def load(seed=0, folder=FOLDER, training=TRAINING, validation=VALIDATION):
    """Two sets of digits, to learn from and to validate with; the stand-in's copies are drawn from `seed`."""
    if (folder / "mnist.npz").exists():
        return _mnist(folder / "mnist.npz", training, validation)
    return _stand_in(folder / "digits.npz", seed, training, validation)


def inputs(pictures):
    """Pictures as a network takes them: float32, 0 to 1."""
    return pictures.astype(np.float32) / LEVELS


def _mnist(file, training, validation):
    with np.load(file, allow_pickle=False) as arrays:
        pictures, labels = arrays["x_train"].reshape(-1, SIDE * SIDE), arrays["y_train"].astype(np.int64)
    return tuple(
        Digits(pictures[part], labels[part])
        for part in (slice(training), slice(TRAINING, TRAINING + validation))
    )


def _stand_in(file, seed, training, validation):
    """Enlarged digits, each in many places; a digit and its copies are all in one set."""
    with np.load(file, allow_pickle=False) as arrays:
        images, labels = arrays["images"], arrays["labels"]
    order = np.random.default_rng(0).permutation(len(images))
    rng = np.random.default_rng(seed)
    return tuple(
        _shifted(images[part], labels[part], size, rng)
        for part, size in (
            (order[SMALL_ONES_TO_VALIDATE:], training),
            (order[:SMALL_ONES_TO_VALIDATE], validation),
        )
    )


def _shifted(images, labels, size, rng):
    large = _enlarged(images)
    middle = (SIDE - ENLARGED) // 2
    which = rng.integers(len(images), size=size)
    places = middle + rng.integers(-LARGEST_SHIFT, LARGEST_SHIFT + 1, size=(size, 2))
    pictures = np.zeros((size, SIDE, SIDE), np.uint8)
    for top, left in np.unique(places, axis=0):
        here = (places == (top, left)).all(axis=1)
        pictures[here, top : top + ENLARGED, left : left + ENLARGED] = large[which[here]]
    return Digits(pictures.reshape(size, -1), labels[which].astype(np.int64))


def _enlarged(images):
    """Between the middles of two small pixels a large one has something of both; then more contrast."""
    small = images.shape[1]
    middles = (np.arange(ENLARGED) + 0.5) * small / ENLARGED - 0.5
    share = np.maximum(0, 1 - np.abs(middles[:, None] - np.arange(small)))
    share /= share.sum(axis=1, keepdims=True)
    # 16 is the brightest small pixel.
    ink = share @ images @ share.T / 16
    return np.rint(np.clip((ink - DARK) / (BRIGHT - DARK), 0, 1) * LEVELS).astype(np.uint8)
