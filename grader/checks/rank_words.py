"""Sentences on the ends of a program's processes: where each waits, and which failed first."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from grader.model.exit_status import ending
from grader.model.observation import Outcome

if TYPE_CHECKING:
    from grader.contracts.ranks import LaunchedRanks, Place, Rank

_LOST = ("Connection closed by peer", "Connection reset by peer", "remote process exited", "Broken pipe")
"""What libraries say of it when another rank is gone: the other one is what matters."""
_TERMINATED = -signal.SIGTERM
BUSY_S = 1.0
"""Who has not computed for longer than this waits. Waiting for a GPU is busy, for libraries poll it."""
_TEXT = 300


def verdict(launched: LaunchedRanks, within_s: float) -> tuple[Outcome, str]:
    """How a launch went, and what went wrong; empty if every rank ended as it should."""
    if launched.how == "missing":
        return Outcome.CRASHED, "the file is not there"
    if launched.how == "ended":
        wrong = _failure(launched)
        return Outcome.CRASHED if wrong else Outcome.OBSERVED, wrong
    if any(map(_failed, launched.ranks)):
        waiting = [rank for rank in launched.ranks if not _failed(rank)]
        return Outcome.CRASHED, "; ".join((_failure(launched), *_together(waiting)))
    return Outcome.TIMED_OUT, _standstill(launched, within_s)


def _standstill(launched: LaunchedRanks, within_s: float) -> str:
    began = (
        f"did not end within {within_s:g} s of its own time"
        if launched.how == "late"
        else "is blocked: none of its processes goes on"
    )
    shown = [*launched.ranks]
    if launched.main is not None and not all(rank.began for rank in launched.ranks):
        shown.append(launched.main)
    return f"{began}; {'; '.join(_together(shown))}{_apart(launched.ranks)}"


def _failure(launched: LaunchedRanks) -> str:
    main = launched.main
    failed = sorted((rank for rank in launched.ranks if _failed(rank)), key=_blame)
    if failed:
        first = failed[0]
        sentence = f"{_name([first])} {_end(first)}"
        when = first.ended_s
        before = [
            r for r in launched.ranks if r.ended_s is not None and when is not None and r.ended_s < when
        ]
        gone = [rank for rank in before if not _failed(rank)]
        return sentence + (f"; {_name(gone)} had ended before" if gone else "")
    if main is not None and (main.error or main.status):
        return f"the program {_end(main)}"
    if missing := [rank for rank in launched.ranks if not rank.began]:
        return f"{_name(missing)} {_were(missing)} never started"
    if left := [rank for rank in launched.ranks if rank.ended_s is None and rank.status is None]:
        return f"{_name(left)} did not come to an end before the program did"
    if launched.status:
        return f"the launcher {ending(launched.status)}"
    return ""


def _failed(rank: Rank) -> bool:
    return bool(rank.error) or rank.status not in {0, None}


def _blame(rank: Rank) -> tuple[int, float]:
    """Return a sort key: ranks that ended silently first, those ended by torchrun last."""
    lost = any(sign in rank.error for sign in _LOST)
    if rank.status == _TERMINATED and (lost or not rank.error):
        return 3, rank.ended_s or 0.0
    if not rank.error:
        return 0, rank.ended_s or 0.0
    return (2 if lost else 1), rank.ended_s or 0.0


def _together(ranks: Sequence[Rank]) -> list[str]:
    """A part of the sentence for all ranks of which the same is to be said."""
    states: dict[tuple[tuple[str, str], str], list[Rank]] = {}
    for rank in ranks:
        states.setdefault(_state(rank), []).append(rank)
    return [
        f"{_name(same)} {verbs[len(same) > 1]}{where}{_since(same)}"
        for (verbs, where), same in states.items()
    ]


def _state(rank: Rank) -> tuple[tuple[str, str], str]:
    """Return a rank's state as verbs for one and for several, and the place."""
    if not rank.began:
        return ("has not started", "have not started"), ""
    if not rank.alive:
        return ("has ended", "have ended"), ""
    verbs = ("waits", "wait") if rank.still_s > BUSY_S else ("is busy", "are busy")
    return verbs, _where(rank.place)


def _since(ranks: Sequence[Rank]) -> str:
    still_s = min(rank.still_s for rank in ranks)
    return f", for {still_s:.0f} s" if ranks[0].alive and still_s > BUSY_S else ""


def _apart(ranks: Sequence[Rank]) -> str:
    """Return the cause if not all ranks wait in the same call; empty otherwise."""
    waiting = {rank.place.called for rank in ranks if rank.alive and rank.still_s > BUSY_S}
    left = any(rank.began and not rank.alive for rank in ranks)
    if len(waiting - {""}) > 1:
        return ". They wait in different operations"
    if left and waiting - {""}:
        return ". Who has ended takes part no more"
    return ""


def _where(place: Place) -> str:
    if not place.file:
        return f" in {place.called}, before or after all lines of the program" if place.called else ""
    line = f"{place.file}:{place.line}"
    return f" in {place.called} ({line})" if place.called else f" at {line}: {place.source}".rstrip(": ")


def _end(rank: Rank) -> str:
    if rank.error:
        where = _where(rank.place) if rank.place.file else ""
        return f"failed{where}: {rank.error[:_TEXT]}"
    return ending(rank.status or 0)


def _name(ranks: Iterable[Rank]) -> str:
    """`rank 1`, `ranks 0, 2 and 3`, or whoever starts them."""
    numbers = [str(rank.rank) for rank in ranks if rank.rank is not None]
    if not numbers:
        return "the program"
    if len(numbers) == 1:
        return f"rank {numbers[0]}"
    return f"ranks {', '.join(numbers[:-1])} and {numbers[-1]}"


def _were(ranks: Sequence[Rank]) -> str:
    return "was" if len(ranks) == 1 else "were"
