"""The room that we make ourselves shows what was asked for, read-only, and ends with whoever made it."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from grader.sandbox.namespaces import NamespacesSandbox

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


def test_an_ordinary_user_can_make_one():
    if os.geteuid() != 0:
        pytest.skip("every other test here is about an ordinary user already")
    outer = ["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-all"]
    code = (
        "from grader.sandbox.namespaces import NamespacesSandbox as N; "
        "p = N().launch(['/usr/bin/id', '-u'], mounts={}, environment={}, fds=[]); "
        "print(p.wait(10), p.complaints(), N().student_uid); p.kill()"
    )
    said = subprocess.run([*outer, sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["0", "0", "None"]
