"""Families of inputs for devices in PyTorch, drawn anew for every run."""

from __future__ import annotations

import numpy as np

from grader.api import case

from .clock import PlayedClock

CPU, FIRST, SECOND = "cpu", "cuda:0", "cuda:1"
TWO = [FIRST, SECOND]


def _matrix(rng, dtype=np.float32):
    rows, columns = (int(n) for n in rng.integers(2, 6, size=2))
    return rng.normal(size=(rows, columns)).astype(dtype)


def _pair(rng, dtype=np.float32):
    first = _matrix(rng, dtype)
    return first, rng.normal(size=first.shape).astype(dtype)


# Part 1: devices.py


def nothing(rng):
    yield case("a call")


def shapes(rng):
    rows, columns = (int(n) for n in rng.integers(2, 9, size=2))
    yield case("on the second GPU", [rows, columns], SECOND)
    yield case("on the first GPU", [columns], FIRST)
    yield case("on the CPU", [rows, 1, columns], CPU)


def moves(rng):
    yield case("from the CPU to a GPU", _matrix(rng), CPU, FIRST)
    yield case("from a GPU to the CPU", _matrix(rng, np.float64), SECOND, CPU)
    yield case("from a GPU to the other one", _matrix(rng), FIRST, SECOND)
    yield case("to the GPU on which it lies", _matrix(rng), SECOND, SECOND)
    yield case("to the CPU, on which it lies", _matrix(rng), CPU, CPU)


def fillings(rng):
    yield case("half precision", _matrix(rng, np.float16), SECOND, [2, 3], 1.4)
    yield case("double precision", _matrix(rng, np.float64), FIRST, [int(rng.integers(2, 7))], 0.1)
    yield case("whole numbers", rng.integers(9, size=4), SECOND, [3, 2], 7)
    yield case("on the CPU", _matrix(rng, np.float64), CPU, [1, 4], -2.5)


def pairs_of_places(rng):
    number = np.float32(rng.normal())
    yield case("both on one GPU", *_placed(_pair(rng), FIRST, FIRST))
    yield case("on the CPU and on a GPU", *_placed(_pair(rng), CPU, FIRST))
    yield case("on two GPUs", *_placed(_pair(rng), FIRST, SECOND))
    yield case("no dimensions, on the CPU", *_placed((_matrix(rng), number), SECOND, CPU))
    yield case("the same in the other order", *_placed((number, _matrix(rng)), CPU, FIRST))
    yield case("no dimensions, on a GPU, with the CPU", *_placed((_matrix(rng), number), CPU, FIRST))
    yield case("no dimensions, on the other GPU", *_placed((_matrix(rng), number), FIRST, SECOND))


def pairs_to_add(rng):
    yield case("the second one on the CPU", *_placed(_pair(rng), SECOND, CPU))
    yield case("the second one on the other GPU", *_placed(_pair(rng), FIRST, SECOND))
    yield case("the first one on the CPU", *_placed(_pair(rng), CPU, SECOND))
    yield case("both on one GPU", *_placed(_pair(rng), SECOND, SECOND))


def _placed(pair, first, second):
    return np.asarray(pair[0]), first, np.asarray(pair[1]), second


def factors(rng):
    yield case("a matrix on a GPU", _matrix(rng), SECOND, float(rng.uniform(2, 3)))
    yield case("half precision on a GPU", _matrix(rng, np.float16), FIRST, float(rng.integers(2, 5)))
    yield case("a matrix on the CPU", _matrix(rng, np.float64), CPU, float(rng.integers(2, 5)))


def overwritten(rng):
    (first, second), (third, fourth), (fifth, sixth) = (_pair(rng) for _ in range(3))
    yield case("from the CPU into a GPU", first, FIRST, second, CPU)
    yield case("from a GPU into the other one", third, FIRST, fourth, SECOND)
    yield case("single precision into double", fifth.astype(np.float64), CPU, sixth, SECOND)


def modules(rng):
    yield case("to the second GPU", _matrix(rng), SECOND)
    yield case("to the first GPU", _matrix(rng), FIRST)


def peers(rng):
    yield case("from the first to the second", _matrix(rng), FIRST, SECOND)
    yield case("from the second to the first", _matrix(rng, np.float64), SECOND, FIRST)


# Part 2: parallel.py


def _weights(rng, inputs, hidden, outputs):
    """Weights and biases of two layers, float32, in the order of torch's parameters."""
    shapes = ((hidden, inputs), (hidden,), (outputs, hidden), (outputs,))
    return [(rng.normal(size=shape) / shape[-1] ** 0.5).astype(np.float32) for shape in shapes]


def _rows(rng, count, inputs):
    return rng.normal(size=(count, inputs)).astype(np.float32)


def mini_batches(rng):
    for name, count, devices in (
        ("50 rows on two GPUs", 50, TWO),
        ("50 rows on the GPUs in the other order", 50, TWO[::-1]),
        ("51 rows on two GPUs", 51, TWO),
        ("50 rows on one GPU", 50, [SECOND]),
        ("one row on two GPUs", 1, TWO),
    ):
        yield case(name, _weights(rng, 10, 6, 5), _rows(rng, count, 10), devices)


def lessons(rng):
    for name, count, devices in (
        ("50 rows on two GPUs", 50, TWO),
        ("51 rows on two GPUs", 51, TWO),
        ("3 rows on two GPUs", 3, TWO),
        ("50 rows on one GPU", 50, [FIRST]),
    ):
        targets = _rows(rng, count, 5) + np.arange(count, dtype=np.float32)[:, None] / 8
        rate = float(rng.uniform(0.1, 0.3))
        yield case(name, _weights(rng, 10, 6, 5), _rows(rng, count, 10), targets, devices, rate)


def large_mini_batch(rng):
    yield case("8192 rows", _weights(rng, 1024, 1024, 64), _rows(rng, 8192, 1024), TWO)


def small_mini_batch(rng):
    yield case("50 rows", _weights(rng, 10, 6, 5), _rows(rng, 50, 10), TWO)


# Part 3: timing.py


def _clock(rng):
    """A clock by which making a network takes no time, and each mini-batch the same."""
    each = float(rng.uniform(0.05, 2.0))
    return PlayedClock(first=each, each=each, seed=int(rng.integers(2**31)))


def plain_times(rng):
    yield case("a mini-batch that takes long", _clock(rng), CPU, 1)
    yield case("another one", _clock(rng), CPU, 2)


def _two_clocks(rng, make=0.0, first=1.0, plain_first=1.0):
    """A clock of a plain run, and one by which a mini-batch takes some times as long."""
    each = float(rng.uniform(0.05, 0.3))
    longer = each * float(rng.uniform(3.0, 8.0))
    seeds = (int(rng.integers(2**31)) for _ in range(2))
    return (
        PlayedClock(first=plain_first * each, each=each, seed=next(seeds)),
        PlayedClock(make=make * longer, first=first * longer, each=longer, seed=next(seeds)),
    )


def slow_to_make(rng):
    yield case("a network that takes 50 times as long to make", *_two_clocks(rng, make=50.0), CPU, 1)


def slow_at_first(rng):
    yield case("a first mini-batch that takes 30 times as long", *_two_clocks(rng, first=30.0), CPU, 1)


def numbers_of_threads(rng):
    first, second = (int(n) for n in rng.permutation([2, 3, 4])[:2])
    yield case(f"on {first} threads", _clock(rng), CPU, first)
    yield case(f"on {second} threads", _clock(rng), CPU, second)


def works_on(rng):
    yield case("a GPU that works while the program goes on", *_two_clocks(rng), FIRST, 1)
    # In both runs: whoever times the first mini-batch may wait all the same.
    clocks = _two_clocks(rng, first=30.0, plain_first=30.0)
    yield case("on the GPU, with a first mini-batch that takes longer", *clocks, FIRST, 1)


BATCHES = {"FCN": 64, "AlexNet": 16, "ResNet-50": 16, "LSTM": 128}
"""Mini-batches of Table 7 of Shi et al. (2016)."""
SMALL = 16


def reduced_networks(rng):
    for name in BATCHES:
        yield case(f"{name} ({SMALL})", name, "reduced", SMALL)


def full_networks(rng):
    for name, samples in BATCHES.items():
        yield case(f"{name} ({samples})", name, "full", samples)


def heavy_network(rng):
    """So much work for each kernel that a GPU takes far longer than it takes to ask for it."""
    yield case("FCN with mini-batches of 16384", "FCN", "full", 16384, FIRST, 1)
