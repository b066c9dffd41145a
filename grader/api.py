"""Names for course authors: everything else may change without notice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grader.errors import CourseError
from grader.markers import hookimpl
from grader.model.assignment import Assignment, Build, Limits
from grader.model.unused import UNUSED

if TYPE_CHECKING:
    from grader.contracts.call import InputCase

__all__ = ["UNUSED", "Assignment", "Build", "CourseError", "Limits", "case", "hookimpl"]


def case(name: str, /, *args: Any, **kwargs: Any) -> InputCase:
    """Name one set of arguments of an input family; students read the name in their report.

    Raises:
        TypeError: the name is no text.
    """
    if not isinstance(name, str):
        raise TypeError(f'case: the first argument is its name, as in case("one row", …), got {name!r}')
    from grader.contracts.call import InputCase

    return InputCase(name=name, args=args, kwargs=kwargs)
