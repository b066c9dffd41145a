"""The meter counts what a check takes from the machine: once, and nothing of ours."""

import mmap
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from grader.subject.memory import Meter

MIB = 2**20


@contextmanager
def process(act: Callable[[], object]) -> Iterator[int]:
    """A process that has done something and keeps what it got; its pid."""
    ready, told = os.pipe()
    pid = os.fork()
    if pid == 0:
        kept = act()
        os.write(told, b"x")
        os.read(os.pipe()[0], 1)
        os._exit(kept is None)
    try:
        os.read(ready, 1)
        yield pid
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
        os.close(ready)
        os.close(told)


@pytest.fixture
def arena() -> Iterator[int]:
    fd = os.memfd_create("arena")
    os.ftruncate(fd, 256 * MIB)
    yield fd
    os.close(fd)


def touched(fd: int, size: int) -> mmap.mmap:
    block = mmap.mmap(fd, size) if fd >= 0 else mmap.mmap(-1, size)
    block.write(b"\1" * size)
    return block


def used(arena: int, *pids: int) -> int:
    return Meter(arena, ()).used_above(0, pids) // MIB


def test_private_memory_counts_and_the_limit_is_what_may_be_used(arena):
    with process(lambda: bytearray(b"\1") * (64 * MIB)) as pid:
        assert 64 <= used(arena, pid) < 200
        assert Meter(arena, ()).used_above(1024 * MIB, [pid]) == 0


def test_memory_that_a_fork_shares_counts_once(arena):
    block = bytearray(b"\1") * (64 * MIB)
    with process(lambda: block) as one, process(lambda: block) as two, process(lambda: block) as three:
        assert used(arena, one, two, three) < 2 * 64 + used(arena, one) - 16
    assert len(block) == 64 * MIB


def test_shared_memory_counts(arena):
    with process(lambda: touched(-1, 64 * MIB)) as pid:
        assert used(arena, pid) >= 64


def test_a_memory_file_counts_once_whether_it_is_mapped_or_not_and_whoever_has_it(arena):
    file = os.memfd_create("m")
    os.write(file, bytes(64 * MIB))
    with process(lambda: None) as holder, process(lambda: touched(file, 64 * MIB)) as mapper:
        together = used(arena, holder, mapper)
        assert used(arena, holder) >= 64
        assert used(arena, mapper) < used(arena, holder) + 32
        assert together < used(arena, holder) + used(arena, mapper) - 60
    os.close(file)


def test_the_arena_is_not_the_programs(arena):
    with process(lambda: touched(arena, 128 * MIB)) as pid:
        assert used(arena, pid) < 128


def test_a_process_that_is_gone_uses_nothing(arena):
    with process(lambda: None) as pid:
        pass
    assert used(arena, pid) == 0
