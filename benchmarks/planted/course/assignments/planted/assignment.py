"""What is handed in: the functions of a homework, and how long they are to take."""

from __future__ import annotations

from grader.api import Assignment, hookimpl


@hookimpl
def grader_assignments():
    """The only one."""
    return [
        Assignment(
            name="planted",
            title="A ratio that is known",
            accepts=("max_functions.py", "quick.py", "known.py"),
            preloads={"max_functions": ("numpy", "numba", "numba.cuda")},
        )
    ]


@hookimpl
def grader_checks():
    """The kind that compares clocks."""
    from .checks import Clocks

    return [Clocks]
