"""The meter counts what a check takes from the machine: once, and nothing of ours."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent

import pytest

from grader.subject.kernel_memory import KernelMemory
from grader.subject.memory_meter import MemoryMeter

MIB = 2**20
INTERPRETER = 24
"""More MiB than an interpreter that did nothing takes."""

BEGIN = """
import mmap, os, sys
pids = [os.getpid()]

def touched(fd, size):
    block = mmap.mmap(fd, size)
    block.write(bytes([1]) * size)
    return block
"""
END = "\nprint(*pids, flush=True)\nsys.stdin.read()\n"


@contextmanager
def program(code: str = "", *fds: int) -> Iterator[list[int]]:
    """A program that has done something and keeps what it got; the pids of all its processes.

    It is no fork of this process: that would count a share of whatever earlier tests left here.
    """
    argv = [sys.executable, "-ISc", BEGIN + dedent(code) + END]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=fds) as process:
        try:
            yield list(map(int, process.stdout.readline().split()))
        finally:
            process.kill()


@pytest.fixture
def shared_buffer() -> Iterator[int]:
    fd = os.memfd_create("shared buffer")
    os.ftruncate(fd, 256 * MIB)
    yield fd
    os.close(fd)


def used(shared_buffer: int, *pids: int) -> int:
    return MemoryMeter(shared_buffer, ()).used_above(len(pids) * MIB, pids) // MIB


def test_private_memory_counts_and_the_limit_is_what_may_be_used(shared_buffer):
    with program("kept = bytearray(b'1') * (64 << 20)") as pids:
        assert 64 <= used(shared_buffer, *pids) < 64 + INTERPRETER
        assert MemoryMeter(shared_buffer, ()).used_above(1024 * MIB, pids) == 0


def test_memory_that_a_fork_shares_counts_once(shared_buffer):
    code = """
        kept = bytearray(b"1") * (64 << 20)
        lifeline, end = os.pipe()
        for _ in range(3):
            pids.append(os.fork())
            if pids[-1] == 0:
                os.close(end)
                os.read(lifeline, 1)
                os._exit(0)
    """
    with program(code) as pids:
        assert len(pids) == 4
        assert 64 <= used(shared_buffer, *pids) < 64 + 2 * INTERPRETER


def test_shared_memory_counts(shared_buffer):
    with program("kept = touched(-1, 64 << 20)") as pids:
        assert 64 <= used(shared_buffer, *pids) < 64 + INTERPRETER


def test_a_memory_file_counts_once_whether_it_is_mapped_or_not_and_whoever_has_it(shared_buffer):
    file = os.memfd_create("m")
    os.write(file, bytes(64 * MIB))
    with program("", file) as holder, program(f"kept = touched({file}, 64 << 20)", file) as mapper:
        for who in (holder, mapper):
            assert 64 <= used(shared_buffer, *who) < 64 + INTERPRETER
        assert 64 <= used(shared_buffer, *holder, *mapper) < 64 + 2 * INTERPRETER
    os.close(file)


def test_a_process_counts_whose_first_thread_has_ended(shared_buffer):
    code = """
        import threading, time
        kept = bytearray(b"1") * (64 << 20)
        file = os.memfd_create("m")
        os.write(file, bytes(64 << 20))
        first = f"/proc/{os.getpid()}/task/{os.getpid()}/stat"

        def go_on():
            while open(first).read().rpartition(")")[2].split()[0] != "Z":
                time.sleep(0.01)
            print(*pids, flush=True)
            sys.stdin.read()

        import ctypes
        threading.Thread(target=go_on).start()
        ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[os.uname().machine], 0)
    """
    with program(code) as pids:
        assert 128 <= MemoryMeter(shared_buffer, ()).used_above(32 * MIB, pids) // MIB < 128 + INTERPRETER


def test_a_memory_file_counts_that_a_program_was_started_from(shared_buffer):
    file = os.memfd_create("m", 0)
    source = Path(shutil.which("sleep")).read_bytes()
    os.write(file, source.ljust(64 * MIB))
    path = f"/proc/{os.getpid()}/fd/{file}"
    with subprocess.Popen(["sleep", "60"], executable=path) as process:
        try:
            os.close(file)
            assert 60 <= used(shared_buffer, process.pid) < 64 + INTERPRETER
        finally:
            process.kill()


FORKS = 24
FORKED = f"""
import mmap, os, sys, time
room = mmap.mmap(-1, 4000 * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for page in range(0, 4000, 2):
    room.madvise(mmap.MADV_DONTDUMP, page * mmap.PAGESIZE, mmap.PAGESIZE)
print(os.getpid(), flush=True)
for _ in range({FORKS}):
    child = os.fork()
    if child:
        print(child, flush=True)
    if bool(child) == (sys.argv[1] == "deep"):
        break
time.sleep(600)
"""


def kernel_mib_of_forks(shared_buffer: int, shape: str) -> int:
    """What the kernel holds for a process and its forks, `flat` or `deep` (each by the one before)."""
    argv = [sys.executable, "-ISc", FORKED, shape]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, process_group=0) as process:
        try:
            pids = [int(process.stdout.readline()) for _ in range(FORKS + 1)]
            memory = KernelMemory(os.fstat(shared_buffer).st_ino, own_network=False)
            for _ in pids:  # a look reaches one at least
                memory.look(pids)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
    return memory.used // MIB


def test_what_a_mapping_has_of_every_process_before_it_counts(shared_buffer):
    links = 4000 * 64 * sum(range(FORKS + 1)) // MIB
    deep, flat = (kernel_mib_of_forks(shared_buffer, shape) for shape in ("deep", "flat"))
    assert deep > links
    assert flat < links


def test_a_file_of_the_kernels_counts_with_what_it_holds_for_its_reader(shared_buffer):
    with program("kept = [open('/proc/self/maps') for _ in range(900)]") as pids:
        assert used(shared_buffer, *pids) > 900 * 64 // 1024


def test_the_shared_buffer_is_not_the_programs(shared_buffer):
    with program(f"kept = touched({shared_buffer}, 128 << 20)", shared_buffer) as pids:
        assert os.fstat(shared_buffer).st_blocks * 512 == 128 * MIB
        assert used(shared_buffer, *pids) < INTERPRETER


def test_a_process_that_is_gone_uses_nothing(shared_buffer):
    with program() as pids:
        assert used(shared_buffer, *pids) > 0
    assert used(shared_buffer, *pids) == 0
