"""Conformance tests of sandboxes (`grader.api.sandbox.Sandbox`).

An author derives a class in a file of tests, and names the sandbox:

    class TestMine(SandboxConformance):
        sandbox = Mine

Where it does not work, its tests are skipped with the reason. Every promise that it makes is attacked.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from textwrap import dedent
from typing import Any, ClassVar

import pytest

from grader.contracts.call import InputCase
from grader.contracts.sandbox import Launched, Promise, Sandbox
from grader.harness.server import SubjectServer
from grader.harness.server_spec import ServerSpec
from grader.harness.student_process import StudentProcess
from grader.harness.subject import ChildSubject
from grader.model.assignment import Limits
from grader.model.observation import Outcome
from grader.sandbox.interpreter import interpreter
from grader.testing.pipes import WITHIN_S, read_within

__all__ = ["ATTACKS", "SandboxConformance"]

LIMITS = Limits(call_wall_s=10.0, file_mb=8, memory_mb=192)

ATTACKS: Mapping[Promise, str] = {
    Promise.FEWER_CALLS: """
        import ctypes
        def works(pid, port, path):
            CLONE_NEWUSER = 0x10000000
            libc = ctypes.CDLL(None)
            return libc.unshare(CLONE_NEWUSER) == 0 or libc.ptrace(0, 0, 0, 0) == 0
    """,
    Promise.NO_NETWORK: """
        import socket
        def works(pid, port, path):
            try:
                socket.create_connection(("127.0.0.1", port), 5.0).close()
            except OSError:
                return False
            return True
    """,
    Promise.HIDES_FILES: """
        def works(pid, port, path):
            try:
                return open(path).read() == "secret"
            except OSError:
                return False
    """,
    Promise.READ_ONLY_PROC: """
        def works(pid, port, path):
            try:
                with open("/proc/self/oom_score_adj", "w") as file:
                    file.write("999")
            except OSError:
                return False
            return True
    """,
    Promise.OWN_PROCESSES: """
        import os
        def works(pid, port, path):
            try:
                os.kill(pid, 0)
            except ProcessLookupError:
                return False
            return True
    """,
    Promise.FRESH_FOLDERS: """
        import os
        def works(pid, port, path):
            left = [f"{folder}/left_by_the_kit" for folder in ("/tmp", "/dev/shm")]
            there = [file for file in left if os.path.exists(file)]
            for file in left:
                os.remove(file) if file in there else open(file, "w").close()
            return bool(there)
    """,
    Promise.BOUNDED_DISK: """
        import os
        def works(pid, port, path):
            files = [f"/tmp/left_by_the_kit_{number}" for number in range(40)]
            try:
                for file in files:
                    with open(file, "wb") as written:
                        written.write(bytes(7 * 2**20))
            except OSError:
                return False
            finally:
                for file in filter(os.path.exists, files):
                    os.remove(file)
            return True
    """,
}
"""For each promise a file of a student whose `works` returns whether it is broken."""


class SandboxConformance:
    """One test for each promise of a sandbox."""

    sandbox: ClassVar[type[Sandbox]]

    @pytest.fixture
    def layer(self) -> Sandbox:
        """Return the sandbox, if it works here."""
        layer = self.sandbox()
        if missing := layer.available():
            pytest.skip(missing)
        return layer

    def launch(self, layer: Sandbox, *argv: str, fds: Sequence[int] = (), **mounts: str) -> Launched:
        """Start a program, with folders shown below `/kit`."""
        inside = {f"/kit/{name}": folder for name, folder in mounts.items()}
        return layer.launch(argv, mounts=inside, environment={"KIT": "shown"}, fds=fds)

    def test_it_says_what_it_is(self) -> None:
        assert re.fullmatch("[a-z][a-z0-9_-]*", self.sandbox.name)
        assert self.sandbox.strength >= 0
        assert all(isinstance(promise, Promise) for promise in self.sandbox.promises)
        assert "\n" not in self.sandbox().available()

    def test_a_program_gets_its_variables_and_no_others(
        self, layer: Sandbox, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("GRADER_KIT_SECRET", "a secret")
        program = self.launch(layer, "/usr/bin/env")
        assert program.wait(WITHIN_S) == 0
        assert "KIT=shown" in program.complaints().splitlines()
        assert "a secret" not in program.complaints()
        program.kill()

    def test_a_program_that_runs_has_no_status_and_one_that_ended_has_its_own(self, layer: Sandbox) -> None:
        program = self.launch(layer, "/bin/sh", "-c", "exit 7")
        assert program.wait(WITHIN_S) == 7
        program.kill()
        program = self.launch(layer, "/bin/sleep", "600")
        assert program.wait(0.0) is None
        program.kill()

    def test_descriptors_keep_their_numbers(self, layer: Sandbox) -> None:
        ours, theirs = os.pipe()
        program = self.launch(layer, "/bin/sh", "-c", f"echo here > /proc/self/fd/{theirs}", fds=(theirs,))
        os.close(theirs)
        assert read_within(ours) == b"here\n"
        program.kill()
        os.close(ours)

    def test_of_a_program_that_is_killed_nothing_is_left(self, layer: Sandbox) -> None:
        ours, theirs = os.pipe()
        if not layer.namespaced:
            pytest.skip("its programs end what they have started themselves")
        several = f"sleep 600 & sleep 600 & echo here > /proc/self/fd/{theirs}; wait"
        program = self.launch(layer, "/bin/sh", "-c", several, fds=(theirs,))
        os.close(theirs)
        assert read_within(ours) == b"here\n"
        program.kill()
        assert read_within(ours) == b"", "a process still holds the pipe"
        os.close(ours)

    def test_a_folder_is_shown_and_cannot_be_changed(self, layer: Sandbox, tmp_path: Path) -> None:
        if not layer.namespaced:
            pytest.skip("it has no paths of its own")
        (tmp_path / "file").write_text("shown")
        command = "cat /kit/folder/file >&2; echo no > /kit/folder/file"
        program = self.launch(layer, "/bin/sh", "-c", command, folder=str(tmp_path))
        assert program.wait(WITHIN_S) not in {None, 0}
        assert "shown" in program.complaints()
        assert (tmp_path / "file").read_text() == "shown"
        program.kill()

    def test_a_program_of_a_student_runs(self, layer: Sandbox, tmp_path: Path) -> None:
        code = "def works(*_): return 42"
        assert _returned(layer, tmp_path, code) == 42

    @pytest.mark.parametrize("promise", ATTACKS)
    def test_a_promise_is_kept(self, layer: Sandbox, tmp_path: Path, promise: Promise) -> None:
        if promise not in layer.promises:
            pytest.skip("it does not promise that")
        secret = tmp_path / "secret"
        secret.write_text("secret")
        secret.chmod(0o644)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
            assert not _returned(layer, tmp_path, ATTACKS[promise], os.getpid(), port, str(secret))


def _returned(layer: Sandbox, folder: Path, code: str, *args: Any) -> Any:
    """Return what the second of two checks returned; None if its program was ended."""
    workspace = folder / "workspace"
    workspace.mkdir(mode=0o755)
    (workspace / "work.py").write_text(dedent(code))
    call = None
    for server in _servers(layer, workspace):
        with ChildSubject(StudentProcess(server, "submission", LIMITS), "work", LIMITS) as subject:
            call = subject.call("works", InputCase(name="an attack", args=args))
            assert call.outcome not in {Outcome.NOT_OBSERVED, Outcome.REFUSED}, call.note
    return call and call.value


def _servers(layer: Sandbox, workspace: Path) -> Iterator[SubjectServer]:
    """Yield the servers of two checks: the same one where checks have namespaces of their own."""
    for _ in range(1 if layer.namespaced else 2):
        server = SubjectServer(
            layer,
            python=interpreter().executable,
            site=interpreter().site,
            setup=ServerSpec(),
            workspaces={"submission": workspace},
            limits=LIMITS,
            as_root=True,  # what runs here is ours, and the interpreter may lie below a home
        )
        with closing(server):
            server.ready()
            yield server
            if layer.namespaced:
                yield server
