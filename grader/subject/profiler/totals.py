"""Sums of CUPTI's activity records of this process, which need the memory of their names alone.

CUPTI's interface is that of cupti-python; `grader/subject/observer/cupti_source.py` has the same records one
by one, for single calls.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Any

from ..cuda_driver import CudaError, synchronise
from ..observer.cupti_source import call_name

_BUFFER_BYTES = 8 * 2**20
_FORCED = 1
NANO = 1e-9
_KINDS = ("CONCURRENT_KERNEL", "MEMCPY", "MEMCPY2", "MEMSET", "RUNTIME", "DRIVER")
Key = tuple[str, int, str]
"""`kernel` or `copy`, the device, and the name or direction."""


class ActivityTotals:
    """The sums of one process, from `start` to `finish`; raises ImportError where cupti-python is missing."""

    def __init__(self) -> None:
        from cupti import cupti

        self._cupti = cupti
        self._numbers = {name: int(cupti.ActivityKind[name]) for name in _KINDS}
        self._sums: dict[Key, list[int]] = {}
        self._calls: dict[int, array[int]] = {}
        """By thread: begin, end, domain and number of each call, one behind the other."""

    def start(self) -> None:
        """Begin to record; raises what CUPTI does where there is no driver."""
        self._cupti.activity_register_callbacks(lambda: (_BUFFER_BYTES, 0), self._add)
        for name in _KINDS:
            self._cupti.activity_enable(self._cupti.ActivityKind[name])

    def finish(self) -> dict[str, Any]:
        """Wait for the devices, end recording, and return kernels, copies and calls as plain JSON.

        Recording must end before the interpreter does: CUPTI would call back into what is gone.
        """
        problem = ""
        try:
            synchronise()
        except CudaError as error:
            problem = str(error)
        self._cupti.activity_flush_all(_FORCED)
        for name in _KINDS:
            self._cupti.activity_disable(self._cupti.ActivityKind[name])
        rows: dict[str, list[dict[str, Any]]] = {"kernel": [], "copy": []}
        for (kind, device, name), (count, nanoseconds, size) in self._sums.items():
            row = {"device": device, "name": name, "count": count, "seconds": nanoseconds * NANO}
            rows[kind].append(row | ({"bytes": size} if kind == "copy" else {}))
        api = [
            {"name": name, "count": count, "seconds": nanoseconds * NANO}
            for name, (count, nanoseconds) in self._api().items()
        ]
        return {"kernels": rows["kernel"], "copies": rows["copy"], "api": api, "problem": problem}

    def _add(self, activities: Iterable[Any]) -> None:
        kernel, *copies, runtime, driver = self._numbers.values()
        memset = self._numbers["MEMSET"]
        for activity in activities:
            kind = activity.kind
            if kind in (runtime, driver):
                calls = self._calls.setdefault(int(activity.thread_id), array("Q"))
                calls.extend((activity.start, activity.end, int(kind == driver), activity.cbid))
            elif kind == kernel:
                self._sum(("kernel", activity.device_id, activity.name), activity, 0)
            elif kind == memset:
                self._sum(("copy", activity.device_id, "memset"), activity, activity.bytes)
            elif kind in copies:
                direction = self._cupti.ActivityMemcpyKind(activity.copy_kind).name
                self._sum(("copy", activity.device_id, f"memcpy {direction}"), activity, activity.bytes)

    def _sum(self, key: Key, activity: Any, size: int) -> None:
        sums = self._sums.setdefault(key, [0, 0, 0])
        sums[0] += 1
        sums[1] += activity.end - activity.start
        sums[2] += size

    def _api(self) -> dict[str, tuple[int, int]]:
        """Return how often each function was called and how long, without calls from within another one."""
        numbers: dict[tuple[int, int], list[int]] = {}
        for calls in self._calls.values():
            for begin, end, driver, number in outermost(calls):
                sums = numbers.setdefault((driver, number), [0, 0])
                sums[0] += 1
                sums[1] += end - begin
        names: dict[str, tuple[int, int]] = {}
        for (driver, number), (count, nanoseconds) in numbers.items():
            name = call_name(self._cupti, number, driver=bool(driver))
            before = names.get(name, (0, 0))
            names[name] = (before[0] + count, before[1] + nanoseconds)
        return names


def outermost(calls: array[int]) -> Iterable[tuple[int, int, int, int]]:
    """Yield the calls of one thread that were not made by another call: the runtime calls the driver."""
    ended = 0
    rows = [tuple(calls[place : place + 4]) for place in range(0, len(calls), 4)]
    for begin, end, driver, number in sorted(rows, key=lambda row: (row[0], -row[1])):
        if begin >= ended:
            ended = end
            yield begin, end, driver, number
