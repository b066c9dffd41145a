"""What a kind records when one of our tools could not look at a file of the hand-in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.model.observation import Fault, Observation, Outcome

if TYPE_CHECKING:
    from grader.bench.bench import Bench, Call


def refusal(bench: Bench, note: str, call: Call | None = None) -> Observation:
    """The file is not there, or is not what it should be; with `call`, reading it ended badly.

    A file may take too much time or memory, or end the interpreter; an exception is a fault of ours.
    """
    if call is None:
        return Observation(item=bench.item, outcome=Outcome.REFUSED, note=note, seed=bench.seed)
    bug = call.outcome is Outcome.REFUSED or (call.outcome is Outcome.CRASHED and call.traceback)
    if not bug:
        return Observation(item=bench.item, outcome=call.outcome, note=note, seed=bench.seed)
    return Observation(
        item=bench.item,
        outcome=Outcome.NOT_OBSERVED,
        fault=Fault.GRADER,
        note=f"a bug in one of our tools: {call.note}",
        facts={"traceback": call.traceback},
        seed=bench.seed,
    )
