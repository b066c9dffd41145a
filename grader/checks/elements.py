"""Whether a function's loops compute its result: its source is followed over arrays of single elements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from grader.checks.calls import cases_of
from grader.checks.tools import refusal
from grader.errors import CourseError
from grader.harness.tolerance import Tolerances
from grader.model.observation import Observation, Outcome

if TYPE_CHECKING:
    from grader.contracts.context import CheckContext

TOOL = "elements"
FACT = "elements"
"""Under which name it stands among the facts of an observation."""
PROBLEM, FLAGS = "problem", "flags"


def follow(
    context: CheckContext,
    of: str,
    family: str,
    oracle: Callable[..., Any],
    tolerance: Tolerances,
    *,
    compiled: bool,
    begins_on: str = "",
) -> Mapping[str, Any] | Observation:
    """Facts on a function's loops: PROBLEM, a sentence that is empty if they count, and FLAGS for a person.

    A tool of ours evaluates the source on each case of a family: no code of the submission runs, and all that
    it can do there is compute with single elements. Of a call with the last case of the family `begins_on`
    the first steps are followed as well. An observation comes instead if the tool itself fails.
    """
    from grader.harness.compare import compare

    module, _, function = of.rpartition(".")
    file = f"{module.replace('.', '/')}.py"
    if file not in context.files:
        return context.missing(file)
    cases = cases_of(context, family)
    if any(case.kwargs for case in cases):
        raise CourseError(f"inputs.py: {family}: give arguments by place, or leave loops_over out")
    large = cases_of(context, begins_on)[-1].args if begins_on else ()
    shapes = [[list(array.shape), array.dtype.str] for array in large]
    call = context.tool(TOOL, file, function, [list(case.args) for case in cases], compiled, shapes)
    if call.outcome is not Outcome.OBSERVED:
        return refusal(context, f"{file}: {function} takes too much time or memory on small inputs", call)
    answer: Mapping[str, Any] = call.value
    problem = answer.get("problem", "")
    if problem:
        return {PROBLEM: _explained(problem, compiled), FLAGS: answer.get("notes", [])}
    for case, value in zip(cases, answer["values"], strict=True):
        compared = compare(value, oracle(*case.args), tolerance)
        if not compared.agrees:
            return {PROBLEM: f"{case.name}, followed an element at a time: {compared.note}", FLAGS: []}
    unexecuted = [f"{path}:{line} ran on none of the small inputs" for path, line in answer["unexecuted"]]
    return {PROBLEM: "", FLAGS: [*unexecuted, *answer["notes"]]}


def _explained(problem: str, compiled: bool) -> str:
    """A problem with what the item asks for, unless it is an error like any other."""
    where = "in code that numba compiles" if compiled else "in plain Python"
    return f"{problem}; loops over single elements {where} are asked for"
