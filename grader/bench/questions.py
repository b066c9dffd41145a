"""Answers what a student's process asks of the functions that stayed outside; it may ask for anything."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

ANSWER_BYTES = 4000
"""The longest answer; a pipe takes 4096 bytes at once."""
TEXT = 300
"""The most characters of an error: each takes up to 12 bytes, as two escapes of JSON."""


def answered(functions: Mapping[int, Callable[..., Any]], question: bytes) -> bytes:
    """JSON of what one of the functions gives: `{"value": …}`, or `{"error": …}` if it does not take that.

    A question is `[number of the function, argument, …]` in JSON. Never fails: it is a student's process that
    asks, and what it asks for is its own doing.
    """
    try:
        number, *args = json.loads(question)
        answer = json.dumps({"value": functions[number](*args)}, allow_nan=False).encode()
        if len(answer) <= ANSWER_BYTES:
            return answer
        error: Exception = ValueError(f"the answer is longer than {ANSWER_BYTES} bytes")
    except Exception as raised:  # whatever a question of a stranger's may cause
        error = raised
    return json.dumps({"error": f"{type(error).__name__}: {error}"[:TEXT]}).encode()


class Launches:
    """Answers what is to be done at the launches of one call, and counts who asks.

    A program that asks beforehand what its observer will be told asks once more than it launches.
    """

    def __init__(self, proof: str, first: int) -> None:
        """`first` is the number of the first launch that gets inputs, as far as it is known."""
        self._proof = proof
        self._first = 0 if proof == "note" else first
        self.asked = 0
        """How often."""

    def __call__(self, number: int) -> str:
        """What to do at the launch of this number."""
        self.asked += 1
        return self._proof if number >= self._first else "later"
