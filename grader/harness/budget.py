"""The time of one call: its limit, what it used, and how long others kept it waiting."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from grader.harness.endings import ProgramEnd
from grader.machine.quiet import CoreMonitor, tick
from grader.model.observation import Outcome
from grader.subject.check_processes import (
    CHILDREN_SYSTEM_TICKS,
    FLAGS,
    PPID,
    PROCESSOR,
    SYSTEM_TICKS,
    stat_fields,
)

PATIENCE = 10.0
"""However busy others keep the machine, a call takes no more than this many times its limit."""
LEAST_TURN_S = 0.1
"""A program that may go on goes on for so long: what is shorter is not worth another stop."""
LOOKS = 10
"""While nobody else is at work, a program goes on for this part of its limit until the next look."""
LOOK_S = 0.2
AT_WORK = 0.5
"""Others are at work if they use this share of a core, as they do who delay a program by half of its time."""

_KERNEL_THREAD = 0x00200000
"""PF_KTHREAD in the flags of a process, of the kernel's `sched.h`."""
_Answer = TypeVar("_Answer")


@dataclass(slots=True)
class CallBudget:
    """Counts the seconds of one call that may be stopped and continued several times.

    Of its limit a program does not lose what *other* processes kept it waiting for a core. What the kernel
    computes for the program in threads of its own looks like others, but stops when the program does: behind
    the limit a delay counts only where others were at work while the program stood, before or after it. Far
    behind lies a bound on the wall clock; a program that reaches it without having had its time is `starved`
    if others are at work then. None computes for longer than its limit on each of its `cores`.
    """

    within_s: float
    cores: int = 1
    wall_s: float = 0.0
    delay_s: float = 0.0
    cpu_s: float = 0.0
    """0 where the kernel does not tell."""
    _starved: bool = False
    _others: bool = True
    """Whether others were at work before this turn."""

    @property
    def most_s(self) -> float:
        """How much time on the wall clock it has in all, as far as is known now."""
        return min(self.within_s + self.delay_s, PATIENCE * self.within_s)

    @property
    def left_s(self) -> float:
        """How long it may go on."""
        left_s = self.most_s - self.wall_s
        return max(LEAST_TURN_S, left_s if self._others else min(left_s, self.within_s / LOOKS))

    def charge(
        self,
        wall_s: float,
        delay_s: float,
        others_at_work: Callable[[], bool],
        cpu_s: float = 0.0,
        answer_delay_s: float = 0.0,
    ) -> None:
        """It ran for so long, and was kept waiting for so much of that; now it stands, and somebody can look.

        The first turn, in which nearly every call ends, counts as it is. So long waited who answered its
        questions: that delayed it while it neither computed nor waited for a core itself.
        """
        delay_s = min(max(0.0, delay_s), wall_s)
        delay_s += max(0.0, min(answer_delay_s, wall_s - cpu_s - delay_s))
        self.wall_s += wall_s
        self.cpu_s += cpu_s
        if self._others or (delay_s and others_at_work()):
            self.delay_s += delay_s
        if self.wall_s > self.most_s and self.wall_s - self.delay_s < self.within_s:
            self._starved = not self._has_computed and others_at_work()

    @property
    def _has_computed(self) -> bool:
        """Whether it has computed for as long as its limit on every core, however many threads wait."""
        return self.cpu_s > self.cores * self.within_s

    def resume(self, others_at_work: Callable[[], bool]) -> None:
        """It will go on: look before it does."""
        self._others = others_at_work()

    def verdict(self, answer: _Answer | None) -> _Answer | ProgramEnd | None:
        """The answer if it came in time, or that its time is over; None if it may go on."""
        if self.wall_s <= self.most_s and (answer is not None or not self._has_computed):
            return answer
        note = f"did not end within {self.within_s:g} s of its own time"
        return ProgramEnd(outcome=Outcome.TIMED_OUT, note=note, starved=self._starved)


def others_at_work(cores: Collection[int]) -> bool:
    """Whether other processes compute on a program's cores, in the kernel too; all of the program must stand.

    What the kernel does in threads and interrupts of its own does not count: the program may have left it
    some, for as long as this takes.
    """
    watch = CoreMonitor(cores)
    own_s = -os.times().user
    kernel_s = _KernelTime()
    watch.begin()
    time.sleep(max(LOOK_S, 2 * watch.resolution_s / AT_WORK))  # or the kernel's count tells nothing
    own_s += os.times().user
    use = watch.end(own_s).computed(own_s)
    return replace(use, busy_s=use.busy_s + kernel_s.since(cores)).disturbed(AT_WORK) is not False


@dataclass(frozen=True, slots=True)
class _KernelUse:
    """Time that one process spent in the kernel, in ticks, and where."""

    own: int
    children: int
    """Of its children that ended and for which it waited, and of theirs."""
    core: int
    """On which it ran last."""
    parent: int


class _KernelTime:
    """Time that processes spent in the kernel: theirs (/proc/PID/stat), and not that of its own threads.

    It errs upwards: where a child ran that ended meanwhile nobody tells, so it counts.
    """

    def __init__(self) -> None:
        self._before = self._uses()

    def since(self, cores: Collection[int]) -> float:
        """Seconds since this was made, of processes that ran on one of these cores before or last."""
        now = self._uses()
        # what was counted while they lived comes once more in that of the parent that waited for them
        ended_ticks = Counter[int]()
        for pid in self._before.keys() - now.keys():
            for reaper in self._may_reap(pid, now):
                ended_ticks[reaper] += self._before[pid].own + self._before[pid].children
        ticks = 0
        for pid, use in now.items():
            before = self._before.get(pid, _KernelUse(0, 0, use.core, use.parent))
            if {before.core, use.core} & set(cores):
                ticks += max(0, use.own - before.own)
            ticks += max(0, use.children - before.children - ended_ticks[pid])
        return ticks * tick()

    def _may_reap(self, pid: int, now: Collection[int]) -> Iterator[int]:
        """Yield who may have waited for a process that ended: its parent, or after that whoever is above."""
        parent = self._before[pid].parent
        if parent in now:
            yield parent
            return
        passed = {pid}
        while parent in self._before and parent not in passed:  # nobody tells which one did
            passed.add(parent)
            if parent in now:
                yield parent
            parent = self._before[parent].parent

    def _uses(self) -> dict[int, _KernelUse]:
        """Return those of every process but this one, by pid."""
        uses = {}
        for folder in Path("/proc").iterdir():
            if not folder.name.isdigit() or int(folder.name) == os.getpid():
                continue
            fields = stat_fields(str(folder))
            if fields and not int(fields[FLAGS]) & _KERNEL_THREAD:
                places = (SYSTEM_TICKS, CHILDREN_SYSTEM_TICKS, PROCESSOR, PPID)
                uses[int(folder.name)] = _KernelUse(*(int(fields[place]) for place in places))
        return uses
