"""The present state of a GPU: processes, clocks, and reasons for throttling."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from grader.cuda import nvml
from grader.cuda.gpus import Gpu

_SLOWING = {
    0x04: "power cap",
    0x08: "hardware slowdown",
    0x10: "sync boost",
    0x20: "temperature (software)",
    0x40: "temperature (hardware)",
    0x80: "power brake",
}
"""Bits of nvml.h, nvmlClocksEventReason…; idle (1) and clocks that were set (2, 0x100) disturb nothing."""

_COMPUTE_MODES = ("default", "exclusive thread", "prohibited", "exclusive process")
"""nvml.h, nvmlComputeMode_t."""

_UNLISTED_BYTES = 256 * 2**20
"""An idle GPU has less in use beside what the driver reserves, and any CUDA context more."""

_SM, _MEMORY = "NVML_CLOCK_SM", "NVML_CLOCK_MEM"

# the newest first, then what older drivers know
_REASONS = ("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons")
_RUNNING = ("nvmlDeviceGetComputeRunningProcesses", "nvmlDeviceGetComputeRunningProcesses_v2")


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """A program with a CUDA context on a GPU."""

    pid: int
    """The driver's pid, which may differ from ours in a container."""
    bytes: int | None
    """Device memory in bytes; None if unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuState:
    """Present values of NVML; None for those that it does not report for this device, or not to us."""

    processes: tuple[Process, ...] | None
    """Programs other than this one that compute on it. In a container NVML may list none of them: then
    this is None if the memory in use says otherwise."""
    memory_used_bytes: int | None
    """Without what the driver reserves for itself."""
    sm_clock_mhz: int | None
    """An idle GPU clocks down and takes up to a second to come back."""
    sm_clock_max_mhz: int | None
    memory_clock_mhz: int | None
    throttle: tuple[str, ...] | None
    """Reasons for throttled clocks, in words."""
    temperature_c: int | None
    utilisation: float | None
    """The share of the last moments in which any kernel ran; after a program was killed it may stay at 1."""
    persistence: bool | None
    """Whether the driver stays ready while no program uses the GPU."""
    compute_mode: str | None
    """`default`, `exclusive process`, `prohibited`, `exclusive thread`."""
    ecc_errors: int | None
    """Uncorrected errors of its memory since the driver was loaded."""


def memory_used(gpu: Gpu) -> int | None:
    """Return bytes in use, as in `GpuState`; a short query, because it follows every call of a program."""
    library, handle = _handle_of(gpu)
    return None if library is None else _memory_used(library, handle)


def state(gpu: Gpu) -> GpuState:
    """Ask NVML; what it refuses is None, and nothing is raised."""
    library, handle = _handle_of(gpu)
    if library is None:
        return GpuState(**dict.fromkeys(GpuState.__slots__))

    def ask(function: str, *constants: str) -> Any:
        return library.ask(function, handle, *map(library.constant, constants))

    used = _memory_used(library, handle)
    mode = ask("nvmlDeviceGetComputeMode")
    persistence = ask("nvmlDeviceGetPersistenceMode")
    rates = ask("nvmlDeviceGetUtilizationRates")
    return GpuState(
        processes=_processes(library.first(_RUNNING, handle), used),
        memory_used_bytes=used,
        sm_clock_mhz=ask("nvmlDeviceGetClockInfo", _SM),
        sm_clock_max_mhz=ask("nvmlDeviceGetMaxClockInfo", _SM),
        memory_clock_mhz=ask("nvmlDeviceGetClockInfo", _MEMORY),
        throttle=_throttle(library.first(_REASONS, handle)),
        temperature_c=ask("nvmlDeviceGetTemperature", "NVML_TEMPERATURE_GPU"),
        utilisation=rates.gpu / 100 if rates else None,
        persistence=None if persistence is None else persistence == 1,
        compute_mode=_COMPUTE_MODES[mode] if mode in range(len(_COMPUTE_MODES)) else None,
        ecc_errors=ask(
            "nvmlDeviceGetTotalEccErrors", "NVML_MEMORY_ERROR_TYPE_UNCORRECTED", "NVML_VOLATILE_ECC"
        ),
    )


def _handle_of(gpu: Gpu) -> tuple[nvml.Nvml | None, Any]:
    """Return the library and its handle of this GPU; None if there is none."""
    library, _ = nvml.load()
    handle = library.ask("nvmlDeviceGetHandleByUUID", gpu.uuid) if library else None
    return (None if handle is None else library), handle


def _memory_used(library: nvml.Nvml, handle: Any) -> int | None:
    memory = library.ask("nvmlDeviceGetMemoryInfo", handle, library.constant("nvmlMemory_v2"))
    return int(memory.used) if memory else None


def _processes(listed: Any, used_bytes: int | None) -> tuple[Process, ...] | None:
    if listed is None or (not listed and used_bytes is not None and used_bytes > _UNLISTED_BYTES):
        return None
    processes = (Process(pid=process.pid, bytes=process.usedGpuMemory) for process in listed)
    return tuple(process for process in processes if process.pid != os.getpid())


def _throttle(reasons: int | None) -> tuple[str, ...] | None:
    return None if reasons is None else tuple(name for bit, name in _SLOWING.items() if reasons & bit)
