"""Launches of programs of several processes: the order, and the state of each process, as it was read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from grader.contracts.call import Call

Launcher = Literal["torchrun", "spawn"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RanksOrder:
    """One launch."""

    file: str
    arguments: tuple[str, ...] = ()
    processes: int
    launcher: Launcher = "torchrun"
    """`torchrun`, or `spawn` for a program that starts its processes itself."""
    within_s: float
    blocked_s: float
    """Seconds in which none of its processes computes, and none sleeps, after which it is stopped."""
    output_kb: int = 64
    """How much of what is printed is kept of all ranks together, in KiB."""
    environment: Mapping[str, str] = field(default_factory=dict)
    inputs: Mapping[str, Any] = field(default_factory=dict)
    """Arrays and numbers that its ranks find by name."""

    @property
    def module(self) -> str:
        """The file's module, for which an assignment may name preloads."""
        return self.file.removesuffix(".py")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A line of the program, and what was called there."""

    file: str = ""
    """Relative to the program's folder; empty if no frame is the program's own."""
    line: int = 0
    source: str = ""
    called: str = ""
    """A library's function that this line has called, if that is written in Python."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rank:
    """One process, as it and its launcher tell: claims."""

    rank: int | None
    """None for the process that started the others."""
    began: bool
    alive: bool
    """Whether it was still there when the program was stopped."""
    status: int | None
    """Its exit status, negative for a signal; None if it has none, or nobody could tell."""
    ended_s: float | None
    """When it ended by itself, in seconds after the start."""
    error: str
    """The exception that ended it; empty for none."""
    place: Place
    """Where it stands, or where that exception came from."""
    still_s: float
    """For how long it has not computed, if it is alive."""
    stack: str
    """Of all its threads, if it is alive."""
    output: str
    """What it printed, head and tail."""
    complaints: str
    """What it wrote to its error output."""
    values: Mapping[str, Any]
    """What it reported: arrays by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchedRanks:
    """The outcome of one launch."""

    call: Call
    """Its outcome is `observed` if the watch could be kept; then the rest is there."""
    how: Literal["ended", "late", "blocked", "missing"] = "ended"
    """Whether it ended, was stopped because it took too long or because nobody computed, or is not there."""
    status: int | None = None
    """The exit status of whoever started the ranks, if it ended."""
    launcher: str = ""
    """What torchrun said."""
    main: Rank | None = None
    """The process that started the others, if it is the program's own."""
    ranks: tuple[Rank, ...] = ()
