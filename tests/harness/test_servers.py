"""Servers and children give back everything they took."""

from __future__ import annotations

import gc
import os
import shutil
from pathlib import Path

import pytest

from grader.contracts.call import InputCase
from grader.errors import CourseError, NotObservedError, PackageError, RootError
from grader.harness.server_spec import ServerSpec
from grader.harness.servers import Servers
from grader.harness.student_process import StudentProcess
from grader.harness.subject import ChildSubject
from grader.model.assignment import Limits
from grader.sandbox.bubblewrap import BubblewrapSandbox, _arguments
from grader.sandbox.interpreter import interpreter
from grader.sandbox.process import ProcessSandbox, Running

LIMITS = Limits(call_wall_s=20.0, import_wall_s=20.0)
NOTHING = InputCase(name="nothing", args=())


def servers(
    workspace: Path, *sandboxes, as_root: bool = True, more: Path | None = None, given: Path | None = None
) -> Servers:
    workspace.chmod(0o755)
    (workspace / "work.py").write_text("def one(): return 1\ndef end():\n    import os\n    os._exit(1)\n")
    return Servers(
        sandboxes,
        python=interpreter().executable,
        site=(*interpreter().site, *([str(more)] if more else [])),
        workspaces={"submission": workspace},
        course_files=given,
        limits=LIMITS,
        as_root=as_root,
    )


def descriptors() -> list[str]:
    """What our open files are; the listing itself is none of them any more."""
    gc.collect()
    files = list(Path("/proc/self/fd").iterdir())
    return sorted(str(file.readlink()) for file in files if file.is_symlink())


def children() -> list[str]:
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()


def one_check(room: Servers, function: str = "one") -> None:
    with (
        room.serving(ServerSpec()) as server,
        ChildSubject(StudentProcess(server, "submission", LIMITS), "work", LIMITS) as subject,
    ):
        subject.call(function, NOTHING)


@pytest.mark.parametrize(
    ("sandbox", "checks"), [(BubblewrapSandbox, 50), pytest.param(ProcessSandbox, 8, marks=pytest.mark.slow)]
)
def test_no_descriptor_and_no_process_is_left_of_many_checks(tmp_path, sandbox, checks):
    if missing := sandbox().available():
        pytest.skip(missing)
    first = servers(tmp_path, sandbox())
    one_check(first)  # libraries keep what they opened once
    first.close()
    before, alone = descriptors(), children()
    room = servers(tmp_path, sandbox())
    one_check(room)
    while_serving = len(descriptors())
    for number in range(checks):
        one_check(room, "end" if number % 5 == 0 else "one")
    assert len(descriptors()) == while_serving
    room.close()
    assert descriptors() == before
    assert children() == alone


def test_without_namespaces_two_subjects_at_once_have_a_server_each(tmp_path):
    room = servers(tmp_path, ProcessSandbox())
    with room.serving(ServerSpec()) as one:
        with room.serving(ServerSpec()) as other:
            assert one is not other
        with ChildSubject(StudentProcess(one, "submission", LIMITS), "work", LIMITS) as subject:
            assert subject.call("one", NOTHING).value == 1
    room.close()


@pytest.mark.usefixtures("bubblewrap")
def test_a_server_that_broke_is_replaced_for_the_next_check(tmp_path):
    room = servers(tmp_path, BubblewrapSandbox())

    def use_a_broken_one() -> None:
        with room.serving(ServerSpec()) as broken:
            broken._process._process.kill()
            assert broken._control.recv(1) == b"", "it ends with its wall"
            broken.spawn("submission", arguments_bytes=0, shared_buffer_bytes=0, fds=[])

    with pytest.raises(NotObservedError, match="the subject server was ended by signal 9"):
        use_a_broken_one()
    one_check(room)
    room.close()


@pytest.mark.usefixtures("bubblewrap")
def test_once_a_layer_worked_a_weaker_one_is_never_taken(tmp_path, monkeypatch):
    room = servers(tmp_path, BubblewrapSandbox(), ProcessSandbox())
    one_check(room)
    monkeypatch.setattr(
        BubblewrapSandbox, "launch", lambda self, argv, **rest: ProcessSandbox().launch(["false"], **rest)
    )
    with (
        pytest.raises(NotObservedError, match="ended with status 1"),
        room.serving(ServerSpec(preloads=("json",))),
    ):
        pass
    assert room.isolation == "bubblewrap"
    room.close()


class Bound(BubblewrapSandbox):
    """It starts, and what it starts has lost the right to make namespaces: as in many a container."""

    name = "bound"

    def launch(self, argv, *, mounts, environment, fds, devices):
        with Path(os.devnull).open() as hosts:
            rest = _arguments(mounts, environment, devices, hosts.fileno())
            wall = [shutil.which("bwrap"), *rest, "--cap-drop", "ALL"]
            return Running([*wall, "--", *argv], {}, [*fds, hosts.fileno()])


@pytest.mark.usefixtures("bubblewrap")
def test_a_layer_that_starts_but_gives_checks_no_namespaces_is_given_up_for_the_next(tmp_path):
    room = servers(tmp_path, Bound(), BubblewrapSandbox())
    one_check(room)
    assert room.isolation == "bubblewrap"
    (why,) = room.missing
    assert why.startswith("sandbox bound: a check would get no namespaces of its own (unshare: ")
    room.close()


def test_where_no_sandbox_works_every_reason_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(BubblewrapSandbox, "available", lambda self: "no bubblewrap")
    monkeypatch.setattr(ProcessSandbox, "launch", lambda self, argv, **rest: _false(**rest))
    room = servers(tmp_path, BubblewrapSandbox(), ProcessSandbox())
    with (
        pytest.raises(NotObservedError, match=r"no bubblewrap; sandbox process: .*status 1"),
        room.serving(ServerSpec()),
    ):
        pass
    assert room.isolation == "none"
    room.close()


class OnlyAsRoot(ProcessSandbox):
    """A layer in which nobody but root could be the student."""

    name = "only as root"

    def student_uid(self, folders):
        raise RootError("a program of a student would run as root here")


class AnotherUser(ProcessSandbox):
    """A layer in which the student is somebody else."""

    name = "another user"

    def student_uid(self, folders):
        return None


def test_a_layer_with_another_user_is_taken_before_a_stronger_one_with_root(tmp_path):
    room = servers(tmp_path, OnlyAsRoot(), AnotherUser(), as_root=True)
    one_check(room)
    assert room.isolation == "another user"
    assert room.missing == ["sandbox only as root: a program of a student would run as root here"]
    room.close()


def test_as_root_nothing_runs_unless_that_is_allowed_and_nothing_else_is_left(tmp_path):
    room = servers(tmp_path, OnlyAsRoot(), as_root=False)
    with pytest.raises(NotObservedError, match="would run as root here"):
        one_check(room)
    assert room.isolation == "none"
    room = servers(tmp_path, OnlyAsRoot(), as_root=True)
    one_check(room)
    assert room.isolation == "only as root"
    room.close()


def _false(*, fds, **rest):
    return Running(["/bin/false"], {}, fds)


@pytest.mark.usefixtures("bubblewrap")
@pytest.mark.parametrize(
    ("preloads", "error", "line"),
    [
        (
            ("json", "this.that"),
            CourseError,
            r"cannot import this\.that .*; name a package that is installed",
        ),
        (
            ("nunpy", "pandaz"),
            CourseError,
            "no module is called nunpy; did you mean numpy.*\n.*pandaz is not in",
        ),
        (("no_such.part", "pandaz"), PackageError, "no_such and pandaz are not installed here: install them"),
        (("given_helper",), CourseError, r"cannot import given_helper .*; name a package that is installed"),
        (("breaks",), PackageError, r"cannot import breaks \(no driver\); mend it on this machine"),
        (("lacks",), PackageError, r"cannot import lacks \(No module named 'wanting'\); install wanting$"),
    ],
)
def test_a_library_that_raises_on_import_is_told_apart_from_a_sandbox_that_does_not_work(
    tmp_path, preloads, error, line
):
    (tmp_path / "site").mkdir()
    (tmp_path / "site/breaks.py").write_text("raise OSError('no driver')\n")
    (tmp_path / "site/lacks.py").write_text("import wanting\n")
    (tmp_path / "given").mkdir()
    (tmp_path / "given/given_helper.py").touch()
    room = servers(
        tmp_path, BubblewrapSandbox(), ProcessSandbox(), more=tmp_path / "site", given=tmp_path / "given"
    )
    with pytest.raises(error, match=line) as raised, room.serving(ServerSpec(preloads=preloads)):
        pass
    assert type(raised.value) is error
    assert (room.isolation, room.missing) == ("bubblewrap", [])
    room.close()
