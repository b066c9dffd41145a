"""Ray as a scheduler of batches: each task of a batch is one of Ray's, and none is started again by Ray."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from grader.engines.ray.link import DriverLink, RayLostError
from grader.engines.ray.options import RayCpuTask, RayGpuTask, RayOptions
from grader.engines.remote.__main__ import ATTACHED
from grader.engines.remote.batch import Batch
from grader.engines.remote.node import script
from grader.engines.remote.scheduler import (
    Pace,
    SchedulerRefusedError,
    TaskPhase,
    TaskState,
    TaskStates,
)
from grader.engines.remote.stored import Wants
from grader.model.job import is_of_kind

TYPE = "accelerator_type:"
"""Begins the name of the resource of a node with a certain GPU; Ray gives each node one of them."""
SOME = 0.001
"""What a task takes of a resource that only says what a node is, as Ray does it for `accelerator_type`."""
MOST_TASKS = 1000


@dataclass
class RayScheduler:
    """The cluster of an address, over a driver of its own."""

    pace: ClassVar[Pace] = Pace(ask_every_s=(0.5, 1.0), first_ask_s=0.2, grace_s=0.0)
    carrier: ClassVar[str] = "network"
    most_tasks: ClassVar[int] = MOST_TASKS

    options: RayOptions
    _link: DriverLink | None = None
    _states: dict[tuple[str, int], TaskState] = field(default_factory=dict)
    _nodes: list[Mapping[str, Any]] = field(default_factory=list)
    """The nodes that were alive last."""

    def connect(self) -> DriverLink:
        """Return the connection, which is made if there is none.

        Raises:
            RayLostError: no cluster answers.
        """
        if self._link is None:
            self._link = DriverLink(self.options.address)
            self._nodes = self._link.nodes or []
        return self._link

    def close(self) -> None:
        """End all tasks."""
        if self._link is not None:
            self._link.close()
            self._link = None

    def gpus(self) -> int:
        """Return the most GPUs of one node, unless the settings say how many a task may have."""
        if self.options.gpu.most:
            return max(0, self.options.gpu.most)
        return max((int(_amount(node, "GPU")) for node in self._nodes), default=0)

    def _task(self, wants: Wants) -> RayCpuTask | RayGpuTask:
        return self.options.gpu if wants.gpus else self.options.cpu

    def cores(self, wants: Wants) -> int:
        """Return the cores of a task, or more if its programs are timed on more."""
        return wants.cores_of_task(self._task(wants).cpus)

    def limit_s(self, wants: Wants) -> float:
        """Return the time limit of the settings, in seconds."""
        return float(self._task(wants).time)

    def slots(self, wants: Wants) -> int:
        """Return how many tasks the nodes have room for, or the setting `at_once`."""
        rooms = sum(room for _, room in self._rooms(wants))
        return min(filter(None, (self.options.at_once, max(1, rooms))))

    def _rooms(self, wants: Wants) -> Iterator[tuple[Mapping[str, float], int]]:
        """Yield what a task asks for to run on a node, beside cores and GPUs, and how many fit there."""
        task = self._task(wants)
        asks = {"CPU": float(self.cores(wants)), "GPU": float(wants.gpus), **task.resources}
        for node in self._nodes:
            kind = self._kind(node, wants)
            rooms = [int(_amount(node, name) // amount) for name, amount in asks.items() if amount]
            if kind is not None and (room := min(rooms)):
                yield {**task.resources, **({kind: SOME} if kind else {})}, room

    def _kind(self, node: Mapping[str, Any], wants: Wants) -> str | None:
        """Return the resource by which a task asks for the GPUs of a node; None if it cannot use them.

        It is empty where any GPU will do, or Ray does not know what a node has: the machine checks it.
        """
        if not (wants.gpus and wants.gpu_kinds):
            return ""
        names = self.options.gpu.kinds
        named = [names[kind] for kind in wants.gpu_kinds if kind in names]
        detected: list[str] = [name for name in node["resources"] if name.startswith(TYPE)]
        fitting = [name for name in detected if is_of_kind(name.removeprefix(TYPE), wants.gpu_kinds)]
        if chosen := [*(name for name in named if name in node["resources"]), *fitting]:
            return chosen[0]
        return None if detected or named else ""

    def submit(self, batch: Batch, root: Path, folder: Path) -> None:
        """Hand the tasks of a batch to the driver; each asks for a kind of GPU that some nodes have."""
        del folder
        try:
            link = self.connect()
        except RayLostError as error:
            raise SchedulerRefusedError(f"no cluster answers ({error})") from None
        places = [resources for resources, room in self._rooms(batch.wants) for _ in range(room)]
        if not places and not self.options.autoscales:
            raise SchedulerRefusedError(
                f"no node has {self._needs(batch.wants)}; lower `cpus`, "
                "or set `autoscales` where nodes are added"
            )
        arguments = ('"$GRADER_ORDERS"', batch.name, '"$GRADER_TASK"', "1", "0", ATTACHED)
        resources = [
            places[task % len(places)] if places else self._task(batch.wants).resources
            for task in range(len(batch.packs))
        ]
        for task in range(len(batch.packs)):
            words = "no room yet" if places else f"a node with {self._needs(batch.wants)}"
            self._states[batch.name, task] = TaskState(phase=TaskPhase.WAITING, words=words)
        link.send(
            do="submit",
            batch=batch.name,
            root=str(root),
            kind="gpu" if batch.wants.gpus else "cpu",
            at_once=self.options.at_once,
            resources=resources,
            script=script(self.options.setup, self.options.command or '"$GRADER_PYTHON"', arguments),
        )

    def _needs(self, wants: Wants) -> str:
        gpus = f"{wants.gpus} GPUs of {' or '.join(wants.gpu_kinds) or 'any kind'}" if wants.gpus else ""
        more = [f"{amount:g} {name}" for name, amount in self._task(wants).resources.items()]
        return " and ".join(filter(None, (f"{self.cores(wants)} CPUs", gpus, *more)))

    def states(self) -> TaskStates:
        """Return the states of all tasks; with the connection all are lost that were not over."""
        if self._link is not None:
            try:
                reports = self._link.read()
                self._nodes = self._link.nodes or []
            except RayLostError as error:
                self._link.close(kill=True)
                self._link = None
                self._lose(str(error))
            else:
                for report in reports:
                    name, task = report["task"]
                    self._states[name, task] = TaskState(
                        phase=TaskPhase(report["phase"]), words=report["words"], node=report["node"]
                    )
        return dict(self._states)

    def _lose(self, why: str) -> None:
        for place, state in self._states.items():
            if not state.phase.is_over:
                self._states[place] = TaskState(
                    phase=TaskPhase.LOST, words=f"the connection to Ray was lost: {why}"
                )

    def cancel(self, batch: str) -> None:
        """Cancel the tasks of a batch, and forget them."""
        for place in [place for place in self._states if place[0] == batch]:
            del self._states[place]
        with suppress(RayLostError):
            if self._link is not None:
                self._link.send(do="cancel", batch=batch, root="")


def _amount(node: Mapping[str, Any], name: str) -> float:
    return float(node["resources"].get(name, 0.0))
