"""torch.profiler in CUPTI's place, where cupti-python is missing: slower, and blind for some things.

It sees launches, copies and calls of any library of the process; not how many bytes were allocated, and of
numba's allocations nothing at all.
"""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any

from .canary import Canary
from .kernel_names import kernel_name
from .record import Record, add, copy_ends, launch
from .source import RecordSource

_MICRO = 1e-6
_DIRECTIONS = {
    "HtoD": "host_to_device",
    "DtoH": "device_to_host",
    "DtoD": "device_to_device",
    "PtoP": "peer_to_peer",
}
_ALLOCATES = ("Malloc", "MemAlloc", "MemCreate")
_FREES = ("cudaFree", "cuMemFree", "cuMemRelease")
_CANARY_CALLS = ("cuCtxSynchronize", "cuMemFree_v2", "cuMemAlloc_v2", "cuLaunchKernel")
"""What the canary calls behind its first kernel and before its last one."""


class TorchProfiler(RecordSource):
    """One profile per call, whose canaries say where the program's doing begins and ends.

    Raises ImportError where torch is missing.
    """

    name = "torch.profiler"
    UNSEEN = ("allocations", "sites", "frees", "peak_bytes", "api_before")

    def __init__(self) -> None:
        import torch
        import torch.profiler

        self._torch = torch
        self._profile: Any = None

    def open(self) -> None:
        """Start a profile."""
        activities = [self._torch.profiler.ProfilerActivity.CUDA]
        self._profile = self._torch.profiler.profile(activities=activities)
        self._profile.__enter__()

    def records(self, canary: Canary) -> list[Record]:
        """Return the record of the call."""
        return [self._record(canary)]

    def _record(self, canary: Canary) -> Record:
        self._profile.__exit__(None, None, None)
        number, path = tempfile.mkstemp(suffix=".json")
        os.close(number)
        try:
            self._profile.export_chrome_trace(path)
            with open(path) as file:
                events = json.load(file)["traceEvents"]
        finally:
            os.unlink(path)
        return read_events(events, canary.kernel)


def read_events(events: list[dict[str, Any]], canary: str) -> Record:
    """Return the record in the events of a trace as torch.profiler exports it."""
    record = Record(TorchProfiler.name)
    record.unseen = TorchProfiler.UNSEEN
    record.synchronisations = 0
    sung = sorted(event["ts"] for event in events if event.get("name") == canary and "ts" in event)
    if len(sung) < 2:
        record.problem = f"the observer missed {2 - len(sung)} launches of its own"
        return record
    ours = dict.fromkeys(_CANARY_CALLS, 1)
    call_starts = {
        event["args"].get("correlation"): event.get("ts")
        for event in events
        if event.get("cat") in {"cuda_runtime", "cuda_driver"} and "args" in event
    }
    for event in events:
        category, name, about = event.get("cat"), str(event.get("name", "")), event.get("args", {})
        if not sung[0] < event.get("ts", 0) < sung[-1] or (category == "cuda_driver" and ours.pop(name, 0)):
            continue
        if category == "kernel":
            times = {
                "asked_s": _since(sung[0], call_starts.get(about.get("correlation"))),
                "began_s": _since(sung[0], event.get("ts")),
            }
            record.launched(_launch(event, name, about) | times)
        elif category == "gpu_memcpy":
            direction = next((_DIRECTIONS[key] for key in _DIRECTIONS if key in name), "other")
            seconds = event.get("dur", 0) * _MICRO
            record.copied(direction, int(about.get("bytes", 0)), seconds, _ends(about, direction))
        elif category in {"cuda_runtime", "cuda_driver"}:
            record.api[name] = record.api.get(name, 0) + 1
            record.synchronisations += "Synchronize" in name
            if any(word in name for word in _ALLOCATES):
                add(record.allocations, name, 0, None)
            elif name.startswith(_FREES):
                record.frees[name] = record.frees.get(name, 0) + 1
    return record


def _since(begin: float, stamp: float | None) -> float | None:
    """Return the seconds since the first canary, which sings just before the call."""
    return None if stamp is None else max(0.0, stamp - begin) * _MICRO


def _ends(about: dict[str, Any], direction: str) -> tuple[int | None, int | None]:
    """Return the devices at both ends of a copy; of one between two devices Kineto writes down both."""
    device = int(about.get("device", 0))
    return copy_ends(direction, int(about.get("fromDevice", device)), int(about.get("toDevice", device)))


def _launch(event: dict[str, Any], name: str, about: dict[str, Any]) -> dict[str, Any]:
    return launch(
        kernel_name(name),
        tuple(about.get("grid", (0, 0, 0))),
        tuple(about.get("block", (0, 0, 0))),
        shared_bytes=int(about.get("shared memory", 0)),
        seconds=event.get("dur", 0) * _MICRO,
        device=int(about.get("device", 0)),
        stream=int(about.get("stream", 0)),
    )
