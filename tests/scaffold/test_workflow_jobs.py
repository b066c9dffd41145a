"""The jobs that grade, run as the services run them: in a shell, in a fresh copy of the course."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from grader.scaffold.course import CI, course_files

NOT_ACCEPTED = 6


class Runner:
    """A machine with grader, a clone of a course, and a folder that stays."""

    def __init__(self, folder: Path) -> None:
        self.clone = folder / "clone"
        self.summary = folder / "summary.md"
        self.summary.touch()
        self.kept = folder / "class of 2030"  # a blank, as people have them
        (self.kept / "hand_ins" / "vectors").mkdir(parents=True)
        programs = Path(sys.executable).parent
        self.environment = {
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "ASSIGNMENT": "vectors",
            "CLASS_FOLDER": str(self.kept),
            "GITHUB_STEP_SUMMARY": str(self.summary),
        }
        self.shell("grader init clone --title 'A course'", folder)
        self.shell("grader new vectors")
        for name in ("vectors_right", "vectors_wrong"):
            shutil.copy(self.clone / "submissions" / f"{name}.tar.gz", self.kept / "hand_ins" / "vectors")

    def shell(self, script: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-eo", "pipefail", "-c", script],
            cwd=cwd or self.clone,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )

    def job(self, service: str, name: str) -> list[tuple[int, str]]:
        """How each of its steps ended, and what it said; what looks at the machine is left out."""
        path, _ = CI[service]
        whole = yaml.safe_load(course_files(title="A course", time_zone="UTC", ci=service)[path])
        if service == "gitlab":
            lines = [line for line in whole[name]["script"] if line != "grader doctor"]
            done = self.shell("\n".join(lines))
            return [(done.returncode, done.stdout + done.stderr)]
        ended = []
        for step in whole["jobs"][name]["steps"]:
            failed = any(code for code, _ in ended)
            goes_on = "!cancelled()" in step.get("if", "")
            if step.get("run", "grader doctor") != "grader doctor" and (goes_on or not failed):
                done = self.shell(step["run"])
                ended.append((done.returncode, done.stdout + done.stderr))
        return ended


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    return Runner(tmp_path)


@pytest.mark.parametrize("service", sorted(CI))
def test_a_course_in_order_passes_and_one_that_is_not_does_not(runner: Runner, service: str):
    assert [code for code, _ in runner.job(service, "verify")] in ([0], [0, 0, 0])
    (runner.clone / "tests" / "submissions" / "vectors_right" / "files" / "vectors.py").write_text("")
    code, said = runner.job(service, "verify")[-1]
    assert code == 4
    assert "submissions/vectors_right.tar.gz: stale" in said


@pytest.mark.parametrize("service", sorted(CI))
def test_a_class_is_graded_and_shown_also_if_an_archive_is_not_accepted(runner: Runner, service: str):
    assert {code for code, _ in runner.job(service, "grade")} == {0}
    (runner.kept / "hand_ins" / "vectors" / "cleo.zip").write_bytes(b"no archive")
    (runner.clone / "class.xml").unlink()
    ended = runner.job(service, "grade")
    assert [code for code, _ in ended] == ([NOT_ACCEPTED, 0] if service == "github" else [NOT_ACCEPTED])
    assert "cleo.zip" in ended[0][1]
    assert (runner.clone / "class.html").is_file()
    assert 'name="vectors_right"' in (runner.clone / "class.xml").read_text()
    summary = runner.summary if service == "github" else runner.clone / "class.md"
    assert "vectors" in summary.read_text()
    assert (runner.kept / "gradebook.db").is_file()
    assert (runner.kept / "results" / "vectors" / "vectors_wrong" / "score.json").is_file()
