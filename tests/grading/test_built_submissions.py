"""A submission that has to be compiled, from the archive to its grade, with what needs the library."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
from textwrap import dedent

import pytest

pytestmark = pytest.mark.usefixtures("forked_workers")
COURSE = {
    "course.yaml": "title: C\n",
    "assignments/adding/assignment.py": """
        from grader.api import Assignment, Build, hookimpl
        @hookimpl
        def grader_assignments():
            build = Build(
                command=("make",), products=("add.so",), variable="ADD", programs=("make", "gcc")
            )
            return [Assignment(name="adding", title="Adding", accepts=("*.c", "*.py"), build=build)]
    """,
    "assignments/adding/inputs.py": """
        from grader.api import case
        def pairs(rng):
            yield case("two", int(rng.integers(100)), int(rng.integers(100)))
    """,
    "assignments/adding/expected.py": "def add(a, b):\n    return a + b\n",
    "assignments/adding/given/driver.py": """
        import ctypes, os
        def add(a, b):
            return ctypes.CDLL(os.environ["ADD"] + "/add.so").add(a, b)
    """,
    "assignments/adding/given/Makefile": "add.so: add.c\n\tgcc -shared -fPIC -o $@ $<\n",
    "assignments/adding/reference/add.c": "int add(int a, int b) { return a + b; }\n",
    "rubrics/adding.yaml": """
        schema: 1
        assignment: adding
        points: 3
        items:
          - {id: build, title: It compiles, points: 1, check: build}
          - id: driver.add
            title: It adds
            points: 2
            needs: [build]
            check: matches_reference
            of: driver.add
            inputs: pairs
    """,
}


@pytest.fixture
def mark(tmp_path, monkeypatch):
    """Grades a submission with this source: its lines by item, and the mark's standing."""
    monkeypatch.setenv("GRADER_CACHE", str(tmp_path / "cache"))
    course = tmp_path / "course"
    for path, text in COURSE.items():
        file = course / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text if path.endswith("Makefile") else dedent(text))

    def grade(source, *more):
        (tmp_path / "add.c").write_text(source)
        with tarfile.open(tmp_path / "jdoe.tar.gz", "w:gz") as archive:
            archive.add(tmp_path / "add.c", "add.c")
        arguments = ["--course", str(course), "run", str(tmp_path / "jdoe.tar.gz"), "--student", "jdoe"]
        out = tmp_path / "results"
        subprocess.run(
            [sys.executable, "-m", "grader", *arguments, "--out", str(out), *more],
            check=False,
            capture_output=True,
        )
        (file,) = (file for file in out.rglob("score.json") if "feedback" not in file.parts)
        return {item["id"]: item for item in json.loads(file.read_text())["items"]}

    return grade


def test_it_is_compiled_once_and_its_functions_are_called(mark, tmp_path):
    lines = mark("int add(int a, int b) { return a + b; }\n")
    assert [lines[name]["points"] for name in ("build", "driver.add")] == [1, 2]
    assert len(list((tmp_path / "cache/builds").iterdir())) == 1


@pytest.mark.slow
def test_what_needs_the_library_is_skipped_when_it_does_not_compile(mark):
    lines = mark("int add(int a, int b) { return a + c; }\n")
    assert [lines[name]["points"] for name in ("build", "driver.add")] == [0, 0]
    assert lines["build"]["outcome"] == "not_built"
    assert lines["build"]["reason"].startswith("add.c:1:36: 'c' undeclared")
    assert lines["driver.add"]["outcome"] == "skipped"


@pytest.mark.slow
def test_an_item_that_is_observed_later_finds_the_library_though_nobody_builds_again(mark):
    right = "int add(int a, int b) { return a + b; }\n"
    assert mark(right, "--item", "build")["build"]["points"] == 1
    assert mark(right)["driver.add"]["points"] == 2
