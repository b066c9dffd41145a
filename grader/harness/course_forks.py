"""Functions of a case, and oracles that get them, run in forks of the worker: what they change ends there.

Each of them begins with its modules as they were after loading: no call sees what a program that asked a
function of a case left behind.
"""

from __future__ import annotations

import gc
import json
import os
import pickle  # noqa: TID251 - from forks of this process, in which nothing of a student runs
import signal
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from functools import partial, wraps
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from grader.coursecode import writing_no_bytecode
from grader.errors import CourseError, GraderError, NotObservedError, UnjudgedError
from grader.harness.budget import PATIENCE
from grader.harness.questions import answered
from grader.machine.time_limit import ENDS, end_process, mistake_in
from grader.markers import is_after_call
from grader.model.exit_status import ending
from grader.subject import linux
from grader.subject.check_processes import run_delay_ns

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

T = TypeVar("T")
_QUESTION, _STATE = b"?", b"!"
"""The first byte of what a fork is asked: a program's question, or for the functions as they are by now."""
CROSSES = "return numbers, text, lists, tuples, dicts, arrays, or objects of classes at the top of a module"


def in_fork(act: Callable[[], T], place: str) -> T:
    """Return what `act` gives in a fork of this process; what it imports is imported here as well.

    Raises:
        GraderError: the one that it raises.
        CourseError: it ends its process, or gives what cannot be pickled; `place` says whose doing that is.
        NotObservedError: its process was killed, as where memory runs out.
    """
    reading, writing = os.pipe()
    stacks = os.memfd_create("stacks")
    with os.fdopen(reading, "rb") as results, os.fdopen(stacks) as ended:
        try:
            pid = _fork(partial(_write_result, act, place, writing), stacks)
        finally:
            os.close(writing)
        try:
            modules, error, problems, value = pickle.load(results)  # noqa: S301 - from our own fork
        except EOFError:
            status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            ended.seek(0)
            if status == -ENDS and (mistake := mistake_in(ended.read())):
                raise CourseError(mistake) from None
            raise _ended(place, status) from None
        except BaseException:
            _end(pid)
            raise
    _end(pid)
    with writing_no_bytecode():
        for module in modules:
            with suppress(Exception):
                import_module(module)
    if error is not None:
        raise error(*problems)
    result: T = value
    return result


def apart(oracle: Callable[..., Any], place: str, states: AfterCalls) -> Callable[..., Any]:
    """Return an oracle whose arguments are its own: copies, or with functions among them those of a fork.

    A fork costs 4 ms, as much as a third of a check, and a program can only move the state of a function that
    it asks. An oracle that is marked gets the functions as its call left them; it may fail by the program's
    doing (`UnjudgedError`).
    """
    marked = is_after_call(oracle)
    states.needed |= marked

    @wraps(oracle)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not (marked or any(map(callable, (*args, *kwargs.values())))):
            return oracle(*deepcopy(args), **deepcopy(kwargs))
        if marked:
            args = tuple(states.of(value, place) for value in args)
            kwargs = {name: states.of(value, place) for name, value in kwargs.items()}
        try:
            return in_fork(lambda: oracle(*args, **kwargs), place)
        except CourseError as error:
            if marked:
                raise UnjudgedError(*error.problems) from None
            raise

    return call


class AfterCalls:
    """The functions of cases as the last call left them, for oracles that are marked with `after_call`."""

    def __init__(self) -> None:
        self.needed = False
        """Whether an oracle of this item is marked."""
        self._left: dict[int, tuple[Any, bytes]] = {}

    def clear(self) -> None:
        """Forget those of the item before."""
        self.needed = False
        self._left.clear()

    def keep(self, functions: Sequence[Any], states: Sequence[bytes]) -> None:
        """Keep the functions of one call."""
        for function, state in zip(functions, states, strict=True):
            self._left[id(function)] = function, state

    def has(self, function: Any) -> bool:
        """Tell whether a function was kept that can be had back."""
        return bool(self._state(function))

    def _state(self, function: Any) -> bytes:
        return self._left.get(id(function), (None, b""))[1]

    def of(self, value: Any, place: str) -> Any:
        """Return an argument as the last call with it left it.

        Raises:
            CourseError: it is a function that no call was made with, or that cannot be pickled.
        """
        if not callable(value):
            return value
        state = self._state(value)
        if not state:
            why = "is marked with after_call, and a function of its case was in no call, or is a local one"
            raise CourseError(f"{place}: {why}; {CROSSES}")
        return pickle.loads(state)  # noqa: S301 - from our own fork


class ForkedAnswers:
    """Answers the questions of one call in a fork, which is as the worker was before the call."""

    def __init__(self, functions: Mapping[int, Callable[..., Any]], within_s: float) -> None:
        """Each answer may take so many seconds; a program chooses what it asks."""
        from multiprocessing.connection import Pipe

        self._functions = functions
        self._within_s = within_s
        self._connection, questions = Pipe()
        with questions:
            self._pid = _fork(partial(_answer, functions, questions, self._connection))
        self._why_not = ""
        self._waited_ns = 0

    def waited_ns(self) -> int:
        """Return for how long this process and the fork have waited for cores so far."""
        if not self._connection.closed:
            self._waited_ns = run_delay_ns(f"/proc/{self._pid}") + run_delay_ns("/proc/self")
        return self._waited_ns

    def __call__(self, question: bytes) -> bytes:
        """Return the answer of the function; an error where it gives none in time."""
        if answer := self._asked(_QUESTION + question):
            return answer
        return json.dumps({"error": self._why_not}).encode()

    def close(self, states: AfterCalls) -> str:
        """End the fork; its functions are kept as they are by now if an oracle needs them.

        Return why they cannot be kept, though they could before the call; what they were asked is lost then.
        """
        why = ""
        if states.needed:
            functions = [*self._functions.values()]
            answer = self._asked(_STATE)
            left = pickle.loads(answer) if answer else map(_pickled, functions)  # noqa: S301 - from our own fork
            states.keep(functions, [*left])
            why = self._why_not
            if not why and any(not states.has(function) and _pickled(function) for function in functions):
                why = "the function cannot be pickled any more"
        self._end()
        return why

    def _asked(self, question: bytes) -> bytes:
        """Return what the fork answers; nothing once it did not answer."""
        if self._why_not:
            return b""
        self._why_not = "EOFError: the function ended its process"
        with suppress(EOFError, OSError):
            self._connection.send_bytes(question)
            begun, waited_ns = time.monotonic(), self.waited_ns()
            left_s = self._within_s
            while left_s > 0:
                if self._connection.poll(left_s):
                    answer = self._connection.recv_bytes()
                    self._why_not = ""
                    return answer
                # it does not lose what others kept it waiting, as the program that asks does not
                most_s = self._within_s + (self.waited_ns() - waited_ns) / 1e9
                left_s = min(most_s, PATIENCE * self._within_s) - (time.monotonic() - begun)
            self._why_not = f"TimeoutError: the function gave no value within {self._within_s:g} s"
        self._end()
        return b""

    def _end(self) -> None:
        if not self._connection.closed:
            self._connection.close()
            _end(self._pid)


def _answer(
    functions: Mapping[int, Callable[..., Any]], questions: Connection, other_end: Connection
) -> None:
    """Answer one question after the other, until the worker ends this process."""
    other_end.close()
    while True:
        question = questions.recv_bytes()
        if question == _STATE:
            questions.send_bytes(pickle.dumps([_pickled(function) for function in functions.values()]))
        else:
            questions.send_bytes(answered(functions, question.removeprefix(_QUESTION)))
        sys.stdout.flush()


def _pickled(function: Any) -> bytes:
    """Return a function with its state; nothing for one that has no name at the top of a module."""
    with suppress(Exception):
        return pickle.dumps(function)
    return b""


def unpassable(value: Any) -> str:
    """Return why a value of an oracle cannot leave its process; empty if it can."""
    try:
        pickle.dumps(value, protocol=5, buffer_callback=lambda _: None)
    except Exception as error:  # whatever an object of the course raises
        return f"returns a value that cannot be passed on ({error}); {CROSSES}"
    return ""


def _write_result(act: Callable[[], Any], place: str, writing: int) -> None:
    """Write which modules were imported, the error with its lines, and the value."""
    before = len(sys.modules)
    error: type[GraderError] | None = None
    problems: tuple[str, ...] = ()
    value = None
    try:
        value = act()
    except GraderError as raised:
        error, problems = type(raised), raised.problems
    imported = [*islice(sys.modules, before, None)]
    try:
        data = pickle.dumps((imported, error, problems, value), protocol=5)
    except Exception:  # whatever an object of the course raises
        data = pickle.dumps((imported, CourseError, (f"{place}: {unpassable(value)}",), None))
    sys.stdout.flush()
    with os.fdopen(writing, "wb") as results:
        results.write(data)


def _fork(act: Callable[[], None], stacks: int | None = None) -> int:
    """Fork a process that acts and ends, at the latest with this one.

    `stacks` is the file in which they are left of a function that stays in compiled code.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    parent = os.getpid()
    with warnings.catch_warnings():
        # Python 3.12 warns where there are threads; ours only wait in the kernel, and hold no lock
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
        if stacks is not None:
            end_process(stacks)
        gc.freeze()  # a search for garbage would copy every page
        if "torch" in sys.modules:  # its threads are not here, and it would wait for them without end
            sys.modules["torch"].set_num_threads(1)
        if os.getppid() == parent:
            act()
            status = 0
    finally:
        os._exit(status)


def _end(pid: int) -> None:
    """End a fork that has done its work, or is to do no more."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def _ended(place: str, status: int) -> GraderError:
    """Return the error of a function after which nothing was written."""
    if status == -signal.SIGKILL:
        return NotObservedError(f"{place}: its process was killed; give this machine more memory")
    why = f"its process {ending(status)}"
    return CourseError(f"{place}: {why}; let it return or raise")
