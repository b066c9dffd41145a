"""How long it takes until nothing of a program can run any more, by kind of program and way to stop it.

python benchmarks/stand.py [--calls N]

Calls a function that returns at once, and stops the program after each call. Prints microseconds from the
order to stop until everything stood (median, 99th percentile, largest), and what the call was charged of it.
"""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from statistics import median
from textwrap import dedent
from unittest.mock import patch

from grader.contracts.call import InputCase
from grader.harness.endings import ProgramEnd
from grader.harness.server import SubjectServer
from grader.harness.server_spec import ServerSpec
from grader.harness.student_process import StudentProcess
from grader.harness.subject import ChildSubject
from grader.machine.freezer import new_freezer
from grader.model.assignment import Limits
from grader.model.observation import Outcome
from grader.sandbox.bubblewrap import BubblewrapSandbox
from grader.sandbox.interpreter import interpreter
from grader.sandbox.namespaces import NamespacesSandbox
from grader.subject.protocol import Frozen

LIMITS = Limits(call_wall_s=20.0, import_wall_s=60.0, cores=8)
PROGRAMS = {
    "one thread": "",
    "one busy thread beside it": """
        def spin():
            while True: pass
        threading.Thread(target=spin, daemon=True).start()
    """,
    "8 NumPy threads": """
        a = np.ones((400, 400))
        def multiply():
            while True: a @ a
        for _ in range(8): threading.Thread(target=multiply, daemon=True).start()
    """,
    "64 threads that wait": """
        for _ in range(64): threading.Thread(target=threading.Event().wait, daemon=True).start()
    """,
    "subprocess.run in a loop": """
        def shell():
            while True: subprocess.run(["/bin/true"])
        threading.Thread(target=shell, daemon=True).start()
    """,
    "a pool of 4 busy processes": """
        def spin(_):
            while True: pass
        pool = multiprocessing.get_context("fork").Pool(4)
        pool.map_async(spin, range(4))
    """,
    "a thread that writes and syncs": """
        def write():
            while True:
                with open("/tmp/file", "wb") as file:
                    file.write(bytes(2**20)); file.flush(); os.fsync(file.fileno())
        threading.Thread(target=write, daemon=True).start()
    """,
}


class TimedChild(StudentProcess):
    """Notes when everything stood, beside when it was asked for."""

    def _freeze(self, deadline_ns: int) -> Frozen | ProgramEnd:
        begun_ns = time.perf_counter_ns()
        frozen = super()._freeze(deadline_ns)
        if isinstance(frozen, Frozen):
            self.stands = [
                *getattr(self, "stands", ()),
                ((frozen.stopped_ns - begun_ns) / 1e3, max(0.0, (frozen.charged_ns - begun_ns) / 1e3)),
            ]
        return frozen


def main() -> int:
    """Print the table; 1 if a program could not be stopped, or answered otherwise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=500)
    calls = parser.parse_args().calls
    print(f"{platform.machine()}, {os.cpu_count()} cores, Linux {platform.release()}, {calls} calls each; µs")
    print(
        f"{'program':32} {'stopped by':10} {'median':>8} {'99%':>8} {'largest':>8} {'charged':>8} {'99%':>8}"
    )
    missed = 0
    with server() as (one, folder):
        for how in ways():
            for name, code in PROGRAMS.items():
                stands, lost = measured(one, folder, code, how, calls)
                missed += lost
                stood, charged = (sorted(column) for column in zip(*stands, strict=True))
                figures = median(stood), at(stood, 0.99), stood[-1], median(charged), at(charged, 0.99)
                print(f"{name:32} {how:10}", *(f"{figure:8.0f}" for figure in figures), flush=True)
    print(f"{missed} calls were not answered")
    return int(bool(missed))


def ways() -> Iterator[str]:
    """The ways to stop a program that this machine has."""
    yield "signals"
    if freezer := new_freezer():
        freezer.close()
        yield "cgroup"


def at(values: list[float], share: float) -> float:
    """A percentile of sorted values."""
    return values[min(len(values) - 1, int(share * len(values)))]


def measured(
    one: SubjectServer, folder: Path, code: str, how: str, calls: int
) -> tuple[list[tuple[float, float]], int]:
    """The times of all stops, and how many calls were not answered."""
    begin = "import multiprocessing, os, subprocess, threading\nimport numpy as np\n"
    (folder / "work.py").write_text(begin + dedent(code) + "\ndef double(x): return 2 * x\n")
    no_freezer = patch("grader.harness.student_process.new_freezer", lambda: None)
    with no_freezer if how == "signals" else nullcontext():
        child = TimedChild(one, "submission", LIMITS, control=lambda: True)
    case = InputCase(name="a case", args=(21,))
    with ChildSubject(child, "work", LIMITS) as subject:
        lost = sum(
            call.outcome is not Outcome.OBSERVED or call.value != 42
            for call in (subject.call("double", case) for _ in range(calls))
        )
    return child.stands[2:], lost  # without those before, and after, the import


@contextmanager
def server() -> Iterator[tuple[SubjectServer, Path]]:
    """A server in the strongest layer of this machine, and the folder for its programs."""
    layer = next(s for s in (BubblewrapSandbox(), NamespacesSandbox()) if not s.available())
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        started = SubjectServer(
            layer,
            python=interpreter().executable,
            site=interpreter().site,
            setup=ServerSpec(preloads=("numpy", "numpy.random")),
            workspaces={"submission": Path(folder)},
            limits=LIMITS,
        )
        started.ready()
        try:
            yield started, Path(folder)
        finally:
            started.close()


if __name__ == "__main__":
    raise SystemExit(main())
