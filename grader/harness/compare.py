"""Whether a returned value is the expected one, and the first difference in a student's words."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from grader.contracts.call import OpaqueValue
from grader.errors import CourseError
from grader.harness.render import describe, value_text
from grader.harness.structure import Mismatch, Path, array_of, leaves, named, place, refuse_coarse
from grader.harness.tolerance import Precision, Tolerance, Tolerances
from grader.model.observation import Symptom
from grader.model.unused import UNUSED

DTypeRule = Literal["any", "exact"]

EXACT = "exact"
_COARSEST_FIRST = ("float16", "float32", "float64", EXACT)
_ARRAYS_OF_DEVICES = ("DeviceNDArray", "MappedNDArray", "ManagedNDArray")
"""Ends of the names of numba's types."""
UNWRITTEN = 0.9
"""From this share of wrong values on, the first of them a zero, nothing seems to have been written."""
STRETCH = 1 << 16
"""So many elements are compared at a time: what is computed of them stays within a core's cache."""
_INTEGERS = frozenset("iuO")
"""`O` as `array_of` makes it: integers that fit no dtype."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The outcome of comparing one value with another."""

    agrees: bool
    note: str = ""
    """One sentence on the first difference; empty if there is none."""
    symptom: Symptom | None = None
    """The form of that difference."""
    at: Path = ()
    """The steps from the result to the first element that differs, for `value_text`."""
    wrong: int
    total: int
    """Numbers, texts and Nones that were expected; all count as wrong if the structure is wrong."""
    max_abs_error: float | None = None
    """None if no numbers were compared; infinite if a NaN or an infinity is out of place.

    Where something differs, the largest of what `tolerance` was applied to."""
    max_rel_error: float | None = None
    """The same as a share of the expected value; None if all expected values are 0."""
    tolerance: str = EXACT
    """The floating dtype whose tolerance was applied, or `exact`: where something differs that of the first
    difference, else the coarsest."""


def compare(
    actual: Any,
    expected: Any,
    tolerances: Tolerances | None = None,
    *,
    dtype: DTypeRule = "any",
    precision: Precision = "any",
) -> Comparison:
    """Hold what a program returned against what an oracle says.

    An expected list or tuple accepts either, of the same length. An expected array or number accepts an
    array of the same shape, a number where the shape is (), and lists nested to that shape. Numbers are
    compared by value, integers exactly; `dtype="exact"` asks for the dtype as well, and `precision` for
    floats that are no coarser, where floats are expected. True and False are no numbers. An expected NaN
    accepts NaN alone, an infinity itself alone. `UNUSED` accepts anything.

    Of a result that is nested in another way the first element that differs before that place is told first:
    it may be the cause, as the exit status of a program that has printed nothing.

    Never fails, whatever `actual` is.

    Raises:
        CourseError: `expected` holds something that cannot be compared.
    """
    total = _count(expected)
    pairs: list[tuple[Path, Any, Any]] = []
    tolerances = tolerances or Tolerances()
    try:
        for path, got, target in leaves(actual, expected):
            pairs.append(_pair(path, got, target, dtype, precision))  # kept up to a mismatch
    except Mismatch as mismatch:
        before = _first_wrong(_compare_leaf(*pair, tolerances) for pair in pairs)
        return _of_other_structure(str(mismatch), before, actual, total)
    comparisons = [_compare_leaf(*pair, tolerances) for pair in pairs]
    wrong = sum(comparison.wrong for comparison in comparisons)
    first = _first_wrong(comparisons)
    note, symptom = (first.note, first.symptom) if first else ("", None)
    measured = [one for one in comparisons if first is None or one.tolerance == first.tolerance]
    if symptom is Symptom.UNWRITTEN and wrong < UNWRITTEN * total:
        symptom = Symptom.WRONG_VALUE
    return Comparison(
        agrees=wrong == 0,
        note=f"{note} ({wrong} of {total} values differ)" if wrong and total > 1 else note,
        symptom=symptom,
        at=first.at if first else (),
        wrong=wrong,
        total=total,
        max_abs_error=_largest([one.max_abs_error for one in measured]),
        max_rel_error=_largest([one.max_rel_error for one in measured]),
        tolerance=min((one.tolerance for one in measured), key=_COARSEST_FIRST.index, default=EXACT),
    )


def _first_wrong(comparisons: Iterable[Comparison]) -> Comparison | None:
    return next((comparison for comparison in comparisons if not comparison.agrees), None)


def _of_other_structure(mismatch: str, before: Comparison | None, actual: Any, total: int) -> Comparison:
    """Return the comparison with another structure, and with the element that differs `before` it."""
    if before is not None:
        note, symptom = f"{before.note}; {mismatch}", before.symptom
        symptom = Symptom.WRONG_VALUE if symptom is Symptom.UNWRITTEN else symptom
        return Comparison(agrees=False, note=note, symptom=symptom, at=before.at, wrong=total, total=total)
    on_device = isinstance(actual, OpaqueValue) and actual.type_name.endswith(_ARRAYS_OF_DEVICES)
    symptom = Symptom.ON_DEVICE if on_device else None
    return Comparison(agrees=False, note=mismatch, symptom=symptom, wrong=total, total=total)


def _count(expected: Any) -> int:
    if expected is UNUSED:
        return 0
    if isinstance(expected, dict):
        return sum(map(_count, expected.values()))
    if isinstance(expected, list | tuple):
        return sum(map(_count, expected))
    return expected.size if isinstance(expected, np.ndarray) else 1


def _largest(values: list[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)


def _pair(
    path: Path, actual: Any, expected: Any, dtype: DTypeRule, precision: Precision
) -> tuple[Path, Any, Any]:
    if expected is None or isinstance(expected, str):
        return path, actual, expected
    target = _expected_array(expected)
    got = array_of(actual, target.shape, path)
    if target.size and (got.dtype.kind == "b") != (target.dtype.kind == "b"):
        holds = ("True or False", "a number") if target.ndim == 0 else ("True and False", "numbers")
        first, second = holds if got.dtype.kind == "b" else holds[::-1]
        raise Mismatch(f"{named(path)} holds {first}; expected {second}")
    if target.dtype.kind in "fc":
        refuse_coarse(actual, precision, path)
    typeless = target.size == 0 and not isinstance(actual, np.ndarray)
    if dtype == "exact" and got.dtype != target.dtype and not typeless:
        raise Mismatch(f"{named(path)} has dtype {got.dtype.name} instead of {target.dtype.name}")
    return path, got, target


def _expected_array(expected: Any) -> np.ndarray:
    try:
        return array_of(expected, expected.shape if isinstance(expected, np.ndarray) else ())
    except Mismatch:
        raise CourseError(
            f"expected.py: an oracle gave {describe(expected)}, which cannot be compared; "
            "give numbers, arrays of numbers, texts, None, or lists, tuples and dicts of them"
        ) from None


def _compare_leaf(path: Path, actual: Any, expected: Any, tolerances: Tolerances) -> Comparison:
    if not isinstance(expected, np.ndarray):
        same = type(actual) is type(expected) and actual == expected
        note = "" if same else _note(path, (), actual, expected)
        symptom = None if same else Symptom.WRONG_VALUE
        at = () if same else path
        return Comparison(agrees=same, note=note, symptom=symptom, at=at, wrong=int(not same), total=1)
    good = Comparison(agrees=True, wrong=0, total=expected.size)
    if expected.size == 0:
        return good
    if actual.dtype.kind in _INTEGERS | {"b"} and expected.dtype.kind in _INTEGERS | {"b"}:
        applied, tolerance = EXACT, Tolerance(rtol=0.0, atol=0.0)
    else:
        applied = _coarser(actual.dtype, expected.dtype)
        tolerance = getattr(tolerances, applied)
    if np.array_equal(actual, expected):
        return replace(
            good, max_abs_error=0.0, max_rel_error=0.0 if expected.any() else None, tolerance=applied
        )
    flat = actual.reshape(-1), expected.reshape(-1)
    differences = _differences(*flat, None if applied == EXACT else tolerance)
    comparison = replace(
        good,
        max_abs_error=differences.max_abs_error,
        max_rel_error=differences.max_rel_error,
        tolerance=applied,
        wrong=differences.wrong,
    )
    if not differences.wrong:
        return comparison
    index = tuple(int(axis) for axis in np.unravel_index(differences.first, expected.shape))
    note = _note(path, index, actual[index], expected[index])
    if applied != EXACT and differences.first_is_close:
        note += f"; a {applied} may differ by {tolerance.in_words()}"
    symptom = _symptom(actual[index])
    return replace(comparison, agrees=False, note=note, symptom=symptom, at=(*path, *index))


def _symptom(value: Any) -> Symptom:
    """Return the form of a wrong number; a zero may mean that nothing was written."""
    if value == 0:
        return Symptom.UNWRITTEN
    return Symptom.NAN if value != value else Symptom.WRONG_VALUE  # noqa: PLR0124 - true of NaN alone


def _coarser(*dtypes: np.dtype[Any]) -> str:
    sizes = [dtype.itemsize // (2 if dtype.kind == "c" else 1) for dtype in dtypes if dtype.kind in "fc"]
    return {2: "float16", 4: "float32"}.get(min(sizes, default=8), "float64")


@dataclass(slots=True)
class _Differences:
    """Where, and by how much, two flat arrays differ."""

    wrong: int = 0
    first: int = 0
    """The index of the first wrong one."""
    first_is_close: bool = False
    """Whether it is within 1 % of what was expected."""
    max_abs_error: float = 0.0
    max_rel_error: float | None = None


def _differences(actual: np.ndarray, expected: np.ndarray, tolerance: Tolerance | None) -> _Differences:
    """Hold flat arrays against each other, `STRETCH` elements at a time; exactly without a tolerance."""
    differences = _Differences()
    for start in range(0, expected.size, STRETCH):
        got, target = actual[start : start + STRETCH], expected[start : start + STRETCH]
        with np.errstate(all="ignore"):
            error, magnitude, equal = _errors(got, target)
            if tolerance is None:
                bad = np.asarray(got != target, dtype=bool)
            else:
                # Finite values only: an infinite expected value would make its own tolerance infinite.
                near = np.isfinite(error) & (error <= tolerance.atol + tolerance.rtol * magnitude)
                bad = ~(equal | near)
            nonzero = magnitude > 0
            relative = np.divide(error, magnitude, out=np.zeros_like(error), where=nonzero)
        wrong = int(np.count_nonzero(bad))
        if wrong and not differences.wrong:
            index = int(bad.argmax())
            differences.first = start + index
            differences.first_is_close = bool(error[index] <= 0.01 * magnitude[index])
        differences.wrong += wrong
        differences.max_abs_error = max(differences.max_abs_error, float(error.max()))
        if nonzero.any():
            differences.max_rel_error = max(differences.max_rel_error or 0.0, float(relative.max()))
    return differences


def _errors(actual: np.ndarray, expected: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return of each element the error, the size of what was expected, and whether both are the same."""
    wide = np.complex128 if "c" in (actual.dtype.kind, expected.dtype.kind) else np.float64
    got, target = _widened(actual, wide), _widened(expected, wide)
    error, magnitude = np.abs(got - target), np.abs(target)
    if np.isfinite(error).all():  # and so is all that was held against each other
        return error, magnitude, error == 0
    equal = _same(got.real, target.real) & _same(got.imag, target.imag)
    error = np.where(equal, 0.0, error)
    return np.where(np.isnan(error), np.inf, error), np.where(np.isfinite(target), magnitude, 0.0), equal


def _widened(array: np.ndarray, dtype: Any) -> np.ndarray:
    if array.dtype.kind != "O":
        return array.astype(dtype)
    return np.array([_as_float(value) for value in array.ravel()], dtype=dtype).reshape(array.shape)


def _as_float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        # Not infinity: that would agree with an expected one.
        return sys.float_info.max if value > 0 else -sys.float_info.max


def _same(got: np.ndarray, target: np.ndarray) -> np.ndarray:
    same: np.ndarray = (got == target) | (np.isnan(got) & np.isnan(target))
    return same


def _note(path: Path, index: tuple[int, ...], got: Any, expected: Any) -> str:
    where = " ".join(filter(None, (place(path), f"at {list(index)}" if index else "")))
    got_text, expected_text = _distinct(got, expected)
    return f"{where}: got {got_text}, expected {expected_text}".removeprefix(": ")


def _distinct(got: Any, expected: Any) -> tuple[str, str]:
    """Both as text with as few digits as show that they differ."""
    if all(isinstance(value, float | complex | np.inexact) for value in (got, expected)):
        for digits in (6, 9, 12, 17):
            texts = _number_text(got, digits), _number_text(expected, digits)
            if texts[0] != texts[1]:
                return texts
    return value_text(got, limit=80), value_text(expected, limit=80)


def _number_text(value: Any, digits: int) -> str:
    return f"{complex(value) if np.iscomplexobj(value) else float(value):.{digits}g}"
