"""Reads stacks that faulthandler wrote: the line of the program, and the function called from there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

Frame = tuple[str, int, str]
"""File, line, function."""

_THREAD = re.compile(r"^(?:Current thread|Thread) 0x([0-9a-f]+)")
_FRAME = re.compile(r'^  File "(.*)", line (\d+) in (.*)$')
_AROUND = frozenset({"wrapper", "_fn", "inner", "decorate_context", "__call__", "_call_impl"})
"""Wrappers that libraries put around a function that is called."""


def main_thread(dump: str, thread: int) -> list[Frame]:
    """Return the frames of a thread in what faulthandler wrote, innermost first; without it, of the last."""
    threads: dict[int, list[Frame]] = {}
    now: list[Frame] = []
    for line in dump.splitlines():
        if begun := _THREAD.match(line):
            now = threads[int(begun[1], 16)] = []
        elif frame := _FRAME.match(line):
            now.append((frame[1], int(frame[2]), frame[3]))
    return threads.get(thread) or now


def place(frames: Sequence[Sequence[Any]], folder: str) -> dict[str, Any]:
    """Return the innermost line of the program's own files below `folder`, and the call made there.

    `file` (empty for none), `line`, `function`, `source` (the line's text) and `called`: the function of a
    library that this line has called, as far as it is written in Python.
    """
    called = ""
    for path, line, function in frames:
        if path.startswith(f"{folder}/"):
            file = path.removeprefix(f"{folder}/")
            source = _line(path, line)
            return {"file": file, "line": line, "function": function, "source": source, "called": called}
        if not path.startswith("<") and function not in _AROUND:
            called = function
    return {"file": "", "line": 0, "function": "", "source": "", "called": called}


def _line(path: str, number: int) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return next((text.strip() for n, text in enumerate(file, 1) if n == number), "")[:200]
    except OSError:
        return ""
