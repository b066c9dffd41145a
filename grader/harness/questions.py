"""Answers what a student's process asks of the functions that stayed outside; it may ask for anything."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
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


def asks(number: int, question: bytes) -> bool:
    """Tell whether a question is for the function of this number."""
    try:
        asked, *_ = json.loads(question)
    except Exception:  # as in `answered`
        return False
    return bool(asked == number)


class Launches:
    """Answers what is to be done at the launches of one call, and counts who asks.

    That nothing will be done is not said before the last launch that gets inputs: by then all of them are on
    the device. A program that asks beforehand what its observer will be told asks once more than it launches.
    """

    def __init__(self, proof: str, carrying: Sequence[int], skip: int) -> None:
        """`carrying` are the launches that get inputs, as far as they are known; `skip` so many of them."""
        self._proof = proof
        self._last = carrying[-1] if carrying else 0
        self._begin = 0
        if proof == "exchange" and carrying:
            self._begin = carrying[min(skip, len(carrying) - 1)]
        self.count = 0
        """How often."""

    def __call__(self, number: int) -> str:
        """Return the treatment of the inputs of this launch."""
        self.count += 1
        if self._proof and number >= self._begin:
            return self._proof
        return "later" if number < self._last else ""
