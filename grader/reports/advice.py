"""The advice for an item: the first one among its drawings that applies to what it earned."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from grader.model.drawing import Advice
from grader.model.score import Standing

if TYPE_CHECKING:
    from grader.model.drawing import Drawing
    from grader.model.score import Line


def advice_on(line: Line, drawings: Iterable[Drawing]) -> str:
    """Return the advice for an item; empty if none applies.

    A simulated item is advised on what it would have lost.
    """
    decided = line.standing is not Standing.PROVISIONAL
    share = line.fraction if decided else line.simulated
    applies = {"decided": decided, "lost": share is not None and share != 1}
    return next((one.text for one in drawings if isinstance(one, Advice) and applies[one.applies]), "")
