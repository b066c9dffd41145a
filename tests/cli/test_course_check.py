"""Mistakes of a teacher are told as the teacher's, with file, line and remedy; no submission is run."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ASSIGNMENT, INPUTS = "assignments/vectors/assignment.py", "assignments/vectors/inputs.py"
EXPECTED, RUBRIC, COURSE = "assignments/vectors/expected.py", "rubrics/vectors.yaml", "course.yaml"
ORACLE = "return np.array([float(a) * float(u) + float(v) for u, v in zip(x, y)], dtype=y.dtype)"


def grader(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "grader", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course as `init` and `new` write it."""
    folder = tmp_path_factory.mktemp("course")
    assert grader(folder, "init", "--title", "GPU 101").returncode == 0
    assert grader(folder, "new", "vectors").returncode == 0
    return folder


@pytest.fixture
def course(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "course")
    return tmp_path / "course"


def told(course: Path) -> Iterator[str]:
    done = grader(course, "course", "check")
    assert "Traceback" not in done.stderr
    assert done.returncode == (4 if done.stderr else 0), done.stderr
    for line in done.stderr.splitlines():
        yield line.removeprefix("grader: ")


def test_a_new_course_has_no_mistake(course):
    assert list(told(course)) == []


@pytest.mark.parametrize(
    ("file", "right", "wrong", "line"),
    [
        (
            ASSIGNMENT,
            '("vectors.py",)',
            '"vectors.py"',
            ":9: accepts: must be a tuple of texts, got the text",
        ),
        (
            ASSIGNMENT,
            "memory_mb=1024",
            'memory_mb="2G"',
            ":17: limits: memory_mb: must be a whole number of MiB",
        ),
        (
            ASSIGNMENT,
            "call_wall_s=5.0",
            "call_wall_s=-1",
            ":17: limits: call_wall_s: must be a number of seconds",
        ),
        (ASSIGNMENT, "memory_mb", "memory", ":17: Limits has no memory; did you mean memory_mb?"),
        (ASSIGNMENT, "title=", "titel=", ":9: Assignment has no titel; did you mean title?"),
        (ASSIGNMENT, '("numpy",)', '"numpy"', ":9: preloads['vectors']: must be a tuple of texts"),
        (ASSIGNMENT, "@hookimpl\n", "", ":6: grader_assignments is never called; write @hookimpl above it"),
        (
            ASSIGNMENT,
            "grader_assignments",
            "grader_assignment",
            ": no hook is called grader_assignment; did you",
        ),
        (
            INPUTS,
            'case("any numbers", float(rng.normal()), ',
            "(1.0, ",
            ":12: vectors: gives a tuple; write yield",
        ),
        (
            INPUTS,
            'case("whole numbers", ',
            "case(",
            ":15: vectors: TypeError: case: the first argument is its name",
        ),
        (
            INPUTS,
            "vectors(rng)",
            "vectors(random)",
            "vectors(random) is none, for the first parameter of a family",
        ),
        (INPUTS, "    n = ", '    raise ValueError("no")\n    n = ', ":14: vectors: ValueError: no"),
        *(
            (
                INPUTS,
                "    n = ",
                f'    yield case("odd", {value})\n    n = ',
                f":12: vectors: case 'odd': {part}",
            )
            for value, part in (
                ("1.0, {1, 2}", "argument 2 is or holds a set, which cannot be handed to a program; give"),
                ("[b'ab']", "argument 1 is or holds a bytes"),
                ("x=np.array(['a'])", "x is or holds a numpy.ndarray of dtype <U1"),
                ("{1.5: 2}", "argument 1 is or holds a dict with keys that are neither text nor"),
            )
        ),
        (INPUTS, "    n = ", "    return\n    n = ", ":12: vectors: gives no case; yield at least one"),
        (INPUTS, "def vectors", "deff vectors", "not Python (invalid syntax)"),
        (
            EXPECTED,
            ORACLE,
            "sum(x)",
            ":10: saxpy: returns None for case 'whole numbers' of vectors; is a return",
        ),
        (EXPECTED, ORACLE, "return x * np.nan", ":10: saxpy: gives nan for case 'whole numbers' of vectors"),
        (
            EXPECTED,
            "saxpy(a, x, y)",
            "saxpy(a, x)",
            ":10: saxpy: cannot take case 'whole numbers' of vectors",
        ),
        (EXPECTED, ORACLE, "return y.nothing", "saxpy: AttributeError: "),
        (
            EXPECTED,
            "def saxpy",
            "def saxy",
            "of: expected.py has no saxpy; write it there, or name another by",
        ),
        (
            RUBRIC,
            "  - id",
            "  - {id: s, title: s, points: 0, check: source, file: a.md}\n  - id",
            "source reads Python",
        ),
        (
            COURSE,
            "# min_isolation: namespaces",
            "min_isolation: docker",
            "course.yaml:8:1: min_isolation: there is no",
        ),
        (
            COURSE,
            "# extensions:\n#   alice: {homework: 3d}",
            "extensions:\n  alicia: {vectors: 3d}",
            "course.yaml:12:3: extensions.alicia: nobody on the roster is called so; did you mean alice?",
        ),
    ],
)
def test_a_mistake_is_named_where_it_is(course, file, right, wrong, line):
    path = course / file
    assert right in path.read_text()
    path.write_text(path.read_text().replace(right, wrong))
    (course / "roster.csv").write_text("student,name\nalice,Alice\n")
    lines = list(told(course))
    assert len(lines) == 1, lines
    assert line in lines[0]
    assert file.rpartition("/")[2] in lines[0] or lines[0].startswith("rubrics/")


def test_a_rubric_of_another_suffix_is_named(course):
    (course / RUBRIC).rename(course / "rubrics" / "vectors.yml")
    assert list(told(course)) == ["rubrics/vectors.yml: rubrics end in .yaml; rename it"]


def test_an_assignment_without_a_rubric_is_named(course):
    shutil.copytree(course / "assignments/vectors", course / "assignments/matrices")
    path = course / "assignments/matrices/assignment.py"
    path.write_text(path.read_text().replace('name="vectors"', 'name="matrices"'))
    assert list(told(course)) == [
        "assignments/matrices: no rubric grades this assignment; write rubrics/matrices.yaml"
    ]


@pytest.mark.parametrize("command", ["course", "rubric"])
def test_programs_get_the_same_lines_as_json(course, command):
    assert json.loads(grader(course, command, "check", "--json").stdout) == {"problems": []}
    path = course / RUBRIC
    path.write_text(path.read_text().replace("inputs: vectors", "inputs: vektors"))
    done = grader(course, command, "check", "--json")
    assert (done.returncode, done.stderr) == (4, "")
    (problem,) = json.loads(done.stdout)["problems"]
    assert problem.startswith("rubrics/vectors.yaml:12:5: items[0].inputs: no family of inputs.py is called")
