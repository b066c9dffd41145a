"""What Landlock leaves is what was named; the rest of the file system is closed for good."""

import os
import signal
import subprocess
import sys
from functools import partial

import pytest

from grader.subject import landlock

pytestmark = pytest.mark.skipif(landlock.abi() == 0, reason="the kernel has no Landlock")


def outcome(act):
    try:
        return act()
    except OSError as error:
        return type(error).__name__


def test_named_folders_can_be_read_or_written_and_others_neither(alone, tmp_path):
    for name in ("read", "write", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)

    def attempt():
        landlock.restrict(read=[str(tmp_path / "read")], write=[str(tmp_path / "write")])
        files = [tmp_path / name / "file" for name in ("read", "write", "other")]
        ways = [lambda file: file.read_text(), lambda file: file.write_text("other"), os.unlink]
        return [outcome(partial(way, file)) for file in files for way in ways]

    no = "PermissionError"
    assert alone(attempt) == repr(["read", no, no, "write", 5, None, no, no, no])
    assert (tmp_path / "other" / "file").read_text() == "other"


def test_a_single_file_can_be_named_and_what_does_not_exist_is_no_problem(alone, tmp_path):
    (tmp_path / "one").write_text("1")
    (tmp_path / "two").write_text("2")

    def attempt():
        landlock.restrict(read=[str(tmp_path / "one"), str(tmp_path / "missing")], write=[])
        return [outcome((tmp_path / name).read_text) for name in ("one", "two")]

    assert alone(attempt) == repr(["1", "PermissionError"])


def test_programs_that_are_started_inherit_it(alone, tmp_path):
    (tmp_path / "secret").write_text("x")

    def attempt():
        landlock.restrict(read=["/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache"], write=["/dev/null"])
        said = subprocess.run(
            ["/bin/cat", tmp_path / "secret"], check=False, stderr=subprocess.PIPE, text=True
        )
        return said.stderr.strip().endswith("Permission denied")

    assert alone(attempt) == "True"


@pytest.mark.skipif(landlock.abi() < 6, reason="this kernel's Landlock knows no signals")
def test_no_signal_reaches_a_process_outside(alone):
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as victim:

        def attempt():
            os.kill(victim.pid, 0)
            landlock.restrict(read=[], write=[])
            return outcome(lambda: os.kill(victim.pid, signal.SIGKILL))

        assert alone(attempt) == repr("PermissionError")
        assert victim.poll() is None
        victim.kill()
