"""Many hand-ins side by side, in two lanes.

The first lane takes whatever may go on beside other exams, on all cores. What is timed, or needs a GPU, waits
for the second lane, where an exam has cores and GPUs for itself. Where there are cores enough, the first lane
keeps off those of the second, and there the next exam gets ready while one is timed: it waits for its lease
with its servers started. Otherwise the second lane begins when the first has ended.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from queue import SimpleQueue

from grader.config.course import Course
from grader.errors import NotObservedError
from grader.exams import Request, observe_untimed
from grader.machine.cores import Cores
from grader.pipeline import Graded, grade, marked, received
from grader.plugins import Plugins
from grader.results import passing

_ASK_AGAIN_S = 0.1


def grade_all(
    requests: Sequence[Request], course: Course, plugins: Plugins, *, at_once: int, gpus: int
) -> Generator[tuple[int, Graded | Exception], None, None]:
    """Grade hand-ins, of which no two are of one student in one assignment.

    Yields, in the order in which they end, the place of each among the requests, and its mark or why there is
    none. Up to `at_once` exams go on in the first lane. Whoever stops listening ends all of them.
    """
    with passing(requests[0].out) as stage:
        lanes = _Lanes([replace(request, gpus=gpus, stage=stage) for request in requests], course, plugins)
        for _ in range(at_once):
            lanes.start(Lane.FIRST)
        try:
            for _ in requests:
                yield lanes.result()
        except BaseException:
            lanes.stop()
            raise
        lanes.join()


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Which cores each lane has."""

    first: frozenset[int]
    """Empty if the second lane needs all."""
    second: tuple[int, ...]
    exams: int
    """How many the second lane has room for."""


def split(cores: Cores, wanted: int, gpus: int) -> Split:
    """Cores for exams whose timed items want so many each, and one more for the examiner; and those beside.

    Hardware threads beside a timed one are nobody's. `wanted` is 0 if nothing is timed.
    """
    exams = max(1, gpus)
    if not wanted:
        return Split(first=frozenset(cores.allowed), second=cores.allowed, exams=exams)
    while True:
        count = exams * (wanted + 1)
        second = cores.pick(count)[:count]
        first = cores.apart(second)
        if first or exams == 1:
            return Split(first=first, second=second if first else cores.allowed, exams=exams)
        exams -= 1


class Lane(Enum):
    """Where a thread works."""

    FIRST = 1
    SECOND = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class _Turn:
    """What a thread does next."""

    number: int
    request: Request
    cores: frozenset[int]
    """Where the thread, and what it starts, may run."""


class _Lanes:
    """What is left to do, who does it, and who has to wait."""

    def __init__(self, requests: Sequence[Request], course: Course, plugins: Plugins) -> None:
        self._course, self._plugins = course, plugins
        self._executor = plugins.executors[requests[0].executor]
        self._gpus = requests[0].gpus
        self._ended: SimpleQueue[tuple[int, Graded | Exception]] = SimpleQueue()
        self._first = deque(enumerate(requests))
        self._second: deque[tuple[int, Request]] = deque()
        self._running: list[_Turn] = []
        """The exams of the first lane."""
        self._cores = Cores()
        self._wanted = -1
        self._split = split(self._cores, 0, self._gpus)
        self._threads: list[threading.Thread] = []
        self._seconds = 0
        """How many of them are in the second lane."""
        self._changed = threading.Condition()
        self._stopped = False

    def start(self, lane: Lane) -> None:
        """Have one more thread in a lane."""
        thread = threading.Thread(target=self._work, args=(lane,))
        self._threads.append(thread)
        thread.start()

    def result(self) -> tuple[int, Graded | Exception]:
        """The next hand-in that ended; waits for it."""
        number, result = self._ended.get()
        if number < 0 and isinstance(result, Exception):  # of no hand-in: a thread of ours broke
            raise result
        return number, result

    def join(self) -> None:
        """Wait until all threads have let go of what they have; nothing is left to do."""
        for thread in self._threads:
            thread.join()

    def stop(self) -> None:
        """End what is running, begin nothing more, and wait until all is ended."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        for thread in self._threads:
            while thread.is_alive():
                self._executor.stop()  # again and again: one may just have been started
                thread.join(_ASK_AGAIN_S)

    def _work(self, lane: Lane) -> None:
        """Take one hand-in after the other; an examiner is kept as long as the cores are the same."""
        next_turn = self._next_first if lane is Lane.FIRST else self._next_second
        try:
            turn = next_turn()
            while turn is not None:
                cores = turn.cores
                os.sched_setaffinity(0, cores)  # of this thread, and of the examiners that it starts
                with self._executor.standby():
                    while turn is not None and turn.cores == cores:
                        self._take(turn, lane)
                        turn = next_turn()
        except Exception as error:
            self._ended.put((-1, error))

    def _next_first(self) -> _Turn | None:
        with self._changed:
            if self._stopped or not self._first:
                return None
            number, request = self._first.popleft()
            turn = _Turn(number=number, request=request, cores=self._beside)
            self._running.append(turn)
            return turn

    def _next_second(self) -> _Turn | None:
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or self._over or (self._second and self._quiet))
            if self._stopped or not self._second:
                return None
            number, request = self._second.popleft()
            request = replace(request, cores=self._split.second)
            return _Turn(number=number, request=request, cores=self._beside)

    @property
    def _beside(self) -> frozenset[int]:
        """The cores on which nothing is timed; all of them if there are none such."""
        return self._split.first or frozenset(self._cores.allowed)

    @property
    def _over(self) -> bool:
        """Whether nothing more will come out of the first lane."""
        return not (self._first or self._running)

    @property
    def _quiet(self) -> bool:
        """Whether the first lane keeps off the cores of the second."""
        apart = self._split.first and all(turn.cores <= self._split.first for turn in self._running)
        return bool(apart) or self._over

    def _take(self, turn: _Turn, lane: Lane) -> None:
        """Grade one hand-in, and tell how it ended, unless it goes on in the second lane."""
        result: Graded | Exception | None
        try:
            if lane is Lane.FIRST:
                result = self._as_far_as_possible(turn)
            else:
                result = grade(turn.request, self._course, self._plugins)
        except KeyboardInterrupt:
            result = NotObservedError("stopped")  # and nobody listens any more
        except Exception as error:
            result = error
        finally:
            with self._changed:
                if lane is Lane.FIRST:
                    self._running.remove(turn)
                self._changed.notify_all()
        if result is not None:
            self._ended.put((turn.number, result))

    def _as_far_as_possible(self, turn: _Turn) -> Graded | None:
        """The mark; None if something of it wants the machine for itself, and then the rest was observed."""
        request, course, plugins = turn.request, self._course, self._plugins
        with received(request, course, plugins) as hand_in:
            rest = observe_untimed(request, course, plugins, hand_in)
            if rest is None:
                return marked(request, course, plugins, hand_in)
        with self._changed:
            if rest.cores > self._wanted:
                self._wanted = rest.cores
                self._split = split(self._cores, rest.cores, self._gpus)
                ahead = 1 if self._split.first else 0
                while self._seconds < self._split.exams + ahead:
                    self._seconds += 1
                    self.start(Lane.SECOND)
            self._second.append((turn.number, rest.request))
            self._changed.notify_all()
        return None
