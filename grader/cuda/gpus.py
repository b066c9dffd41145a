"""The GPUs of this machine that we may use, by NVML."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from grader.cuda import nvml

VISIBLE = "CUDA_VISIBLE_DEVICES"
NO_MULTICAST = {
    "NCCL_NVLS_ENABLE": "0",
    "NVSHMEM_DISABLE_NVLS": "1",
    "TORCH_SYMM_MEM_DISABLE_MULTICAST": "1",
}
"""Variables that keep programs off NVLink multicast.

It takes resources of the switch that all GPUs of a server share, also with other programs; ours are killed
whenever they are late.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """One GPU, with its constant properties."""

    index: int
    """By NVML, which counts by PCI bus; CUDA counts otherwise, so programs are told the `uuid`."""
    uuid: str
    """`GPU-4e38…`: what CUDA_VISIBLE_DEVICES understands, and what a lease is named after."""
    name: str
    memory_bytes: int
    compute_capability: tuple[int, int]
    """Major, minor; (0, 0) if unknown."""
    driver: str
    cuda: tuple[int, int]
    """The newest version of CUDA that the driver understands: major, minor."""
    mig: bool
    """Whether it is divided (multi-instance GPU): no program sees it as a whole then."""
    node: str
    """Its device file."""
    bus_bytes_per_s: float = 0.0
    """The most that its bus carries in one direction; 0 where that is not known."""

    @property
    def lease(self) -> str:
        """The name of its lease."""
        return f"gpu-{self.uuid}"


_LANES = 16
"""No card has more. How many this one uses is not asked: a virtual machine may say less than there are."""

_LANE_BYTES_PER_S = {1: 0.25e9, 2: 0.5e9, 3: 0.985e9, 4: 1.969e9, 5: 3.938e9, 6: 7.563e9, 7: 15.125e9}
"""By generation, in one direction, after encoding: PCI Express Base Specification."""


def gpus() -> tuple[Gpu, ...]:
    """Return the GPUs that we may use, in the order of their index; empty where there are none.

    CUDA_VISIBLE_DEVICES in our own environment keeps out what it does not name: a scheduler says so which
    devices of a shared machine are ours.
    """
    visible = os.environ.get(VISIBLE)
    return tuple(gpu for gpu in _all() if visible is None or _named(gpu, visible))


def why_none() -> str:
    """Return the cause and advice in one line if there is no GPU; empty otherwise."""
    if gpus():
        return ""
    if why := nvml.load()[1]:
        return why
    if hidden := _all():
        uuids = ", ".join(gpu.uuid for gpu in hidden)
        return f"{VISIBLE}={os.environ.get(VISIBLE)} hides all there are; unset it, or name some of {uuids}"
    return "the NVIDIA driver is loaded and has no GPU that this user may open"


def _all() -> tuple[Gpu, ...]:
    library, _ = nvml.load()
    if library is None:
        return ()
    count = library.ask("nvmlDeviceGetCount") or 0
    handles = ((index, library.ask("nvmlDeviceGetHandleByIndex", index)) for index in range(count))
    visible = (_gpu(library, index, handle) for index, handle in handles if handle is not None)
    return tuple(gpu for gpu in visible if gpu.uuid)  # one that has fallen off the bus answers nothing


def _gpu(library: nvml.Nvml, index: int, handle: Any) -> Gpu:
    memory = library.ask("nvmlDeviceGetMemoryInfo", handle)
    capability = library.ask("nvmlDeviceGetCudaComputeCapability", handle) or (0, 0)
    version = library.first(("nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion")) or 0
    minor = library.ask("nvmlDeviceGetMinorNumber", handle)
    mode = library.ask("nvmlDeviceGetMigMode", handle) or (0, 0)
    return Gpu(
        index=index,
        uuid=library.ask("nvmlDeviceGetUUID", handle) or "",
        name=library.ask("nvmlDeviceGetName", handle) or "unknown GPU",
        memory_bytes=memory.total if memory else 0,
        compute_capability=(capability[0], capability[1]),
        driver=library.ask("nvmlSystemGetDriverVersion") or "",
        cuda=(version // 1000, version % 1000 // 10),  # 13000 is 13.0, 12080 is 12.8
        mig=mode[0] == 1,
        node=f"/dev/nvidia{index if minor is None else minor}",
        bus_bytes_per_s=_bus_bytes_per_s(library, handle),
    )


def _bus_bytes_per_s(library: nvml.Nvml, handle: Any) -> float:
    """Return the bandwidth of PCI Express by the generation of the GPU itself, whatever the slot allows."""
    coherent = library.ask("nvmlDeviceGetC2cModeInfoV1", handle)  # a link to the processor beside PCIe
    if coherent is not None and coherent.isC2cEnabled:
        return 0.0
    generation = library.ask("nvmlDeviceGetGpuMaxPcieLinkGeneration", handle)
    return _LANES * _LANE_BYTES_PER_S.get(generation, 0.0)


def _named(gpu: Gpu, visible: str) -> bool:
    """Tell whether CUDA_VISIBLE_DEVICES names a GPU: numbers and UUID prefixes, up to the first invalid one.

    CUDA C++ Programming Guide, CUDA environment variables.
    """
    for name in map(str.strip, visible.split(",")):
        if name.isdigit():
            if int(name) == gpu.index:
                return True
        elif not name.startswith(("GPU-", "MIG-")):
            return False
        elif gpu.uuid.startswith(name):
            return True
    return False
