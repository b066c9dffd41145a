"""Distributions that an oracle expects of random results, and tests of arrays against them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar, Literal

import numpy as np

from grader.errors import CourseError
from grader.harness.render import describe
from grader.harness.structure import Mismatch, Path, array_of, leaves, named, refuse_coarse
from grader.harness.tolerance import ACCEPTED, Precision

Holds = Literal["floats", "integers", "booleans"]

_FEW = 16
"""Fewer values may be those of half precision by chance."""

_KINDS: dict[Holds, str] = {"floats": "f", "integers": "iu", "booleans": "b"}


@dataclass(frozen=True, slots=True)
class Array:
    """An array of which only shape and kind are known; its values may be anything finite."""

    shape: tuple[int, ...]
    holds: Holds = "floats"


@dataclass(frozen=True, slots=True)
class Uniform:
    """An array of independent floats, each as likely as any other from `low` to `high`."""

    low: float
    high: float
    shape: tuple[int, ...]
    holds: ClassVar[Holds] = "floats"

    def __post_init__(self) -> None:
        if not -math.inf < self.low < self.high < math.inf:
            raise CourseError(f"Uniform: low must be below high and both finite, got {self.low}, {self.high}")

    @property
    def mean(self) -> float:
        """The middle."""
        return (self.low + self.high) / 2

    @property
    def variance(self) -> float:
        """About the mean."""
        return (self.high - self.low) ** 2 / 12

    @property
    def fourth_moment(self) -> float:
        """About the mean."""
        return (self.high - self.low) ** 4 / 80

    def cdf(self, values: np.ndarray) -> np.ndarray:
        """The share of the distribution that lies below each value."""
        return np.clip((values - self.low) / (self.high - self.low), 0.0, 1.0)


Distribution = Array | Uniform


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """How far the mean, the spread and the shape of one sample are from its distribution.

    Each statistic is 0 for a perfect fit and of order 1 for an honest draw, whatever the sample's size.
    """

    mean: float
    mean_expected: float
    std: float
    """Around the mean that was expected, so an offset counts."""
    std_expected: float
    z_mean: float
    """Standard errors that the mean is away."""
    z_variance: float
    """The same for the variance; its standard error comes from the distribution's fourth moment."""
    ks: float
    """Kolmogorov and Smirnov: sqrt(n) times the largest distance between the two distribution functions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One returned array, measured."""

    where: str
    """Its place: `item 2`, or `the result`."""
    size: int
    nonfinite: int
    outside: int
    """Values below `low` or above `high`, by more than rounding."""
    bounds: tuple[float, float] | None
    """`low` and `high`; None for an `Array`."""
    distinct: int
    fit: Fit | None
    """None for an empty array, one with values that are not finite, or an `Array`."""


def pair(
    actual: Any, expected: Any, precision: Precision = "any"
) -> tuple[tuple[Path, np.ndarray, Distribution], ...]:
    """Hold a result against a nested list of distributions, by structure, shape and kind of number.

    With a `precision` floats must be no coarser, neither their type nor all of their values.

    Raises:
        Mismatch: it differs; the text is the sentence a student reads.
        CourseError: `expected` holds something that is no distribution.
    """
    pairs: list[tuple[Path, np.ndarray, Distribution]] = []
    for path, got, distribution in leaves(actual, expected):
        _require_distribution(distribution)
        array = array_of(got, tuple(distribution.shape), path)
        if array.size and array.dtype.kind not in _KINDS[distribution.holds]:
            raise Mismatch(f"{named(path)} has dtype {array.dtype.name}; expected {distribution.holds}")
        if distribution.holds == "floats":
            refuse_coarse(got, precision, path)
            if precision != "any" and _halves(array):
                raise Mismatch(
                    f"{named(path)} holds values of half precision, which is too coarse; "
                    f"give {ACCEPTED[precision]}"
                )
        pairs.append((path, array, distribution))
    return tuple(pairs)


def require_distributions(expected: Any) -> None:
    """Raise CourseError if a nested list of distributions holds something that is none."""
    for _, _, distribution in leaves(expected, expected):
        _require_distribution(distribution)


def _require_distribution(value: Any) -> None:
    if not isinstance(value, Array | Uniform):
        raise CourseError(
            f"expected.py: an oracle gave {describe(value)}; give a distribution, as Uniform(0, 1, (3, 4)), "
            "or Array of a shape"
        )


def _halves(array: np.ndarray) -> bool:
    """Whether floats were drawn, or rounded, in half precision: of others few are among its values.

    Few different values, as of an array of zeros, do not tell; a draw of so few is `stuck`.
    """
    if array.size < _FEW:
        return False
    with np.errstate(all="ignore"):
        if (array.astype(np.float16).astype(array.dtype) == array).mean() <= 0.5:
            return False
    return np.unique(array).size >= min(_FEW, array.size / 2)


def measure(path: Path, array: np.ndarray, expected: Distribution) -> Sample:
    """Measure one array that has the expected shape; never fails for an array that `pair` let through."""
    values = np.sort(array.astype(np.float64), axis=None)
    finite = np.isfinite(values)
    nonfinite = int(values.size - finite.sum())
    distinct = int((values[1:] != values[:-1]).sum()) + bool(values.size)
    outside, bounds, fit = 0, None, None
    if isinstance(expected, Uniform):
        bounds = expected.low, expected.high
        outside = _outside(values[finite], expected, array.dtype)
        if values.size and not nonfinite:
            fit = _fit(values, expected)
    return Sample(
        where=named(path),
        size=values.size,
        nonfinite=nonfinite,
        outside=outside,
        bounds=bounds,
        distinct=distinct,
        fit=fit,
    )


def _outside(values: np.ndarray, expected: Uniform, dtype: np.dtype[Any]) -> int:
    # The bounds may have been computed in another order of operations, and in the array's own precision.
    slack = 4 * float(np.finfo(dtype).eps) * max(abs(expected.low), abs(expected.high))
    return int(((values < expected.low - slack) | (values > expected.high + slack)).sum())


def _fit(values: np.ndarray, expected: Uniform) -> Fit:
    n = values.size
    with np.errstate(all="ignore"):
        mean = float(values.mean())
        variance = float(((values - expected.mean) ** 2).mean())
        of_variance = math.sqrt((expected.fourth_moment - expected.variance**2) / n)
        return Fit(
            mean=mean,
            mean_expected=expected.mean,
            std=math.sqrt(variance),
            std_expected=math.sqrt(expected.variance),
            z_mean=(mean - expected.mean) / math.sqrt(expected.variance / n),
            z_variance=(variance - expected.variance) / of_variance,
            ks=_kolmogorov_smirnov(values, expected),
        )


def _kolmogorov_smirnov(values: np.ndarray, expected: Uniform) -> float:
    """The statistic of sorted values."""
    below = expected.cdf(values)
    steps = np.arange(values.size + 1) / values.size
    distance = max((steps[1:] - below).max(), (below - steps[:-1]).max())
    return float(math.sqrt(values.size) * distance)


def stuck(sample: Sample) -> bool:
    """Whether values repeat as independent draws do not: half of them, or of the first 1024, are copies.

    Draws rounded to half precision still pass: it has thousands of values between any usual bounds.
    """
    return sample.size > 1 and 2 * sample.distinct <= min(sample.size, 1024)


def copies(arrays: Sequence[np.ndarray]) -> tuple[int, int] | None:
    """The first two arrays of more than one element that are equal, by index; None if all differ."""
    for (first, left), (second, right) in combinations(enumerate(arrays), 2):
        if left.size > 1 and np.array_equal(left, right):
            return first, second
    return None
