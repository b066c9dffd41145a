"""A device computes on while its program stands: only what was there when the clock ended is a result."""

import os
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest

from grader.contracts.call import InputCase
from grader.contracts.context import SUBMISSION
from grader.harness.results import Copy
from grader.harness.server import SubjectServer
from grader.harness.server_spec import DeviceGrant
from grader.harness.student_process import StudentProcess
from grader.harness.subject import ChildSubject
from grader.model.assignment import Limits
from grader.model.observation import Outcome
from grader.sandbox.bubblewrap import BubblewrapSandbox
from grader.sandbox.interpreter import interpreter
from grader.subject.protocol import Reply

LIMITS = Limits(call_wall_s=5.0)
PLAYED = ("/dev/null",)
"""What counts is that a device is shown, not which."""
CODE = """
    import mmap
    import os
    import numpy as np
    def blank(x): return np.full_like(x, -1)
    def double(x): return 2 * x
    def size(n): return np.full(n, n)
    def only_up_to(n):
        if n > 2: raise ValueError(n)
        return n
    taken = []
    def take(size):
        taken.append(mmap.mmap(-1, size))
        for _ in range(size >> 20): taken[0].write(b"x" * 2**20)
    def leave_at(n):
        if n == 2: os._exit(3)
        return n
"""


def case(*args) -> InputCase:
    return InputCase(name="a case", args=args)


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[SubjectServer]:
    if missing := BubblewrapSandbox().available():
        pytest.skip(missing)
    workspace = tmp_path_factory.mktemp("workspace")
    workspace.chmod(0o755)
    (workspace / "work.py").write_text(dedent(CODE))
    server = SubjectServer(
        BubblewrapSandbox(),
        python=interpreter().executable,
        site=interpreter().site,
        setup=DeviceGrant(devices=PLAYED, count=1).setup(("numpy",)),
        workspaces={SUBMISSION: workspace},
        limits=LIMITS,
        as_root=True,
    )
    server.ready()
    yield server
    server.close()


@pytest.fixture
def subject(server) -> Iterator[ChildSubject]:
    with ChildSubject(StudentProcess(server, SUBMISSION, LIMITS), "work", LIMITS) as subject:
        assert subject.imported.outcome is Outcome.OBSERVED, subject.imported.note
        yield subject


def device_writes(subject: ChildSubject, monkeypatch, values: np.ndarray) -> None:
    """Have a "device" write into the shared memory as soon as the clock has ended."""
    exchange = subject._child.exchange

    def then_written(*args, **kwargs):
        result = exchange(*args, **kwargs)
        np.frombuffer(subject._child.shared_buffer.result, values.dtype, values.size)[:] = values
        return result

    monkeypatch.setattr(subject._child, "exchange", then_written)


def test_what_a_device_writes_after_the_clock_is_no_result(subject, monkeypatch):
    x = np.arange(1000)
    device_writes(subject, monkeypatch, 2 * x)
    call = subject.call("blank", case(x))
    assert call.outcome is Outcome.OBSERVED, call.note
    assert (call.value == -1).all()


def test_what_a_device_writes_after_the_clock_is_not_given_again(subject, monkeypatch):
    x = np.arange(1000)
    device_writes(subject, monkeypatch, 2 * x)
    subject.call("blank", case(x))
    assert (subject.again(case(x)).value == -1).all()


@pytest.mark.parametrize("elements", [0, 1, 8191, 8192, 300_000])
def test_the_whole_of_a_result_is_copied(subject, elements):
    for size in (elements, elements // 2):
        call = subject.call("size", case(size))
        assert call.outcome is Outcome.OBSERVED, call.note
        assert call.value.tolist() == [size] * size


def test_the_time_of_the_copy_is_on_the_clock(subject, monkeypatch):
    def late(copy, source):
        time.sleep(0.2)
        return take(copy, source)

    take = Copy.take
    monkeypatch.setattr(Copy, "take", late)
    call = subject.call("double", case(np.arange(10)))
    assert call.wall_s >= call.freeze_s >= 0.2


def test_calls_in_a_row_keep_their_own_results(subject):
    cases = [case(np.arange(10) + n) for n in range(6)]
    burst = subject.burst("double", cases, again=3)
    assert [call.outcome for call in (*burst.calls, *burst.again)] == [Outcome.OBSERVED] * 9
    for n, call in enumerate(burst.calls):
        assert call.value.tolist() == [2 * (i + n) for i in range(10)]
    assert all(call.value.tolist() == burst.calls[-1].value.tolist() for call in burst.again)


def test_calls_in_a_row_end_with_the_first_that_does_not_return(subject):
    burst = subject.burst("only_up_to", [case(n) for n in range(6)], again=3)
    assert [call.outcome for call in burst.calls] == [Outcome.OBSERVED] * 3 + [Outcome.CRASHED]
    assert "ValueError: 3" in burst.calls[-1].note
    assert burst.again == ()


def test_calls_in_a_row_end_with_the_program(subject):
    burst = subject.burst("leave_at", [case(n) for n in range(6)], again=3)
    assert [call.outcome for call in burst.calls] == [Outcome.OBSERVED] * 2 + [Outcome.CRASHED]
    assert burst.again == ()
    assert not subject.alive


def test_pid_1_leaves_the_core_of_the_program_when_that_goes_on(subject):
    """It shares the core while the program stands; then it must be able to stop one that is busy there."""
    pid = re.search(r"Pid:\s*(\d+)", Path(f"/proc/self/fdinfo/{subject._child._init_pidfd}").read_text())[1]
    begun = os.sched_getaffinity(int(pid))
    assert subject.call("double", case(1)).value == 2
    assert os.sched_getaffinity(int(pid)) == begun
    assert len(begun) > 1 or len(os.sched_getaffinity(0)) == 1


def test_a_program_that_is_over_its_memory_is_told_so_at_the_next_call_at_the_latest(server, monkeypatch):
    monkeypatch.setattr("grader.harness.server.DRIVER_MB", 0)
    limits = replace(LIMITS, memory_mb=80)
    with ChildSubject(StudentProcess(server, SUBMISSION, limits), "work", limits) as subject:
        calls = [subject.call("take", case(90 * 2**20)), subject.call("double", case(1))]
    assert calls[-1].outcome is Outcome.OUT_OF_MEMORY, calls


def test_calls_in_a_row_have_all_their_arguments_when_they_begin(subject):
    cases = [case(np.random.default_rng(n).integers(0, 2**60, 100_000)) for n in range(4)]
    burst = subject.burst("double", cases)
    assert all((call.value == 2 * one.args[0]).all() for one, call in zip(cases, burst.calls, strict=True))


def test_what_lies_there_before_a_call_in_a_row_begins_is_not_all_of_its_arguments(subject, monkeypatch):
    seen = []

    def woken(child, arguments_bytes):
        seen.append(np.frombuffer(child.shared_buffer.arguments, np.int64, 100_000).copy())

    monkeypatch.setattr(StudentProcess, "_wake", woken)
    cases = [case(np.random.default_rng(n).integers(0, 2**60, 100_000)) for n in range(4)]
    subject.burst("double", cases)
    assert all((early != one.args[0]).any() for one, early in zip(cases, seen, strict=True))


def test_results_that_are_kept_stay_as_they_are_while_later_ones_are_larger(server):
    child = StudentProcess(server, SUBMISSION, LIMITS)
    try:
        results = child.results
        kept = []
        for number, size in ((0, 10_000), (0, 50_000), (1, 20_000), (2, 100_000)):
            child.shared_buffer.result[:size] = bytes([number + 1]) * size
            kept[number:] = [results.read(Reply(b"", 0, size), keep=number)]
        results.prepare(5)
        for number, result in enumerate(kept):
            assert bytes(result) == bytes([number + 1]) * len(result)
    finally:
        child.close()
