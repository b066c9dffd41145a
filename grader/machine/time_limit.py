"""Limits the time of functions that a course or a plugin brings, in the main thread of a process.

The kernel's timer of CPU time (ITIMER_PROF) signals the main thread when a function has had its time, and a
thread does so by the clock: SIGALRM is taken by what ends a worker for sure. Both raise an exception in the
function, which needs that compiled code looks for signals, as `re` does. In a loop that does not, a process
that may be ended is ended by a second timer (ITIMER_VIRTUAL), whose signal needs no interpreter: faulthandler
writes the stacks, and the kernel does the rest.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import sysconfig
import threading
import time
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from types import FrameType

from grader.coursecode import PACKAGE, deepest_place
from grader.files import show_path
from grader.subject.ranks.stacks import main_thread

FUNCTION_CPU_S = 60.0
"""CPU seconds of one call of a function of the course; a machine that others use makes it take longer."""
WALL_PER_CPU = 10.0
"""How many times as long it may wait and compute together."""
TELL_S = 10.0
"""Seconds of a call after which a person is told what is waited for."""
COMPILED_TIMES = 4.0
"""How many times its CPU seconds a call may use, all threads together, before its process is ended."""
REPEAT_S = 1.0
"""Seconds until the next signal to a function that has caught the exception."""
_SOON_S = 0.001
"""In place of no seconds, which would unset a timer."""
_SIGNAL = signal.SIGRTMAX - 1
ENDS = signal.SIGVTALRM
"""The signal by which a process ends whose function stays in compiled code."""
_OURS = f"{Path(__file__).parent.parent}{os.sep}"

Place = tuple[Path, int, str]
"""File, line and function."""


class TimeIsUpError(Exception):
    """A function did not end in its time."""

    def __init__(self, place: Place | None) -> None:
        self.place = place
        """The line in the course's or the plugin's code at which it was stopped; None if none of it ran."""
        super().__init__("did not end in its time")


class _Interrupt(BaseException):
    """Unwinds the function of a limit; an `except Exception` of it does not catch that."""

    def __init__(self, limit: _Limit) -> None:
        super().__init__()
        self.limit = limit


@dataclass(eq=False, slots=True)
class _Limit:
    """The time of one call."""

    cpu_s: float
    wall_s: float
    packages: Container[str]
    tells: bool
    wall_begun: float = field(default_factory=time.monotonic)
    cpu_begun: float = field(default_factory=time.process_time)

    def used_s(self) -> float:
        """Return the CPU seconds of all threads since it began."""
        return time.process_time() - self.cpu_begun

    def left_s(self) -> float:
        """Return the seconds in which it cannot be over; 0 or less if it is."""
        ran_s = time.monotonic() - self.wall_begun
        # several threads may compute for it
        return min(self.cpu_s - min(ran_s, self.used_s()), self.wall_s - ran_s)

    def due_in_s(self) -> float:
        """Return the seconds in which nothing is to be done for it."""
        tell_in_s = TELL_S - (time.monotonic() - self.wall_begun) if self.tells else inf
        return min(self.left_s(), tell_in_s)


class _Watch:
    """The limits of the calls in which the main thread is, and the thread that looks at them."""

    def __init__(self) -> None:
        self.tell: Callable[[str], None] | None = None
        self.ends_process = False
        self._limits: list[_Limit] = []
        """The outermost call first."""
        self._changed = threading.Condition()
        self._wakes_at = inf
        """When the thread looks again, if nobody calls it before."""
        self._stopped: _Limit | None = None
        """Of the call which an exception leaves: a second one at once could pass by its `time_limit`."""
        self._stops_again_at = 0.0
        self._thread: threading.Thread | None = None

    def begin(self, limit: _Limit) -> None:
        """Begin to watch a call."""
        if self._thread is None or not self._thread.is_alive():  # as after a fork
            signal.signal(_SIGNAL, self._stop)
            signal.signal(signal.SIGPROF, self._stop)
            self._changed, self._wakes_at = threading.Condition(), inf
            self._thread = threading.Thread(target=self._watch, name="time limits", daemon=True)
            self._thread.start()
        with self._changed:
            self._limits.append(limit)
            if time.monotonic() + limit.due_in_s() < self._wakes_at:
                self._changed.notify()
        self._set_timers()

    def end(self, limit: _Limit) -> None:
        """End to watch a call, and those within it."""
        if limit in self._limits:
            ended = self._limits[self._limits.index(limit) :]
            del self._limits[-len(ended) :]
            if self._stopped in ended:
                self._stopped = None
            self._set_timers()

    def _set_timers(self) -> None:
        """Have the kernel send the signals that are due first; none without a call."""
        used_s = [(limit.cpu_s, limit.used_s()) for limit in self._limits]
        stops_in_s = min((cpu_s - used for cpu_s, used in used_s), default=None)
        _set_timer(signal.ITIMER_PROF, stops_in_s)
        if self.ends_process:
            ends_in_s = min((COMPILED_TIMES * cpu_s - used for cpu_s, used in used_s), default=None)
            _set_timer(signal.ITIMER_VIRTUAL, ends_in_s)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        """Handle the signal, in the main thread: stop the call whose time is up, if it still runs."""
        del number, frame
        over = next((limit for limit in self._limits if limit.left_s() <= 0), None)
        if over is None:
            self._set_timers()  # the kernel counts ticks
        elif self._stopped is None or time.monotonic() >= self._stops_again_at:
            self._stopped, self._stops_again_at = over, time.monotonic() + REPEAT_S
            raise _Interrupt(over)

    def _watch(self) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, {_SIGNAL})  # it must end what the main thread waits for
        with self._changed:
            while True:
                wait_s = min(map(self._look, tuple(self._limits)), default=inf)
                self._wakes_at = time.monotonic() + wait_s
                self._changed.wait(None if wait_s == inf else wait_s)

    def _look(self, limit: _Limit) -> float:
        """Do what is due for a call, and return in how many seconds something may be due again."""
        if limit.left_s() <= 0:
            os.kill(os.getpid(), _SIGNAL)
            return REPEAT_S
        due_in_s = limit.due_in_s()
        if due_in_s > 0:
            return due_in_s
        limit.tells = False
        if self.tell is not None and (place := _stands(limit.packages)):
            path, line, name = place
            what = "its import" if name == "<module>" else name
            self.tell(f"{path}:{line}: {what} has not ended yet")
        return limit.due_in_s()


def _set_timer(timer: int, in_s: float | None) -> None:
    """Set a timer of this process, and repeat its signal; unset it for None."""
    signal.setitimer(timer, 0.0 if in_s is None else max(in_s, _SOON_S), REPEAT_S)


_WATCH = _Watch()


def tell_by(tell: Callable[[str], None] | None) -> None:
    """Set what is called, in another thread, with a line on a function that takes longer than `TELL_S`."""
    _WATCH.tell = tell


def end_process(stacks: int) -> None:
    """Have this process ended by `ENDS` where a call stays in compiled code, from the next call on.

    `stacks` is the descriptor of a file, to which the stacks of its threads are written; see `mistake_in`.
    """
    faulthandler.register(ENDS, file=stacks, all_threads=True, chain=True)
    _WATCH.ends_process = True


def mistake_in(stacks: str) -> str:
    """Return the line for a person on a function that stayed in compiled code, from the stacks; or ""."""
    libraries = {sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")}
    place = None
    for file, line, function in main_thread(stacks, 0):
        if file.startswith(_OURS):
            break
        place = file, line, function
        if not file.startswith((*libraries, "<")):
            break
    why = "has not ended in its time, and stays in compiled code; make it shorter, or end its loop"
    return f"{show_path(Path(place[0]))}:{place[1]}: {place[2]}: {why}" if place else ""


@contextmanager
def _nothing_ignored_is_told() -> Iterator[None]:
    """Have Python print nothing of an interrupt that cannot be raised, as in a destructor: it is repeated."""
    tell = sys.unraisablehook

    def tell_others(ignored: sys.UnraisableHookArgs) -> None:
        if not isinstance(ignored.exc_value, _Interrupt):
            tell(ignored)

    sys.unraisablehook = tell_others
    try:
        yield
    finally:
        sys.unraisablehook = tell


@contextmanager
def time_limit(
    cpu_s: float = FUNCTION_CPU_S,
    *,
    wall_s: float | None = None,
    packages: Container[str] = frozenset({PACKAGE}),
    tells: bool = True,
) -> Iterator[None]:
    """Limit the time of what runs below, if that is the main thread; elsewhere nothing is limited.

    Args:
        cpu_s: CPU seconds of the process, and as many by the clock at least.
        wall_s: seconds altogether; `WALL_PER_CPU` times as many if it is left out.
        packages: top packages of the code whose line is told.
        tells: whether a person is told what is waited for.

    Raises:
        TimeIsUpError: the time is up.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    wall_s = WALL_PER_CPU * cpu_s if wall_s is None else wall_s
    limit = _Limit(cpu_s=cpu_s, wall_s=wall_s, packages=packages, tells=tells)
    try:
        try:
            with _nothing_ignored_is_told():
                _WATCH.begin(limit)
                yield
        finally:
            _WATCH.end(limit)
    except _Interrupt as interrupt:
        _WATCH.end(limit)  # the signal may have come just before
        if interrupt.limit is not limit:
            raise
        raise TimeIsUpError(deepest_place(interrupt, packages)) from None


def _stands(packages: Container[str]) -> Place | None:
    """Return where the main thread stands in code of these packages; None if it does not."""
    frame = sys._current_frames().get(threading.main_thread().ident or 0)  # noqa: SLF001 - documented, for debuggers
    while frame is not None:
        if str(frame.f_globals.get("__name__", "")).partition(".")[0] in packages:
            return Path(frame.f_code.co_filename), frame.f_lineno, frame.f_code.co_name
        frame = frame.f_back
    return None
