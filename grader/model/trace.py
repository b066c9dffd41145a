"""Records of a program's activity on its devices during one call, made by an observer beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from grader.model.observation import Symptom

Dim3 = tuple[int, ...]
"""x, y, z: always three."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """One kernel that was started."""

    kernel: str
    """Its name as the source says it, without module, signature and template arguments: `max_kernel`."""
    grid: Dim3
    """Blocks."""
    block: Dim3
    """Threads per block."""
    shared_bytes: int = 0
    """Shared memory of a block, static and dynamic."""
    seconds: float | None = None
    """How long it ran; None where the source cannot tell."""
    device: int = 0
    """The number by which the program knows its device."""
    stream: int = 0
    asked_s: float | None = None
    """When the program asked for it, in seconds since its call began; None where the source cannot tell."""
    began_s: float | None = None
    """When the device began with it, likewise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """The sum of one kind of copies, memsets or allocations."""

    count: int
    bytes: int
    seconds: float | None = None
    """None where the source cannot tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceWork:
    """The work of one device, without launches of collectives (NCCL), which wait for other devices."""

    device: int
    """The number by which the program knows it."""
    kernels: int = 0
    seconds: float | None = None
    """How long its kernels ran together; None where the source cannot tell, and without any."""
    peak_bytes: int | None = None
    """The most of its memory that was allocated at one time in the call; None where that is not seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """The sum of copies from one device to another."""

    source: int | None
    """The number of the device that it came from; None for the host."""
    target: int | None
    """The number of the target device, likewise."""
    count: int
    bytes: int
    seconds: float | None = None
    """None where the source cannot tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """The origin of an allocation, as far as it is known."""

    function: str
    """The C function that ran then, if the program had called it through ctypes; otherwise empty."""
    library: str
    """The file name of the library that asked for the memory; empty where the source cannot tell."""
    count: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchanged:
    """The result of exchanging the inputs of kernels in one call."""

    arrays: int
    """How many arguments of launches were exchanged."""
    problem: str = ""
    """Why not all could be that carry inputs."""
    written: bool = False
    """Whether the result stands in what kernels wrote."""
    carrying: tuple[int, ...] = ()
    """The numbers of the launches that get inputs."""


class Proven(StrEnum):
    """The place where a result was computed, determined by exchanging the inputs of kernels."""

    DEVICE = "device"
    """It follows what lies on the device, and stands in what kernels wrote."""
    HOST = "host"
    """It follows what the host holds."""
    UNCLEAR = "unclear"
    """Neither; a person looks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """One call, seen by one source. It is made beside the program: evidence, not proof."""

    source: str
    """`cupti`, `torch.profiler`, `simulator`, `cuda_on_cpu`, `virtual_gpus` or `none`."""
    complete: bool = True
    """Whether our own launches before and after the call are recorded; otherwise the record is void."""
    problem: str = ""
    """Why there is no record, or why it is not complete; one sentence."""
    launches: tuple[Launch, ...] = ()
    """The first ones, in the order in which they were started."""
    launch_count: int = 0
    """All of them."""
    framework_launches: tuple[Launch, ...] | None = None
    """The same by numba's own account, without durations; None where numba is not used."""
    copies: Mapping[str, Traffic] = field(default_factory=dict)
    """By direction: `host_to_device`, `device_to_host`, `device_to_device`, `peer_to_peer`."""
    devices: tuple[DeviceWork, ...] = ()
    """Those that ran a kernel or allocated memory, by number."""
    transfers: tuple[Transfer, ...] = ()
    """The same copies by where they came from and went; what was copied within the host is not here."""
    allocations: Mapping[str, Traffic] = field(default_factory=dict)
    """By what was called: `cudaMalloc`, `cuMemAllocFromPoolAsync`, …"""
    sites: tuple[Site, ...] = ()
    """The same allocations by where they happened."""
    frees: Mapping[str, int] = field(default_factory=dict)
    """Calls by what was called."""
    peak_bytes: int | None = None
    """The most device memory that was allocated at one time in the call; None where that is not seen."""
    synchronisations: int | None = None
    """Calls that waited for a device or a stream."""
    api: Mapping[str, int] = field(default_factory=dict)
    """Calls of the CUDA runtime and driver, by name."""
    api_before: Mapping[str, int] = field(default_factory=dict)
    """The same calls from the begin of the process to that of the call."""
    unrecorded: int = 0
    """How many calls are missing among those by their numbers, which CUPTI gives to all."""
    unseen: tuple[str, ...] = ()
    """The names of the fields above that this source cannot see: what stands there means nothing."""
    exchange: Exchanged | None = None
    """What exchanging the inputs of kernels showed, in the call in which that was done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Records of timed calls, and the result of exchanges in calls among them."""

    calls: int
    """How many calls there are records of."""
    launches: int
    """The fewest kernels that one of them launched."""
    kernels_s: float | None = None
    """How long the kernels of the middle call ran; None where the source cannot tell."""
    to_device_bytes: int = 0
    """The fewest bytes that one of them copied to a device."""
    to_host_bytes: int = 0
    """Likewise to the host."""
    bus_to_device_bytes: int | None = None
    """What the bus carried to the device for each call of the burst with the least, by the driver's count, in
    which no program has a part; None where it is not known, or does not show what the reference copies."""
    bus_to_host_bytes: int | None = None
    """Likewise to the host."""
    needed_to_device_bytes: int = 0
    """What the arguments of such a call hold, packed as tightly as their values allow."""
    needed_to_host_bytes: int = 0
    """What its result holds, likewise."""
    reference_to_device_bytes: int = 0
    """The fewest bytes that a call of the reference copied to a device, in the same rounds."""
    reference_to_host_bytes: int = 0
    """Likewise to the host."""
    call_s: float | None = None
    """How long the middle one of these calls took."""
    void: str = ""
    """Why there is no complete record of each of them."""
    contradiction: str = ""
    """The contradictions in the records."""
    exchanges: int = 0
    """How often inputs were exchanged in a call among them."""
    proof: Proven | None = None
    """The worst of what these showed; None without any."""
    unproven: str = ""
    """Why that is not proven."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """The record of an item's observed calls, stored as JSON among an observation's facts."""

    trace: Trace
    wrong: str = ""
    """The first difference between the observed call's result and the oracle's; empty if there is none."""
    symptom: Symptom | None = None
    """The form of that difference."""
    proof: Proven | None = None
    """Whether the result was made on the device, by a call in which its inputs were exchanged there; None if
    that was not tried."""
    unproven: str = ""
    """Why it is not proven, in a few words."""
    series: Series | None = None
    """What timed calls showed of themselves; None where nothing was timed."""


def works_of(trace: Trace, count: int) -> tuple[DeviceWork, ...]:
    """Return the work of `count` devices, and of each further one in the trace, by number."""
    by_device = {work.device: work for work in trace.devices}
    return tuple(by_device.get(n) or DeviceWork(device=n) for n in sorted({*range(count), *by_device}))


def timed(works: Sequence[DeviceWork]) -> bool:
    """Tell whether the times of all kernels are known."""
    return all(work.seconds is not None for work in works if work.kernels)


def shares_of(works: Sequence[DeviceWork]) -> tuple[float, ...]:
    """Return each device's share in the time of all kernels, or in their number if times are unknown."""
    by_time = timed(works)
    amounts = [(work.seconds or 0.0) if by_time else float(work.kernels) for work in works]
    whole = sum(amounts)
    return tuple(amount / whole if whole else 0.0 for amount in amounts)
