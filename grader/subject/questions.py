"""Functions among the arguments of a call that stay outside: the student's process asks for their values."""

from __future__ import annotations

import json
from threading import Lock
from typing import Any

from .protocol import Calls, Question

LAUNCH = -1
"""In the place of a function's number: what to do at the launch of a kernel."""
TAG = "q"
"""`{"q": 0}` in the place of an argument: the first function that stayed outside."""


class Questions:
    """Asks the worker during a call, over the pipes by which the child is called."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._lock = Lock()
        self.nonce = b""
        """That of the call, empty between two; questions that bear another one are not answered."""

    def end(self) -> None:
        """Answer no thread any more: what comes next over the pipe is not for it."""
        with self._lock:
            self.nonce = b""

    def ask(self, number: int, *args: Any) -> Any:
        """Ask the worker what a function gives for arguments that JSON has.

        Raises:
            ValueError: they take more than 4 kB, or the function does not take them, or the call is over.
        """
        text = json.dumps([number, *args]).encode()
        with self._lock:
            if not self.nonce:
                raise ValueError("the call is over")
            self._calls.send(Question(self.nonce, text).pack())
            answer = None
            while answer is None:
                answer = Question.read(self._calls.recv(), self.nonce)
        plain = json.loads(answer.text)
        if "error" in plain:
            raise ValueError(plain["error"])
        return plain["value"]

    def launch(self, number: int) -> str:
        """Ask the worker what to do at the launch of this number in the call; empty once the call is over."""
        try:
            return str(self.ask(LAUNCH, number))
        except (ValueError, OSError):  # a thread that launches after its call
            return ""

    def function(self, argument: Any) -> Outside | None:
        """Return the function that an encoded argument stands for; None if it is a value."""
        if type(argument) is dict and TAG in argument:
            return Outside(self, argument[TAG])
        return None


class Outside:
    """A function that runs in the worker; its arguments and values are plain JSON."""

    def __init__(self, questions: Questions, number: int) -> None:
        self._questions = questions
        self._number = number

    def __call__(self, *args: Any) -> Any:
        """Return what the function gives; see `Questions.ask`."""
        return self._questions.ask(self._number, *args)
