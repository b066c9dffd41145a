"""A folder for temporary files goes with all that a program has put into it."""

import os
import subprocess
from pathlib import Path

from grader.subject import scratch_folder

DEEP = 1100
"""More than Python recurses, and a path that is longer than the kernel takes."""


def test_folders_in_folders_are_removed(tmp_path):
    folder = tmp_path / "scratch"
    folder.mkdir()
    here = os.open(folder, os.O_RDONLY)
    for _ in range(DEEP):
        os.mkdir("folder", dir_fd=here)
        inner = os.open("folder", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
        os.close(os.open("file", os.O_CREAT, dir_fd=here))
    os.close(here)
    scratch_folder.remove(str(folder))
    try:
        assert not folder.exists()
    finally:
        subprocess.run(["rm", "-rf", folder], check=True)  # pytest would recurse, here and in later runs


def test_folders_beside_each_other_and_links_are_removed_and_not_what_links_lead_to(tmp_path):
    folder, kept = tmp_path / "scratch", tmp_path / "kept" / "file"
    for name in ("a/b", "a/c/d", "e"):
        (folder / name).mkdir(parents=True)
        (folder / name / "file").touch()
    kept.parent.mkdir()
    kept.touch(mode=0o600)
    (folder / "a" / "link").symlink_to(kept.parent)
    (folder / "link").symlink_to(kept)
    scratch_folder.remove(str(folder))
    assert not folder.exists()
    assert kept.exists()


def test_folders_that_a_program_has_closed_are_removed_by_an_ordinary_user(tmp_path):
    folder = tmp_path / "scratch"
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "b" / "file").touch()
    opened = [folder, *folder.rglob("*")]
    if os.geteuid() == 0:
        for path in (*opened, tmp_path):
            os.chown(path, 60000, 60000)
    for path in (folder / "a" / "b", folder / "a", folder):
        path.chmod(0)
    assert not run_as_ordinary_user(tmp_path, lambda: scratch_folder.remove("scratch"))
    assert not folder.exists()


def run_as_ordinary_user(folder: Path, work) -> int:
    """The exit status of a process that works in this folder, and is not root."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.chdir(folder)  # before: the folders above it may be root's alone
            if os.geteuid() == 0:
                os.setgroups([])
                os.setresgid(60000, 60000, 60000)
                os.setresuid(60000, 60000, 60000)
            work()
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
