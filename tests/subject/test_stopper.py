"""Two looks prove a stand; what came between them, however short its life, disproves it."""

import os
import signal
import time

from grader.subject.stopper import SignalStopper

SOON_NS = 10**9


class ChainedProcesses:
    """One process that stands, and until `ends` looks were taken a new one that has ended at each look."""

    def __init__(self, ends: int) -> None:
        self.looks = 0
        self._ends = ends
        self._ended: list[int] = []

    def members(self) -> set[int]:
        self.looks += 1
        if self.looks <= self._ends:
            self._ended.append(ended())
        return set(self._ended)

    def signal(self, number: signal.Signals) -> None:
        pass

    def reap(self) -> None:
        for pid in self._ended:
            os.waitpid(pid, 0)


def ended() -> int:
    """A process that has ended and was not reaped: its threads stand, and its clock does not move."""
    pid = os.posix_spawn("/bin/true", ["true"], {})
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    return pid


def test_processes_that_end_while_they_are_looked_at_are_no_stand():
    processes = ChainedProcesses(ends=4)
    stopped = SignalStopper(processes).stop(time.perf_counter_ns() + 60 * SOON_NS)
    processes.reap()
    assert stopped is not None
    assert processes.looks >= 5, "it was taken for standing while a process came at every look"


def test_processes_that_keep_ending_never_stand():
    processes = ChainedProcesses(ends=10**6)
    assert SignalStopper(processes).stop(time.perf_counter_ns() + SOON_NS // 10) is None
    processes.reap()
