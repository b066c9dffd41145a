"""The room that we make ourselves shows what was asked for, read-only, and ends with whoever made it."""

import os
import subprocess
import sys
import time
from pathlib import Path
from textwrap import dedent

import pytest

from grader.sandbox.namespaces import NamespacesSandbox
from grader.sandbox.student import UIDS

WEAK_MACHINE = Path(__file__).parents[1] / "weak_machine.py"

ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "ONLY": "this"}


@pytest.fixture
def run(tmp_path):
    """Run a shell script in a room; what it printed."""
    started = []

    def run(script: str, mounts=None) -> str:
        program = NamespacesSandbox().launch(
            ["/bin/sh", "-c", script], mounts=mounts or {}, environment=ENVIRONMENT, fds=[]
        )
        started.append(program)
        program.wait(10)
        return program.complaints()

    yield run
    for program in started:
        program.kill()


def test_it_shows_the_mounted_folders_and_nothing_of_the_machine(run, tmp_path):
    (tmp_path / "there").write_text("")
    assert run("ls /stage/x; ls -d /home /srv /var /sys 2>/dev/null", {"/stage/x": str(tmp_path)}) == "there"


def test_a_folder_behind_links_and_with_an_odd_name_is_shown_as_well(run, tmp_path):
    folder = tmp_path / "größe 1" / "work"
    folder.mkdir(parents=True)
    (folder / "there").write_text("")
    (tmp_path / "link").symlink_to(folder.parent)
    script = "ls /odd\\ ü; touch /odd\\ ü/f 2>&1 | grep -o Read-only"
    assert run(script, {"/odd ü": str(tmp_path / "link" / "work")}).split() == ["there", "Read-only"]


def test_nothing_can_be_written_but_in_the_two_folders_of_memory(run, tmp_path):
    tmp_path.chmod(0o777)
    script = (
        "for d in / /usr /stage/x /dev /tmp /dev/shm /workspace; do touch $d/f 2>/dev/null && echo $d; done"
    )
    assert run(script, {"/stage/x": str(tmp_path)}).split() == ["/tmp", "/dev/shm"]
    assert not (tmp_path / "f").exists()


def test_its_processes_its_network_and_its_host_name_are_its_own(run):
    script = "echo $$; cat /proc/sys/kernel/hostname; tail -n +3 /proc/net/dev | cut -d: -f1"
    assert run(script).split() == ["1", "grader", "lo"]


def test_the_environment_is_what_was_given(run):
    seen = run("unset PWD SHLVL _ OLDPWD; env").splitlines()
    assert set(seen) == {f"{name}={value}" for name, value in ENVIRONMENT.items()}


def test_what_cannot_be_shown_is_said_in_one_line(run):
    said = run("true", {"/stage/x": "/does/not/exist"})
    assert len(said.splitlines()) == 1
    assert "No such file or directory" in said
    assert "/stage/x" in said


def test_the_exit_status_is_the_programs():
    program = NamespacesSandbox().launch(
        ["/bin/sh", "-c", "exit 7"], mounts={}, environment=ENVIRONMENT, fds=[]
    )
    assert program.wait(10) == 7
    program.kill()


def test_everything_in_it_ends_when_it_is_killed():
    name = f"room{time.time_ns() % 10**8}"
    script = f"(setsid sh -c 'echo {name} > /proc/self/comm; exec 3<>/dev/null; sleep 600' &) ; sleep 600"
    program = NamespacesSandbox().launch(
        ["/bin/sh", "-c", script], mounts={}, environment=ENVIRONMENT, fds=[]
    )
    _until(lambda: _called(name), "the attack itself does not work")
    program.kill()
    _until(lambda: not _called(name), "it outlived its room")


def _called(name: str) -> list[str]:
    found = []
    for comm in Path("/proc").glob("[0-9]*/comm"):
        try:
            found += [comm.parent.name] if comm.read_text().strip() == name else []
        except OSError:
            continue
    return found


def _until(holds, otherwise: str) -> None:
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline, otherwise
        time.sleep(0.01)


ROOM = """
    from grader.sandbox.namespaces import NamespacesSandbox
    from grader.sandbox.student import is_root, may_mount
    assert not may_mount()
    sandbox = NamespacesSandbox()
    uid = sandbox.student_uid(())
    become = ["/usr/bin/setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups"] if uid else []
    program = sandbox.launch(
        [*become, "/bin/cat", "/proc/self/uid_map"], mounts={}, environment={"PATH": "/usr/bin"}, fds=[]
    )
    print(is_root(), uid, program.wait(10), " ".join(program.complaints().split()))
    program.kill()
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="every other test here is about an ordinary user already")
def test_an_ordinary_user_can_make_one_and_is_alone_in_it():
    argv = [sys.executable, str(WEAK_MACHINE), "--user=60000", sys.executable, "-c", dedent(ROOM)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["False", "None", "0", "0", "60000", "1"], done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has a second user")
def test_root_who_may_not_mount_makes_one_with_a_second_user_in_it():
    no_right_to_mount = ["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-all"]
    argv = [*no_right_to_mount, sys.executable, "-c", dedent(ROOM)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    is_root, uid, status, *spans = done.stdout.split()
    assert (is_root, status) == ("True", "0"), done.stdout + done.stderr
    assert int(uid) in UIDS
    assert spans == ["0", "0", "1", str(UIDS[0]), str(UIDS[0]), str(len(UIDS))]
