"""Tests of whether values were drawn independently of each other, within an array and between arrays.

Each takes positions in the distribution, u = F(x), which are uniform between 0 and 1 for an honest draw. The
statistics are of order 1 for one, whatever its size, and the tails of their distributions are stated where
they are computed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from grader.bench.distributions import Uniform

LEAST = 64
"""Arrays of fewer values prove nothing about the order of their values."""

_FEW = 16
"""Fewer values may be spaced evenly by chance."""

_WINDOW = 2**13
"""How many values of each call are transformed: from a place that no program knows."""

_DOUBLE_BITS, _SINGLE_BITS = 40, 20
"""To which positions are compared: what is left of a value that was rescaled to other bounds."""

_CHANCE = 20
"""So many values more than expected may be shared: counts are whole, and the normal distribution is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependence:
    """The largest sum over pairs of values that lie equally far apart."""

    statistic: float
    apart: int
    """How far apart they lie, in the order in which the values were given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """How many pairs of values are equal, each of them in another array, but perhaps for the sign."""

    pairs: int
    expected: float
    """By how many there are within single arrays, where values are drawn coarsely."""
    z: float


def dependence(positions: np.ndarray) -> Dependence:
    """Return how much values depend on those a fixed number of places behind, for the worst such number.

    With z = exp(2 pi i u) the sums over z[j] conj(z[j + l]) and z[j] z[j + l] are those of independent
    phases, for the pairs j, j + l form paths; so |S|^2 / pairs exceeds t for one l with a probability of at
    most 32 exp(-0.99 t) (Chernoff's bound with I0(x) <= exp(x^2 / 4) in 32 directions). One sum finds
    u[j + l] = u[j] + c, as rows that are shifted, repeated or counted up, the other u[j + l] = c - u[j], as
    signs that are turned. For all l together they are computed by Fourier transforms (Wiener and Khinchin).
    """
    n = positions.size
    if n < LEAST:
        return Dependence(statistic=0.0, apart=0)
    length = 1 << (2 * n - 1).bit_length()
    spectrum = np.fft.fft(np.exp(2j * np.pi * positions), length)
    # of a real sequence the transform backwards is the conjugate of the one forwards
    alike = _squared(np.fft.rfft(_squared(spectrum))[:n] / length)
    opposite = _squared(np.fft.ifft(spectrum * np.roll(spectrum[::-1], 1))[:n])
    alike[0] = 0.0  # every value with itself
    statistics = np.maximum(alike, opposite) / np.arange(n, 0, -1)
    apart = int(statistics.argmax())
    return Dependence(statistic=float(statistics[apart]), apart=apart)


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


def shared(arrays: Sequence[np.ndarray], *, single: bool = False) -> Shared:
    """Return whether arrays share values, whatever their order, sign and bounds, more often than by chance.

    Positions are compared by their distance from the middle, to fewer bits where some are of `single`
    precision. Draws from few values, as in half precision or rounded, are equal as often within an array as
    between two: that tells how many are expected.
    """
    folded = [np.abs(2.0 * array.ravel() - 1.0) for array in arrays if array.size]
    if len(folded) < 2:
        return Shared(pairs=0, expected=0.0, z=0.0)
    cells = 2.0 ** (_SINGLE_BITS if single else _DOUBLE_BITS)
    numbers = [np.floor(values * cells) for values in folded]
    within = sum(map(_equal_pairs, numbers))
    between = _equal_pairs(np.concatenate(numbers)) - within
    possible_within = sum(values.size * (values.size - 1) // 2 for values in folded)
    total = sum(values.size for values in folded)
    possible = total * (total - 1) // 2 - possible_within
    share = possible / max(1, possible_within)
    expected = max(share * within, possible / cells)
    spread = math.sqrt(1 + expected + share**2 * within)
    return Shared(pairs=between, expected=expected, z=max(0.0, between - expected - _CHANCE) / spread)


def _equal_pairs(values: np.ndarray) -> int:
    ordered = np.sort(values)
    edges = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1], [True])))
    counts = np.diff(edges)
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


class Draws:
    """What one process of a program drew, case by case, and how far all of it is independent."""

    def __init__(self, rng: np.random.Generator) -> None:
        """Look closely at parts that `rng` chooses."""
        self._rng = rng
        self._arrays: list[np.ndarray] = []
        self._single = False

    def forget(self) -> None:
        """Start anew: a fresh process draws again what its file's seed gives."""
        self._arrays.clear()

    def add(self, calls: Sequence[Sequence[tuple[np.ndarray, Uniform]]]) -> dict[str, float | int]:
        """Return the statistics of one case, called several times, and those of all cases so far."""
        drawn = [
            [distribution.cdf(array.astype(np.float64)) for array, distribution in call if array.size]
            for call in calls
        ]
        arrays = [array for call in drawn for array in call]
        if not arrays:
            return {}
        self._single |= any(array.dtype.itemsize < 8 for call in calls for array, _ in call)
        self._arrays += arrays
        flat = [np.concatenate([array.ravel() for array in call]) for call in drawn]
        apart = dependence(windows(flat, self._rng))
        common = shared(self._arrays, single=self._single)
        least = min(map(evenness, (*arrays, np.concatenate(flat))))
        return {
            **({"ks_least": least} if least < math.inf else {}),
            "z_turning": max(map(turning, arrays), key=abs),
            "dependence": apart.statistic,
            "dependence_apart": apart.apart,
            "z_shared": common.z,
            "shared": common.pairs,
            "shared_expected": common.expected,
        }
