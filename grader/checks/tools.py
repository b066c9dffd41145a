"""Observations of a file that one of our tools could not read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from grader.errors import NotObservedError
from grader.extras import ANY_PIP, install_command
from grader.model.observation import Fault, Observation, Outcome

if TYPE_CHECKING:
    from grader.contracts.call import Call
    from grader.contracts.context import CheckContext

REPORT = "report"
BLANK = "shows nothing: there is no text and no picture on its pages that a reader sees"
_TOO_MUCH = {"unread": "rendering it takes too much time or memory", "blank": False, "hidden": 0}


def read_report(
    context: CheckContext,
    file: str,
    terms: Sequence[str] = (),
    ratios: Sequence[Sequence[str]] = (),
    figures: Sequence[Sequence[str]] = (),
) -> dict[str, Any] | Observation:
    """Read a report in a sandbox, because a PDF can be evil: what the tool answers, or a fault of ours."""
    call = context.tool(REPORT, file, list(terms), list(ratios), list(figures))
    if call.outcome is Outcome.OBSERVED:
        return with_packages(file, call.value)
    if call.traceback and call.outcome is Outcome.CRASHED:
        return refusal(context, "", call)
    return dict(_TOO_MUCH)


def with_packages(file: str, answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer of a tool that read a document.

    Raises:
        NotObservedError: this machine lacks the package that reads its format.
    """
    if package := answer.get("package"):
        advice = install_command(package, pip=ANY_PIP)
        raise NotObservedError(f"{file} cannot be read on this machine without {package}; {advice}")
    return dict(answer)


def refusal(context: CheckContext, note: str, call: Call | None = None) -> Observation:
    """The file is not there, or is not what it should be; with `call`, reading it ended badly.

    A file may take too much time or memory, or end the interpreter; an exception is a fault of ours.
    """
    if call is None:
        return Observation(item=context.item, outcome=Outcome.REFUSED, note=note, seed=context.seed)
    bug = call.outcome is Outcome.REFUSED or (call.outcome is Outcome.CRASHED and call.traceback)
    if not bug:
        return Observation(item=context.item, outcome=call.outcome, note=note, seed=context.seed)
    return Observation(
        item=context.item,
        outcome=Outcome.NOT_OBSERVED,
        fault=Fault.GRADER,
        note=f"a bug in one of our tools: {call.note}",
        facts={"traceback": call.traceback},
        seed=context.seed,
    )
