"""The folder of the leases: shared by all users, and planted with traps by one of them."""

import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import pytest

from grader.errors import NotObservedError
from grader.machine.lease import Leases
from grader.machine.lockfolder import default_folder

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be two users")

# what is imported later may lie below a home that only root can enter
BECOME_NOBODY = """
import os, pwd
import grader.machine.lease
os.setgroups([]); os.setgid(65534); os.setuid(65534)
"""
RELEASE = """
import sys
grader.machine.lease.Leases(sys.argv[1]).release("gpu-b")
"""


@pytest.fixture
def public():
    """A folder that other users can reach."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture
def nobody(another):
    """Start a program that takes leases as another user."""
    return partial(another, before=BECOME_NOBODY)


def take(folder, name="gpu-a"):
    Leases(folder).take([name], 1, 0, "us").close()


def test_the_folder_is_made_for_everybody_whatever_the_umask(tmp_path):
    before = os.umask(0o077)
    try:
        take(tmp_path / "leases")
    finally:
        os.umask(before)
    assert (tmp_path / "leases").stat().st_mode & 0o7777 == 0o1777
    assert (tmp_path / "leases" / "gpu-a").stat().st_mode & 0o777 == 0o666


@pytest.mark.parametrize("target", ["precious", "missing"])
def test_a_planted_link_is_not_followed(tmp_path, target):
    (tmp_path / "precious").write_text("precious")
    (folder := tmp_path / "leases").mkdir()
    (folder / "gpu-a").symlink_to(tmp_path / target)
    (folder / "gpu-a.quarantined").symlink_to(tmp_path / target)
    with pytest.raises(NotObservedError, match=r"/leases/gpu-a: it is a link or no file"):
        take(folder)
    with pytest.raises(NotObservedError, match=r"/leases/gpu-a.quarantined: it is a link or no file"):
        Leases(folder).quarantine("gpu-a", "why")
    assert dict(Leases(folder).active()) == {}
    assert (tmp_path / "precious").read_text() == "precious"
    assert not (tmp_path / "missing").exists()


def test_a_second_name_of_another_file_is_not_written_to(tmp_path):
    (tmp_path / "precious").write_text("precious")
    (folder := tmp_path / "leases").mkdir()
    (folder / "gpu-a").hardlink_to(tmp_path / "precious")
    with pytest.raises(NotObservedError, match="it is a link or no file"):
        take(folder)
    assert (tmp_path / "precious").read_text() == "precious"


def test_a_pipe_in_place_of_a_file_holds_nobody_up(tmp_path):
    (folder := tmp_path / "leases").mkdir()
    os.mkfifo(folder / "gpu-a")
    with pytest.raises(NotObservedError, match="it is a link or no file"):
        take(folder)
    assert dict(Leases(folder).active()) == {}


def test_a_folder_that_is_a_link_is_refused(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "leases").symlink_to(tmp_path / "real")
    with pytest.raises(NotObservedError, match=r"/leases: .* name another in GRADER_LEASES"):
        take(tmp_path / "leases")


def test_a_name_never_leads_out_of_the_folder(tmp_path):
    with pytest.raises(ValueError, match="no name of a lease"):
        take(tmp_path / "leases", "../gpu-a")
    assert [path.name for path in tmp_path.iterdir()] == ["leases"]


@as_root
def test_users_share_leases_in_both_directions(public, nobody):
    public.chmod(0o1777)
    theirs = nobody(public / "leases", 1, 0, "gpu-a")
    assert theirs.stdout.readline() == "got gpu-a\n"
    with pytest.raises(NotObservedError, match=rf"gpu-a is held by \w+ \(process {theirs.pid}\)"):
        take(public / "leases")
    with Leases(public / "leases").take(["gpu-b"], 1, 0, "ours"):
        refused = nobody(public / "leases", 1, 0, "gpu-b")
        assert "gpu-b is held by root" in refused.stdout.readline()
    theirs.stdin.close()
    theirs.wait()
    take(public / "leases")
    Leases(public / "leases").quarantine("gpu-b", "broken")
    assert nobody(public / "leases", 0, 0, code=RELEASE).wait() == 0
    assert Leases(public / "leases").quarantined("gpu-b") == ""


@as_root
def test_a_file_that_another_user_did_not_open_to_us_still_serves_as_a_lock(public, nobody):
    take(public / "leases")
    (public / "leases" / "gpu-a").chmod(0o644)
    theirs = nobody(public / "leases", 1, 0, "gpu-a")
    assert theirs.stdout.readline() == "got gpu-a\n"
    with pytest.raises(NotObservedError, match="gpu-a is held by somebody"):
        take(public / "leases")


@as_root
def test_a_folder_in_which_we_may_write_nothing_is_one_line_that_says_what_to_do(public, nobody):
    (public / "leases").mkdir(mode=0o755)
    refused = nobody(public / "leases", 1, 0, "gpu-a")
    assert refused.stdout.readline() == (
        f"leases: {public}/leases/gpu-a: Permission denied; {public}/leases must be a folder of mode 1777 "
        "for this alone: see to that, or name another in GRADER_LEASES that all who grade here share\n"
    )


@as_root
def test_a_folder_in_which_we_may_not_look_is_told_and_raises_nothing(public):
    (public / "closed").mkdir(mode=0o700)
    look = "leases = grader.machine.lease.Leases(sys.argv[1]); print(leases.active(), leases.objection()[0])"
    command = [
        sys.executable,
        "-P",
        "-c",
        f"import sys\n{BECOME_NOBODY}\n{look}",
        str(public / "closed/leases"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    told = f"{{}} {public}/closed/leases is not there and cannot be made (Permission denied)\n"
    assert (done.stdout, done.stderr) == (told, "")


def test_the_usual_folder_depends_on_the_machine_and_not_on_who_asks(tmp_path):
    (locks := tmp_path / "lock").mkdir()
    elsewhere = tmp_path / "elsewhere"
    assert default_folder(locks, elsewhere) == elsewhere  # others could not make a folder in there
    locks.chmod(0o1777)
    assert default_folder(locks, elsewhere) == locks / "grader"
    assert default_folder(tmp_path / "missing", elsewhere) == elsewhere


def test_the_environment_names_another_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("GRADER_LEASES", str(tmp_path / "mine"))
    take(None)
    assert (tmp_path / "mine" / "gpu-a").is_file()
