"""Holds what is wrong, or was changed, against the reference: that does the same where the course errs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
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


def changed_by_task(
    context: CheckContext, of: str, changed: Mapping[str, Call], *, fails: bool
) -> Mapping[str, tuple[str, ...]]:
    """Return, by case, which changed arguments the reference changes as well.

    They are changed by the task, or by the course's own code, as by a tensor that shares an array's memory.

    Args:
        context: the item's.
        of: the function, as module.function.
        changed: the calls that changed arguments in place, by case.
        fails: whether such a case is lost.

    Raises:
        CourseError: there are any, and such a case is lost.
        ReferenceFailedError: the reference fails, and such a case is lost.
    """
    found: dict[str, tuple[str, ...]] = {}
    names = {id(call): name for name, call in changed.items()}
    try:
        for call, answer in _by_reference(context, of.rpartition(".")[0], list(changed.values())):
            alike = tuple(name for name in call.changed_inputs if name in answer.changed_inputs)
            if alike and fails:
                raise CourseError(
                    f"reference: {names[id(call)]}: changes {' and '.join(alike)} in place as well as the "
                    f"submission; {_copies(context, of)}, or take changed_inputs out of the rubric"
                )
            found[names[id(call)]] = alike
    except ReferenceFailedError:
        if fails:
            raise
    return found


def _copies(context: CheckContext, of: str) -> str:
    """Return what to correct where arguments are changed: the course's function hands on what it got."""
    module, _, function = of.rpartition(".")
    file = f"{module.replace('.', '/')}.py"
    if file in context.files:
        return "correct it"
    return f"let {function} of given/{file} hand on copies (array.copy(), tensor.clone())"


def _by_reference(context: CheckContext, module: str, calls: Sequence[Call]) -> Iterator[tuple[Call, Call]]:
    """Yield calls with those that the reference makes in their place.

    Raises:
        ReferenceFailedError: it fails.
    """
    if not calls:
        return
    with closing(context.by_reference(module, calls)) as answers:
        for call, answer in answers:
            if answer.outcome is not Outcome.OBSERVED:
                raise ReferenceFailedError(f"reference: {answer.note}")
            yield call, answer


def _right(
    context: CheckContext,
    module: str,
    wrong: Sequence[tuple[InputCase, Call]],
    difference: Callable[[InputCase, Call], str],
) -> Iterator[Call]:
    """Yield the calls that the reference has made, and for which it was right."""
    cases = {id(call): case for case, call in wrong}
    for call, answer in _by_reference(context, module, [call for _, call in wrong]):
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
    return f"correct given/{file} or what it runs, the reference, expected.py or the tolerance"
