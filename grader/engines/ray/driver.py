"""`python -m grader.engines.ray.driver ADDRESS`: the one process of the host that speaks with Ray.

Ray ends the process that uses it when the cluster's head is lost, prints what it likes, and takes signals
for itself; so it is not the process that grades. Commands come as lines of JSON on standard input, and end
with it; nodes and tasks are reported as lines of JSON on standard output. Journals are written here.
"""

from __future__ import annotations

import errno
import json
import os
import select
import socket
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from grader.engines.ray import courier
from grader.engines.remote.batch import folder_of, journals_of, read_batch
from grader.engines.remote.journal import SUFFIX
from grader.engines.remote.parcel import course_archive, courses_of, task_archive
from grader.engines.remote.scheduler import TaskPhase

ATTEMPT = (1, 0)
"""The job and the restart of every task: Ray starts none again, and one that was lost goes out anew."""
POLL_S = 0.1
NODES_EVERY_S = 5.0
ANSWER_S = 20.0
"""Seconds in which the head of a cluster must take a connection."""
STOP_S = 25.0
"""Seconds that tasks have to end what they have started."""
_ENDS = {
    "TaskCancelledError": (TaskPhase.CANCELLED, "cancelled in Ray"),
    "OutOfMemoryError": (TaskPhase.OUT_OF_MEMORY, "Ray ended it when its node ran out of memory"),
    "NodeDiedError": (TaskPhase.LOST, "its node was lost"),
    "WorkerCrashedError": (TaskPhase.LOST, "Ray's worker was killed"),
}
"""By the names of Ray's exceptions, how a task ended that raises one."""
Place = tuple[str, int]
"""The name of a batch and the number of a task."""


@dataclass(slots=True)
class _Waiting:
    """A task that Ray has not got yet."""

    place: Place
    root: Path
    command: Mapping[str, Any]


@dataclass
class RayDriver:
    """Tasks of this process, from a command of the host until their results are here."""

    output: TextIO
    ray: Any
    """The package, which only the process of a driver imports."""
    _inbox: Any = None
    _carry: Any = None
    _waiting: deque[_Waiting] = field(default_factory=deque)
    _tasks: dict[Any, _Waiting] = field(default_factory=dict)
    """By the reference to its result."""
    _courses: dict[tuple[Path, str], Any] = field(default_factory=dict)
    """References to archives, by root and digest."""
    _unwritten: deque[tuple[Path, bytes]] = field(default_factory=deque)
    """What has no room on the disk yet."""
    _roots: dict[str, Path] = field(default_factory=dict)
    """By batch."""
    _nodes: list[dict[str, Any]] | None = None
    _look_at: float = 0.0

    def connect(self, address: str) -> None:
        """Connect to a cluster, and have an actor on this node that takes letters.

        Raises:
            Exception: there is none; Ray has no type for that.
        """
        address = address or os.environ.get("RAY_ADDRESS", "")
        host, colon, port = address.rpartition(":")
        if colon and port.isdigit() and "/" not in host:  # Ray would try for a minute and a half
            socket.create_connection((host.strip("[]"), int(port)), ANSWER_S).close()
        from ray import cloudpickle
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        self.ray.init(
            address=address or "auto", log_to_driver=False, logging_level="ERROR", configure_logging=False
        )
        cloudpickle.register_pickle_by_value(courier)
        here = NodeAffinitySchedulingStrategy(self.ray.get_runtime_context().get_node_id(), soft=False)
        inbox = self.ray.remote(num_cpus=0, max_restarts=0, scheduling_strategy=here)(courier.Inbox)
        self._inbox = inbox.remote()
        # GPU tasks would get a process each, which is worth nothing: the worker is one of its own
        self._carry = self.ray.remote(max_retries=0, max_calls=0)(courier.carry)

    def run(self, commands: Iterator[Mapping[str, Any] | None]) -> None:
        """Do as the host says until it says no more."""
        for command in commands:
            if command is not None:
                self._obey(command)
            self._start_tasks()
            self._receive()
            self._end_tasks()
            self._show_nodes()

    def close(self) -> None:
        """Cancel all tasks, and give them time to end what they have started."""
        for reference in self._tasks:
            self.ray.cancel(reference)
        if self._tasks:
            self.ray.wait([*self._tasks], num_returns=len(self._tasks), timeout=STOP_S)

    def _obey(self, command: Mapping[str, Any]) -> None:
        name, root = command["batch"], Path(command["root"])
        if command["do"] == "submit":
            self._roots[name] = root
            for task in range(len(command["resources"])):
                self._waiting.append(_Waiting((name, task), root, command))
            return
        self._roots.pop(name, None)
        self._waiting = deque(task for task in self._waiting if task.place[0] != name)
        for reference, started in self._tasks.items():
            if started.place[0] == name:
                self.ray.cancel(reference)

    def _start_tasks(self) -> None:
        """Give Ray as many tasks as may run at once."""
        for task in tuple(self._waiting):
            alike = sum(other.command["kind"] == task.command["kind"] for other in self._tasks.values())
            if not task.command["at_once"] or alike < task.command["at_once"]:
                self._waiting.remove(task)
                self._start(task)

    def _start(self, task: _Waiting) -> None:
        (name, number), command = task.place, task.command
        batch = read_batch(folder_of(task.root, name))
        if batch is None:
            return self._report(task.place, TaskPhase.FINISHED, "it was taken back")
        try:
            parcel = task_archive(task.root, batch, number)
            courses = {
                digest: [self._course(task.root, digest)] for digest in courses_of(task.root, batch, number)
            }
        except OSError as error:
            return self._report(task.place, TaskPhase.LOST, f"{task.root}: {error.strerror}")
        settings = {
            "batch": name,
            "task": number,
            "time_s": batch.time_s,
            "script": command["script"],
            "journal": str(self._journal(Path(), name, number)),
        }
        options = self._carry.options(
            num_cpus=batch.cores,
            num_gpus=batch.wants.gpus,
            resources=command["resources"][number],
            name=f"{name}:{number}",
        )
        self._tasks[options.remote(parcel, courses, json.dumps(settings), self._inbox)] = task
        return None

    def _course(self, root: Path, digest: str) -> Any:
        if (root, digest) not in self._courses:
            self._courses[root, digest] = self.ray.put(course_archive(root, digest))
        return self._courses[root, digest]

    @staticmethod
    def _journal(root: Path, name: str, task: int) -> Path:
        job, restart = ATTEMPT
        return journals_of(folder_of(root, name), task) / f"{job:012d}.{restart:04d}{SUFFIX}"

    def _receive(self) -> None:
        """Write what has come into the folders of batches; those that were taken back have none."""
        for name, number, kind, content in self.ray.get(self._inbox.take.remote()):
            if not (root := self._roots.get(name)):
                continue
            if kind == courier.BEGUN:
                self._report((name, number), TaskPhase.RUNNING, "running", content.decode())
            elif kind == courier.LOG:
                self._unwritten.append((folder_of(root, name) / f"log-{number}", content))
            else:
                self._unwritten.append((self._journal(root, name, number), content))
        while self._unwritten:
            file, content = self._unwritten[0]
            try:
                append_whole(file, content)
            except FileNotFoundError:
                pass  # the batch was taken back
            except OSError:  # no room: later
                return
            self._unwritten.popleft()

    def _end_tasks(self) -> None:
        """Report tasks that have ended, once all of their letters have come and are written."""
        if not self._tasks:
            return
        ended, _ = self.ray.wait([*self._tasks], num_returns=len(self._tasks), timeout=0)
        if ended:
            self._receive()
        for reference in ended if not self._unwritten else ():
            place = self._tasks.pop(reference).place
            self._report(place, *_end_of(partial(self.ray.get, reference)))

    def _show_nodes(self) -> None:
        if time.monotonic() < self._look_at:
            return
        self._look_at = time.monotonic() + NODES_EVERY_S
        nodes = [
            {"name": node["NodeName"], "resources": node["Resources"]}
            for node in self.ray.nodes()
            if node["Alive"]
        ]
        if nodes != self._nodes:
            self._nodes = nodes
            self._write(nodes=nodes)

    def _report(self, place: Place, phase: TaskPhase, words: str, node: str = "") -> None:
        self._write(task=place, phase=phase, words=words, node=node)

    def _write(self, **values: Any) -> None:
        self.output.write(f"{json.dumps(values)}\n")
        self.output.flush()


def _end_of(result: Callable[[], bool]) -> tuple[TaskPhase, str]:
    """Return how a task ended, in our words."""
    try:
        in_time = result()
    except Exception as error:  # Ray's, or what the task raised
        for kind in type(error).__mro__:
            if kind.__name__ in _ENDS:
                return _ENDS[kind.__name__]
        cause = getattr(error, "cause", None) or error
        lines = str(cause).strip().splitlines()
        return TaskPhase.LOST, ": ".join((type(cause).__name__, *lines[-1:]))
    return (TaskPhase.FINISHED, "it ended") if in_time else (TaskPhase.OUT_OF_TIME, "out of time")


def append_whole(file: Path, content: bytes) -> None:
    """Append to a file, or leave it as it was.

    Raises:
        OSError: there is no room, or its folder was removed.
    """
    if file.suffix == SUFFIX and file.parent.parent.is_dir():
        file.parent.mkdir(exist_ok=True)
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        end = os.fstat(descriptor).st_size
        if os.write(descriptor, content) < len(content):
            os.ftruncate(descriptor, end)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    finally:
        os.close(descriptor)


def commands_from(descriptor: int) -> Iterator[Mapping[str, Any] | None]:
    """Yield each command, and None whenever there was none for a moment; end with the input."""
    rest = b""
    while True:
        if not select.select([descriptor], [], [], POLL_S)[0]:
            yield None
            continue
        if not (content := os.read(descriptor, 1 << 16)):
            return
        *lines, rest = (rest + content).split(b"\n")
        yield from map(json.loads, lines)


def main() -> int:
    """Connect, and serve the host; what goes wrong is the last line of the error output."""
    output = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # Ray writes there
    import ray

    driver = RayDriver(output, ray)
    try:
        driver.connect(sys.argv[1])
    except Exception as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        sys.stderr.write(f"{lines[0]}\n")
        return 1
    try:
        driver.run(commands_from(sys.stdin.fileno()))
        driver.close()
    except ray.exceptions.RayError as error:
        sys.stderr.write(f"\n{type(error).__name__} of Ray\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
