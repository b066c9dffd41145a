"""A class that an engine has graded on a cluster, and an item that waits until a test lets it go on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import grader
from tests.cli.conftest import DOUBLE, SQUARE

ROOT = Path(grader.__file__).parent.parent
WITHIN_S = 600.0
HOLDS = """
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from grader.contracts.check import CheckKind
from grader.model.observation import Observation, Outcome
from grader.model.options import option
from grader.model.score import Award

class Holds(CheckKind):
    '''Says that it is there, and waits until it may go on.'''

    name = "holds"

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        folder: str = option("Where it says so, and what it waits for.")

    def observe(self, options, context):
        (Path(options.folder) / f"begun-{os.environ['GRADER_NODE']}-{os.getpid()}").touch()
        while not (Path(options.folder) / "go").exists():
            time.sleep(0.05)
        sys.stderr.write(os.environ.get("HELD_WRITES", ""))
        return Observation(item=context.item, outcome=Outcome.OBSERVED, seed=context.seed)

    def award(self, options, observation, related):
        return Award(fraction=1.0, reason="it was looked at")
"""


class ClusterClass:
    """A course, a class for it, and a cluster with an `environment` for commands."""

    engine = ""

    def __init__(self, course, cluster, folder):
        self.course, self.cluster = course, cluster
        self.holds = folder / "holds"
        self.holds.mkdir()
        self.site = folder / "site.yaml"
        self.settings()
        course.write("assignments/tiny/checks.py", HOLDS)
        text = (course.folder / "assignments/tiny/assignment.py").read_text()
        text = text.replace("Breaks, KillsOnce, Waits", "Holds")
        course.write("assignments/tiny/assignment.py", text)

    def settings(self, setup="", **keys):
        """Write the settings of the engine."""
        self.write_settings(setup, keys)

    def write_settings(self, setup, keys):
        lines = [f"export PYTHONPATH={ROOT}", f"export GRADER_LEASES={os.environ['GRADER_LEASES']}", setup]
        engines = {self.engine: {"setup": "\n".join(lines), **keys}}
        self.site.write_text(json.dumps({"engines": engines}))

    def describe(self):
        """Tell how the cluster is, for a test that failed."""
        return ""

    def rubric(self, *, holds=True, **keys):
        held = {"id": "held", "title": "it is held", "points": 1, "check": "holds", "folder": str(self.holds)}
        held |= keys
        self.course.rubric(DOUBLE, SQUARE, *([held] if holds else []))

    @property
    def environment(self):
        return {
            **self.course.environment,
            **self.cluster.environment,
            "GRADER_SITE": str(self.site),
            "PYTHONPATH": str(ROOT),
        }

    def grader(self, *arguments):
        """Return the command line of `grader`."""
        return [sys.executable, "-P", "-m", "grader", *arguments]

    def command(self, *arguments):
        return self.grader("run", "--engine", self.engine, "--out", str(self.course.out), *arguments)

    def call(self, command):
        return subprocess.run(
            command,
            env=self.environment,
            cwd=self.course.cwd,
            capture_output=True,
            text=True,
            timeout=WITHIN_S,
            check=False,
        )

    def run(self, *arguments):
        return self.call(self.command(*arguments))

    def doctor(self, *arguments):
        """Return what the doctor says of the machines, by the kind of tasks and the name of a line."""
        done = self.call(self.grader("doctor", "--engine", self.engine, "--json", *arguments))
        findings = json.loads(done.stdout)["findings"]
        return done.returncode, {(f["about"].partition(",")[0], f["name"]): f for f in findings}

    def started(self, *arguments):
        return self.started_command(self.command(*arguments))

    @contextmanager
    def started_command(self, command):
        process = subprocess.Popen(
            command,
            env=self.environment,
            cwd=self.course.cwd,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            process.kill()
            process.communicate()

    def begun(self):
        return sorted(file.name for file in self.holds.glob("begun-*"))

    def until(self, what, is_so):
        ends = time.monotonic() + WITHIN_S
        while not is_so():
            assert time.monotonic() < ends, f"not within {WITHIN_S:g} s: {what}; {self.describe()}"
            time.sleep(0.05)

    def until_begun(self, count=1):
        self.until(f"{count} begun", lambda: len(self.begun()) >= count)

    def go(self):
        (self.holds / "go").touch()

    def runs(self, student):
        return [record["run"]["id"] for record in self.course.records(student) if record["record"] == "run"]


def essence(course, student):
    """Return what the evidence and the score of a student say, but for times and seeds."""
    observed = [
        (record["observation"]["item"], record["observation"]["outcome"], record["observation"]["digest"])
        for record in course.records(student)
        if record["record"] == "observation"
    ]
    return sorted(observed), course.points(student)
