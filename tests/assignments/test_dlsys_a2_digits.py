"""The pictures of dlsys_a2: MNIST where it is, and otherwise a stand-in that looks like it."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from grader.coursecode import course_module

FOLDER = Path(__file__).resolve().parents[2] / "assignments" / "dlsys_a2"

digits = course_module(FOLDER / "given" / "tests" / "digits.py")


@pytest.mark.slow
def test_the_stand_in_looks_like_mnist():
    training, validation = digits.load()
    assert (len(training.pictures), len(validation.pictures)) == (50_000, 10_000)
    for part in (training, validation):
        x = digits.inputs(part.pictures)
        assert x.shape == (len(part.labels), 784)
        assert np.mean(x) == pytest.approx(0.1307, abs=0.01)
        assert np.std(x) == pytest.approx(0.3081, abs=0.01)
        assert np.mean(x == 0) == pytest.approx(0.809, abs=0.02)
        assert set(np.unique(part.labels)) == set(range(10))


def test_pictures_follow_from_the_seed_and_no_set_has_one_of_the_other():
    first, again, other = (digits.load(seed, training=500, validation=500) for seed in (1, 1, 2))
    assert all(itertools.starmap(np.array_equal, zip(first[0], again[0], strict=True)))
    assert not np.array_equal(first[0].labels, other[0].labels)
    training, validation = ({row.tobytes() for row in part.pictures} for part in first)
    assert not training & validation


def test_mnist_is_taken_where_it_lies(tmp_path):
    arrays = {
        "x_train": np.arange(60_000, dtype=np.uint8).repeat(784).reshape(-1, 28, 28),
        "y_train": (np.arange(60_000) % 10).astype(np.uint8),
    }
    np.savez(tmp_path / "mnist.npz", **arrays)
    training, validation = digits.load(folder=tmp_path, training=20, validation=10)
    assert training.labels.tolist() == [*range(10)] * 2
    assert validation.pictures[:, 5].tolist() == [(50_000 + number) % 256 for number in range(10)]
