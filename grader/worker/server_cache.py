"""Plugins, and servers with their libraries, that one run leaves for the next of the same assignment."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from grader.config.codec import dumps
from grader.contracts.context import REFERENCE, SUBMISSION
from grader.contracts.sandbox import Sandbox
from grader.errors import CourseError, NotObservedError
from grader.harness.server_spec import ServerSpec
from grader.harness.servers import Servers
from grader.model.job import Job
from grader.plugins import Plugins
from grader.sandbox.interpreter import interpreter


class ServerCache:
    """Servers run no student's code and hold nothing of a check: the next submission may use them."""

    def __init__(self) -> None:
        self._plugins: dict[str, Plugins] = {}
        self._servers: Servers | None = None
        self._for = ""

    def plugins(self, course: str) -> Plugins:
        """Return the plugins of a course."""
        if course not in self._plugins:
            self._plugins[course] = Plugins(Path(course))
        return self._plugins[course]

    @contextmanager
    def servers(self, job: Job) -> Iterator[Servers]:
        """Yield servers that show the job's submission: those of the last run if they are alike.

        Servers that were told of devices or products, or were pinned to the cores of one run, are ended.
        """
        shown = job.stage or job.workspace
        alike = dumps([job.course, job.assignment_folder, job.limits, job.min_isolation, shown])
        if self._servers is not None and alike != self._for:
            self.close()
        servers = self._servers or self._start(job)
        self._servers, self._for = None, alike
        affinity = os.sched_getaffinity(0)
        try:
            with _shown(job, servers):
                yield servers
            if os.sched_getaffinity(0) == affinity:
                servers.end_where(_told_more)
                self._servers = servers
        finally:
            os.sched_setaffinity(0, affinity)
            if self._servers is None:
                servers.close()

    def close(self) -> None:
        """End the servers of the last run."""
        if self._servers is not None:
            self._servers.close()
            self._servers = None

    def _start(self, job: Job) -> Servers:
        folder = Path(job.assignment_folder)
        course_files = folder / "given"
        sandboxes = self.plugins(job.course).sandboxes
        least = _least_strength(sandboxes, job.min_isolation)
        return Servers(
            [sandbox for sandbox in sandboxes if sandbox.strength >= least],
            python=interpreter().executable,
            site=interpreter().site,
            workspaces={
                SUBMISSION: Path(job.stage or job.workspace),
                REFERENCE: folder / "reference",
            },
            course_files=course_files if course_files.is_dir() else None,
            limits=job.limits,
            least=job.min_isolation if least else "",
            as_root=least == 0,
        )


@contextmanager
def _shown(job: Job, servers: Servers) -> Iterator[None]:
    """Put the submission where the servers see it."""
    if not job.stage:
        yield
        return
    place = Path(job.stage) / job.id
    try:
        shutil.copytree(job.workspace, place)
    except (OSError, shutil.Error) as error:
        raise NotObservedError(
            f"{place}: the submission cannot be copied there ({error}); make room"
        ) from None
    servers.within[SUBMISSION] = job.id
    try:
        yield
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _told_more(spec: ServerSpec) -> bool:
    return bool(spec.devices or spec.mounts)


def _least_strength(sandboxes: Sequence[Sandbox], least: str) -> int:
    """The strength of the weakest layer that may be used: one without any is used only where it is named."""
    strengths = {sandbox.name: sandbox.strength for sandbox in sandboxes}
    if least and least not in strengths:
        raise CourseError(f"course.yaml: min_isolation: no layer {least!r}; there are {', '.join(strengths)}")
    return strengths[least] if least else 1
