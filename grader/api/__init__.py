"""Names for course authors and plugins; everything outside `grader.api` may change without notice.

Here are those for `assignment.py`, `inputs.py` and `expected.py`. `grader.api.check`, `report`, `engine`,
`sandbox`, `platform` and `exporter` have those for a class of that kind, and `values` compares values.
"""

from __future__ import annotations

from typing import Any

from grader.contracts.call import InputCase
from grader.contracts.check import DeferredKind
from grader.errors import CourseError
from grader.markers import after_call, hookimpl
from grader.model.assignment import Assignment, Build, Limits
from grader.model.unused import UNUSED

__all__ = [
    "UNUSED",
    "Assignment",
    "Build",
    "CourseError",
    "DeferredKind",
    "InputCase",
    "Limits",
    "after_call",
    "case",
    "hookimpl",
]


def case(name: str, /, *args: Any, **kwargs: Any) -> InputCase:
    """Return one set of arguments of an input family, with the name that students read in their report.

    Raises:
        TypeError: the name is no text.
    """
    if not isinstance(name, str):
        raise TypeError(_nameless(name))
    return InputCase(name=name, args=args, kwargs=kwargs)


def _nameless(value: object) -> str:
    plain = value is None or isinstance(value, int | float)
    got = repr(value) if plain else type(value).__name__  # an array would be ten lines
    return f'case: the first argument is its name, as in case("one row", …), got {got}'
