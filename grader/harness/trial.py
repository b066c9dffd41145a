"""A trial of a sandbox: one server, one check, and their times."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from grader.contracts.call import InputCase
from grader.contracts.sandbox import Sandbox
from grader.errors import NotObservedError
from grader.harness.server import SubjectServer
from grader.harness.server_spec import ServerSpec
from grader.harness.student_process import StudentProcess
from grader.harness.subject import ChildSubject
from grader.model.assignment import Limits
from grader.model.observation import Outcome

_CHECKS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """The outcome of a trial."""

    problem: str = ""
    """Why it does not work here; empty if it does."""
    start_s: float = 0.0
    """Until the server was ready."""
    check_s: float = 0.0
    """Of a check that does nothing: the quickest of a few."""


def try_out(sandbox: Sandbox, *, python: str, site: Sequence[str]) -> Trial:
    """Start a server in the sandbox and run a program in it."""
    if problem := sandbox.available():
        return Trial(problem=problem)
    limits = Limits(call_wall_s=10.0)
    with TemporaryDirectory(prefix="grader-trial-") as folder:
        workspace = Path(folder)
        workspace.chmod(0o755)
        (workspace / "trial.py").write_text("def answer():\n    return 42\n")
        begun = time.perf_counter()
        try:
            server = SubjectServer(
                sandbox,
                python=python,
                site=tuple(site),
                setup=ServerSpec(),
                workspaces={"submission": workspace},
                limits=limits,
            )
            server.ready()
            with closing(server):
                ready = time.perf_counter()
                return Trial(
                    start_s=ready - begun, check_s=min(_check(server, limits) for _ in range(_CHECKS))
                )
        except NotObservedError as error:
            return Trial(problem=str(error).removeprefix(f"sandbox {sandbox.name}: "))


def _check(server: SubjectServer, limits: Limits) -> float:
    begun = time.perf_counter()
    with ChildSubject(StudentProcess(server, "submission", limits), "trial", limits) as subject:
        call = subject.call("answer", InputCase(name="answer", args=()))
    if call.outcome is not Outcome.OBSERVED or call.value != 42:
        note = call.note or subject.imported.note
        raise NotObservedError(f"a program that returns 42 did not: {note or call.value!r}")
    return time.perf_counter() - begun
