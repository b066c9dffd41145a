"""How a student's process ended, and whose doing that is."""

from __future__ import annotations

import os
import re
import signal
from dataclasses import dataclass, replace

from grader.errors import NotObservedError
from grader.machine.memory import oom_kills
from grader.model.assignment import Limits
from grader.model.exit_status import ending, sanitizer_summary
from grader.model.observation import Outcome
from grader.subject import protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramEnd:
    """The student's process is gone."""

    outcome: Outcome
    note: str
    starved: bool = False
    """Whether it was others who kept it from its time, and the machine is to blame."""
    aborted: bool = False
    """Whether SIGABRT ended it, before which the C library and the C++ runtime print why."""

    def must_be_its_own(self) -> None:
        """Refuse an end that others are to blame for.

        Raises:
            NotObservedError: they kept it from its time.
        """
        if self.starved:
            raise NotObservedError(
                f"the machine is too busy: a program {self.note}, for others used its cores; grade again "
                "when less runs beside it"
            )


_LAST_WORDS = re.compile(
    r"terminate called |\S+:\d+: .{0,200}: Assertion .|(?:free|malloc|realloc|calloc|munmap_chunk)\(\): .|"
    r"double free |corrupted |\*\*\* .{1,80} detected"
)
"""The beginning of a line that glibc, libstdc++ or `assert` writes before SIGABRT."""

_CAUSES = {
    "without an active exception": "a std::thread that was not joined ends so",
    "Resource temporarily unavailable": "{} processes and threads at once are allowed",
}
"""What words of `_LAST_WORDS` mean, by their end."""


class LostError(Exception):
    """Pid 1 of the check is gone, silent, or failed: it is open whose doing that is."""


CUT = ProgramEnd(outcome=Outcome.CRASHED, note="closed the connection over which its functions are called")
BROKE = ProgramEnd(
    outcome=Outcome.CRASHED,
    note="broke off the connection to those who watch it (a fresh program works in the same place)",
)
_NOT_STOPPED = ProgramEnd(
    outcome=Outcome.TIMED_OUT,
    note="did not come to rest in its time: something that it started goes on and on",
)


def read_end(message: bytes, limits: Limits, *, own_bytes: int, oom_kills_before: int) -> ProgramEnd:
    """The end of the program, as pid 1 reports it.

    Args:
        message: its words.
        limits: what the program may use.
        own_bytes: how much of the memory that is counted as the program's is ours.
        oom_kills_before: `oom_kills()` before its code began.

    Raises:
        LostError: these are not words about an end.
        NotObservedError: the kernel ended it for want of memory on the machine.
    """
    if message == protocol.NOT_STOPPED:
        return _NOT_STOPPED
    if message.startswith(protocol.EXCEEDED):
        what, amount = message.removeprefix(protocol.EXCEEDED).decode().split()
        return _too_much_memory(int(amount), limits) if what == "memory" else _too_many(int(amount), limits)
    end = protocol.EndMessage.read(message)
    if end is None:
        raise LostError(message.decode(errors="replace") or "gone")
    code = os.waitstatus_to_exitcode(end.status)
    if code == -signal.SIGKILL:
        return _killed(end.peak_bytes - own_bytes, limits, oom_kills_before)
    if code < 0:
        return ProgramEnd(outcome=Outcome.CRASHED, note=ending(code), aborted=code == -signal.SIGABRT)
    return ProgramEnd(outcome=Outcome.CRASHED, note=f"ended itself (exit status {code})")


def in_its_words(end: ProgramEnd, output: str, limits: Limits) -> ProgramEnd:
    """Return an end with the line that says why, of what a sanitizer or a program that gives up printed."""
    words = last_words(output) if end.aborted else ""
    if "'std::bad_alloc'" in words:
        note = f"ran out of memory (std::bad_alloc); {limits.memory_mb} MiB are allowed"
        return ProgramEnd(outcome=Outcome.OUT_OF_MEMORY, note=note)
    if not words and end.outcome is Outcome.CRASHED and (summary := sanitizer_summary(output)):
        return replace(end, note=f"{end.note}: {summary}")
    causes = (cause.format(limits.processes) for last, cause in _CAUSES.items() if words.endswith(last))
    return replace(end, note=f"gave up (SIGABRT): {'; '.join((words, *causes))}") if words else end


def last_words(output: str) -> str:
    """Return the last line that names the reason for SIGABRT; empty if there is none."""
    lines = [line.strip()[:300] for line in output[-8000:].splitlines()]
    for number in reversed(range(len(lines))):
        if _LAST_WORDS.match(lines[number]):
            following = lines[number + 1 : number + 2]
            return " ".join([lines[number], *(line for line in following if line.startswith("what():"))])
    return ""


def _killed(peak_bytes: int, limits: Limits, oom_kills_before: int) -> ProgramEnd:
    """Whose doing a SIGKILL is that is not ours."""
    if peak_bytes > limits.memory_mb * 2**20:
        return _too_much_memory(peak_bytes, limits)
    if oom_kills() > oom_kills_before:
        raise NotObservedError(
            "the machine ran out of memory and ended a program that used less than it may; free some, or "
            "grade fewer at once"
        )
    return ProgramEnd(outcome=Outcome.CRASHED, note="was ended by a SIGKILL that it sent itself")


def _too_much_memory(used_bytes: int, limits: Limits) -> ProgramEnd:
    note = (
        f"used {used_bytes // 2**20} MiB of memory with all its processes; {limits.memory_mb} MiB are allowed"
    )
    return ProgramEnd(outcome=Outcome.OUT_OF_MEMORY, note=note)


def _too_many(processes: int, limits: Limits) -> ProgramEnd:
    note = f"had {processes} processes at once; {limits.processes} are allowed"
    return ProgramEnd(outcome=Outcome.CRASHED, note=note)
