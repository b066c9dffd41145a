"""Folders that are gone with whoever made them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import grader
from grader.machine.passing import passing_folder

MAKE = """
import os, sys
from pathlib import Path
from grader.machine.passing import passing_folder
with passing_folder(Path(sys.argv[1]), "mine-", 0o700) as place:
    (place / "file").touch()
    print(place, flush=True)
    sys.stdin.read()
    os._exit(9)
"""


def maker(folder):
    """Start a process that has such a folder, and is killed when its input is closed."""
    command = [sys.executable, "-P", "-c", MAKE, str(folder)]
    environment = os.environ | {"PYTHONPATH": str(Path(grader.__file__).parent.parent)}
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
    )
    return process, Path(process.stdout.readline().strip())


def test_a_folder_has_its_mode_and_is_gone_in_the_end(tmp_path):
    with passing_folder(tmp_path / "below", "mine-", 0o700) as place:
        assert place.stat().st_mode & 0o777 == 0o700
    assert [*(tmp_path / "below").iterdir()] == []


def test_what_a_killed_process_has_left_is_removed_and_what_is_in_use_stays(tmp_path):
    killed, left = maker(tmp_path)
    other, used = maker(tmp_path)
    killed.communicate()
    (tmp_path / "mine-file").touch()
    assert left.exists()
    with passing_folder(tmp_path, "mine-", 0o755):
        assert not left.exists()
        assert (used / "file").exists()
    other.communicate()


def test_what_belongs_to_somebody_else_stays(tmp_path, monkeypatch):
    killed, left = maker(tmp_path)
    killed.communicate()
    monkeypatch.setattr("grader.machine.passing.os.geteuid", lambda: os.getuid() + 1)
    with passing_folder(tmp_path, "mine-", 0o755):
        assert left.exists()
