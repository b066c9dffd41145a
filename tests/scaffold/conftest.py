"""A machine that runs jobs of the workflow files as the services do: in shells, on a copy of the course."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from grader.lms.loopback import canvas as loopback
from grader.scaffold.course import CI, course_files

PROGRAMS = Path(sys.executable).parent
RIGHT, WRONG = 101, 102
"""The students' numbers on Canvas."""
CLASS_JOBS = ("grade", "plan", "apply")
GRADER = """\
#!/bin/sh
# The installed grader, but a test may say how a command ends: by a code or a signal, or after its work.
echo "$*" >> "$GRADER_CALLS"
read -r command end < "$GRADER_ENDS"
[ "$1" = "$command" ] || { [ "$1" = doctor ] || exec "$GRADER_REAL" "$@"; exit 0; }
case $end in
  hangs) echo "here" > "$GRADER_PIPE"; exec sleep 600 ;;
  works*) "$GRADER_REAL" "$@"; exit "${end#works }" ;;
  [A-Z]*) kill -s "$end" $$ ;;
  *) exit "$end" ;;
esac
"""


class Machine:
    """A machine with grader, a clone of a course, and a folder that stays."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clone = folder / "clone"
        self.kept = folder / "class of 2030"  # a blank, as people have them
        self.received = self.kept / "received" / "vectors"
        self.summary = folder / "summary.md"
        self.said = ""
        """What the last job of `run` printed."""
        self.calls_file, self.ends, self.pipe = (folder / name for name in ("calls", "ends", "pipe"))
        programs = folder / "bin"
        self.environment = {
            "PATH": f"{programs}{os.pathsep}{PROGRAMS}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "ASSIGNMENT": "vectors",
            "CLASS_FOLDER": str(self.kept),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "GRADER": "gpu-grader @ file:///wheels/gpu_grader.whl",
            "GRADER_REAL": str(PROGRAMS / "grader"),
            "GRADER_CALLS": str(self.calls_file),
            "GRADER_ENDS": str(self.ends),
            "GRADER_PIPE": str(self.pipe),
        }
        for file in (self.summary, self.calls_file):
            file.touch()
        self.end("", "")
        programs.mkdir(exist_ok=True)
        self.installed = folder / "installed"
        """What `pip` was called with, which installs nothing here."""
        pip = f'#!/bin/sh\necho "$*" > "{self.installed}"\n'
        for name, text in (("grader", GRADER), ("pip", pip)):
            program = programs / name
            program.write_text(text)
            program.chmod(program.stat().st_mode | stat.S_IXUSR)

    def begin(self) -> None:
        """Have a course, and two submissions from its platform."""
        self.received.mkdir(parents=True)
        self.shell("grader init clone --title 'A course'", cwd=self.folder)
        self.shell("grader new vectors")
        for name in ("vectors_right", "vectors_wrong"):
            shutil.copy(self.clone / "submissions" / f"{name}.tar.gz", self.received)

    def posts_to(self, canvas: Any) -> None:
        """Have both students on Canvas, and say in the course where that is."""
        canvas.enroll(RIGHT, "vectors_right")
        canvas.enroll(WRONG, "vectors_wrong")
        numbers = f"course: {loopback.COURSE}, assignments: {{vectors: {loopback.ASSIGNMENT}}}"
        file = self.clone / "course.yaml"
        lines = [line for line in file.read_text().splitlines() if not line.startswith("canvas:")]
        file.write_text("\n".join([*lines, f"canvas: {{url: '{canvas.url}', {numbers}}}\n"]))

    def end(self, command: str, how: str | int) -> None:
        """Let a command of grader end at once by a code or signal, or with `works 5`; "" is no command."""
        self.ends.write_text(f"{command} {how}\n")

    def calls(self, command: str) -> list[str]:
        """How a command of grader was called so far."""
        return [line for line in self.calls_file.read_text().splitlines() if line.split()[0] == command]

    def shell(
        self, script: str, *, cwd: Path | None = None, shell: str = "bash", **more: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a script as the services do."""
        done = subprocess.run(
            self.command(script, shell),
            cwd=cwd or self.clone,
            env=self.environment | more,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert loopback.TOKEN not in done.stdout + done.stderr
        return done

    @staticmethod
    def command(script: str, shell: str = "bash") -> list[str]:
        return [shell, *(("-eo", "pipefail") if shell == "bash" else ("-e",)), "-c", script]

    def scripts(self, service: str, name: str) -> list[tuple[str, dict[str, str]]]:
        """The scripts of a job, each for a shell of its own, and the variables that it alone has.

        A step or a job that goes on after a failure is none that we know how to run.
        """
        job = jobs(service)[name]
        if service == "gitlab":
            assert not {"after_script", "before_script", "retry", "when"} & job.keys()
            token = {"CANVAS_TOKEN": loopback.TOKEN} if "environment" in job else {}
            return [("\n".join(job["script"]), token)]
        found = []
        assert "continue-on-error" not in job
        for step in job["steps"]:
            assert not {"if", "continue-on-error", "shell"} & step.keys(), step
            values = step.get("env", {})
            assert set(values) <= {"CANVAS_TOKEN", "GRADER"}
            if "run" in step:
                token = {name: loopback.TOKEN for name in values if name == "CANVAS_TOKEN"}
                found.append((step["run"], token))
        return found

    def job(self, service: str, name: str, run: int = 1, shell: str = "bash") -> tuple[int, str]:
        """Run a job: the code that it ended with, and what it printed."""
        for file in ("class.html", "class.xml", "class.md"):  # as a fresh checkout does
            (self.clone / file).unlink(missing_ok=True)
        number = {"GITHUB_RUN_ID" if service == "github" else "CI_PIPELINE_ID": str(run)}
        printed = ""
        for script, token in self.scripts(service, name):
            done = self.shell(script, shell=shell, **number, **token)
            printed += done.stdout + done.stderr
            if done.returncode:
                return done.returncode, printed
        return 0, printed

    def run(self, service: str, run: int = 1, *, post: bool = True, shell: str = "bash") -> dict[str, int]:
        """Run the jobs of a class as the service does, and approve of the plan; how each one ended."""
        ended: dict[str, int] = {}
        for name in CLASS_JOBS:
            if not begins(service, name, ended, post=post):
                break
            ended[name], self.said = self.job(service, name, run, shell)
        return ended


def jobs(service: str) -> dict[str, Any]:
    whole = yaml.safe_load(course_files(title="A course", time_zone="UTC", ci=service)[CI[service][0]])
    jobs: dict[str, Any] = whole["jobs"] if service == "github" else whole
    return jobs


def begins(service: str, name: str, ended: dict[str, int], *, post: bool) -> bool:
    """Whether a job begins, by what ended before; a condition that these files do not use is an error."""
    job = jobs(service)[name]
    if service == "github":
        known = {None: True, "github.event_name == 'workflow_dispatch'": True, "inputs.post": post}
        needs = [job["needs"]] if "needs" in job else []
        # without a function of the status a condition means: and all jobs before ended well
        return known[job.get("if")] and all(ended.get(one) == 0 for one in needs)
    manual = any(rule.get("when") == "manual" for rule in job.get("rules", ()))
    assert manual == (name == "apply")
    assert "needs" not in job  # or it would not wait for its stage
    allowed = {one: jobs(service)[one].get("allow_failure", {}).get("exit_codes", []) for one in ended}
    return (post or not manual) and all(code in (0, *allowed[one]) for one, code in ended.items())


@pytest.fixture(scope="session")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course in order, and a class that a run with the number 1 has graded and planned, and not posted."""
    folder = tmp_path_factory.mktemp("begun")
    machine = Machine(folder)
    machine.begin()
    with loopback.LoopbackCanvas(students=0) as canvas:
        machine.posts_to(canvas)
        assert machine.run("github", 1, post=False) == {"grade": 0, "plan": 0}, machine.said
    return folder


@pytest.fixture
def machine(begun: Path, tmp_path: Path) -> Machine:
    """A machine of the test's own, after that run."""
    shutil.copytree(begun, tmp_path, dirs_exist_ok=True)
    machine = Machine(tmp_path)
    for file in (machine.summary, machine.calls_file):
        file.write_text("")
    return machine


@pytest.fixture
def canvas(machine: Machine) -> Iterator[Any]:
    """Canvas with both students, where the course posts to."""
    with loopback.LoopbackCanvas(students=0) as running:
        machine.posts_to(running)
        yield running
    assert running.violations == []


@pytest.fixture
def scores(canvas: Any) -> Any:
    """What Canvas has of both, as a function."""
    return lambda: (canvas.scores()[RIGHT], canvas.scores()[WRONG])
