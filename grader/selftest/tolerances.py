"""Remarks on the tolerances of an item: those that ask for the same bits, and those that nothing meets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

from grader.config.problem import KeyPath, Problem, Remark
from grader.errors import CourseError, NotObservedError, PackageError
from grader.grading.declaration import files_below
from grader.harness.course_functions import CourseFunctions
from grader.harness.structure import leaves
from grader.harness.tolerance import STEPS, Tolerance, Tolerances
from grader.model.options import values_of

_NARROWED_BY_PYTHON = re.compile(r"float(?:16|32)|\.float\(|\.half\(|Tensor\(|c_float|\b(?:single|half)\b")
_NARROWED = re.compile(r"\b(?:float[234]?|\w*half2?|bfloat16)\b|float(?:16|32)")
"""Words for types that are coarser than float64; in Python `float` is float64."""


def tolerances_for_bits(value: Any, path: KeyPath) -> Iterator[Problem]:
    """Yield the tolerances in an option's value, however deep, that are less than a step of their dtype."""
    if isinstance(value, Tolerances):
        for dtype, message in value.objections():
            yield Problem(path=(*path, dtype), message=message)
    elif isinstance(value, Tolerance):  # of a kind of the course's own, for any dtype
        if message := value.objection("float64"):
            yield Problem(path=path, message=message)
    elif is_dataclass(value) and not isinstance(value, type):
        for name, each in values_of(value).items():
            yield from tolerances_for_bits(each, (*path, name))
    elif isinstance(value, Mapping):
        for name, each in value.items():
            yield from tolerances_for_bits(each, (*path, name))
    elif isinstance(value, tuple):
        for number, each in enumerate(value):
            yield from tolerances_for_bits(each, (*path, number))


def overridden(options: Any) -> tuple[str, tuple[str, ...]]:
    """Return the option of an item that holds tolerances, and the dtypes that it sets; empty for none."""
    for name, value in values_of(options).items():
        if isinstance(value, Tolerances):
            default = Tolerances()
            return name, tuple(each for each in STEPS if getattr(value, each) != getattr(default, each))
    return "", ()


def try_tolerances(
    functions: CourseFunctions,
    families: Sequence[str],
    oracle: str,
    dtypes: Sequence[str],
    draw: tuple[str, Path],
    remark: Callable[[str, str], Iterable[str]],
) -> Iterator[str]:
    """Yield a remark if an item sets tolerances for `dtypes` alone, and no expected value has one of them.

    A finer one than that of all expected values is never applied. A coarser one is where a program computes
    in it: nothing is said if inputs have it, if none is an array of floats, or if a program of the course
    names one. A family or an oracle that fails is told by its own trial. `draw` is a seed with the folder
    of the assignment.
    """
    seed, folder = draw
    expected, received = set[str](), set[str]()
    try:
        for case in (case for family in families for case in functions.draw(family, seed, 0)):
            received |= {array.dtype.name for array in _arrays([*case.args, *case.kwargs.values()])}
            expected |= _dtypes(functions.expected(oracle)(*case.args, **case.kwargs))
            if expected & {*dtypes}:
                return
    except (CourseError, NotObservedError, PackageError):
        return
    if not expected or not expected <= STEPS.keys():  # of integers results may be floats
        return
    finest = min(STEPS[dtype] for dtype in expected)
    coarser = [dtype for dtype in dtypes if STEPS[dtype] > finest]
    if coarser and ({*coarser} & received or not received & STEPS.keys() or _narrows(folder)):
        return
    values = " and ".join(sorted(expected))
    unless = f", unless results are {' or '.join(coarser)}" if coarser else ""
    message = f"is not for the expected values, which are {values} in all cases; give {values}{unless}"
    yield from map(Remark, remark(dtypes[0], message))


def _arrays(value: Any) -> Iterator[Any]:
    """Yield the arrays in a value, however deep in lists, tuples and dictionaries."""
    if isinstance(value, list | tuple):
        yield from (array for each in value for array in _arrays(each))
    elif isinstance(value, Mapping):
        yield from _arrays([*value.values()])
    elif hasattr(value, "dtype"):
        yield value


def _dtypes(value: Any) -> set[str]:
    """Return the dtypes as which the numbers of an expected value are compared."""
    import numpy as np

    numbers = [np.asarray(each) for _, _, each in leaves(value, value) if not isinstance(each, str | None)]
    return {number.real.dtype.name for number in numbers if number.size and number.dtype.kind != "b"}


def _narrows(folder: Path) -> bool:
    """Tell whether a program of the course or of the reference names floats that are coarser than float64."""
    for part in ("given", "reference"):
        for file in files_below(folder / part):
            form = _NARROWED_BY_PYTHON if file.endswith(".py") else _NARROWED
            if form.search((folder / part / file).read_text(errors="replace")):
                return True
    return False
