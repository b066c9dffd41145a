"""Everything is brought to a stand; time is counted until it stands; who hinders that has itself to blame."""

import os
import select
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from grader.contracts.call import Call, InputCase, Run
from grader.errors import NotObservedError
from grader.harness.budget import PATIENCE, others_at_work
from grader.harness.reference_control import ReferenceControl
from grader.machine.freezer import new_freezer
from grader.model.assignment import Limits
from grader.model.observation import Outcome
from grader.subject import protocol
from grader.subject.protocol import THAW
from tests.harness.test_attacks import LOOT


@pytest.fixture(params=["signals", "cgroup"], autouse=True)
def _stopped_by(request, monkeypatch):
    """Each way to stop a program, where the machine has it."""
    if request.param == "signals":
        monkeypatch.setattr("grader.harness.student_process.new_freezer", lambda: None)
    elif (freezer := new_freezer()) is None:
        pytest.skip("no cgroup v2 may be made here")
    else:
        freezer.close()


pytestmark = pytest.mark.covering
SHORT = Limits(call_wall_s=1.0, import_wall_s=10.0)
RETURNED = Run(call=Call(outcome=Outcome.OBSERVED), output="")


def case(*args) -> InputCase:
    return InputCase(name="a case", args=args)


# --- honest programs with threads and processes of their own

HONEST = {
    "a thread that runs commands": """
        import subprocess, threading
        def shell():
            while True: subprocess.run(["/bin/true"])
        threading.Thread(target=shell, daemon=True).start()
        def double(x): return 2 * x
    """,
    "a pool of threads that goes on": """
        from concurrent.futures import ThreadPoolExecutor
        pool = ThreadPoolExecutor(4)
        def spin():
            while True: sum(range(1000))
        for _ in range(4): pool.submit(spin)
        def double(x): return 2 * x
    """,
    "a pool of processes that stays open": """
        import multiprocessing
        def twice(x): return 2 * x
        pool = multiprocessing.get_context("fork").Pool(2)
        def double(x): return pool.apply(twice, (x,))
    """,
    "a child inside vfork": """
        import ctypes, subprocess, threading
        # the parent's thread is held inside vfork until the child has become another program
        command = ["/bin/sh", "-c", "sleep 60"]
        threading.Thread(target=subprocess.run, args=(command,), daemon=True).start()
        def double(x): return 2 * x
    """,
}


@pytest.mark.parametrize("code", HONEST.values(), ids=HONEST)
def test_an_honest_program_with_threads_or_processes_is_called_like_any_other(classroom, code):
    with classroom.submit(code) as subject:
        assert subject.imported.outcome is Outcome.OBSERVED, subject.imported.note
        assert [subject.call("double", case(n)).value for n in range(20)] == [2 * n for n in range(20)]


# --- what keeps the stop from completing


def test_a_thread_held_in_vfork_stands_and_nothing_of_the_program_runs_then(classroom):
    code = (
        LOOT
        + """
    import ctypes
    def work_on():
        ticks = np.frombuffer(loot("results"), np.uint64)
        def hold():
            ctypes.CDLL(None).syscall(56, 0x4000 | 0x100 | 17, 0, 0, 0, 0) or time.sleep(60)
        threading.Thread(target=hold, daemon=True).start()
        def fill():
            while True: ticks[1000] += 1
        threading.Thread(target=fill, daemon=True).start()
        time.sleep(0.2)
    """
    )
    with classroom.submit(code) as subject:
        call = subject.call("work_on", case())
        assert call.outcome in (Outcome.OBSERVED, Outcome.CRASHED), call.note
        if call.outcome is Outcome.OBSERVED:
            ticks = np.frombuffer(subject._child.shared_buffer.result, np.uint64)
            before = int(ticks[1000])
            time.sleep(0.2)
            assert int(ticks[1000]) == before > 0
            del ticks


def test_work_behind_the_answer_is_on_the_clock(classroom):
    """Many threads take their time to stop: what they compute until then is counted."""
    code = (
        LOOT
        + """
    def answer_first(x):
        calls, request, results = loot("calls"), loot("request"), loot("results")
        def work():
            until = time.perf_counter() + 0.02
            while time.perf_counter() < until: pass
        threads = [threading.Thread(target=work, daemon=True) for _ in range(40)]
        for thread in threads: thread.start()
        return x
    """
    )
    with classroom.submit(code) as subject:
        call = subject.call("answer_first", case(1))
    assert call.outcome is Outcome.OBSERVED
    assert call.freeze_s > 0
    assert call.wall_s > call.freeze_s


NEVER_STANDS = """
    import os, threading
    def storm():
        # processes that are born faster than they can be stopped
        def bear():
            while True: os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
        for _ in range(40): threading.Thread(target=bear, daemon=True).start()
    def double(x):
        storm()
        return 2 * x
"""


@pytest.mark.quick(1)
def test_a_storm_of_processes_ends_in_an_outcome_of_the_program(classroom):
    with classroom.submit(NEVER_STANDS, SHORT) as subject:
        call = subject.call("double", case(2))
    assert call.outcome in (Outcome.OBSERVED, Outcome.TIMED_OUT, Outcome.CRASHED)


# --- what breaks the wire

BROKEN = {
    "no requests": "os.close(loot('calls').reading)",
    "no replies": "os.close(loot('calls').writing)",
    "closed": "loot('calls').close()",
    "all closed": "os.closerange(0, 256)",
    "replaced": "os.dup2(os.open('/dev/null', os.O_RDWR), loot('calls').writing)",
    "nobody to read": "os.dup2(os.pipe()[1], loot('calls').writing)",
    "exchanged": "os.dup2(loot('calls').writing, loot('calls').reading)",
    "not to wait": "[os.set_blocking(end, False) for end in vars(loot('calls')).values()]",
    "no packets": "fcntl.fcntl(loot('calls').writing, fcntl.F_SETFL, 0)",
    "filled": "fill(loot('calls').writing)",
    "opened anew": "os.write(os.open(f'/proc/self/fd/{loot('calls').reading}', os.O_WRONLY), b'x' * 65536)",
    "stolen": "steal(os.open(f'/proc/self/fd/{loot('calls').writing}', os.O_RDONLY))",
    "junk": "[loot('calls').send(os.urandom(500)) for _ in range(50)]",
    "endless junk": "threading.Thread(target=list, args=[map(loot('calls').send, [b'x'] * 10**6)]).start()",
    "stopped": "os.kill(os.getpid(), 19)",
    "killed": "os.kill(os.getpid(), 9)",
    "gone": "os._exit(0)",
    "another program": "os.execv('/bin/sleep', ['sleep', '100'])",
}


STEAL = """
    import fcntl
    def steal(end):
        def read():
            while True: os.read(end, 4096)
        for _ in range(8): threading.Thread(target=read, daemon=True).start()
    def fill(end):
        os.set_blocking(end, False)
        try:
            while True: os.write(end, b"x" * 4096)
        except BlockingIOError: pass
"""


@pytest.mark.parametrize("act", BROKEN.values(), ids=BROKEN)
def test_a_program_that_breaks_the_wire_has_itself_to_blame(any_classroom, act):
    """Neither an exception of ours nor an open item, at once or with the next call (it used to hang, too)."""
    code = LOOT + f"\n    def act(): {act}\n    def double(x): return 2 * x\n" + STEAL
    with any_classroom.submit(code, SHORT) as subject:
        calls = [subject.call("act", case()), subject.call("double", case(21))]
    for call in calls:
        assert call.outcome is not Outcome.NOT_OBSERVED
        if call.outcome is Outcome.OBSERVED:  # junk is thrown away
            assert call.value in (None, 42) or "[" in act
        else:
            assert call.note
            assert "Errno" not in call.note
            assert "pipe" not in call.note.lower()


def test_a_program_that_kills_everybody_has_itself_to_blame(classroom):
    """Only in a pid namespace: elsewhere it would be everybody on the machine."""
    with classroom.submit("def act():\n    import os; os.kill(-1, 9)") as subject:
        assert subject.call("act", case()).outcome in (Outcome.CRASHED, Outcome.OBSERVED)


def test_a_program_that_kills_itself_has_not_run_out_of_memory(any_classroom):
    with any_classroom.submit("def die():\n    import os; os.kill(os.getpid(), 9)") as subject:
        call = subject.call("die", case())
    assert call.outcome is Outcome.CRASHED
    assert "memory" not in call.note


def test_what_the_machine_ended_for_want_of_memory_is_not_the_programs_doing(classroom, monkeypatch):
    monkeypatch.setattr("grader.harness.student_process.oom_kills", lambda: 0)
    with classroom.submit("def die():\n    import os; os.kill(os.getpid(), 9)") as subject:
        monkeypatch.setattr("grader.harness.endings.oom_kills", lambda: 1)
        with pytest.raises(NotObservedError, match="out of memory"):
            subject.call("die", case())


def test_a_program_has_no_socket_through_which_it_could_send_us_a_file(any_classroom):
    """Whoever takes a message closes the file that came with it: one with SO_LINGER held us for 40 s."""
    code = """
        import os, stat
        def sockets():
            names = [name for name in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{name}")]
            return [name for name in names if stat.S_ISSOCK(os.fstat(int(name)).st_mode)]
    """
    with any_classroom.submit(code) as subject:
        assert subject.call("sockets", case()).value == []


def test_the_last_words_of_pid_1_are_read_though_it_left_ours_unread(classroom):
    """The kernel tells of that first, as a connection that was reset."""
    with classroom.submit("x = 1") as subject:
        child = subject._child
        child._say(THAW)
        child._calls.send(b"nothing that is a request")  # the program's process ends itself
        assert select.select([child._init], [], [], 10)[0]
        child._say(THAW)
        assert select.select([child._init_pidfd], [], [], 20)[0]
        assert protocol.EndMessage.read(child._word(1.0)) is not None


# --- limits of time on a busy machine


WORK = {
    "in programs": "while True: pass",
    "in the kernel": "zeros = os.open('/dev/zero', os.O_RDONLY)\nwhile True: os.read(zeros, 2**20)",
}


@contextmanager
def burning(core: int, processes: int, work: str = WORK["in programs"]):
    """Other programs that want the same core."""
    code = f"import os; os.sched_setaffinity(0, [{core}])\n{work}"
    others = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(processes)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


COMPUTE = """
    import time
    def compute(cpu_s):
        until = time.process_time() + cpu_s
        while time.process_time() < until: pass
        return cpu_s
"""


@pytest.mark.quick(2)
@pytest.mark.parametrize("work", WORK.values(), ids=WORK)
def test_waiting_for_a_core_that_others_use_is_not_counted(classroom, work):
    with classroom.submit(COMPUTE, SHORT, cores=(0,)) as subject, burning(0, 4, work):
        call = subject.call("compute", case(0.7))
    assert call.outcome is Outcome.OBSERVED, call.note
    assert call.wall_s > SHORT.call_wall_s, "the others did not disturb it"


@pytest.mark.quick(1)
def test_a_process_that_ends_hides_nothing_that_others_do_in_the_kernel(monkeypatch):
    """What it took until then is told of nobody any more: not of its parent either, which is ourselves."""
    code = "import os\nwhile os.times().system < 0.5: os.urandom(2**20)\nprint(flush=True)\nwhile True: pass"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as ending:
        ending.stdout.readline()

        def sleep_and_see_it_end(seconds, sleep=time.sleep):
            ending.kill()
            ending.wait()
            sleep(seconds)

        with burning(0, 1, WORK["in the kernel"]):
            monkeypatch.setattr(time, "sleep", sleep_and_see_it_end)
            assert others_at_work((0,))


@pytest.mark.quick(1)
def test_waiting_for_an_answer_that_others_delay_is_not_counted(classroom):
    def answer(cpu_s):
        os.sched_setaffinity(0, {0})
        until = time.process_time() + cpu_s
        while time.process_time() < until:
            pass
        return cpu_s

    code = "def ask(answer, s): return answer(s)"
    with classroom.submit(code, SHORT, cores=(0,)) as subject, burning(0, 1):
        call = subject.call("ask", case(answer, 0.7))
    assert (call.outcome, call.value) == (Outcome.OBSERVED, 0.7), call.note
    assert call.wall_s > SHORT.call_wall_s, "the others did not disturb it"


@pytest.mark.quick(1)
def test_computing_for_longer_than_the_limit_is_counted_on_a_busy_machine_too(classroom):
    with classroom.submit(COMPUTE, SHORT, cores=(0,)) as subject, burning(0, 2):
        call = subject.call("compute", case(60.0))
    assert call.outcome is Outcome.TIMED_OUT
    assert call.wall_s < PATIENCE * SHORT.call_wall_s


@pytest.mark.quick(1)
def test_a_program_that_sleeps_gets_no_time_from_a_busy_machine(classroom):
    code = "import time\ndef sleep(s): time.sleep(s)"
    with classroom.submit(code, SHORT, cores=(0,)) as subject, burning(0, 2):
        call = subject.call("sleep", case(60.0))
    assert call.outcome is Outcome.TIMED_OUT
    assert call.wall_s < PATIENCE * SHORT.call_wall_s


@pytest.mark.quick(1)
def test_threads_of_its_own_are_no_busy_machine(classroom):
    code = """
        import threading, time
        def crowd():
            def spin():
                while True: pass
            for _ in range(50): threading.Thread(target=spin, daemon=True).start()
            time.sleep(60)
    """
    with classroom.submit(code, SHORT, cores=(0,)) as subject:
        call = subject.call("crowd", case())
    assert call.outcome is Outcome.TIMED_OUT
    assert call.wall_s < PATIENCE * SHORT.call_wall_s


def starves(monkeypatch, *, others: bool) -> None:
    """End the calls of a program behind their limit on the wall, when others kept it from all of its time."""
    monkeypatch.setattr("grader.harness.student_process.others_at_work", lambda cores: others)
    monkeypatch.setattr("grader.harness.budget.PATIENCE", 0.0)


def test_a_machine_that_others_use_is_to_blame_for_a_starved_program_though_the_reference_ends(
    classroom, monkeypatch
):
    with classroom.submit("def work(): 1 / 0", SHORT) as subject:
        subject._reference = ReferenceControl(lambda requests: RETURNED, Path())
        starves(monkeypatch, others=True)
        with pytest.raises(NotObservedError, match="the machine is too busy"):
            subject.call("work", case())


def test_a_program_that_starved_where_nobody_else_computes_has_itself_to_blame(classroom, monkeypatch):
    with classroom.submit("def work(): 1 / 0", SHORT) as subject:
        subject._reference = ReferenceControl(lambda requests: RETURNED, Path())
        starves(monkeypatch, others=False)
        assert subject.call("work", case()).outcome is Outcome.TIMED_OUT


def test_a_program_cannot_let_others_go_first_and_look_starved(any_classroom):
    code = """
        import os
        def yields():
            os.nice(19)
            os.setpriority(os.PRIO_PROCESS, 0, 19)
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
            return os.getpriority(os.PRIO_PROCESS, 0), os.sched_getscheduler(0)
    """
    with any_classroom.submit(code) as subject:
        assert subject.call("yields", case()).value == (os.getpriority(os.PRIO_PROCESS, 0), 0)


# --- the CPU time of all of a program's processes

COMPUTES_FOR = """
    import os, signal, sys, threading, time
    def compute(clock=time.process_time, cpu_s=0.3):
        until = clock() + cpu_s
        while clock() < until: pass
    def forked(work):
        child = os.fork()
        if child == 0:
            try: work()
            finally: os._exit(0)
        return child
    def said_by(work):
        reading, writing = os.pipe()
        child = forked(lambda: work(writing))
        os.close(writing)
        os.read(reading, 1)  # it has ended, or said so
        return child
    def stay(writing):
        os.write(writing, b"0")
        signal.pause()
"""

BESIDE = {
    "a child that it waited for": "os.waitpid(forked(compute), 0)",
    "children of a child": "os.waitpid(forked(lambda: os.waitpid(forked(compute), 0)), 0)",
    "a thread": "t = threading.Thread(target=compute, args=(time.thread_time,)); t.start(); t.join()",
    "an orphan in a session of its own": "said_by(lambda end: forked(lambda: (os.setsid(), compute())))",
    "a polite child that stays": "said_by(lambda end: (os.nice(19), compute(), stay(end)))",
}


@pytest.mark.parametrize("work", BESIDE.values(), ids=BESIDE)
def test_the_cpu_time_of_a_call_is_that_of_all_processes_of_the_program(classroom, work):
    code = f"{COMPUTES_FOR}\n    def f():\n        {work}"
    with classroom.submit(code) as subject:
        call = subject.call("f", case())
    assert call.outcome is Outcome.OBSERVED, call.note
    assert call.cpu_s >= 0.28  # ticks of 10 ms are lost where the kernel counts in them


def test_the_cpu_time_of_a_call_is_not_that_of_an_earlier_one(classroom):
    """A child that is waited for hands over all that it ever computed."""
    code = f"""
    {COMPUTES_FOR}
    def before():
        global child
        child = said_by(lambda end: (compute(), stay(end)))
    def f():
        os.kill(child, signal.SIGTERM)
        os.waitpid(child, 0)
    """
    with classroom.submit(code) as subject:
        before, call = subject.call("before", case()), subject.call("f", case())
    assert before.outcome is call.outcome is Outcome.OBSERVED, before.note + call.note
    assert before.cpu_s >= 0.28
    assert call.cpu_s < 0.15


def test_a_process_left_beside_a_call_computes_only_while_a_call_runs(classroom):
    code = f"""
    {COMPUTES_FOR}
    def before(): forked(lambda: compute(cpu_s=60))
    def f(): pass
    """
    with classroom.submit(code) as subject:
        before = subject.call("before", case())
        until = time.process_time() + 0.3
        while time.process_time() < until:
            pass
        call = subject.call("f", case())
    assert before.outcome is call.outcome is Outcome.OBSERVED, before.note + call.note
    assert call.cpu_s < 0.3, "it computed between the calls"
