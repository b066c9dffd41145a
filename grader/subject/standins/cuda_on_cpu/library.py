"""A library that was built for the CPU, from the program that loaded it."""

from __future__ import annotations

import ctypes
import json
from typing import Any


def run_in(library: ctypes.CDLL, order: str, seed: int) -> None:
    """Run blocks, and the threads of each between barriers, `forward`, `reversed` or `shuffled` from now on.

    Shuffled threads are also interrupted between accesses to memory, and several blocks are under way.
    A kernel without a race gives the same in all of them. Raises ValueError for any other order.
    """
    if library.sim_order(order.encode(), ctypes.c_uint64(seed)):
        raise ValueError(f"no order {order!r}; choose one of forward, reversed, shuffled")


def forget(library: ctypes.CDLL) -> None:
    """Begin the records anew."""
    library.sim_forget()


def record(library: ctypes.CDLL) -> dict[str, Any]:
    """Return what happened since `forget`, each in its order.

    `launches`: {"kernel": its name, "grid": [x, y, z] in blocks, "block": [x, y, z] in threads,
    "shared_bytes": static and dynamic ones of a block}.

    `allocations`: {"call": its name, "bytes"}, with those that free, and handles of cuBLAS, which have 0.

    `copies`, by direction (`host_to_device`, `device_to_host`, `device_to_device`): {"count", "bytes"}.

    `faults`, the first hundred: {"fault": its kind, "fatal": whether a kernel was given up or not begun or a
    program ended, "kernel", "block", "thread", "file", "line", "what": in words}; None for what is not known.

    All of it is the word of a process in which the student's code runs.
    """
    size = ctypes.c_size_t(0)
    library.sim_record.restype = ctypes.c_size_t
    size.value = library.sim_record(None, size) + 1
    buffer = ctypes.create_string_buffer(size.value)
    library.sim_record(buffer, size)
    events: dict[str, Any] = json.loads(buffer.value.decode("utf-8", "replace"))
    return events
