"""Contexts over a real sandbox, for submissions and assignments that a test writes as texts."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import dedent

from grader.contracts.context import REFERENCE, SUBMISSION
from grader.contracts.sandbox import Sandbox
from grader.harness.item_context import ItemContext
from grader.harness.process_pool import ProcessPool
from grader.harness.servers import Servers
from grader.model.assignment import Limits
from grader.model.job import Job
from grader.model.submission import Submission
from grader.sandbox.interpreter import interpreter

__all__ = ["Contexts"]

COURSE_FILES = "given"
_LIMITS = Limits(call_wall_s=5.0)


class Contexts:
    """Makes contexts whose servers are kept for the next one, as a worker keeps them.

    The files of each are written into the folders that the servers show, and removed by `end`.
    """

    def __init__(self, folder: Path, sandboxes: Sequence[Sandbox]) -> None:
        """Make the folders; `sandboxes` are those to choose from, the strongest first."""
        self._sandboxes = tuple(sandboxes)
        self._shown = {name: folder / name for name in (SUBMISSION, REFERENCE, COURSE_FILES)}
        for shown in self._shown.values():
            shown.mkdir()
        self._servers: dict[bool, Servers] = {}
        """By whether the course has files that every program is shown."""
        self._open: list[ProcessPool] = []

    def make(self, folder: Path, files: Mapping[str, str], course: Mapping[str, str]) -> ItemContext:
        """Write the files of a submission and of an assignment, and link to them in a folder."""
        (folder / "assignment").mkdir()
        (folder / "workspace").symlink_to(self._shown[SUBMISSION])
        for name in (REFERENCE, COURSE_FILES):
            (folder / "assignment" / name).symlink_to(self._shown[name])
        _write(folder / "workspace", files)
        _write(folder / "assignment", course)
        submission = Submission(
            student="s", assignment="a", archive="s.tar.gz", digest="d", files=tuple(sorted(files))
        )
        job = Job(
            id="1",
            submission=submission,
            course=str(folder),
            assignment_folder=str(folder / "assignment"),
            workspace=str(folder / "workspace"),
            tasks=(),
            accepts=("*", "*/*"),
            preloads={name.removesuffix(".py"): ("numpy",) for name in files},
            limits=_LIMITS,
            seed="5eed",
        )
        servers = self._serving(any(path.startswith(f"{COURSE_FILES}/") for path in course))
        self._open.append(ProcessPool(servers, job.limits))
        return ItemContext(job, "item", self._open[-1])

    def _serving(self, shows_course_files: bool) -> Servers:
        if shows_course_files not in self._servers:
            self._servers[shows_course_files] = Servers(
                self._sandboxes,
                python=interpreter().executable,
                site=interpreter().site,
                workspaces={name: self._shown[name] for name in (SUBMISSION, REFERENCE)},
                course_files=self._shown[COURSE_FILES] if shows_course_files else None,
                limits=_LIMITS,
            )
        return self._servers[shows_course_files]

    def end(self) -> None:
        """End the children, and empty the folders: their mount points stay."""
        while self._open:
            self._open.pop().close()
        for shown in self._shown.values():
            for path in shown.iterdir():
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink()

    def close(self) -> None:
        """End the servers."""
        for servers in self._servers.values():
            servers.close()


def _write(folder: Path, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(text))
