"""Functions of an assignment's `inputs.py` and `expected.py`, whose failures are the course's."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from pathlib import Path
from typing import Any

from grader.contracts.call import InputCase
from grader.coursecode import course_module, line_of
from grader.errors import CourseError

INPUTS, EXPECTED = "inputs.py", "expected.py"
_module = cache(course_module)


class CourseFunctions:
    """Calls families and oracles, and turns what they raise into `CourseError` with file and line."""

    def __init__(self, folder: Path) -> None:
        """`folder` is the assignment's."""
        self._folder = folder

    def draw(self, family: str, seed: str, number: int) -> tuple[InputCase, ...]:
        """Draw a family from a seed (hexadecimal); each `number` gives other values.

        Raises:
            CourseError: there is no such family, it fails, or it gives something other than cases.
        """
        from numpy.random import default_rng

        draw = self._function(INPUTS, family)
        rng = default_rng([int(seed, 16), number])
        cases: tuple[Any, ...] = self._run(INPUTS, family, lambda: tuple(draw(rng)))
        for case in cases:
            if not isinstance(case, InputCase):
                message = f'gives a {type(case).__name__}; write yield case("a name", …) with the arguments'
                raise CourseError(f"{self.place(INPUTS, draw)}: {family}: {message}")
        return cases

    def expected(self, oracle: str) -> Callable[..., Any]:
        """Return an oracle; a call of it raises `CourseError` for its exceptions.

        Raises:
            CourseError: there is no such function.
        """
        function = self._function(EXPECTED, oracle)

        @wraps(function)  # so that its line and its parameters can be told
        def call(*args: Any, **kwargs: Any) -> Any:
            return self._run(EXPECTED, oracle, lambda: function(*args, **kwargs))

        return call

    def place(self, file: str, function: Callable[..., Any]) -> str:
        """Return `file:line` of a function."""
        code = getattr(function, "__code__", None)
        return f"{self._folder / file}:{code.co_firstlineno if code else 1}"

    def _function(self, file: str, name: str) -> Callable[..., Any]:
        path = self._folder / file
        function: Callable[..., Any] | None = getattr(
            self._run(file, name, lambda: _module(path)), name, None
        )
        if function is None:
            raise CourseError(f"{path}: has no function {name}")
        return function

    def _run(self, file: str, name: str, act: Callable[[], Any]) -> Any:
        try:
            return act()
        except CourseError:
            raise
        except (Exception, SystemExit) as error:
            path = self._folder / file
            line = line_of(error, str(path)) or 1
            raise CourseError(f"{path}:{line}: {name}: {type(error).__name__}: {error}") from None
