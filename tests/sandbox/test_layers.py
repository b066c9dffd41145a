"""The layers: their order, what each needs, and which user a submission becomes."""

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from textwrap import dedent

import pytest

from grader.errors import RootError
from grader.sandbox import student
from grader.sandbox.builtin import grader_sandboxes
from grader.sandbox.landlock import LEAST_ABI, LandlockSandbox
from grader.sandbox.process import ProcessSandbox
from grader.sandbox.userns import obstacle
from grader.subject import landlock, seccomp

WEAK_MACHINE = Path(__file__).parents[1] / "weak_machine.py"

LEASE = "from grader.sandbox.student import student_uid; print(student_uid(), flush=True); input()"


def test_a_stronger_layer_promises_everything_that_a_weaker_one_does():
    layers = sorted(grader_sandboxes(), key=lambda layer: layer.strength)
    assert [layer.name for layer in layers] == ["process", "landlock", "namespaces", "bubblewrap"]
    assert all(weak.promises <= strong.promises for weak, strong in pairwise(layers))


@pytest.mark.parametrize("version", [0, LEAST_ABI - 1])
def test_landlock_is_no_layer_where_the_kernel_has_too_little_of_it(monkeypatch, version):
    monkeypatch.setattr(landlock, "abi", lambda: version)
    assert "Linux 6.2" in LandlockSandbox().available()


def test_landlock_is_no_layer_where_sockets_cannot_be_refused(monkeypatch):
    monkeypatch.setattr(landlock, "abi", lambda: LEAST_ABI)
    assert LandlockSandbox().available() == ""
    monkeypatch.setattr(seccomp, "supported", lambda: False)
    assert "system-call filters" in LandlockSandbox().available()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes somebody else")
def test_two_workers_never_share_a_user_and_give_it_back_when_they_end():
    def start():
        return subprocess.Popen(
            [sys.executable, "-c", LEASE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    with start() as one, start() as two:
        uids = [int(program.stdout.readline()) for program in (one, two)]
        assert uids[0] != uids[1]
        assert set(uids) <= set(student.UIDS)
        one.kill()
        two.kill()
    with start() as three:
        assert int(three.stdout.readline()) <= min(uids)
        three.kill()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root could make anybody root")
def test_a_folder_that_no_other_user_can_read_makes_nobody_root(tmp_path):
    work = tmp_path / "closed" / "work"
    work.mkdir(parents=True)
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_mode & 0o005 != 0o005:  # pytest keeps what it makes to its own user
            folder.chmod(0o755)
    assert student.student_uid([str(work)]) in student.UIDS
    work.parent.chmod(0o700)
    for sandbox in (ProcessSandbox(), LandlockSandbox()):
        with pytest.raises(RootError, match=r"would run as root here: no other user can read"):
            sandbox.student_uid([str(work)])
    with pytest.raises(RootError, match=rf"{work}, because of {work.parent}; put it where all may read"):
        student.student_uid([str(work)])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root could make anybody root")
def test_root_that_may_not_become_another_user_starts_no_program_in_any_layer():
    code = """
        from grader.errors import RootError
        from grader.sandbox.builtin import grader_sandboxes
        for kind in grader_sandboxes():
            try: print(kind.name, kind().student_uid(["/usr"]))
            except RootError as error: print(kind.name, "CAP_SETUID" in str(error))
    """
    argv = [sys.executable, str(WEAK_MACHINE), "--no-other-user", sys.executable, "-c", dedent(code)]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [
        "bubblewrap",
        "True",
        "namespaces",
        "True",
        "landlock",
        "True",
        "process",
        "True",
    ]


@pytest.mark.skipif(os.geteuid() != 0, reason="starts as root to become an ordinary user")
def test_an_ordinary_user_who_is_called_root_in_a_namespace_is_no_root():
    code = """
        import os
        from pathlib import Path
        from grader.sandbox import student
        from grader.subject import linux
        linux.unshare(linux.CLONE_NEWUSER)
        Path("/proc/self/uid_map").write_text("0 60000 1")
        print(os.geteuid(), student.is_root(), student.student_uid(["/root"]))
    """
    argv = [sys.executable, str(WEAK_MACHINE), "--user=60000", sys.executable, "-c", dedent(code)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["0", "False", "None"], done.stderr
    assert student.is_root()


@pytest.mark.parametrize(
    ("switch", "value", "found"),
    [
        ("user/max_user_namespaces", "0", "user.max_user_namespaces is 0"),
        ("user/max_user_namespaces", "1000", "the container or a security module"),
        ("kernel/unprivileged_userns_clone", "0", "kernel.unprivileged_userns_clone is 0"),
        (
            "kernel/apparmor_restrict_unprivileged_userns",
            "1",
            "kernel.apparmor_restrict_unprivileged_userns is 1",
        ),
        ("kernel/apparmor_restrict_unprivileged_userns", "0", "the container or a security module"),
    ],
)
def test_the_switch_that_forbids_user_namespaces_is_named_with_its_remedy(tmp_path, switch, value, found):
    file = Path(tmp_path, switch)
    file.parent.mkdir()
    file.write_text(value + "\n")
    why, advice = obstacle(tmp_path)
    assert why == found
    assert advice
