"""Programs of several processes: their launch, and the record of each rank, of which all is checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec
from math import isfinite
from typing import Any

from grader.contracts.call import Call
from grader.contracts.ranks import LaunchedRanks, Place, Rank, RanksOrder
from grader.errors import NotObservedError
from grader.extras import ANY_PIP, install_command
from grader.harness.server_spec import RUN_RANKS, TORCHRUN, ServerSpec
from grader.harness.student_process import StudentProcess
from grader.harness.subject import STATUS
from grader.harness.tool import run_tool
from grader.model.observation import Outcome

ANSWER_S = 20.0
"""Beside the time of the program itself: to lay out its files, to ask where it stands, to read its words."""
_TEXT = 2000
_PRINTED = 2**17
"""Characters, of what should have been cut already."""


def server_spec(order: RanksOrder, plain: ServerSpec) -> ServerSpec:
    """Return the server that the launcher of an order needs.

    Raises:
        NotObservedError: torchrun is not installed.
    """
    if order.launcher == "spawn":
        return plain.importing(RUN_RANKS)
    if find_spec("torch") is None:
        advice = install_command("torch", pip=ANY_PIP)
        raise NotObservedError(f"torchrun: torch is not installed where grader is; {advice}")
    return plain.importing(RUN_RANKS, TORCHRUN)


def launch(child: StudentProcess, order: RanksOrder) -> LaunchedRanks:
    """Launch it in a child in which nothing of the student has run, then end the child and all in it."""
    call = run_tool(child, "run_ranks", (launch_order(order),), order.within_s + ANSWER_S)
    if call.outcome is not Outcome.OBSERVED:
        return LaunchedRanks(call=replace(call, note=call.note.replace("run_ranks", order.file, 1)))
    try:
        return _read(call, order.processes)
    except (LookupError, TypeError, ValueError, OverflowError) as error:
        note = f"{order.file}: the program gave a record that cannot be read ({error})"
        return LaunchedRanks(call=Call(outcome=Outcome.REFUSED, note=note, wall_s=call.wall_s))


def launch_order(order: RanksOrder) -> dict[str, Any]:
    """Return the argument of `grader.subject.tools.run_ranks`."""
    return {
        "file": order.file,
        "arguments": list(order.arguments),
        "processes": order.processes,
        "launcher": order.launcher,
        "within_s": order.within_s,
        "blocked_s": order.blocked_s,
        "output_bytes": order.output_kb * 1024 // order.processes,
        "environment": dict(order.environment),
        "inputs": dict(order.inputs),
    }


def _read(call: Call, count: int) -> LaunchedRanks:
    plain = _mapping(call.value)
    how = plain["how"]
    if how == "missing":
        return LaunchedRanks(call=call, how=how)
    if how not in {"ended", "late", "blocked"}:
        raise ValueError("how")
    ranks = tuple(_rank(entry, number) for number, entry in enumerate(_list(plain["ranks"], count)))
    return LaunchedRanks(
        call=call,
        how=how,
        status=_number(plain["status"]),
        launcher=str(plain["launcher"])[:_PRINTED],
        main=None if plain["main"] is None else _rank(plain["main"], None),
        ranks=ranks,
    )


def _rank(plain: Any, rank: int | None) -> Rank:
    plain = _mapping(plain)
    error = None if plain["error"] is None else _mapping(plain["error"])
    stands = plain["stands"] if error is None else error["stands"]
    claimed_status, status = _number(plain["own_status"]), _number(plain["status"])
    return Rank(
        rank=rank,
        began=plain["began"] is True,
        alive=plain["alive"] is True,
        status=status if status is not None else claimed_status,
        ended_s=None if plain["ended_s"] is None else _seconds(plain["ended_s"]),
        error="" if error is None else f"{error['type']}: {error['text']}"[:_TEXT].rstrip(": "),
        place=Place() if stands is None else _place(_mapping(stands)),
        still_s=_seconds(plain["still_s"]),
        stack=str(plain["stack"])[:_PRINTED],
        output=str(plain["output"])[:_PRINTED],
        complaints=str(plain["complaints"])[:_PRINTED],
        values=_mapping(plain["values"]),
    )


def _place(plain: Mapping[str, Any]) -> Place:
    text = {name: str(plain[name])[:200] for name in ("file", "source", "called")}
    return Place(line=_number(plain["line"]) or 0, **text)


def _mapping(plain: Any) -> Mapping[str, Any]:
    if type(plain) is not dict:
        raise TypeError("no mapping")
    return plain


def _list(plain: Any, length: int) -> list[Any]:
    if type(plain) is not list or len(plain) != length:
        raise TypeError("no list of that length")
    return plain


def _seconds(plain: Any) -> float:
    seconds = float(plain)
    if not isfinite(seconds):
        raise ValueError("no time")
    return seconds


def _number(plain: Any) -> int | None:
    if plain is not None and (type(plain) is not int or plain not in STATUS):
        raise TypeError("no whole number")
    return plain
