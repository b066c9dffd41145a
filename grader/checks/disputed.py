"""Holds wrong results against the reference, which is wrong as well where the course has a mistake."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from grader.errors import CourseError, ReferenceFailedError
from grader.model.observation import Outcome

UNJUDGED = "what it returned, or asked of a function of its case, cannot be judged; that of the reference can"

if TYPE_CHECKING:
    from grader.contracts.call import Call, InputCase
    from grader.contracts.context import CheckContext


def require_right_reference(
    context: CheckContext,
    module: str,
    wrong: Sequence[tuple[InputCase, Call]],
    difference: Callable[[InputCase, Call], str],
    unjudged: Sequence[tuple[Call, CourseError]] = (),
) -> None:
    """Have the reference make the calls that gave a wrong result.

    `unjudged` are those of them at which an oracle failed, with its error. That is the submission's doing
    only where the oracle judges the reference, which then is right.

    Raises:
        ReferenceFailedError: it fails.
        CourseError: it is wrong as well, so that it, the oracle or the tolerance is.
    """
    judged = set()
    try:
        for call in _right(context, module, wrong, difference):
            judged.add(id(call))
    except CourseError:
        if unjudged:
            raise unjudged[0][1] from None
        raise
    for call, error in unjudged:
        if id(call) not in judged:
            raise error


def _right(
    context: CheckContext,
    module: str,
    wrong: Sequence[tuple[InputCase, Call]],
    difference: Callable[[InputCase, Call], str],
) -> Iterator[Call]:
    """Yield the calls that the reference has made, and for which it was right."""
    cases = {id(call): case for case, call in wrong}
    with closing(context.by_reference(module, [call for _, call in wrong])) as answers:
        for call, answer in answers:
            if answer.outcome is not Outcome.OBSERVED:
                raise ReferenceFailedError(f"reference: {answer.note}")
            case = cases[id(call)]
            if note := difference(case, answer):
                why = f"reference: {case.name}: {note}; the reference is wrong as well as the submission"
                raise CourseError(f"{why}; {_advice(context, module, answer)}")
            yield call


def _advice(context: CheckContext, module: str, answer: Call) -> str:
    """Return what to look at: a module that was not handed in is the course's, and stands in `given/`."""
    file = f"{module.replace('.', '/')}.py"
    if file in context.files:
        return "correct it, expected.py or the tolerance"
    if answer.value is None:
        return f"is a return missing in given/{file}, or in the reference?"
    return f"correct given/{file}, the reference, expected.py or the tolerance"
