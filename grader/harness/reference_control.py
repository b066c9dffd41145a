"""Whose failure a failed call is: the reference makes the same calls in the same place.

What a submission cannot help, a mistake of the course's driver, a compiler that the machine lacks, a limit
that is too small, lets the reference fail as well. Then nobody loses points: the item is not observed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from grader.contracts.call import Call, InputCase, Request, Run
from grader.contracts.context import REFERENCE
from grader.coursecode import own_modules
from grader.coursesyntax import keyword_line
from grader.errors import GraderError, NotObservedError, ReferenceFailedError
from grader.files import holds_file
from grader.harness.built import BUILT
from grader.harness.driver_calls import driver_with, functions_in
from grader.harness.missing import lacked_module, lacked_name, undefined
from grader.harness.tracebacks import innermost_first
from grader.installed import missing_error, nearest
from grader.model.observation import STUDENTS_DOING, Outcome

REQUESTS, REQUEST_BYTES = 128, 64 * 2**20
"""So many calls of one process are kept, and with them so many bytes of arguments."""
DISPUTED = 16
"""Of so many processes the wrong results are held against the reference."""
REPLAY_CALLS = 10
"""The reference makes them again in the time that so many calls may take, so that they end."""
_UNEXPECTED = re.compile(r"got an unexpected keyword argument '(\w{1,80})'")
_PRODUCT = re.compile(rf"{BUILT}/([\w.+/-]{{1,200}})")
_CALLED = re.compile(r"(\w+)\(\): ")
_NO_FILE = re.compile(r"FileNotFoundError: \[Errno 2\] No such file or directory: '([^'/]+)'")
NOT_STARTED = (126, 127)
"""A shell ends so for a program that it cannot start, and for one that it does not find."""
_NOT_STARTED = re.compile(r"\bexit status 12[67]\b")
_STARTING = re.compile(r'/subprocess\.py", line \d+, in _execute_child')


@dataclass(frozen=True, slots=True)
class ReferenceControl:
    """Makes calls in a fresh process of the reference."""

    run: Callable[[Sequence[Request]], Run]
    """Has it import the same file and make these calls; the first that fails, or the last."""
    folder: Path
    """The assignment's."""
    others: tuple[str, ...] = ()
    """Paths that its submissions have, or that are built of them."""

    def require(self, requests: Sequence[Request]) -> None:
        """Have the reference make the calls.

        Raises:
            ReferenceFailedError: it fails, too, for the course's fault.
            CourseError: it fails, too, for a module whose name is misspelt.
            NotObservedError: it fails, too, for something that this machine lacks.
        """
        run = self.run(requests)
        if run.call.outcome is not Outcome.OBSERVED:
            raise failure(run.call, self.folder, run.output, self.others)


@dataclass(slots=True)
class Requests:
    """The calls that a process has made so far, as long as they are few."""

    _made: list[Request] = field(default_factory=list)
    _count: int = 0
    _bytes: int = 0

    def add(self, function: str, case: InputCase, argument_bytes: int) -> None:
        """Keep a call that returned."""
        self._count += 1
        self._bytes += argument_bytes
        if self._all_kept:
            self._made.append((function, case))
        else:
            self._made.clear()

    @property
    def _all_kept(self) -> bool:
        return self._count < REQUESTS and self._bytes <= REQUEST_BYTES

    def followed_by(self, function: str, case: InputCase) -> tuple[Request, ...] | None:
        """Return all calls of the process, this one last; None if there were too many to keep."""
        return (*self._made, (function, case)) if self._all_kept else None

    def disputed_with(self, function: str, case: InputCase) -> tuple[Request, ...]:
        """Return the calls by which a wrong result is held against the reference.

        That is this one alone where arguments are large: few functions of those have a state. It is none
        after too many calls.
        """
        if self._count >= REQUESTS:
            return ()
        return self.followed_by(function, case) or ((function, case),)


def replays(calls: Sequence[Call]) -> Iterator[list[Call]]:
    """Yield the calls of each process, the last one first: its requests are those of all of them.

    Of more than `DISPUTED` processes the others are left out, those of which fewest calls are known.
    """
    left = sorted(calls, key=lambda call: -len(call.requests))
    for _ in range(DISPUTED):
        if not left:
            return
        last = _made(left[0])
        of_one = [call for call in left if _made(call) == last[: len(call.requests)]]
        yield of_one
        left = [call for call in left if all(call is not other for other in of_one)]


def _made(call: Call) -> list[tuple[str, int]]:
    return [(function, id(case)) for function, case in call.requests]


def is_a_failure(call: Call) -> bool:
    """Tell whether a call failed in a way that costs points."""
    return call.outcome in STUDENTS_DOING


def of_a_program(call: Call) -> Call:
    """Return the call of a program that is run; one that could not start another has failed."""
    if call.outcome is Outcome.OBSERVED and type(call.value) is int and call.value in NOT_STARTED:
        return replace(call, outcome=Outcome.CRASHED, note=f"the program ended with exit status {call.value}")
    return call


def failure(call: Call, folder: Path, output: str = "", others: Sequence[str] = ()) -> GraderError:
    """Return the error of a call with which the reference failed, with file and line where they are known.

    `output` is what the reference printed, `others` are paths that are handed in or built.
    """
    where = place(call, folder) or REFERENCE
    note = call.note.removesuffix(f" ({where})").rstrip(".")
    if call.outcome is Outcome.NOT_OBSERVED:
        return NotObservedError(f"{where}: {note}", output=output)
    missing = _NO_FILE.search(call.note)
    if missing and _STARTING.search(call.traceback):
        return NotObservedError(
            f"{where}: starts {missing[1]}, which is not on this machine; install it", output=output
        )
    if module := lacked_module(call.note):
        return _import_failure(module, where, folder, others, output)
    keyword = _UNEXPECTED.search(call.note)
    line_there = keyword_line(folder / "inputs.py", keyword[1]) if keyword and where == REFERENCE else 0
    if line_there:
        line = f"inputs.py:{line_there}: {note}; correct the argument's name"
        return ReferenceFailedError(line, output=output)
    line = f"{where}: {note}; the reference fails like the submission"
    if _NOT_STARTED.search(call.note):
        return NotObservedError(f"{line}; install what it starts", output=output)
    advice = _of_products(call.note, others) or _of_names(call.note, folder)
    advice = advice or _of_driver(call, folder)
    advice = advice or "correct the course's files or its limits"
    return ReferenceFailedError(f"{line}; {advice}", output=output)


def _of_products(note: str, others: Sequence[str]) -> str:
    """Say of a file below the folder of products, which is none of them, how it becomes one; or not."""
    lacked = _PRODUCT.search(note)
    if lacked is None or lacked[1] in others:
        return ""
    ending = PurePosixPath(lacked[1]).suffix
    near = nearest(lacked[1], [path for path in others if PurePosixPath(path).suffix == ending])
    advice = f"did you mean {near}?" if near else f"name {lacked[1]} in products of assignment.py"
    return f"the build makes no product {lacked[1]}; {advice}"


def _of_names(note: str, folder: Path) -> str:
    """Say that a file of the reference lacks a function, with the one whose name is nearly it; or not."""
    module, name = lacked_name(note)
    file = f"reference/{module.replace('.', '/')}.py"
    if not name or not holds_file(folder, file):
        return ""
    return undefined(file, name, functions_in(folder, module))


def _of_driver(call: Call, folder: Path) -> str:
    """Say that the course's own files have the function that was called past them; or not."""
    called = _CALLED.match(call.note)
    paths = [path for frame in innermost_first(call.traceback) for path in frame.paths]
    if called is None or not paths or any(holds_file(folder / "given", path) for path in paths):
        return ""
    function = called[1]
    driver = driver_with(folder / "given", function)
    line = f"{driver}.py of given/ has {function}() as well; did you mean {driver}.{function}?"
    return line if driver else ""


def _import_failure(module: str, where: str, folder: Path, others: Sequence[str], output: str) -> GraderError:
    file = folder / where.rpartition(":")[0]
    imports = file if file.is_file() else None
    error = missing_error(where, [module], own_modules(folder, others), file=imports, output=output)
    why = f"{where}: imports {module}, which is not found there; correct the name, or write the file"
    return error or ReferenceFailedError(why, output=output)


def place(call: Call, folder: Path) -> str:
    """Return `given/driver.py:7`, the innermost line of the course's in a traceback; empty for none."""
    for frame in innermost_first(call.traceback):
        for path in frame.paths:
            for name in ("given", "reference"):
                if holds_file(folder / name, path):
                    return f"{name}/{path}:{frame.line}"
    return ""
