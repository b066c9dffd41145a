"""Settings of the engine `ray`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from grader.config.units import Duration
from grader.engines.remote.options import RemoteOptions
from grader.model.options import option

RESOURCES = (
    "Custom resources that a node must have, with how much of each a task takes, such as `grading: 1`."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RayCpuTask:
    """Tasks without GPUs."""

    cpus: int = option("Cores of a task, which observes as many orders side by side.", default=4, above=0)
    time: Duration = option("How long a task may take at most.", default=Duration(1800.0))
    resources: Mapping[str, float] = option(RESOURCES, default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RayGpuTask:
    """Tasks with GPUs, which observe one order at a time."""

    cpus: int = option(
        "Cores of a task, at least; one that times programs gets what these need.", default=4, above=0
    )
    time: Duration = option("How long a task may take at most.", default=Duration(3600.0))
    resources: Mapping[str, float] = option(RESOURCES, default_factory=dict)
    most: int = option(
        "How many GPUs one task may have; 0 for as many as a node has at the moment, -1 for none.",
        default=0,
        above=-2,
    )
    kinds: Mapping[str, str] = option(
        "For each kind of GPU that assignments name, the resource of nodes with it, where it is not what Ray "
        "detects, such as `accelerator_type:H200`.",
        default_factory=dict,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RayOptions(RemoteOptions):
    """Keys of `engines: ray:`."""

    command: str = option(
        "The Python that runs workers, with arguments: a container's, for example; otherwise that of Ray's "
        "workers.",
        default="",
    )
    address: str = option(
        "The address of Ray's head, such as `10.0.0.1:6379`; otherwise that of `RAY_ADDRESS`, or the cluster "
        "to which this machine belongs.",
        default="",
    )
    autoscales: bool = option(
        "Whether Ray adds nodes for tasks that find no room: they wait also where no node could take them.",
        default=False,
    )
    cpu: RayCpuTask = option("Tasks without GPUs.", default_factory=RayCpuTask)
    gpu: RayGpuTask = option("Tasks with GPUs.", default_factory=RayGpuTask)
