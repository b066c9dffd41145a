"""What a submission may try against the machinery, and that it gains nothing.

Every attack first shows that it works where the defence is missing: in the same child, or as a control.
"""

import time
from pathlib import Path

import numpy as np
import pytest

from grader.contracts.call import InputCase
from grader.model.assignment import Limits
from grader.model.observation import Outcome
from grader.subject.protocol import THAW

# A thread can reach everything in its process: here the sockets and the shared memory of our side.
LOOT = """
    import sys, threading, time, os
    import numpy as np
    def frames():
        for frame in list(sys._current_frames().values()):
            while frame is not None:
                yield frame
                frame = frame.f_back
    def loot(name):
        for frame in frames():
            if frame.f_code.co_name == "serve" and name in frame.f_locals:
                return frame.f_locals[name]
"""


def case(*args) -> InputCase:
    return InputCase(name="a case", args=args)


def test_a_thread_that_wants_the_inputs_early_sees_them_only_when_the_clock_runs(classroom):
    code = (
        LOOT
        + """
    seen = []
    def spy():
        arguments = None
        while arguments is None: arguments = loot("arguments")
        view = np.frombuffer(arguments, np.uint8)
        while not seen:
            if view[:8].tobytes() == b"SECRET!!": seen.append(time.clock_gettime(time.CLOCK_MONOTONIC))
    def prepare(): threading.Thread(target=spy, daemon=True).start(); time.sleep(0.05)
    def when(secret):
        while not seen: time.sleep(0.001)
        return seen[0]
    """
    )
    with classroom.submit(code) as subject:
        subject.call("prepare", case())
        shared_buffer = subject._child.shared_buffer
        shared_buffer.arguments[:8] = b"SECRET!!"
        time.sleep(0.3)  # the worker thinks, or times the other subject of the round
        called = time.clock_gettime(time.CLOCK_MONOTONIC)
        call = subject.call("when", case(np.frombuffer(b"SECRET!!", np.uint8)))
    assert call.value >= called


def test_a_thread_that_fills_in_the_result_late_finds_everything_standing_still(classroom):
    code = (
        LOOT
        + """
    def late():
        results = loot("results")
        def fill():
            for tick in range(10_000_000): np.frombuffer(results, np.uint64)[1000] = tick
        threading.Thread(target=fill, daemon=True).start()
        time.sleep(0.1)
    """
    )
    with classroom.submit(code) as subject:
        assert subject.call("late", case()).outcome is Outcome.OBSERVED
        child = subject._child
        ticks = np.frombuffer(child.shared_buffer.result, np.uint64)
        before = int(ticks[1000])
        assert before > 0, "the attack itself does not work"
        time.sleep(0.2)
        assert int(ticks[1000]) == before
        child._init.send(THAW)  # the control: without the freeze the thread goes on
        deadline = time.monotonic() + 5
        while int(ticks[1000]) == before and time.monotonic() < deadline:
            time.sleep(0.001)
        assert int(ticks[1000]) > before
        del ticks


def test_a_result_that_a_thread_fills_after_the_return_is_what_it_was_at_the_return(any_classroom):
    code = """
        import threading, time
        import numpy as np
        def lazy(n):
            result = np.zeros(n)
            def fill(): time.sleep(0.05); result[:] = 1
            threading.Thread(target=fill).start()
            return result
    """
    with any_classroom.submit(code) as subject:
        assert subject.call("lazy", case(1000)).value.sum() == 0


def test_processes_that_keep_forking_are_brought_to_a_stand_all_of_them(classroom):
    code = (
        LOOT
        + """
    def fork_on():
        ticks = np.frombuffer(loot("results"), np.uint64)
        for lane in range(4):
            if os.fork() == 0:
                while True:
                    ticks[1000 + lane] += 1
                    if os.fork() != 0: os._exit(0)
        time.sleep(0.2)
    """
    )
    with classroom.submit(code) as subject:
        assert subject.call("fork_on", case()).outcome is Outcome.OBSERVED
        ticks = np.frombuffer(subject._child.shared_buffer.result, np.uint64)
        before = ticks[1000:1004].tolist()
        assert min(before) > 0, "the attack itself does not work"
        time.sleep(0.2)
        assert ticks[1000:1004].tolist() == before
        del ticks


def test_a_forged_done_gives_whatever_lies_there_and_confuses_no_later_call(classroom):
    code = (
        LOOT
        + """
    def forge(x):
        calls, request = loot("calls"), loot("request")
        for _ in range(3): calls.send(request.nonce + (0).to_bytes(8, "little") + (64).to_bytes(8, "little"))
        time.sleep(0.1)
        return x + 1
    def honest(x): return x + 1
    """
    )
    with classroom.submit(code) as subject:
        forged = subject.call("forge", case(41))
        assert forged.outcome is Outcome.REFUSED
        assert subject.call("honest", case(1)).value == 2
        assert subject.call("honest", case(2)).value == 3


@pytest.mark.parametrize(
    "document",
    [
        b"[]",
        b"null",
        b'{"value":{"a":[0,"O",[1]]}}',
        b'{"value":{"a":[0,"<f8",[99999999999]]}}',
        b'{"value":{"a":[-8,"<f8",[1]]}}',
        b'{"value":{"a":[0,"<f8",[-1,-1]]}}',
        b'{"value":{"a":[0,"?",[8]]}}',
        b'{"value":{"p":[0,"<i8",1000000000000]}}',
        b'{"value":{"zz":1}}',
        b'{"value":' + b'{"l":[' * 500 + b"]}" * 500 + b"}",
        b'{"value":' + b"[" * 200_000,
        b'{"raised":7}',
        b'{"raised":{"type":"E","text":' + b"[" * 900 + b"]" * 900 + b',"traceback":"","place":""}}',
        b'{"raised":{"type":"E","text":"","traceback":"","place":' + b"[" * 900 + b"]" * 900 + b"}}",
        b'{"refused":[]}',
        b'{"refused":"no_function","names":7}',
        b'{"value":1,"changed":[99]}',
        b'{"value":1,"changed":7}',
        b'{"value":{"i":"zz"}}',
        b'{"value":NaN',
        b"\xff\xfe",
        b"",
    ],
)
def test_no_answer_that_a_child_can_write_harms_the_worker(classroom, document):
    code = (
        LOOT
        + f"""
    def forge():
        calls, request, results = loot("calls"), loot("request"), loot("results")
        document = {document!r}
        results[:len(document)] = document
        results[len(document) + 8] = 2
        calls.send(request.nonce + (0).to_bytes(8, "little") + len(document).to_bytes(8, "little"))
        time.sleep(10)
    """
    )
    with classroom.submit(code) as subject:
        call = subject.call("forge", case())
    assert call.outcome in {Outcome.REFUSED, Outcome.CRASHED}
    assert call.value is None
    # Python 3.12 reads lists that are nested 1497 deep, and fails to write them as text
    assert "[[" not in call.note


def test_the_shared_memory_cannot_be_pulled_away_from_under_the_worker(classroom):
    code = (
        LOOT
        + """
    def shrink():
        tried = []
        try: loot("shared_buffer").resize(4096); tried.append("resize")
        except (OSError, SystemError, ValueError, BufferError): pass
        for name in os.listdir("/proc/self/fd"):
            try: os.ftruncate(int(name), 0); tried.append(name)
            except OSError: pass
        return tried
    """
    )
    with classroom.submit(code) as subject:
        assert subject.call("shrink", case()).value == []
        assert len(bytes(subject._child.shared_buffer.result)) == Limits().result_mb * 2**20


def test_a_child_reaches_no_memory_but_its_own(classroom):
    code = """
        import ctypes, os
        def reach():
            reached = []
            for name in os.listdir("/proc"):
                if not name.isdigit() or int(name) == os.getpid(): continue
                try: os.close(os.open(f"/proc/{name}/mem", os.O_RDWR)); reached.append(f"mem {name}")
                except OSError: pass
                if ctypes.CDLL(None).ptrace(16, int(name), 0, 0) == 0: reached.append(f"ptrace {name}")
                try: os.kill(int(name), 9)
                except OSError: pass
            return reached, sorted(int(n) for n in os.listdir("/proc") if n.isdigit()), os.getpid()
        def still(): return "here"
    """
    with classroom.submit(code) as subject:
        reached, seen, own = subject.call("reach", case()).value
        assert reached == []
        assert seen == [1, own]
        assert subject.call("still", case()).value == "here"


def test_a_child_has_no_right_left_and_no_way_to_more(classroom):
    code = """
        import ctypes, os
        libc = ctypes.CDLL(None)
        def rights():
            status = dict(line.split(":", 1) for line in open("/proc/self/status"))
            tried = [libc.mount(b"none", b"/tmp", b"tmpfs", 0, None), libc.umount2(b"/stage", 2),
                     libc.setuid(0) if os.getuid() else -1]
            return [status[k].strip() for k in ("CapEff", "CapPrm", "CapBnd", "NoNewPrivs")], tried
    """
    with classroom.submit(code) as subject:
        rights, tried = subject.call("rights", case()).value
    assert rights == ["0" * 16, "0" * 16, "0" * 16, "1"]
    assert tried == [-1, -1, -1]


def test_a_child_sees_nothing_of_the_machine_and_cannot_write_where_the_next_one_reads(classroom):
    code = f"""
        import os, socket
        def look():
            found = []
            for path in ("/root/.ssh", "/etc/passwd", "/home", {str(Path.cwd())!r}, "/stage/submission"):
                if os.path.exists(path): found.append(path)
            for path in ("/workspace/left", "/left", "/usr/left", "/python/left", "/stage/left", "/dev/left"):
                try: open(path, "w"); found.append(path)
                except OSError: pass
            try: socket.create_connection(("127.0.0.1", 22), 1); found.append("network")
            except OSError: pass
            return found, sorted(os.environ), len(os.listdir("/proc/self/fd"))
        def leave():
            for path in ("/tmp/left", "/dev/shm/left"): open(path, "w").close()
        def find(): return [p for p in ("/tmp/left", "/dev/shm/left") if os.path.exists(p)]
    """
    with classroom.submit(code) as subject:
        found, environment, fds = subject.call("look", case()).value
        assert found == []
        assert not {name for name in environment if "GRADER" in name or "TOKEN" in name}
        assert fds <= 7  # three standard ones, two pipes, the shared buffer (sealed), the listing itself
        subject.call("leave", case())
        assert subject.call("find", case()).value == ["/tmp/left", "/dev/shm/left"]
    with classroom.submit(code) as subject:
        assert subject.call("find", case()).value == []


def _alive(name: str) -> list[str]:
    """Host pids of the processes that call themselves `name`."""
    found = []
    for comm in Path("/proc").glob("[0-9]*/comm"):
        try:
            if comm.read_text().strip() == name:
                found.append(comm.parent.name)
        except OSError:
            continue
    return found


@pytest.mark.quick(4)
@pytest.mark.parametrize("end", ["it returns", "it dies", "it hangs"])
def test_of_a_daemon_nothing_is_left_when_the_next_check_runs(any_classroom, end):
    name = f"daemon{time.time_ns() % 10**8}"
    last = {"it returns": "pass", "it dies": "os._exit(3)", "it hangs": "time.sleep(60)"}[end]
    code = f"""
        import ctypes, os, time
        def spawn():
            ready, told = os.pipe()
            if os.fork() == 0:
                os.setsid()
                if os.fork() == 0:
                    ctypes.CDLL(None).prctl(15, {name.encode()!r}, 0, 0, 0)
                    os.write(told, b"x")
                    time.sleep(600)
                os._exit(0)
            os.read(ready, 1)
        def finish(): {last}
    """
    with any_classroom.submit(code, Limits(call_wall_s=1.0)) as subject:
        assert subject.call("spawn", case()).outcome is Outcome.OBSERVED
        assert len(_alive(name)) == 1, "the attack itself does not work"
        subject.call("finish", case())
    with any_classroom.submit("def work(): pass") as following:  # a check ends while the next one is set up
        assert following.call("work", case()).outcome is Outcome.OBSERVED
        assert _alive(name) == []


@pytest.mark.slow
def test_a_fork_bomb_stays_in_its_check_and_the_next_one_works(classroom):
    code = """
        import os
        def bomb():
            while True:
                try: os.fork()
                except OSError: pass
        def fine(): return 1
    """
    limits = Limits(call_wall_s=0.5, processes=40)
    with classroom.submit(code, limits) as subject:
        assert subject.call("bomb", case()).outcome is not Outcome.OBSERVED
    with classroom.submit(code, limits) as subject:
        assert subject.call("fine", case()).value == 1
