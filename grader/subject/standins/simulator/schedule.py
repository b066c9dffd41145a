"""Runs the threads of a grid one after another, in any order, on greenlets that can wait for each other."""

from __future__ import annotations

import contextvars
import sys
from collections.abc import Callable, Hashable, Sequence
from operator import attrgetter
from random import Random
from typing import Any

from greenlet import getcurrent, greenlet  # type: ignore[import-untyped]  # it comes without types

from .blocks import Block, DivergentBarrier, Index, Thread, Values, Wait
from .position import blockDim, blockIdx, gridDim, threadIdx

RESIDENT_THREADS = 2048
RESIDENT_BLOCKS = 32
"""What one multiprocessor of compute capability 9.0 works on at a time (CUDA C++ Programming Guide, Technical
Specifications per Compute Capability)."""
BETWEEN_PAUSES = 16
"""Where threads are interrupted: after one to so many loads."""


class ThreadOrder:
    """Which of the threads that could go on does so first: `forward`, `reversed` or `shuffled`.

    Shuffled threads are interrupted as well, between a load and what they make of it: where two of them work
    on one element without an atomic operation, one result is lost, as it is on a GPU. In the other orders a
    thread goes on until it ends or waits at a barrier: one that polls for another's store polls for ever.
    """

    def __init__(self, name: str, seed: int) -> None:
        chance = Random(seed)  # noqa: S311  # it has to give the same again
        arrangements: dict[str, Callable[[list[Any]], object]] = {
            "forward": lambda those: None,
            "reversed": list.reverse,
            "shuffled": chance.shuffle,
        }
        if name not in arrangements:
            raise ValueError(f"no order {name!r}; choose one of {', '.join(arrangements)}")
        self.arrange = arrangements[name]
        self.interrupts = name == "shuffled"
        self.chance = chance


class _Grid:
    """A launch while it runs; its greenlets all come back to the one that made it."""

    def __init__(self, kernel: Callable[..., object], args: Sequence[Any], order: ThreadOrder) -> None:
        self.hub = getcurrent()
        self.order = order
        self.thread: Thread
        self.loads = 0
        self._kernel = kernel
        self._args = args
        self._context = contextvars.copy_context()
        self._greenlets: list[Any] = []
        self._idle: list[Any] = []

    def run(self) -> None:
        """Run all blocks, several at a time only where threads are interrupted."""
        places = _indices(blockDim.x, blockDim.y, blockDim.z)
        blocks = _indices(gridDim.x, gridDim.y, gridDim.z)
        self.order.arrange(blocks)
        fitting = min(RESIDENT_BLOCKS, RESIDENT_THREADS // len(places)) if self.order.interrupts else 1
        coming, resident = iter(blocks), list[Block]()
        try:
            while True:
                while len(resident) < fitting and (index := next(coming, None)):
                    resident.append(Block(index, places))
                if not resident:
                    break
                self._round(resident)
                for block in resident:
                    if block.waiting:
                        block.release()
                resident = [block for block in resident if block.runnable]
        finally:
            for unfinished in filter(None, self._greenlets):  # a greenlet that is done is false
                unfinished.throw()

    def _round(self, resident: Sequence[Block]) -> None:
        """Run every thread that can go on until it ends, waits or is interrupted."""
        threads: list[Thread] = []
        for block in resident:
            threads += sorted(block.runnable, key=attrgetter("number"))
            block.runnable = []
        self.order.arrange(threads)
        idle = self._idle
        for thread in threads:
            self.thread = thread
            blockIdx.x, blockIdx.y, blockIdx.z = thread.block.index
            threadIdx.x, threadIdx.y, threadIdx.z = thread.place
            (thread.greenlet or (idle.pop() if idle else self._new())).switch()

    def _new(self) -> Any:
        created = greenlet(self._work)
        created.gr_context = self._context  # with what numpy warns of: a GPU says nothing of an overflow
        self._greenlets.append(created)
        return created

    def _work(self) -> None:
        """Begin a thread whenever the last one has ended: most are shorter than the making of a greenlet."""
        me, kernel, args, idle, back = getcurrent(), self._kernel, self._args, self._idle, self.hub.switch
        while True:
            kernel(*args)
            idle.append(me)
            back()

    def park(self, queue: list[Thread]) -> None:
        """Switch from the thread that runs to others until it is this one's turn again."""
        thread = self.thread
        thread.greenlet = getcurrent()
        queue.append(thread)
        self.hub.switch()


_running: _Grid | None = None


def run(
    kernel: Callable[..., object], args: Sequence[Any], shape: tuple[Index, Index], order: ThreadOrder
) -> None:
    """Run a kernel with all threads of a grid, one grid at a time; `shape` is its blocks and their threads.

    What a thread raises comes out of it with that thread's place before its text; the others are given up.
    """
    global _running  # noqa: PLW0603  # kernels are called with nothing that could carry it
    gridDim.x, gridDim.y, gridDim.z = shape[0]
    blockDim.x, blockDim.y, blockDim.z = shape[1]
    _running = _Grid(kernel, args, order)
    try:
        _running.run()
    except DivergentBarrier:
        raise
    except Exception as error:
        if all(isinstance(arg, str) for arg in error.args):
            thread = _running.thread
            where = f"thread {thread.place} of block {thread.block.index}"
            error.args = (": ".join((where, *error.args)),)
        raise
    finally:
        _running = None


def inside() -> bool:
    """Tell whether a kernel calls this, and not the program that launches it."""
    return _running is not None and getcurrent().parent is _running.hub


def shared() -> dict[Hashable, Any]:
    """Return the memory that the threads of the present block share, by what tells its arrays apart."""
    return _here().thread.block.shared


def interrupts() -> bool:
    """Tell whether threads are to `pause` where another one could come between."""
    return _here().order.interrupts


def pause() -> None:
    """Switch to other threads now and then."""
    grid = _here()
    grid.loads -= 1
    if grid.loads < 0:
        grid.loads = grid.order.chance.randrange(BETWEEN_PAUSES)
        grid.park(grid.thread.block.runnable)


def wait(
    name: str,
    value: Any = None,
    answers: Callable[[Values], Values] | None = None,
    members: Sequence[int] | None = None,
) -> Any:
    """Wait in the line of the kernel that called our caller until all others have come there as well.

    `answers` makes of the values of all what each of them takes along. `members` are the numbers of the
    threads that have to come, which is the whole block unless said.
    """
    grid = _here()
    frame = sys._getframe(2)  # noqa: SLF001  # the documented way to see who calls
    thread = grid.thread
    place = (frame.f_code, frame.f_lasti, members)
    text = f"{name} in line {frame.f_lineno} of {frame.f_code.co_name}"
    thread.wait = Wait(place, members, value, answers, text)
    grid.park(thread.block.waiting)
    return thread.answer


def _here() -> _Grid:
    if _running is None:
        raise RuntimeError("only a kernel can do that, when it has been launched")
    return _running


def _indices(x: int, y: int, z: int) -> list[Index]:
    return [(i, j, k) for k in range(z) for j in range(y) for i in range(x)]
