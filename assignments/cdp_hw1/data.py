"""The handwritten digits on which the network of homework 1 learns: MNIST if it is there, else a stand-in."""

import gzip
import hashlib
import pickle  # noqa: TID251 - MNIST is handed round as a pickle; its digest is checked before it is read
from pathlib import Path
from typing import NamedTuple

import numpy as np

FOLDER = Path(__file__).resolve().parent / "data"

LEVELS = 256
"""Pictures hold whole numbers below this; a network sees them divided by it."""

SIDE = 28
SIZES = (50_000, 10_000, 10_000)
STAND_IN = (1437, 180, 180)
"""How many of the small digits each part of the stand-in is made from."""
ENLARGED = 24
"""The side of an enlarged digit, in pixels."""
LARGEST_SHIFT = 2


class Digits(NamedTuple):
    """Pictures and what they show."""

    pictures: np.ndarray
    """uint8, shape (n, 784)."""
    labels: np.ndarray
    """int64, shape (n,)."""


class WrongData(Exception):
    """A file of pictures is not what it should be; one line on what to do."""


def load(folder=FOLDER, seed=0):
    """Training, validation and test set: 50,000, 10,000 and 10,000 digits.

    The stand-in's copies and their order are drawn from `seed`; the split into parts is always the same.

    Raises:
        WrongData: a file is damaged, or not the one whose digest is known.
    """
    mnist = folder / "mnist.pkl.gz"
    return _mnist(mnist) if mnist.exists() else _stand_in(folder / "digits.npz", seed)


def inputs(pictures):
    """Pictures as a network takes them: float32, 0 to 1."""
    return pictures.astype(np.float32) / LEVELS


def _stand_in(file, seed):
    """Enlarged digits, each in many places: 1,437 pictures alone would teach a network next to nothing.

    A digit and its copies stay in one part, or the test set would hold what was learnt by heart.
    """
    with np.load(file, allow_pickle=False) as digits:
        images, labels = digits["images"], digits["labels"]
    order = np.random.default_rng(0).permutation(len(images))
    ends = np.cumsum(STAND_IN)
    parts = np.split(order[: ends[-1]], ends[:-1])
    rng = np.random.default_rng(seed)
    return tuple(
        _shifted(images[part], labels[part], size, rng) for part, size in zip(parts, SIZES, strict=True)
    )


def _shifted(images, labels, size, rng):
    large = _enlarged(images)
    margin = (SIDE - ENLARGED) // 2
    which = rng.integers(len(images), size=size)
    places = margin + rng.integers(-LARGEST_SHIFT, LARGEST_SHIFT + 1, size=(size, 2))
    pictures = np.zeros((size, SIDE, SIDE), np.uint8)
    for top, left in np.unique(places, axis=0):
        here = (places == (top, left)).all(axis=1)
        pictures[here, top : top + ENLARGED, left : left + ENLARGED] = large[which[here]]
    return Digits(pictures.reshape(size, -1), labels[which].astype(np.int64))


def _enlarged(images):
    """Between the middles of two small pixels a large one has something of both."""
    small = images.shape[1]
    middles = (np.arange(ENLARGED) + 0.5) * small / ENLARGED - 0.5
    share = np.maximum(0, 1 - np.abs(middles[:, None] - np.arange(small)))
    share /= share.sum(axis=1, keepdims=True)
    # 16 is the brightest small pixel.
    return np.minimum(np.rint(share @ images @ share.T * (LEVELS / 16)), LEVELS - 1).astype(np.uint8)


def _mnist(file):
    packed = file.read_bytes()
    known = file.with_name(f"{file.name}.sha256")
    if not known.exists():
        raise WrongData(
            f"{file}: its digest is not known; if you trust it, run: sha256sum {file.name} > {known.name}"
        )
    if known.read_text().split()[:1] != [hashlib.sha256(packed).hexdigest()]:
        raise WrongData(f"{file}: is not the file whose digest {known.name} holds; replace one of the two")
    try:
        # latin1: the file was written by Python 2.
        parts = pickle.loads(gzip.decompress(packed), encoding="latin1")  # noqa: S301 - checked above
        training, validation, test = (_checked(*map(np.asarray, part)) for part in parts)
    except Exception as error:  # a pickle that is no such tuple can raise anything
        raise WrongData(f"{file}: cannot be read as three parts of pictures and labels ({error})") from None
    return training, validation, test


def _checked(pictures, labels):
    if pictures.shape != (len(labels), SIDE * SIDE) or labels.ndim != 1:
        raise ValueError(f"pictures {pictures.shape} and labels {labels.shape}")
    levels = np.clip(np.rint(pictures * LEVELS), 0, LEVELS - 1)
    return Digits(levels.astype(np.uint8), labels.astype(np.int64))
