"""Tests of whether values were drawn independently of each other, within an array and between arrays.

Each takes positions in the distribution, u = F(x), which are uniform between 0 and 1 for an honest draw. The
statistics are of order 1 for one, whatever its size, and the tails of their distributions are stated where
they are computed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import gcd

import numpy as np

from grader.harness.distributions import Uniform

LEAST = 64
"""Arrays of fewer values prove nothing about the order of their values."""

_MULTIPLES = 3
"""Values are held against so many multiples of others."""

_FEW = 16
"""Fewer values may be spaced evenly by chance."""

_WINDOW = 2**13
"""How many values of each call are transformed: from a place that no program knows."""

_CELLS = (2.0**40, 2.0**26, 2.0**20, 2.0**14)
"""Into how many equal parts positions are sorted to compare them, the finest first."""

_SINGLE_STEP = 2.0**-24
_ROUNDING = 1e-9
"""Positions nearer than that are equal: steps of single precision are longer."""

_PARTS = 20
"""Into how many steps the shortest distance of coarse values is divided at most."""

_CHANCE = 3
"""So many values more than expected may be shared: counts are whole, and the normal distribution is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependence:
    """The largest sum over pairs of values that lie equally far apart."""

    statistic: float
    apart: int
    """How far apart they lie, in the order in which the values were given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedDraws:
    """How many pairs of values are equal, each of them in another array, but perhaps for the sign."""

    pairs: int
    expected: float
    """By how many there are within single arrays, where values are drawn coarsely."""
    z: float


NONE = SharedDraws(pairs=0, expected=0.0, z=0.0)


def dependence(positions: np.ndarray) -> Dependence:
    """Return how much values depend on those a fixed number of places behind, for the worst such number.

    With z = exp(2 pi i u) the sums over z[j]^a conj(z[j + l])^b and z[j]^a z[j + l]^b are those of
    independent phases, for the pairs j, j + l form paths; so |S|^2 / pairs exceeds t for one l, a and b with
    a probability of at most 32 exp(-0.99 t) (Chernoff's bound with I0(x) <= exp(x^2 / 4) in 32 directions).
    With a = b = 1 one sum finds u[j + l] = u[j] + c, as rows that are shifted, repeated or counted up, the
    other u[j + l] = c - u[j], as signs that are turned; with other numbers up to `_MULTIPLES` they find
    values that are multiples of earlier ones, as from a chaotic map. For all l together they are computed by
    Fourier transforms (Wiener and Khinchin).
    """
    n = positions.size
    if n < LEAST:
        return Dependence(statistic=0.0, apart=0)
    length = _transform_length(2 * n - 1)
    phases = np.exp(2j * np.pi * positions)
    powers = [phases]
    while len(powers) < _MULTIPLES:
        powers.append(powers[-1] * phases)
    spectra = [np.fft.fft(power, length) for power in powers]
    # the spectrum of the values turned around, which is that of their conjugates conjugated
    turned = [np.concatenate([spectrum[:1], spectrum[:0:-1]]) for spectrum in spectra]
    worst = np.zeros(n)
    for a, b in combinations_with_replacement(range(1, 1 + _MULTIPLES), 2):
        if gcd(a, b) > 1:  # it is a multiple of another pair
            continue
        second = spectra[b - 1]
        for first in (np.conj(spectra[a - 1]), turned[a - 1]):
            sums = np.fft.ifft(first * second)
            ahead = _squared(sums[:n])
            if a != b or first is not turned[a - 1]:
                ahead[0] = 0.0  # every value with itself, or its own multiple
            np.maximum(worst, ahead, out=worst)
            if a != b:  # the sums of b and a are those of the pairs -l places apart
                np.maximum(worst[1:], _squared(sums[:-n:-1]), out=worst[1:])
    statistics = worst / np.arange(n, 0, -1)
    apart = int(statistics.argmax())
    return Dependence(statistic=float(statistics[apart]), apart=apart)


def _transform_length(least: int) -> int:
    """Return a length of at least so much whose transform is quick: a power of two, or three times one."""
    power = 1 << (least - 1).bit_length()
    return min(length for length in (power, power // 4 * 3) if length >= least)


def _squared(values: np.ndarray) -> np.ndarray:
    squares: np.ndarray = values.real**2 + values.imag**2
    return squares


def windows(calls: Sequence[np.ndarray], rng: np.random.Generator) -> np.ndarray:
    """Return the same part of what each call gave, one after the other; all of it where that is little."""
    begin = int(rng.integers(max(1, min(map(len, calls), default=0) - _WINDOW + 1)))
    return np.concatenate([values[begin : begin + _WINDOW] for values in calls])


def turning(positions: np.ndarray) -> float:
    """Return how many standard errors the number of turning points is away, along rows or along columns.

    A value is one if it is larger, or smaller, than both neighbours. Of n independent values (2 n - 4) / 3
    are, with a variance of (16 n - 29) / 90, and nearly normally distributed (Bienayme 1874; Kendall and
    Stuart, The Advanced Theory of Statistics, vol. 3). Sorted values have none, alternating ones only.
    """
    n = positions.size
    if n < LEAST:
        return 0.0
    worst = 0.0
    # coarse draws have equal neighbours: which of them is the larger one is drawn
    noise = np.random.default_rng(n).uniform(0.0, 1e-9, positions.shape)
    for order in ("C", "F"):
        steps = np.diff((positions + noise).ravel(order=order))
        count = int((steps[1:] * steps[:-1] < 0).sum())
        z = (count - (2 * n - 4) / 3) / math.sqrt((16 * n - 29) / 90)
        worst = max(worst, z, key=abs)
    return worst


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """The values of one array by their distance from the middle of the distribution, in order."""

    values: np.ndarray
    equal_pairs: tuple[int, ...]
    """For each of `_CELLS`."""
    stepped: bool
    """Whether values are equal by chance: whole multiples of one step apart, or of single precision."""

    @classmethod
    def of(cls, positions: np.ndarray, *, single: bool = False) -> Folded:
        """Fold an array whose values are perhaps of `single` precision."""
        values = np.sort(np.abs(2.0 * positions.ravel() - 1.0))
        equal = tuple(_equal_pairs(values, cells) for cells in _CELLS)
        return cls(
            values=values,
            equal_pairs=equal,
            stepped=single or (equal[0] > _CHANCE and _stepped(positions)),
        )


def shared(arrays: Sequence[Folded]) -> SharedDraws:
    """Return whether arrays share values, whatever their order, sign and bounds, more often than by chance.

    Values are compared in cells of several widths: one that was rescaled, or moved a little, is not quite the
    same. Draws from few values, as in half precision or rounded, are equal as often within an array as
    between two: that tells how many are expected.
    """
    if len(arrays) < 2:
        return NONE
    together = np.sort(np.concatenate([array.values for array in arrays]))
    possible_within = sum(_pairs(array.values.size) for array in arrays)
    possible = _pairs(together.size) - possible_within
    share = possible / max(1, possible_within)
    results = []
    for number, cells in enumerate(_CELLS):
        within = sum(array.equal_pairs[number] for array in arrays)
        between = _equal_pairs(together, cells) - within
        expected = max(share * within, possible / cells)
        # where there is none within, there might have been one
        spread = math.sqrt(1 + expected + share**2 * (within + 1))
        results.append(SharedDraws(pairs=between, expected=expected, z=_excess(between, expected, spread)))
    return max(results, key=lambda result: result.z)


def repeated(array: Folded) -> SharedDraws:
    """Return whether an array repeats its own values, in whatever order and with whatever sign."""
    if array.values.size < LEAST or array.stepped:
        return NONE
    results = []
    for pairs, cells in zip(array.equal_pairs, _CELLS, strict=True):
        expected = _pairs(array.values.size) / cells
        z = _excess(pairs, expected, math.sqrt(1 + expected))
        results.append(SharedDraws(pairs=pairs, expected=expected, z=z))
    return max(results, key=lambda result: result.z)


def _stepped(positions: np.ndarray) -> bool:
    """Whether all values but the outermost are whole multiples of one step apart."""
    gaps = np.diff(np.sort(positions, axis=None))
    gaps = gaps[gaps > _ROUNDING][1:-1]
    if not gaps.size:
        return True
    # the shortest gap may itself be some steps; numbers of less precision are multiples of the shortest there
    steps = [_SINGLE_STEP, *(gaps.min() / parts for parts in range(1, 1 + _PARTS))]
    return any((np.abs(gaps / step - np.round(gaps / step)) < 0.01).all() for step in steps)


def _pairs(count: int) -> int:
    return count * (count - 1) // 2


def _excess(pairs: int, expected: float, spread: float) -> float:
    return max(0.0, pairs - expected - _CHANCE) / spread


def _equal_pairs(ordered: np.ndarray, cells: float) -> int:
    numbers = np.floor(ordered * cells)
    edges = np.flatnonzero(numbers[1:] != numbers[:-1])
    counts = np.diff(edges, prepend=-1, append=numbers.size - 1)
    return int((counts * (counts - 1) // 2).sum())


def evenness(positions: np.ndarray) -> float:
    """Return sqrt(n) times the Kolmogorov-Smirnov distance; infinite for fewer than 16 values.

    Values that are spaced evenly reach 1 / (2 sqrt(n)). Of an honest draw it is below 0.2 with a probability
    of 1e-9: 5e-13 as n grows, by sqrt(2 pi) / x exp(-pi^2 / (8 x^2)), and n! (2 d - 1 / n)^n for few values
    with d = x / sqrt(n) <= 1 / n.
    """
    n = positions.size
    if n < _FEW:
        return math.inf
    ordered = np.sort(positions, axis=None)
    steps = np.arange(n + 1) / n
    distance = max((steps[1:] - ordered).max(), (ordered - steps[:-1]).max())
    return float(math.sqrt(n) * distance)


def _single(array: np.ndarray) -> bool:
    """Whether all values are those of single precision, whatever their type."""
    return bool((array.astype(np.float32) == array).all())


class Draws:
    """Values that one process of a program drew, case by case, and statistics of their independence."""

    def __init__(self, rng: np.random.Generator) -> None:
        """Look closely at parts that `rng` chooses."""
        self._rng = rng
        self._folded: list[Folded] = []

    def forget(self) -> None:
        """Start anew: a fresh process draws again what its file's seed gives."""
        self._folded.clear()

    def add(
        self, calls: Sequence[Sequence[tuple[np.ndarray, Uniform]]], *, last: bool = True
    ) -> dict[str, float | int]:
        """Return the statistics of one case, called several times, and with the `last` one those of all."""
        drawn = [
            [distribution.cdf(array.astype(np.float64)) for array, distribution in call if array.size]
            for call in calls
        ]
        arrays = [array for call in drawn for array in call]
        if not arrays:
            return {}
        single = [_single(array) for call in calls for array, _ in call if array.size]
        folded = [Folded.of(array, single=fits) for array, fits in zip(arrays, single, strict=True)]
        self._folded += folded
        flat = [np.concatenate([array.ravel() for array in call]) for call in drawn]
        apart = dependence(windows(flat, self._rng))
        again = max(map(repeated, folded), key=lambda result: result.z)
        common = shared(self._folded) if last else NONE
        least = min(map(evenness, (*arrays, np.concatenate(flat))))
        return {
            **({"ks_least": least} if least < math.inf else {}),
            "z_turning": max(map(turning, arrays), key=abs),
            "dependence": apart.statistic,
            "dependence_apart": apart.apart,
            "z_repeated": again.z,
            "repeated": again.pairs,
            "repeated_expected": again.expected,
            "z_shared": common.z,
            "shared": common.pairs,
            "shared_expected": common.expected,
        }
