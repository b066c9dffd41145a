"""The layers: their order, what each needs, and which user a hand-in becomes."""

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from grader.sandbox import student
from grader.sandbox.builtin import grader_sandboxes
from grader.sandbox.landlock import LEAST_ABI, LandlockSandbox
from grader.sandbox.process import ProcessSandbox, _open_to_all
from grader.sandbox.userns import obstacle
from grader.subject import landlock, seccomp

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
def test_two_examiners_never_share_a_user_and_give_it_back_when_they_end():
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


def test_without_namespaces_a_hand_in_stays_who_we_are_if_nobody_else_could_read_it(tmp_path):
    closed = tmp_path / "closed"
    (closed / "work").mkdir(parents=True)
    closed.chmod(0o700)
    assert not _open_to_all(str(closed / "work"))
    sandbox = ProcessSandbox()
    program = sandbox.launch(["/bin/true"], mounts={"/x": str(closed / "work")}, environment={}, fds=[])
    assert sandbox.student_uid is None
    program.kill()
    assert _open_to_all("/usr")


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
