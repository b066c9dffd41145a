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
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from queue import SimpleQueue

from grader.config.course import Course
from grader.exams import Request, observe_untimed
from grader.machine.cores import Cores
from grader.pipeline import Graded, grade, marked, received
from grader.plugins import Plugins

_ASK_AGAIN_S = 0.1


def grade_all(
    requests: Sequence[Request], course: Course, plugins: Plugins, *, at_once: int, gpus: int
) -> Generator[tuple[int, Graded | Exception], None, None]:
    """Grade hand-ins, of which no two are of one student in one assignment.

    Yields, in the order in which they end, the place of each among the requests, and its mark or why there is
    none. Up to `at_once` exams go on in the first lane. Whoever stops listening ends all of them.
    """
    lanes = _Lanes(requests, course, plugins, gpus)
    for _ in range(at_once):
        lanes.start(lanes.first)
    try:
        for _ in requests:
            yield lanes.ended.get()
    finally:
        lanes.stop()


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
        near = {*second}.union(*map(cores.siblings, second))
        first = frozenset(cores.allowed) - near
        if first or exams == 1:
            return Split(first=first, second=second if first else cores.allowed, exams=exams)
        exams -= 1


class _Lanes:
    """What is left to do, who does it, and who has to wait."""

    def __init__(self, requests: Sequence[Request], course: Course, plugins: Plugins, gpus: int) -> None:
        self.ended: SimpleQueue[tuple[int, Graded | Exception]] = SimpleQueue()
        self._course, self._plugins, self._gpus = course, plugins, gpus
        self._executors = {request.executor for request in requests}
        self._first = deque(enumerate(replace(request, gpus=gpus) for request in requests))
        self._second: deque[tuple[int, Request]] = deque()
        self._running: list[frozenset[int]] = []
        """The cores of each exam of the first lane."""
        self._cores = Cores()
        self._wanted = -1
        self._split = split(self._cores, 0, gpus)
        self._threads: list[threading.Thread] = []
        self._seconds = 0
        """How many of them are in the second lane."""
        self._changed = threading.Condition()
        self._stopped = False

    def start(self, lane: Callable[[], None]) -> None:
        """Have one more thread in a lane."""
        thread = threading.Thread(target=lane)
        self._threads.append(thread)
        thread.start()

    def stop(self) -> None:
        """End what is running, begin nothing more, and wait until all is ended."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        while self._threads:
            self._threads[0].join(_ASK_AGAIN_S)
            if self._threads[0].is_alive():
                for name in self._executors:
                    self._plugins.executors[name].stop()
            else:
                del self._threads[0]

    def first(self) -> None:
        """Take one hand-in after the other, as far as it can be taken here."""
        while (begun := self._begin_first()) is not None:
            number, request, cores = begun
            os.sched_setaffinity(0, cores)  # of this thread, and of the examiners that it starts
            try:
                self._tell(number, request, partial(self._beside, number))
            finally:
                with self._changed:
                    self._running.remove(cores)
                    self._changed.notify_all()

    def second(self) -> None:
        """Take one hand-in after the other of those that want the machine for themselves."""
        while (begun := self._begin_second()) is not None:
            number, request, cores = begun
            os.sched_setaffinity(0, cores)
            self._tell(number, request, partial(grade, course=self._course, plugins=self._plugins))

    def _begin_first(self) -> tuple[int, Request, frozenset[int]] | None:
        with self._changed:
            if self._stopped or not self._first:
                return None
            cores = self._split.first or frozenset(self._cores.allowed)
            self._running.append(cores)
            return *self._first.popleft(), cores

    def _begin_second(self) -> tuple[int, Request, frozenset[int]] | None:
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or self._over or (self._second and self._quiet))
            if self._stopped or not self._second:
                return None
            number, request = self._second.popleft()
            request = replace(request, cores=self._split.second)
            return number, request, self._split.first or frozenset(self._cores.allowed)

    @property
    def _over(self) -> bool:
        """Whether nothing more will come out of the first lane."""
        return not (self._first or self._running)

    @property
    def _quiet(self) -> bool:
        """Whether the first lane keeps off the cores of the second."""
        apart = bool(self._split.first) and all(cores <= self._split.first for cores in self._running)
        return apart or self._over

    def _beside(self, number: int, request: Request) -> Graded | None:
        """The mark, if nothing wants the machine for itself; otherwise what can be observed beside others."""
        with received(request, self._course, self._plugins) as (submission, rubric, results):
            wanted = observe_untimed(request, self._course, self._plugins, submission, rubric, results)
            if wanted is None:
                return marked(request, self._course, self._plugins, submission, rubric, results)
        with self._changed:
            if wanted > self._wanted:
                self._wanted = wanted
                self._split = split(self._cores, wanted, self._gpus)
                ahead = 1 if self._split.first else 0
                while self._seconds < self._split.exams + ahead:
                    self._seconds += 1
                    self.start(self.second)
            self._second.append((number, request))
            self._changed.notify_all()
        return None

    def _tell(self, number: int, request: Request, act: Callable[[Request], Graded | None]) -> None:
        """Grade, and tell how it ended, unless it has not ended yet."""
        try:
            with self._plugins.executors[request.executor].standby():  # it imports while we unpack
                graded = act(request)
        except KeyboardInterrupt:  # we were stopped
            return
        except Exception as error:
            self.ended.put((number, error))
            return
        if graded is not None:
            self.ended.put((number, graded))
