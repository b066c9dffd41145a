"""What others did on watched cores: fake kernels that count as they are told, and once the real one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from grader.machine.cores import Cores
from grader.machine.quiet import CoreMonitor, Readings, load_1min, readings, switches, tick

STAT = """cpu  99 99 99 99 99 99 99 99 99 99
cpu0 1 2 3 1000 500 4 5 6 7 8
cpu12 100 0 0 0 0 0 0 0 100 0
intr 1 2 3
ctxt 5
"""

BURN = """
import os, time
os.sched_setaffinity(0, {int(os.environ["CORE"])})
while time.process_time() < 0.5:
    pass
"""


class Kernel:
    """A folder like /proc of a machine of two cores, sibling to each other, with a clock of its own."""

    def __init__(self, proc: Path):
        self.proc, self.now = proc, 100.0
        (proc / "loadavg").write_text("1.50 0.70 0.20 2/345 6789\n")
        self.count()

    def count(self, user=(0, 0), system=(0, 0), steal=(0, 0), wall_s=0.0):
        """What was counted up to now, in ticks."""
        lines = [f"cpu{n} {user[n]} 0 {system[n]} 0 0 1 2 {steal[n]} 0 0" for n in (0, 1)]
        (self.proc / "stat").write_text("\n".join(lines))
        self.now = 100.0 + wall_s

    def threads(self, *counts, pid=7):
        for number, count in enumerate(counts):
            (folder := self.proc / str(pid) / "task" / str(number)).mkdir(parents=True, exist_ok=True)
            text = f"Name:\tx\nvoluntary_ctxt_switches:\t9\nnonvoluntary_ctxt_switches:\t{count}\n"
            (folder / "status").write_text(text)

    def watch(self, cores=(0,), pids=(), siblings=True):
        topology = Cores([0, 1], self.proc)
        for n in (0, 1) if siblings else ():
            (folder := self.proc / f"cpu{n}" / "topology").mkdir(parents=True)
            (folder / "thread_siblings_list").write_text("0-1")
        watch = CoreMonitor(cores, topology=topology, pids=pids, proc=self.proc, clock=lambda: self.now)
        watch.begin()
        return watch


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "sysconf", {"SC_CLK_TCK": 100}.__getitem__)
    return Kernel(tmp_path)


def test_all_but_idling_waiting_and_what_guests_count_twice_is_busy():
    seen = Readings.parse(STAT, 0.01)
    assert seen.busy_s == pytest.approx({0: 0.21, 12: 1.0})
    assert seen.steal_s == pytest.approx({0: 0.06, 12: 0.0})


def test_what_we_did_ourselves_disturbs_nobody(kernel):
    watch = kernel.watch()
    kernel.count(user=(100, 0), wall_s=1.0)
    seen = watch.end(own_cpu_s=0.99)
    assert (seen.wall_s, seen.others_s, seen.share, seen.disturbed()) == (1.0, 0.0, 0.0, False)


@pytest.mark.parametrize("where", [(140, 0), (100, 40)], ids=["on the core", "on its sibling"])
def test_what_others_did_on_a_core_or_its_sibling_is_a_share_of_the_wall_time(kernel, where):
    watch = kernel.watch()
    kernel.count(user=where, wall_s=2.0)
    seen = watch.end(own_cpu_s=1.0)
    assert (seen.others_s, seen.share) == (pytest.approx(0.4), pytest.approx(0.2))
    assert seen.disturbed() is True
    assert seen.disturbed(limit=0.5) is False


def test_a_core_that_is_no_sibling_is_not_watched(kernel):
    watch = kernel.watch(siblings=False)
    kernel.count(user=(100, 100), wall_s=1.0)
    assert watch.end(own_cpu_s=1.0).disturbed() is False


def test_time_that_the_hypervisor_gave_to_others_counts(kernel):
    watch = kernel.watch()
    kernel.count(user=(70, 0), steal=(30, 0), wall_s=1.0)
    seen = watch.end(own_cpu_s=0.7)
    assert (seen.steal_s, seen.share, seen.disturbed()) == (pytest.approx(0.3), pytest.approx(0.3), True)


def test_what_the_kernel_worked_can_be_left_out(kernel):
    watch = kernel.watch()
    kernel.count(user=(10, 0), system=(80, 0), steal=(20, 0), wall_s=1.0)
    seen = watch.end(own_cpu_s=0.2)
    assert (seen.kernel_s, seen.others_s) == (pytest.approx(0.8), pytest.approx(0.9))
    assert seen.computed(0.05).others_s == pytest.approx(0.25)
    assert (seen.disturbed(0.5), seen.computed(0.05).disturbed(0.5)) == (True, False)


def test_one_tick_is_nothing_and_an_interval_of_a_few_ticks_is_unknown(kernel):
    watch = kernel.watch()
    kernel.count(user=(2, 0), wall_s=0.01)
    seen = watch.end(own_cpu_s=0.01)
    assert (seen.others_s, seen.disturbed()) == (0.0, None)


def test_even_in_a_short_interval_a_crowd_is_seen(kernel):
    watch = kernel.watch()
    kernel.count(user=(5, 5), wall_s=0.05)
    assert watch.end(own_cpu_s=0.05).disturbed() is True


def test_a_watch_that_stays_open_over_many_short_calls_can_tell(kernel):
    watch = kernel.watch()
    kernel.count(user=(1, 0), wall_s=0.01)
    assert watch.end(own_cpu_s=0.01).disturbed() is None
    kernel.count(user=(80, 0), wall_s=1.0)
    assert watch.end(own_cpu_s=0.8).disturbed() is False


def test_a_kernel_that_counts_less_than_we_spent_is_not_believed(kernel):
    watch = kernel.watch()
    kernel.count(user=(0, 0), wall_s=1.0)
    assert watch.end(own_cpu_s=0.9).disturbed() is None


def test_involuntary_switches_are_summed_over_the_threads_that_live(kernel):
    kernel.threads(3, 4)
    watch = kernel.watch(pids=[7, 8])
    kernel.threads(5, 4, 1)
    seen = watch.end(own_cpu_s=0.0)
    assert (seen.involuntary, seen.load_1min) == (3, 1.5)


def test_of_a_process_that_is_gone_nothing_is_known(kernel):
    assert switches(7, kernel.proc) is None
    assert kernel.watch(pids=[7]).end(own_cpu_s=0.0).involuntary is None
    assert switches(os.getpid()) is not None


def test_a_watch_that_never_began_cannot_end(kernel):
    with pytest.raises(RuntimeError):
        CoreMonitor([0], topology=Cores([0], kernel.proc)).end(0.0)


def test_this_kernel_counts_what_another_process_does_on_a_core_that_we_watch():
    core = min(os.sched_getaffinity(0))
    watch = CoreMonitor([core])
    watch.begin()
    # it ends when it has had half a second of processor time, however long that takes
    subprocess.run([sys.executable, "-c", BURN], check=True, env=os.environ | {"CORE": str(core)})
    seen = watch.end(own_cpu_s=0.0)
    assert seen.others_s > 0.3
    assert seen.share > 0
    assert core in readings().busy_s
    assert tick() > 0
    assert load_1min() >= 0
