"""What is handed in: one function whose loop can be spread over cores."""

from __future__ import annotations

from grader.api import Assignment, hookimpl


@hookimpl
def grader_assignments():
    """The only one."""
    return [
        Assignment(
            name="cores",
            title="One loop on one core and on many",
            accepts=("sums.py",),
            preloads={"sums": ("numpy", "numba")},
        )
    ]
