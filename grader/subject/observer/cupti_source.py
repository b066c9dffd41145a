"""CUPTI's activity records of this process: what runs on its devices, through whatever library.

cupti-python's bindings follow the C interface (docs.nvidia.com/cupti-python). A record is an object of the
buffer that CUPTI filled; its `kind` says which one.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from contextlib import suppress
from typing import Any

from .canary import Canary
from .kernel_names import kernel_name
from .native_calls import NativeCalls
from .record import Record, copy_ends, launch
from .source import RecordSource

_BUFFER_BYTES = 8 * 2**20
_FORCED = 1
_NANO = 1e-9
_VERSION = re.compile(r"(_v\d+|_ptsz|_ptds)+$")
SUNG = 2
"""How often the canary sings for one record."""
_ALLOCATION, _RELEASE = 1, 2
"""CUpti_ActivityMemoryOperationType."""
_DIRECTIONS = {
    "HTOD": "host_to_device",
    "DTOH": "device_to_host",
    "DTOD": "device_to_device",
    "PTOP": "peer_to_peer",
}
_ON_DEVICE = ("DEVICE", "MANAGED", "ARRAY")


class _Window:
    """When a call began and ended, and when what it had started on devices was done; CUPTI's nanoseconds."""

    def __init__(self, since: int) -> None:
        self.since = since
        self.until = self.settled = since


class Cupti(RecordSource):
    """One subscription for the life of the process; raises ImportError where cupti-python is missing."""

    name = "cupti"

    def __init__(self) -> None:
        from cupti import cupti

        self._cupti = cupti
        self._records: list[Any] = []
        self._before: Counter[str] = Counter()
        self._native = NativeCalls()
        self._windows: list[_Window] = []

    def start(self, *, whole: bool = True) -> None:
        """Begin to observe; as early as possible, for earlier work is not recorded.

        Unless `whole` only what costs a call next to nothing: kernels, copies, allocations.
        """
        kinds = self._cupti.ActivityKind
        self._kinds = [kinds.CONCURRENT_KERNEL, kinds.MEMCPY, kinds.MEMCPY2, kinds.MEMORY2]
        self._whole = whole
        if whole:
            self._kinds += [kinds.RUNTIME, kinds.DRIVER]
            self._native.install()
        self._cupti.activity_register_callbacks(lambda: (_BUFFER_BYTES, 0), self._records.extend)
        for kind in self._kinds:
            self._cupti.activity_enable(kind)

    def open(self) -> None:
        """Forget what was, but for the names of the calls."""
        if self._whole:
            with suppress(Exception):  # not every version can name the library that allocates
                self._cupti.activity_enable_allocation_source(1)
        self._cupti.activity_flush_all(_FORCED)
        self._forget()

    def begin(self) -> None:
        """Note that a call begins: from here on it is the program's doing."""
        if self._whole:
            self._native.begin(self._cupti.get_timestamp)
        self._windows.append(_Window(self._cupti.get_timestamp()))

    def end(self) -> None:
        """Note that the call has ended; what it started on a device may still be running."""
        self._windows[-1].until = self._cupti.get_timestamp()
        self._native.end()

    def settle(self) -> None:
        """Note that the devices are idle."""
        self._windows[-1].settled = self._cupti.get_timestamp()

    def records(self, canary: Canary) -> list[Record]:
        """Return a record of each call since the last time; all are void where the canary is missed."""
        self._cupti.activity_flush_all(_FORCED)
        records = [self._record(canary, window) for window in self._windows]
        sung = (
            sum(activity.name == canary.kernel for activity in self._of("CONCURRENT_KERNEL")),
            sum(
                activity.memory_operation_type == _ALLOCATION and activity.bytes == canary.bytes
                for activity in self._of("MEMORY2")
            ),
        )
        if min(sung) < SUNG:
            for record in records:
                record.problem = (
                    f"of {SUNG} launches and {SUNG} allocations of its own the observer "
                    f"saw {sung[0]} and {sung[1]}"
                )
        self._forget()
        return records

    def _forget(self) -> None:
        self._before.update(map(self._name, self._of("RUNTIME", "DRIVER")))
        self._records.clear()
        self._windows.clear()

    def _record(self, canary: Canary, window: _Window) -> Record:
        self._since, self._until, self._settled = window.since, window.until, window.settled
        record = Record(self.name)
        record.api_before = dict(self._before)
        self._note_launches(record, canary)
        self._note_memory(record)
        self._note_copies(record)
        if not self._whole:
            record.unseen = ("sites", "frees", "synchronisations", "api", "api_before")
            return record
        record.synchronisations = 0
        record.unrecorded = self._unrecorded()
        for activity in self._of("RUNTIME", "DRIVER"):
            if self._since <= activity.start <= self._until:
                name = self._name(activity)
                record.api[name] = record.api.get(name, 0) + 1
                record.synchronisations += "Synchronize" in name
        return record

    def _unrecorded(self) -> int:
        """Count the correlation numbers that no record has; they go on while records are switched off."""
        calls = self._of("RUNTIME", "DRIVER")
        of_call = [
            activity.correlation_id for activity in calls if self._since <= activity.start <= self._until
        ]
        if not of_call:
            return 0
        first, last = min(of_call), max(of_call)
        recorded = {activity.correlation_id for activity in calls}
        return sum(number not in recorded for number in range(first, last + 1))

    def _of(self, *kinds: str) -> list[Any]:
        numbers = {int(self._cupti.ActivityKind[kind]) for kind in kinds}
        return [activity for activity in self._records if activity.kind in numbers]

    def _note_launches(self, record: Record, canary: Canary) -> None:
        call_starts = {activity.correlation_id: activity.start for activity in self._of("DRIVER", "RUNTIME")}
        for activity in sorted(self._of("CONCURRENT_KERNEL"), key=lambda activity: int(activity.start)):
            symbol = activity.name
            if symbol != canary.kernel and self._since <= activity.start <= self._settled:
                times = {
                    "asked_s": self._since_begin(call_starts.get(activity.correlation_id)),
                    "began_s": self._since_begin(activity.start),
                }
                record.launched(_launch(activity, symbol) | times)

    def _since_begin(self, stamp: int | None) -> float | None:
        """Return the seconds since the begin of the call; 0 for what was ordered before it."""
        return None if stamp is None else max(0, stamp - self._since) * _NANO

    def _note_memory(self, record: Record) -> None:
        live = peak = 0
        lives: Counter[int] = Counter()
        peaks: Counter[int] = Counter()
        names = self._names()
        operations = sorted(self._of("MEMORY2"), key=lambda activity: int(activity.timestamp))
        functions = self._native.running(activity.timestamp for activity in operations)
        for activity, function in zip(operations, functions, strict=True):
            allocates = activity.memory_operation_type == _ALLOCATION
            if not self._since <= activity.timestamp <= self._until:
                continue
            name = names.get(activity.correlation_id, "other" if self._whole else "an allocation")
            if self._cupti.ActivityMemoryKind(activity.memory_kind).name in _ON_DEVICE:
                change = activity.bytes if allocates else -activity.bytes
                live += change
                peak = max(peak, live)
                device = getattr(activity, "device_id", 0)
                lives[device] += change
                peaks[device] = max(peaks[device], lives[device])
            if allocates:
                library = os.path.basename(str(getattr(activity, "source", "")))
                record.allocated(name, activity.bytes, function=function, library=library)
            elif activity.memory_operation_type == _RELEASE:
                record.frees[name] = record.frees.get(name, 0) + 1
        record.peak_bytes = peak
        for device, most in peaks.items():
            record.note_peak(device, most)
        record.unseen = () if self._native.complete else ("sites",)

    def _note_copies(self, record: Record) -> None:
        for activity in self._of("MEMCPY", "MEMCPY2"):
            if self._since <= activity.start <= self._settled:
                direction = self._cupti.ActivityMemcpyKind(activity.copy_kind).name
                seconds = (activity.end - activity.start) * _NANO
                name = _DIRECTIONS.get(direction, direction.lower())
                record.copied(name, activity.bytes, seconds, _ends(activity, name))

    def _names(self) -> dict[int, str]:
        """Return the name of the call behind each correlation number: the runtime's, if there is one."""
        return {
            activity.correlation_id: self._name(activity)
            for kind in ("DRIVER", "RUNTIME")
            for activity in self._of(kind)
        }

    def _name(self, activity: Any) -> str:
        driver = activity.kind == self._cupti.ActivityKind.DRIVER
        return call_name(self._cupti, activity.cbid, driver=driver)


def call_name(cupti: Any, number: int, *, driver: bool) -> str:
    """Return the name of a function of the runtime, or of the driver, by its number; without its version."""
    domain = cupti.CallbackDomain.DRIVER_API if driver else cupti.CallbackDomain.RUNTIME_API
    return _VERSION.sub("", str(cupti.get_callback_name(domain, number)))


def _ends(activity: Any, direction: str) -> tuple[int | None, int | None]:
    """Return the devices at both ends of a copy; between two devices CUPTI has fields of their own."""
    source = getattr(activity, "src_device_id", activity.device_id)
    target = getattr(activity, "dst_device_id", activity.device_id)
    return copy_ends(direction, source, target)


def _launch(activity: Any, symbol: str) -> dict[str, Any]:
    return launch(
        kernel_name(symbol),
        (activity.grid_x, activity.grid_y, activity.grid_z),
        (activity.block_x, activity.block_y, activity.block_z),
        shared_bytes=activity.static_shared_memory + activity.dynamic_shared_memory,
        seconds=(activity.end - activity.start) * _NANO,
        device=activity.device_id,
        stream=activity.stream_id,
    )
