"""The placeholder of an oracle for parts of a result that are not compared."""

from __future__ import annotations

from enum import Enum
from typing import Final


class Unused(Enum):
    """The type of `UNUSED`, which is one value in every process."""

    UNUSED = "unused"

    def __repr__(self) -> str:
        return "…"


UNUSED: Final = Unused.UNUSED
"""Stands in an oracle's list, tuple or dict where a result may hold anything."""
