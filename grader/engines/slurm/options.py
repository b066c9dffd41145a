"""Settings of the engine `slurm`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from grader.config.units import Duration
from grader.engines.remote.options import RemoteOptions
from grader.model.options import option

MEMORY = "What sbatch's `--mem` takes, such as 8G; empty for the partition's."


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuTask:
    """Tasks without GPUs."""

    partition: str = option("The partition; empty for the cluster's default.", default="")
    cpus: int = option("Cores of a task, which observes as many orders side by side.", default=4, above=0)
    memory: str = option(MEMORY, default="")
    time: Duration = option("How long a task may take at most.", default=Duration(1800.0))
    options: tuple[str, ...] = option("More options of sbatch, such as `--qos=low`.", default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuTask:
    """Tasks with GPUs, which observe one order at a time."""

    partition: str = option("The partition; empty for the cluster's default.", default="")
    cpus: int = option(
        "Cores of a task, at least; one that times programs gets what these need.", default=4, above=0
    )
    memory: str = option(MEMORY, default="")
    time: Duration = option("How long a task may take at most.", default=Duration(3600.0))
    options: tuple[str, ...] = option("More options of sbatch, such as `--exclusive`.", default=())
    most: int = option(
        "How many GPUs one task may have; 0 for as many as a node of the partition has, -1 for none.",
        default=0,
        above=-2,
    )
    gres: str = option("The name of a GPU for `--gres`, such as `gpu:h200`.", default="gpu")
    kinds: Mapping[str, str] = option(
        "For each kind of GPU that assignments name, what Slurm calls it: a name for `--gres` such as "
        "`gpu:h200`, or a feature of nodes such as `h200`.",
        default_factory=dict,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmOptions(RemoteOptions):
    """Keys of `engines: slurm:`."""

    folder: str = option(
        "A folder that every machine sees under this path; otherwise `.cluster` in the results folder.",
        default="",
    )
    account: str = option("The account that is charged; empty for the user's default.", default="")
    nice: int = option("How far behind others its tasks are put (`--nice`).", default=0, above=-1)
    cpu: CpuTask = option("Tasks without GPUs.", default_factory=CpuTask)
    gpu: GpuTask = option("Tasks with GPUs.", default_factory=GpuTask)
    options: tuple[str, ...] = option("More options of sbatch for all tasks.", default=())
