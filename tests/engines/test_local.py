"""The worker that stands by goes away when it is not needed, whatever becomes of the signal."""

from __future__ import annotations

import subprocess
import sys

import pytest

from grader.contracts.engine import EngineSettings
from grader.engines.local import LocalEngine
from grader.engines.process import spare_worker
from grader.errors import UsageError
from grader.machine import orphans

DEAF = """
import pathlib, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal = lambda number, handler: None
pathlib.Path({told!r}).touch()
"""
"""A worker at a moment in which the exception of a signal is lost, as in a callback of an import."""

HOST = """
import pathlib
from grader.contracts.engine import EngineSettings
from grader.engines.local import LocalEngine

with LocalEngine().open(EngineSettings()):
    while not pathlib.Path({told!r}).exists():
        pass
"""


def test_a_worker_that_missed_the_signal_while_it_waited_for_a_job_still_ends(tmp_path):
    told = str(tmp_path / "told")
    (tmp_path / "sitecustomize.py").write_text(DEAF.format(told=told))
    code = f"import os; os.environ['PYTHONPATH'] = {str(tmp_path)!r}\n" + HOST.format(told=told)
    subprocess.run([sys.executable, "-P", "-c", code], check=True, timeout=600)


def test_a_worker_whose_host_is_gone_before_it_looks_leaves_the_job_to_the_next_one(tmp_path):
    job = tmp_path / "job.json"
    job.write_text("{}")
    gone = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True
    )
    done = subprocess.run(
        [sys.executable, "-P", "-m", "grader.worker", gone.stdout.decode().strip()],
        input=f"{job}\n{tmp_path}\n",
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 1
    assert job.exists()


@pytest.fixture
def started(monkeypatch):
    """The processes that were started."""
    processes = []
    begin = orphans.start

    def start(*arguments, **options):
        processes.append(begin(*arguments, **options))
        return processes[-1]

    monkeypatch.setattr(orphans, "start", start)
    return processes


def test_a_spare_worker_is_the_first_of_the_next_session(started):
    with spare_worker(), LocalEngine().open(EngineSettings(at_once=2)):
        assert len(started) == 2
    assert all(process.returncode is not None for process in started)


def test_a_spare_worker_that_no_session_has_taken_is_ended(started):
    with pytest.raises(UsageError), spare_worker():
        raise UsageError("there is no such course")
    assert [process.returncode is not None for process in started] == [True]
