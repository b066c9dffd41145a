"""Slurm as a scheduler of batches: each batch is a job array of its name."""

from __future__ import annotations

import math
import os
import re
import shlex
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from grader.engines.remote.batch import PREFIX, Batch
from grader.engines.remote.node import NODE, script
from grader.engines.remote.scheduler import (
    REST,
    SHARED_FOLDER,
    Pace,
    SchedulerAwayError,
    SchedulerRefusedError,
    TaskPhase,
    TaskState,
    TaskStates,
)
from grader.engines.remote.stored import Wants
from grader.engines.slurm.advice import reason, refusal
from grader.engines.slurm.commands import run_slurm
from grader.engines.slurm.options import CpuTask, GpuTask, SlurmOptions
from grader.errors import NotObservedError, UsageError

PHASES = {
    **dict.fromkeys(("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED"), TaskPhase.WAITING),
    **dict.fromkeys(("SPECIAL_EXIT", "RESV_DEL_HOLD", "SUSPENDED"), TaskPhase.WAITING),
    **dict.fromkeys(("RUNNING", "COMPLETING", "SIGNALING", "STAGE_OUT", "STOPPED"), TaskPhase.RUNNING),
    "RESIZING": TaskPhase.RUNNING,
    **dict.fromkeys(("COMPLETED", "FAILED"), TaskPhase.FINISHED),
    "CANCELLED": TaskPhase.CANCELLED,
    **dict.fromkeys(("TIMEOUT", "DEADLINE"), TaskPhase.OUT_OF_TIME),
    "OUT_OF_MEMORY": TaskPhase.OUT_OF_MEMORY,
}
"""Slurm's states; those of a machine that failed, or was taken away, are not among them."""
LAUNCH_FAILED = "launch failed requeued held"
"""The reason of a task that no node could start: Slurm holds it until an administrator looks at it."""
FIELDS = "%j|%F|%K|%T|%N|%S|%r"
"""squeue's fields: name, job, task, state, nodes, expected begin, reason."""
MOST_TASKS = 1000
"""In one array, where Slurm does not say."""
_COMMANDS = ("sbatch", "squeue", "scancel", "sinfo", "scontrol")


def require_commands() -> None:
    """Check that Slurm's commands are installed here.

    Raises:
        UsageError: one is not.
    """
    if missing := [name for name in _COMMANDS if not shutil.which(name)]:
        raise UsageError(
            f"--engine slurm: {', '.join(missing)} not installed here; run grader where jobs are sent"
        )


@dataclass
class SlurmScheduler:
    """The cluster that Slurm's commands on this machine reach."""

    pace: ClassVar[Pace] = Pace()
    carrier: ClassVar[str] = SHARED_FOLDER

    options: SlurmOptions
    _nodes: dict[str, tuple[_Nodes, ...]] = field(default_factory=dict)
    """By partition."""

    @cached_property
    def most_tasks(self) -> int:
        """Return the most tasks of one array."""
        config = run_slurm("scontrol", "show", "config")
        size = re.search(r"^MaxArraySize\s*=\s*(\d+)", config, re.MULTILINE)
        return max(1, int(size.group(1)) - 1) if size else MOST_TASKS

    def gpus(self) -> int:
        """Return the most GPUs of one node, unless the settings say how many a task may have.

        Of a named partition that sinfo does not list (it is misspelt, or hidden), return one: sbatch refuses
        its tasks, and says why, where none would be sent otherwise and nobody told.
        """
        settings = self.options.gpu
        if settings.most:
            return max(0, settings.most)
        unlisted = 1 if settings.partition else 0
        try:
            return max((nodes.gpus for nodes in self._nodes_of(settings.partition)), default=unlisted)
        except SchedulerAwayError as error:
            raise NotObservedError(f"slurm: sinfo fails ({error}); try again later") from None
        except SchedulerRefusedError as error:
            raise NotObservedError(f"slurm: sinfo fails: {error}") from None

    def _task(self, wants: Wants) -> CpuTask | GpuTask:
        return self.options.gpu if wants.gpus else self.options.cpu

    def cores(self, wants: Wants) -> int:
        """Return the cores of a task, or more if its programs are timed on more."""
        return wants.cores_of_task(self._task(wants).cpus)

    def limit_s(self, wants: Wants) -> float:
        """Return the time limit of the settings, or the partition's if that is shorter, in seconds."""
        task = self._task(wants)
        limits = [float(task.time)]
        with suppress(SchedulerAwayError, SchedulerRefusedError):  # sbatch says what is wrong
            limits += (nodes.limit_s for nodes in self._nodes_of(task.partition))
        return min(limits)

    def slots(self, wants: Wants) -> int:
        """Return how many tasks the partition has room for, or the setting `at_once`."""
        cores, partition = self.cores(wants), self._task(wants).partition
        rooms = 0
        nodes_of_partition = self._nodes_of(partition)
        for nodes in nodes_of_partition:
            room = nodes.cores // cores
            rooms += nodes.count * (min(room, nodes.gpus // wants.gpus) if wants.gpus else room)
        if nodes_of_partition and not rooms:  # Slurm may queue such a task for ever
            needs = f"{cores} cores and {wants.gpus} GPUs" if wants.gpus else f"{cores} cores"
            where = f"the partition {partition}" if partition else "the default partition"
            raise SchedulerRefusedError(refusal(f"no node of {where} has {needs} for a task"))
        return min(filter(None, (self.options.at_once, max(1, rooms))))

    def _nodes_of(self, partition: str) -> tuple[_Nodes, ...]:
        if partition not in self._nodes:
            chosen = [f"--partition={partition}"] if partition else []
            try:
                output = run_slurm("sinfo", "--noheader", "--format=%D|%c|%G|%l|%P", *chosen)
            except SchedulerRefusedError as error:
                raise SchedulerRefusedError(refusal(str(error))) from None
            rows = [line.split("|") for line in output.splitlines() if re.match(r"\d+\|\d+\+?\|", line)]
            self._nodes[partition] = tuple(
                _Nodes(
                    count=int(count),
                    cores=int(cores.rstrip("+")),
                    gpus=_gpus_in(gres),
                    limit_s=_limit_s(limit),
                )
                for count, cores, gres, limit, name, *_ in rows
                if partition or name.strip().endswith("*")
            )
        return self._nodes[partition]

    def submit(self, batch: Batch, root: Path, folder: Path) -> None:
        """Queue a batch as an array of its name."""
        if "\\" in str(folder):
            raise SchedulerRefusedError(
                f"{folder}: has a backslash, behind which Slurm replaces nothing in the names of outputs; "
                "name another folder"
            )
        file = folder / "script.sh"
        numbers = ('"$SLURM_ARRAY_TASK_ID"', '"$SLURM_ARRAY_JOB_ID"', '"${SLURM_RESTART_COUNT:-0}"')
        arguments = (shlex.quote(str(root)), batch.name, *numbers)
        setup = f'export {NODE}="$SLURMD_NODENAME"\n{self.options.setup}'
        file.write_text(script(setup, self.options.command, arguments))
        try:
            run_slurm("sbatch", *self._arguments(batch, folder), str(file))
        except SchedulerRefusedError as error:
            raise SchedulerRefusedError(refusal(str(error))) from None

    def _arguments(self, batch: Batch, folder: Path) -> Iterator[str]:
        options, task, wants = self.options, self._task(batch.wants), batch.wants
        limit = f"%{options.at_once}" if options.at_once else ""
        yield from ("--parsable", "--requeue", "--export=NIL", "--nodes=1", "--ntasks=1")
        yield f"--job-name={batch.name}"
        yield f"--array=0-{len(batch.packs) - 1}{limit}"
        yield f"--time={math.ceil(batch.time_s / 60)}"
        yield f"--cpus-per-task={batch.cores}"
        literal = str(folder).replace("%", "%%")  # in the name of an output Slurm replaces %j and the like
        yield from ("--open-mode=append", f"--output={literal}/log-%a", f"--chdir={folder}")
        if wants.exclusive:
            yield "--hint=nomultithread"  # a neighbour on the other thread of a core would be timed, too
        if isinstance(task, GpuTask):
            yield from _gpu_arguments(task, wants)
        for name, value in (
            ("partition", task.partition),
            ("mem", task.memory),
            ("account", options.account),
            ("nice", options.nice),
        ):
            if value:
                yield f"--{name}={value}"
        yield from (*options.options, *task.options)

    def states(self) -> TaskStates:
        """Return the states of all tasks that squeue still lists."""
        try:
            output = run_slurm(
                "squeue",
                "--noheader",
                "--array",
                "--states=all",
                f"--user={os.getuid()}",
                f"--format={FIELDS}",
            )
        except SchedulerRefusedError as error:
            raise SchedulerAwayError(str(error)) from None
        jobs: dict[tuple[str, int], tuple[int, TaskState]] = {}
        for line in output.splitlines():
            name, job, task, *_ = fields = line.split("|", 6)
            if not name.startswith(PREFIX) or len(fields) < 7 or not job.isdigit():
                continue
            state = _state(*fields[3:])
            if task == "N/A" and state.phase.is_over:
                place = name, REST  # tasks that were cancelled together before they began have one line
            elif task.isdigit():
                place = name, int(task)
            else:
                continue
            # a batch that was sent twice has two jobs: what goes on counts, or else the later one
            if place not in jobs or (not state.phase.is_over, int(job)) > (
                not jobs[place][1].phase.is_over,
                jobs[place][0],
            ):
                jobs[place] = int(job), state
        return {place: state for place, (_, state) in jobs.items()}

    def cancel(self, batch: str) -> None:
        """Cancel the jobs of a batch."""
        try:
            run_slurm("scancel", "--quiet", f"--name={batch}", f"--user={os.getuid()}")
        except SchedulerRefusedError as error:
            raise SchedulerAwayError(str(error)) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Nodes:
    """Nodes of a partition that are alike."""

    count: int
    cores: int
    gpus: int
    limit_s: float
    """The partition's time limit, in seconds."""


def _limit_s(limit: str) -> float:
    """Return a time limit as sinfo writes it, `1-02:00:00` or `30:00`, in seconds; infinity without one."""
    parts = re.fullmatch(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)", limit.strip())
    if not parts:
        return math.inf
    days, hours, minutes, seconds = (int(part or 0) for part in parts.groups())
    return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)


def _gpu_arguments(task: GpuTask, wants: Wants) -> Iterator[str]:
    """Ask for GPUs of the kinds that an assignment names, as far as the site says what Slurm calls them.

    One array can ask for one name of a GPU only, and for several features of nodes. The machine checks what
    it got in any case.
    """
    names = [task.kinds[kind] for kind in wants.gpu_kinds if kind in task.kinds]
    features = [name for name in names if not name.startswith("gpu")]
    gres = next((name for name in names if name.startswith("gpu")), task.gres)
    yield f"--gres={gres if not features else task.gres}:{wants.gpus}"
    if features:
        yield f"--constraint={'|'.join(features)}"


def _gpus_in(gres: str) -> int:
    """Count the GPUs of sinfo's generic resources, such as `gpu:h200:8(S:0-1),shard:64`."""
    counts = re.findall(r"(?:^|,)gpu(?::[^:,()]+)?:(\d+)", gres)
    return sum(map(int, counts))


def _state(state: str, nodes: str, begins: str, why: str) -> TaskState:
    phase = PHASES.get(state.partition(" ")[0], TaskPhase.LOST) if why != LAUNCH_FAILED else TaskPhase.LOST
    words = state if phase is not TaskPhase.WAITING or why in {"", "None"} else reason(why)
    clock = re.search(r"T(\d\d:\d\d)", begins)
    return TaskState(
        phase=phase,
        words=words,
        node=nodes,
        begins=clock.group(1) if clock and phase is TaskPhase.WAITING else "",
    )
