"""Calls one function with a family of inputs: one child while it lasts, a fresh one after a crash."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING, Any

from grader.contracts.call import Call, InputCase
from grader.contracts.context import CheckContext, Subject
from grader.errors import CourseError
from grader.harness.tolerance import Tolerances
from grader.model.observation import (
    NO_RESULT,
    NOT_CALLED,
    NOT_IMPORTED,
    STUDENTS_DOING,
    Case,
    Observation,
    Outcome,
    Quantity,
)

if TYPE_CHECKING:
    from grader.harness.compare import Comparison

Look = Callable[[InputCase, tuple[Call, ...]], Case]
"""Judges the calls of one case, all of which returned: a `Case` with the name of the `InputCase`."""

MOST_TIMED_OUT = 3
"""Calls of one item that may miss their limit of time, before its other cases are called no more."""
_IMPORTING = re.compile(r"^importing ([^:]+): ")
_NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '([\w.]{1,80})'(?!.* left out, because)")
_SYNTAX_ERROR = re.compile(r"[^\s:]+:\d+: ")
"""The note on a syntax error begins with its place, perhaps in a file that the imported one imports."""


@dataclass(frozen=True, slots=True)
class Oracle:
    """The course's function that gives the right result, and how far floats may be from that."""

    function: Callable[..., Any]
    tolerances: Tolerances = field(default_factory=Tolerances)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the right result."""
        return self.function(*args, **kwargs)

    def compared(self, value: Any, expected: Any) -> Comparison:
        """Hold a value against the right one."""
        from grader.harness.compare import compare

        return compare(value, expected, self.tolerances)


def function_name(of: str) -> str:
    """Return `sigmoid` of `utils.sigmoid`."""
    return of.rpartition(".")[2]


def cases_of(context: CheckContext, family: str, draw: int = 0) -> tuple[InputCase, ...]:
    """Return the cases of a family of inputs.

    Args:
        context: what `observe` was given.
        family: the value of a key of type `InputsName`.
        draw: which of its draws: 0 is that of `context.inputs`, other numbers give other values.

    Raises:
        CourseError: there are none, so whatever is handed in would agree in all of them.
    """
    cases = context.draw(family, draw) if draw else context.inputs(family)
    if not cases:
        raise CourseError(f"inputs.py: {family}: gives no cases; give at least one")
    return cases


def observe_calls(
    context: CheckContext,
    of: str,
    cases: Sequence[InputCase],
    look: Look,
    *,
    times: int = 1,
    within_s: float = inf,
    each_counts: bool = False,
) -> Observation:
    """Call a function `times` times with each case and look at what came back.

    After a call that took longer than `within_s` seconds a case is not called once more.

    The observation's outcome is `observed` if the function could be called at all; how each call ended
    stands in its case, unless every call asked for the same file or name that the submission lacks: then that
    is the observation. A call that did not end in time costs its program: further cases are called in a fresh
    child if `each_counts`, until three (`MOST_TIMED_OUT`) have not ended; otherwise nothing more is called,
    for every case would wait as long again.

    Args:
        context: what `observe` was given.
        of: `module.function`, the value of a key of type `FunctionName`.
        cases: the sets of arguments, as from `cases_of`.
        look: `look(case, calls)` judges the calls of one case, up to `times`, all of which returned, the last
            of them in `calls[-1]`: a `Case` of the name `case.name`, with `agrees` and a `note`. What was
            called, with which arguments and for how long is added. Cases with a call that did not return are
            noted without it, and have no `agrees`.
        times: how often each case is called.
        within_s: the longest call that is repeated.
        each_counts: whether one case that does not end leaves others to be observed.
    """
    module, _, function = of.rpartition(".")
    looked: list[Case] = []
    output: list[str] = []
    tracebacks: dict[str, str] = {}
    outcome, note, symptom = Outcome.OBSERVED, "", None
    facts: dict[str, Any] = {}
    pending, timed_out = deque(cases), 0
    ends: list[Call] = []

    while pending and outcome is Outcome.OBSERVED:
        with context.subject(module) as subject:
            usable = True
            while pending and usable:
                case = pending.popleft()
                calls = _call(subject, function, case, times, within_s)
                last = calls[-1]
                if last.traceback:
                    tracebacks[case.name] = last.traceback
                if last.missing_file and last is subject.imported:
                    return context.missing(last.missing_file)
                if last.outcome is Outcome.NOT_OBSERVED or (not looked and _hopeless(subject, calls)):
                    outcome, note, symptom = last.outcome, last.note, last.symptom
                    facts = {NO_RESULT: True} if outcome in STUDENTS_DOING else {}
                    if last is subject.imported:
                        facts[NOT_IMPORTED] = _lacked(note)
                        is_whole = last.missing_name or _SYNTAX_ERROR.match(note)
                        note = note if is_whole else _not_imported(module, note)
                    break
                ends.append(last)
                looked.append(_case(function, case, calls, look))
                timed_out += last.outcome is Outcome.TIMED_OUT
                if timed_out >= (MOST_TIMED_OUT if each_counts else 1):
                    looked += [_case(function, rest, (), look) for rest in pending]
                    pending.clear()
                usable = subject.alive and last.outcome is Outcome.OBSERVED
            output.append(subject.output)
    lacking = ends if outcome is Outcome.OBSERVED else []
    if lacking and all(end.missing_file == ends[0].missing_file != "" for end in ends):
        return context.missing(ends[0].missing_file)
    if lacking and all(end.missing_name == ends[0].missing_name != "" for end in ends):
        outcome, note = ends[0].outcome, ends[0].note
        facts = {NO_RESULT: True, NOT_IMPORTED: ""}

    return Observation(
        item=context.item,
        outcome=outcome,
        note=note,
        symptom=symptom,
        cases=tuple(looked) if outcome is Outcome.OBSERVED else (),
        facts=facts | ({"tracebacks": tracebacks} if tracebacks else {}),
        output="".join(output),
        seed=context.seed,
    )


def failed_observation(
    context: CheckContext, call: Call, of: str | None = None, output: str = ""
) -> Observation:
    """Return the observation of an item that ended with a call that did not return.

    A traceback is kept under the name `of`. The note on a failed import is the sentence that `observe_calls`
    writes: reports show one cause of several items once.

    Args:
        context: what `observe` was given.
        call: the call, or `subject.imported`, whose outcome is not `observed`.
        of: the name of the case, below which the page shows the traceback; None keeps none.
        output: what the program printed, as `subject.output`.
    """
    if call.missing_file:
        return context.missing(call.missing_file)
    imports = _IMPORTING.match(call.note)
    facts: dict[str, Any] = {NO_RESULT: True} if call.outcome in STUDENTS_DOING else {}
    if call.missing_name:
        facts[NOT_IMPORTED] = ""
    if of is not None and call.traceback:
        facts["tracebacks"] = {of: call.traceback}
    return Observation(
        item=context.item,
        outcome=call.outcome,
        note=_not_imported("", call.note) if imports else call.note,
        symptom=call.symptom,
        facts=facts,
        output=output,
        seed=context.seed,
    )


def _lacked(note: str) -> str:
    """Return the module that a failed import lacks; empty if it failed for another reason."""
    lacked = _NO_MODULE.search(note)
    return lacked[1] if lacked else ""


def _not_imported(module: str, note: str) -> str:
    """Return the note on a failed import as a sentence about the file that failed."""
    if place := _IMPORTING.match(note):
        done = "imported" if place[1].endswith(".py") else "loaded"
        return f"{place[1]} could not be {done}: {note[place.end() :]}"
    return f"{module}.py could not be imported: {note}"


def _hopeless(subject: Subject, calls: tuple[Call, ...]) -> bool:
    """Whether the first case already shows that no case can be called."""
    return calls[0] is subject.imported or calls[0].outcome is Outcome.REFUSED


def _call(subject: Subject, function: str, case: InputCase, times: int, within_s: float) -> tuple[Call, ...]:
    if subject.imported.outcome is not Outcome.OBSERVED:
        return (subject.imported,)
    calls = [subject.call(function, case)]
    while len(calls) < times and calls[-1].outcome is Outcome.OBSERVED and calls[-1].wall_s <= within_s:
        calls.append(subject.call(function, case))
    return tuple(calls)


def _case(function: str, case: InputCase, calls: tuple[Call, ...], look: Look) -> Case:
    from grader.harness.render import called_texts, record

    if not calls:
        observed_case = Case(name=case.name, outcome=Outcome.TIMED_OUT, note=NOT_CALLED)
    elif calls[-1].outcome is not Outcome.OBSERVED:
        last = calls[-1]
        observed_case = Case(name=case.name, outcome=last.outcome, note=last.note, symptom=last.symptom)
    else:
        observed_case = look(case, calls)
    wall_s = {"wall_s": Quantity(value=sum(call.wall_s for call in calls), unit="s")} if calls else {}
    inputs: dict[str, Any] = {"args": record(list(case.args)), "kwargs": record(dict(case.kwargs))}
    called = called_texts(function, case)
    right = any(observed_case.agrees.values())
    return replace(
        observed_case,
        called=called["called"],
        # half as much again in the evidence, for cases that pages show in a line
        longer={} if right else {**called["longer"], **observed_case.longer},
        inputs=inputs,
        quantities={**observed_case.quantities, **wall_s},
        changed_inputs=tuple(dict.fromkeys(name for call in calls for name in call.changed_inputs)),
    )
