"""Holds wrong results against the reference, which is wrong as well where the course has a mistake."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from grader.errors import CourseError, ReferenceFailedError
from grader.model.observation import Outcome

if TYPE_CHECKING:
    from grader.contracts.call import Call, InputCase
    from grader.contracts.context import CheckContext

DISPUTED = 16
"""So many cases in which a result is wrong are held against the reference."""


def require_right_reference(
    context: CheckContext,
    of: str,
    cases: Sequence[InputCase],
    difference: Callable[[InputCase, Call], str],
) -> None:
    """Have the reference make the calls that gave a wrong result.

    Raises:
        ReferenceFailedError: it fails.
        CourseError: it is wrong as well, so that it, the oracle or the tolerance is.
    """
    if not cases:
        return
    for case, call in zip(cases, context.by_reference(of, cases[:DISPUTED]), strict=False):
        if call.outcome is not Outcome.OBSERVED:
            raise ReferenceFailedError(f"reference: {call.note}")
        if note := difference(case, call):
            why = f"reference: {case.name}: {note}; the reference is wrong as well as the submission"
            raise CourseError(f"{why}; correct it, expected.py or the tolerance")
