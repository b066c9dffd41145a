"""One request to a child, and what came of it: its time, and the bytes of its answer."""

from __future__ import annotations

from dataclasses import dataclass

from grader.harness.endings import ProgramEnd
from grader.harness.results import NONE
from grader.subject.protocol import Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundTrip:
    """One request, and what came of it."""

    answer: Reply | ProgramEnd
    wall_s: float
    """Until nothing of the program could run any more; with devices, until its result was copied as well."""
    result: memoryview = NONE
    """The bytes of an answer, which the child's next exchange overwrites; none if it ended."""
    freeze_s: float = 0.0
    """The part of it that came after the answer."""
    cpu_s: float | None = None
    """CPU time of all of the program's processes; None if it ended, or the kernel does not tell."""
