"""Functions of an assignment's `inputs.py` and `expected.py`, whose failures are the course's."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, wraps
from pathlib import Path
from typing import Any, TypeVar

from grader.contracts.call import InputCase
from grader.coursecode import course_module, line_of, missing_file
from grader.coursesyntax import keyword_line
from grader.errors import CourseError
from grader.files import show_path
from grader.installed import MISSPELT_NAME, error_of_import, nearest
from grader.machine.time_limit import FUNCTION_CPU_S, TimeIsUpError, time_limit
from grader.subject.wire import JSON_BYTES, Encoder, TooLarge, written

INPUTS, EXPECTED = "inputs.py", "expected.py"
_module = cache(course_module)
T = TypeVar("T")
NO_YIELD = "returns None; write yield before case(…)"
"""Ends the line on a family that returns None."""
MOST_CASES = 1_000
"""Cases of one family; a generator with more is taken for one that does not end."""
CROSSES = (
    "give numbers, text, None, lists, tuples, dicts with keys of text or whole numbers, "
    "or NumPy arrays of numbers, and let a driver in given/ make the rest of them"
)


class _Foreign(TypeError):
    """A value of a type that cannot be handed to a program."""


class _Trial(Encoder):
    """Encodes values without a buffer, only to find those that do not cross."""

    def __init__(self) -> None:
        super().__init__(memoryview(b""))

    def _put(self, source: Any) -> int:
        return 0

    def _foreign(self, name: str) -> Any:
        raise _Foreign(name)


def unusable_argument(case: InputCase) -> str:
    """Return which argument of a case no program can be called with, and what can be; empty if all can."""
    names = {f"argument {number}": value for number, value in enumerate(case.args, 1)}
    encoded = []
    for name, value in (names | dict(case.kwargs)).items():
        if callable(value):  # stays here, and is asked from outside
            continue
        try:
            encoded.append(_Trial().encode(value))
        except _Foreign as error:
            return f"{name} is or holds a {error}, which cannot be handed to a program; {CROSSES}"
        except TooLarge:
            return f"{name} is nested too deeply, or holds too many single values; give NumPy arrays"
    try:
        written(encoded)
    except TooLarge:
        return (
            f"its texts and single values have more than {JSON_BYTES >> 20} MiB; give less, or NumPy arrays"
        )
    return ""


def _cases(values: Iterable[Any] | InputCase | None, where: str) -> Iterator[InputCase]:
    """Yield the cases that a family gives.

    Raises:
        CourseError: one is no case, or cannot be handed to a program, or they do not end.
    """
    if isinstance(values, InputCase):
        raise CourseError(f'{where} returns a case; write yield case("a name", …) in place of return')
    if values is None:  # a function without yield runs to its end when it is called
        raise CourseError(f"{where} {NO_YIELD}")
    for number, case in enumerate(values):
        if not isinstance(case, InputCase):
            message = f'gives a {type(case).__name__}; write yield case("a name", …) with the arguments'
            raise CourseError(f"{where} {message}")
        if message := unusable_argument(case):
            raise CourseError(f"{where} case {case.name!r}: {message}")
        if number >= MOST_CASES:
            raise CourseError(f"{where} gives more than {MOST_CASES} cases; end its loop")
        yield case


class EndlessError(CourseError):
    """A function of the course did not end in its time."""


_endless: dict[tuple[Path, str, str], tuple[str, ...]] = {}
"""What was said of functions that did not end in this process, by assignment, file and name."""


def once(folder: Path, file: str, name: str, act: Callable[[], T]) -> T:
    """Call a function of the course, with nothing of a student's in its arguments.

    One that has not ended before is not called again: every submission of a class would wait for it.

    Raises:
        CourseError: what the function raises, or that it does not end.
    """
    key = folder, file, name
    if key in _endless:
        raise EndlessError(*_endless[key])
    try:
        return act()
    except EndlessError as error:
        _endless[key] = error.problems
        raise


def unfit(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], what: str) -> str:
    """Return why a function cannot be called with arguments; empty if it can, or if that cannot be told.

    `what` is the noun for the arguments.
    """
    why = _unbound(function, *args, **kwargs)
    return f"cannot take {what} in {INPUTS} ({why})" if why else ""


def signature_of(function: Callable[..., Any]) -> inspect.Signature | None:
    """Return the parameters of a function; None of a value that is no function, or of one in C."""
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def _unbound(function: Callable[..., Any], *args: Any, **kwargs: Any) -> str:
    """Return which of a function's parameters arguments do not fit; empty if they do, or nobody can tell."""
    signature = signature_of(function)
    if signature is None:
        return ""
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        return str(error)
    return ""


class CourseFunctions:
    """Calls families and oracles, and turns what they raise into `CourseError` with file and line.

    An import of a package that is not installed here is a `PackageError`.
    """

    def __init__(self, folder: Path, *, within_s: float = FUNCTION_CPU_S) -> None:
        """Take the assignment's folder; a call that computes for longer than `within_s` is a mistake, too."""
        self._folder = folder
        self._within_s = within_s

    def draw(self, family: str, seed: str, number: int) -> tuple[InputCase, ...]:
        """Draw a family from a seed (hexadecimal); each `number` gives other values.

        Raises:
            CourseError: there is no such family, it fails, or it gives something other than cases.
        """
        from numpy.random import default_rng

        draw = self._function(INPUTS, family)
        rng = default_rng([int(seed, 16), number])
        where = f"{self.place(INPUTS, draw)}: {family}:"
        if why := _unbound(draw, rng):
            raise CourseError(f"{where} is called with rng alone ({why}); give all else a default")
        cases: tuple[InputCase, ...] = once(
            self._folder,
            INPUTS,
            family,
            lambda: self._run(INPUTS, family, lambda: tuple(_cases(draw(rng), where))),
        )
        if not cases:
            raise CourseError(f"{where} gives no case; yield at least one")
        return cases

    def expected(self, oracle: str) -> Callable[..., Any]:
        """Return an oracle; a call of it raises `CourseError` for its exceptions.

        Raises:
            CourseError: there is no such function.
        """
        function = self._function(EXPECTED, oracle)

        @wraps(function)  # so that its line and its parameters can be told
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                return self._run(EXPECTED, oracle, lambda: function(*args, **kwargs))
            except CourseError:
                called = f"{oracle} of {self.place(EXPECTED, function)}"
                if message := self.misnamed(called, signature_of(function), kwargs):
                    raise CourseError(message) from None
                if message := unfit(function, args, kwargs, "the arguments of a case"):
                    raise CourseError(f"{self.place(EXPECTED, function)}: {oracle}: {message}") from None
                raise

        return call

    def misnamed(
        self, called: str, signature: inspect.Signature | None, arguments: Iterable[str], family: str = ""
    ) -> str:
        """Return a line of `inputs.py` on an argument of a case that a function lacks; empty if it has all.

        Args:
            called: the name of the function and its place, as the line names it.
            signature: its parameters; None if nobody can tell.
            arguments: the names of the arguments.
            family: the function that gives the case; empty if that is not known.
        """
        parameters = signature.parameters if signature else {}
        if not parameters or any(each.kind is each.VAR_KEYWORD for each in parameters.values()):
            return ""
        for name in arguments:
            line = 0 if name in parameters else keyword_line(self._folder / INPUTS, name, family)
            if line:
                near = nearest(name, parameters, MISSPELT_NAME)
                advice = f"did you mean {near}?" if near else f"it takes {', '.join(parameters)}"
                where = f"{show_path(self._folder / INPUTS)}:{line}"
                return f"{where}: gives {name}, which {called} does not take; {advice}"
        return ""

    def place_of(self, file: str, name: str) -> str:
        """Return `file:line` of the function of this name."""
        return self.place(file, self._function(file, name))

    def place(self, file: str, function: Callable[..., Any]) -> str:
        """Return `file:line` of a function."""
        code = getattr(function, "__code__", None)
        return f"{show_path(self._folder / file)}:{code.co_firstlineno if code else 1}"

    def _function(self, file: str, name: str) -> Callable[..., Any]:
        path = self._folder / file
        function: Callable[..., Any] | None = getattr(self._run(file, "", lambda: _module(path)), name, None)
        if function is None:
            raise CourseError(f"{show_path(path)}: has no function {name}")
        return function

    def _run(self, file: str, name: str, act: Callable[[], Any]) -> Any:
        """Call `act`, which runs the function `name` of a file; an empty name stands for its import."""
        called = f"{name}: " if name else ""
        try:
            with time_limit(self._within_s):
                return act()
        except CourseError:
            raise
        except TimeIsUpError as error:
            path, line, _ = error.place or (self._folder / file, 1, "")
            message = f"has not ended after {self._within_s:g} s; make it shorter, or end its loop"
            raise EndlessError(f"{show_path(path)}:{line}: {called}{message}") from None
        except (Exception, SystemExit) as error:
            path = self._folder / file
            line = line_of(error, str(path)) or 1
            where = f"{show_path(path)}:{line}"
            problem = missing_file(error, self._folder)
            if not problem and (raised := error_of_import(error, where, self._folder, path)):
                raise raised from None
            raise CourseError(f"{where}: {called}{problem or f'{type(error).__name__}: {error}'}") from None
