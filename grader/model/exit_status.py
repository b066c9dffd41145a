"""Exit statuses in words: which signal ended a program, and what that means."""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping

_MEANINGS: Mapping[int, str] = {
    signal.SIGABRT: "it gave up, as after a failed assertion or where its heap is damaged",
    signal.SIGBUS: "it accessed memory that is not there",
    signal.SIGFPE: "it divided a whole number by zero",
    signal.SIGILL: "it came to an instruction that this processor does not have",
    signal.SIGKILL: "it was killed, as where memory runs out",
    signal.SIGPIPE: "it wrote to a pipe that nobody reads any more",
    signal.SIGSEGV: "it accessed memory that is not its own",
    signal.SIGSYS: "it made a system call that is not allowed",
    signal.SIGTERM: "it was asked to end",
    signal.SIGXCPU: "it used more CPU time than it may",
    signal.SIGXFSZ: "it wrote a larger file than it may",
}
_SHELL = 128
"""A shell, and make, add it to the signal that ended their last command."""


def signal_text(number: int) -> str:
    """Return `signal 11 (SIGSEGV: it accessed memory that is not its own)`."""
    try:
        name = signal.Signals(number).name
    except ValueError:  # a real-time signal
        return f"signal {number}"
    meaning = _MEANINGS.get(number) or signal.strsignal(number)
    return f"signal {number} ({name}: {meaning})"


_SUMMARY = re.compile(r"^SUMMARY: (\w+Sanitizer: .{1,300})|^(\S+:\d+: runtime error: .{1,300})", re.MULTILINE)
"""What a sanitizer prints last, or UndefinedBehaviorSanitizer alone where it prints no summary."""
_BUILT_IN = re.compile(r"(?<!\S)/\S*?/build/")


def sanitizer_summary(output: str) -> str:
    """Return the line in which a sanitizer says what it found and where; empty if there is none."""
    lines = sorted(_SUMMARY.findall(output), key=lambda groups: not groups[0])
    return _BUILT_IN.sub("", lines[0][0] or lines[0][1]) if lines else ""


def is_of_signal(status: int) -> bool:
    """Tell whether a signal has ended the program, or the last command of a shell."""
    return status < 0 or status - _SHELL in _MEANINGS


def ending(status: int) -> str:
    """Return how a program ended, as the rest of a sentence; a negative status is that of a signal."""
    if status < 0:
        return f"was ended by {signal_text(-status)}"
    if status - _SHELL in _MEANINGS:
        return f"ended with status {status}, which a shell gives for {signal_text(status - _SHELL)}"
    return f"ended with status {status}"
