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
    """One set of arguments of an input family, with the name that students read in their report."""
    from grader.contracts.call import InputCase

    return InputCase(name=name, args=args, kwargs=kwargs)
