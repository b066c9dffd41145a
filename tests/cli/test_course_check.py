"""Mistakes of a teacher are told as the teacher's, with file, line and remedy; no submission is run."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import pytest

from grader.config.yaml_source import YamlDocument
from grader.model.options import InputsName
from grader.selftest.functions import try_functions

ASSIGNMENT, INPUTS = "assignments/vectors/assignment.py", "assignments/vectors/inputs.py"
REFERENCE = "assignments/vectors/reference/vectors.py"
EXPECTED, RUBRIC, COURSE = "assignments/vectors/expected.py", "rubrics/vectors.yaml", "course.yaml"
BUILD = '__import__("grader.api").api.Build'
PRODUCTS = 'products=("a.so",), variable="A"'
LACKED = 'reference/ has no "runs.cpp", without which what calls runs_driver earns nothing; '
ORACLE = "return np.array([float(a) * float(u) + float(v) for u, v in zip(x, y)], dtype=y.dtype)"


@dataclass(frozen=True, kw_only=True)
class Named:
    """Options that name a family."""

    inputs: InputsName


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


def told_remarks(course: Path) -> list[str]:
    """The lines of a course that has no submission to earn what a new item gives."""
    return [line.removeprefix("remark: ") for line in told(course) if "earns.s: missing" not in line]


def test_a_new_course_has_no_mistake(course):
    assert list(told(course)) == []


def test_a_reference_without_files_is_named_and_so_is_one_without_what_is_required(course):
    (course / REFERENCE).unlink()
    line = ":13: accepts: reference/ holds no files; write the solution there, which must earn everything"
    assert f"{ASSIGNMENT}{line}" in told(course)
    (course / REFERENCE).with_name("other.py").write_text("def saxpy(a, x, y): return a * x + y\n")
    file = course / ASSIGNMENT
    file.write_text(file.read_text().replace("limits=", 'requires={"driver": ("vectors.py",)}, limits='))
    why = 'requires: reference/ has no "vectors.py", without which what calls driver earns nothing; write it'
    assert any(why in line for line in told(course))


@pytest.mark.parametrize(
    ("accepts", "file", "lines"),
    [
        (
            ("vectors.py", "runs.cpp"),
            "run.cpp",
            ("accepts", "rename run.cpp there to runs.cpp, or write run"),
        ),
        (("vectors.py", "*.cpp"), "run.cpp", ("requires", LACKED + "rename run.cpp there to runs.cpp")),
        (
            ("vectors.py", "runs.cpp", "*.cpp"),
            "run.cpp",
            ("requires", LACKED + "rename run.cpp there to runs"),
        ),
        (("vectors.py", "*.cpp"), "other.cpp", ("requires", LACKED + "write it")),
        (("vectors.py", "runs.cpp"), "runs.cpp", ()),
    ],
)
def test_a_required_file_that_the_reference_has_under_another_name_is_told_once(course, accepts, file, lines):
    (course / REFERENCE).with_name(file).write_text("int main() {}\n")
    requires = 'requires={"driver": ("vectors.py",), "runs_driver": ("runs.cpp",)}'
    path = course / ASSIGNMENT
    path.write_text(
        path.read_text().replace('("vectors.py",)', repr(accepts)).replace("limits=", f"{requires}, limits=")
    )
    found = [line.split(": ", 2)[1:] for line in told(course) if "runs.cpp" in line]
    assert [field for field, _ in found] == [*lines[:1]]
    assert all(lines[1] in message for _, message in found)


def test_a_team_of_the_roster_that_is_too_large_for_an_assignment_is_named(course):
    (course / "roster.csv").write_text("student,team\nzoe,\nann,red\nbob,Red\ncem,red\ndee,blue\neva,blue\n")
    file = course / ASSIGNMENT
    file.write_text(file.read_text().replace("limits=", "team_at_most=2, limits="))
    why = "roster.csv:3: team red has 3 students, and teams of vectors have at most 2; make smaller teams"
    (line,) = told(course)
    assert line.startswith(why)
    done = grader(course, "run", "assignments/vectors/reference", "--student", "bob", "--out", "out")
    assert done.returncode == 4
    assert why in done.stderr


def test_a_team_of_one_that_may_be_misspelt_is_a_remark(course):
    (course / "roster.csv").write_text("student,team\nann,red\nbob,rde\n")
    done = grader(course, "course", "check")
    assert done.returncode == 0
    why = "team rde has bob alone, and team red has ann; if they are one team, give them one name"
    assert f"roster.csv:3: {why}" in done.stdout + done.stderr


def test_a_program_whose_name_is_misspelt_is_a_remark(course):
    programs = '("make", "g+++", "nvcc", "g++-13", "my_tool")'
    build = f'{BUILD}(command=("makee", "-s"), {PRODUCTS}, programs={programs})'
    file = course / ASSIGNMENT
    file.write_text(file.read_text().replace("limits=", f"build={build}, limits="))
    (course / "assignments/vectors/given").mkdir()
    (course / "assignments/vectors/given/Makefile").write_text("a.so:\n")
    rubric = (course / RUBRIC).read_text()
    script = item("script, file: vectors.py, programs: [compute-sanitiser, ls]")
    (course / RUBRIC).write_text(rubric.replace("  - id", script, 1))
    done = grader(course, "course", "check")
    lines = [line for line in done.stderr.splitlines() if "program" in line]
    assert [re.sub(r":[0-9:]+:", ":", line) for line in lines] == [
        f"grader: {ASSIGNMENT}: programs: no program is called g+++; did you mean g++?",
        f"grader: {ASSIGNMENT}: command: no program is called makee; did you mean make?",
        f"grader: {RUBRIC}: items[0].programs: no program is called compute-sanitiser; did you mean "
        "compute-sanitizer?",
    ]
    (course / RUBRIC).write_text(rubric)
    done = grader(course, "course", "check")
    assert (done.returncode, "did you mean g++?" in done.stderr) == (0, True)


def test_a_submission_of_the_course_whose_name_no_student_can_have_is_named(course):
    folder = next((course / "tests/submissions").iterdir())
    folder.rename(folder.with_name("right slow"))
    (line,) = told(course)
    assert line.startswith(
        "tests/submissions/right slow: is called as nobody can be who hands in; rename it: "
    )


def test_a_submission_of_the_course_that_hands_in_nothing_is_named(course):
    folder = next((course / "tests/submissions").iterdir())
    (folder / "files").rename(folder / "file")
    line = f"hands in nothing; put its files below {folder.name}/files"
    assert list(told(course)) == [f"tests/submissions/{folder.name}: {line}"]


def test_a_file_that_a_driver_imports_and_the_reference_lacks_is_named(course):
    driver = course / "assignments/vectors/given/driver.py"
    driver.parent.mkdir(exist_ok=True)
    driver.write_text("import numpy as np\nimport training\n")
    file = course / ASSIGNMENT
    file.write_text(file.read_text().replace('"vectors.py"', '"vectors.py", "training.py"'))
    line = "driver.py:2: imports training.py, which is handed in, and reference/ has none; write it"
    assert [line for line in told(course) if "training" in line] == [f"assignments/vectors/given/{line}"]


def test_a_file_that_a_driver_imports_and_the_reference_alone_has_is_named(course):
    driver = course / "assignments/vectors/given/driver.py"
    driver.parent.mkdir(exist_ok=True)
    driver.write_text("import numpy as np\nimport vectors, table\n")
    (course / REFERENCE).with_name("table.py").touch()
    why = 'import: "table.py" lies in reference/ alone, and no pattern of accepts fits it; move it to given/'
    (line,) = told(course)
    assert line.startswith(f"assignments/vectors/given/driver.py:2: {why}")


@pytest.mark.parametrize(
    ("due", "line"),
    [
        (
            "2026-11-20T23:59:00+02:00",
            ":{n}:1: due: is 22:59 in Europe/Berlin, whose offset is another one then; ",
        ),
        (
            "2026-07-20T23:59:00+01:00",
            ":{n}:1: due: is 00:59 in Europe/Berlin, whose offset is another one then; ",
        ),
        ("2026-11-20T23:59:00+01:00", ""),
        ("2026-07-20T23:59:00Z", ""),
        ("2026-07-20T23:59:00-05:00", ""),
    ],
)
def test_a_deadline_with_the_offset_of_the_other_half_of_the_year_is_named(course, due, line):
    settings = course / "course.yaml"
    settings.write_text("title: GPU 101\ntime_zone: Europe/Berlin\n")
    text = (course / RUBRIC).read_text().replace("items:", f"due: {due}\nitems:")
    (course / RUBRIC).write_text(text)
    number = text.splitlines().index(f"due: {due}") + 1
    lines = [each for each in told(course) if "due" in each]
    assert len(lines) == bool(line)
    assert not line or lines[0].startswith(RUBRIC + line.format(n=number))


def test_a_right_course_is_told_who_says_what_the_references_earn(course):
    says = "GPU 101: fine; what each reference earns, grader verify says\n"
    assert grader(course, "course", "check").stdout == says


LATE = "  # the sum of the items\nlate: {per_day: 10%}"
ITEM = "  - {id: s, title: s, points: 0, check: CHECK}\n  - id"


def item(keys: str) -> str:
    """A further item before the first one, of these keys."""
    return ITEM.replace("CHECK", keys)


@pytest.mark.parametrize(
    ("file", "right", "wrong", "line"),
    [
        (
            RUBRIC,
            "  # the sum of the items",
            LATE,
            ":4:1: late: nothing is ever late, because the rubric has no due",
        ),
        (
            RUBRIC,
            "  - id",
            item("build"),
            "].check: assignment.py does not say how it is built; give it a build=",
        ),
        (
            RUBRIC,
            "  - id",
            item("files, required: [vectors.py, report.pdf]"),
            '.required[1]: no pattern of accepts fits "report.pdf"; add one to accepts',
        ),
        (
            RUBRIC,
            "  - id",
            item('script, file: "vector.py"'),
            '].file: given/ has no "vector.py", and no pattern of accepts fits it; did you mean vectors.py?',
        ),
        (
            RUBRIC,
            "check: matches_reference\n    of: vectors.saxpy",
            "check: speedup\n    of: vectors.saxpy\n    over: vectors.saxpi\n    at_least: 2",
            'no function of the reference is called "vectors.saxpi"',
        ),
        (
            ASSIGNMENT,
            '("vectors.py",)',
            '("vektors.ipynb",)',
            ":13: accepts: fits no file of reference/; write ('vectors.py',)",
        ),
        (
            ASSIGNMENT,
            "limits=",
            'requires={"vectors": ("utils.py",)}, limits=',
            ":17: requires: ['vectors']: given/ has no \"utils.py\", and no pattern of accepts fits it; ",
        ),
        (
            ASSIGNMENT,
            '{"vectors": ("numpy",)}',
            '{"vektors": ("numpy",)}',
            ":15: preloads: no file is called vektors.py; did you mean vectors?",
        ),
        (
            ASSIGNMENT,
            '("numpy",)',
            '("numpi",)',
            ":15: preloads: no module is called numpi; did you mean numpy?",
        ),
        (
            ASSIGNMENT,
            "memory_mb=1024",
            "memory_mb=1",
            ":17: limits: memory_mb: 1 is too little for any program",
        ),
        (
            ASSIGNMENT,
            "memory_mb=1024",
            "memory_mb=2**40",
            ":17: limits: memory_mb: 1,099,511,627,776 is too much",
        ),
        (ASSIGNMENT, "call_wall_s=5.0", "call_wall_s=0.005", ":17: limits: call_wall_s: 0.005 is too little"),
        (
            ASSIGNMENT,
            'name="vectors"',
            'name="Vectors"',
            ':6: name: must be the folder\'s; write name="vectors" in place of "Vectors"',
        ),
        (
            INPUTS,
            "rng.normal(size=n), ",
            "np.random.normal(size=n), ",
            ":12: vectors: case 'any numbers' is not the same for the same seed; draw everything from rng",
        ),
        (
            INPUTS,
            '"nothing at all"',
            '"float32"',
            ":12: vectors: two cases are called 'float32'; give each its own name",
        ),
        (
            INPUTS,
            "    n = ",
            '    while True:\n        yield case("one", 1.0)\n    n = ',
            ":12: vectors: gives more than 1000 cases; end its loop",
        ),
        (
            INPUTS,
            "    n = ",
            "    while True:\n        yield\n    n = ",
            ":12: vectors: gives a NoneType; write",
        ),
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
        *(
            (
                ASSIGNMENT,
                "limits=",
                f"build={BUILD}(command={command}, {PRODUCTS}),\n            limits=",
                line,
            )
            for command, line in (
                (
                    '"make -O"',
                    ": must be a tuple of texts, got the text 'make -O'; write ('make', '-O')",
                ),
                ('("make -O",)', ":17: build: command: 'make -O' are several words; write ('make', '-O')"),
                ('("make", "A={ARCH}")', ": command: A={ARCH}: only {arch} is filled in; write that"),
                (
                    '("make",)',
                    ": build: make finds no Makefile, for given/ has none and accepts lets",
                ),
            )
        ),
        *(
            (
                ASSIGNMENT,
                "limits=",
                f'build={BUILD}(command=("sh", "b"), {more}, {PRODUCTS}),\n  limits=',
                line,
            )
            for more, line in (
                ("memory_mb=60", ": memory_mb: 60 is too little for any build (the bound is 128)"),
                ("wall_s=0.1", ": wall_s: 0.1 is too little for any build"),
                ("product_mb=0", ": build: product_mb: must be a whole number of MiB above 0, got 0"),
                ("file_mb=2**40", ": file_mb: 1,099,511,627,776 is too much for any build"),
            )
        ),
        (
            EXPECTED,
            ORACLE,
            f"x *= 2\n    {ORACLE}",
            ": saxpy: writes into case 'whole numbers' of vectors; copy the argument first",
        ),
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
            "case(np.ones((9, 99)), ",
            ':15: vectors: TypeError: case: the first argument is its name, as in case("one row", …), got nd',
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
                ("'a' * (17 * 2**20)", "its texts and single values have more than 16 MiB; give"),
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
        (
            EXPECTED,
            ORACLE,
            "return (a * v for v in x)",
            ":10: saxpy: case 'whole numbers' of vectors: returns a value that",
        ),
        (EXPECTED, ORACLE, "return x * np.nan", ":10: saxpy: gives nan for case 'whole numbers' of vectors"),
        (
            EXPECTED,
            "saxpy(a, x, y)",
            "saxpy(a, x)",
            ":10: saxpy: cannot take case 'whole numbers' of vectors",
        ),
        (
            REFERENCE,
            "saxpy(a, x, y)",
            "saxpy(a, x, y, z, *, w=1)",
            ":4: cannot take case 'whole numbers' of vectors in inputs.py (missing a required argument: 'z')",
        ),
        (EXPECTED, ORACLE, "return y.nothing", "saxpy: AttributeError: "),
        (
            EXPECTED,
            ORACLE,
            f"assert len(x)\n    {ORACLE}",
            ":12: saxpy: AssertionError, for case 'nothing at all' of vectors",
        ),
        (EXPECTED, "def saxpy", "async def saxpy", ":10: saxpy: is a coroutine; write def in place of async"),
        (
            EXPECTED,
            ORACLE,
            "__import__('os')._exit(0)",
            "expected.py: saxpy: its process ended with status 0; let it return or raise",
        ),
        (
            EXPECTED,
            "import numpy as np",
            "import numpy as np\nfrom .reference.vectors import saxpy as right",
            ":8: imports the reference, which must not be its own oracle; work the answer out otherwise",
        ),
        (
            EXPECTED,
            "import numpy as np",
            "import numpy as np\nfrom reference.vectors import saxpy as right",
            ":8: imports the reference, which must not be its own oracle; work the answer out otherwise",
        ),
        (INPUTS, '"whole numbers"', '""', ":12: vectors: a case has an empty name; students read it"),
        (
            INPUTS,
            "def vectors(rng)",
            "def vectors(rng, count)",
            ": vectors: is called with rng alone (missing a required argument: 'count')",
        ),
        (
            RUBRIC,
            "check: matches_reference\n    of: vectors.saxpy",
            "check: speedup\n    of: vectors.saxpy\n    over: vectors.saxpy\n    at_least: 2",
            ": items[0]: of and over are the same function, which is as fast as itself; name two",
        ),
        (
            INPUTS,
            "    n = ",
            '    yield case("large", 1.0, np.empty(2**27), np.ones(2))\n    n = ',
            ":12: vectors: case 'large' has arguments of 1024 MiB; 512 MiB fit into one call",
        ),
        *(
            (ASSIGNMENT, '("vectors.py",)', f'("vectors.py", "{pattern}")', line)
            for pattern, line in (
                ("src/", '"src/" is a folder; name its files, as src/*'),
                ("/tmp/x.py", '"/tmp/x.py" leads out of the submission; write tmp/x.py'),
                ("../x.py", '"../x.py" leads out of the submission; write a path below'),
                ("./x.py", '"./x.py" lets in nothing; write x.py'),
                ("", '"" lets in nothing; take it out'),
                ("*", 'accepts: "*" lets in numpy.py, too, which is preloaded; name the files'),
                ("src\\\\x.py", 'x.py" has a backslash; write src/x.py'),
                ("**/*.py", '"**/*.py" stands for no more than with a single *'),
                ("*.{py,cu}", '"*.{py,cu}" has brackets, which stand for themselves'),
                ("data.zip", '"data.zip" is never accepted, as archives inside'),
            )
        ),
        (
            ASSIGNMENT,
            '("vectors.py",)',
            '("./vectors.py",)',
            '"./vectors.py" lets in nothing; write vectors.py',
        ),
        (ASSIGNMENT, '("vectors.py",)', '("/vectors.py",)', "leads out of the submission; write vectors.py"),
        (ASSIGNMENT, 'title="Vectors"', 'title=" "', ": title: is empty; write what students call it"),
        (ASSIGNMENT, "call_wall_s=5.0", "cores=5000", ": cores: 5,000 is too much for any program"),
        (
            ASSIGNMENT,
            '("numpy",)',
            '("numpy", "vectors")',
            ":15: preloads: vectors.py is handed in, and only modules that are not can be preloaded",
        ),
        (
            ASSIGNMENT,
            '("numpy",)',
            '("numpy.linagl",)',
            ":15: preloads: no module is called numpy.linagl; did you mean numpy.linalg?",
        ),
        (
            ASSIGNMENT,
            "grader_assignments()",
            "grader_assignments(course)",
            ": a hook has the argument 'course', which nothing gives it; take it out",
        ),
        (
            RUBRIC,
            "    inputs: vectors",
            "    tolerance: {float64: {rtol: 5, atol: 0}}\n    inputs: vectors",
            "tolerance.float64: rtol 5 takes 0 for any value; write a share, as 0.01 for one percent",
        ),
        (
            COURSE,
            "# extensions:\n#   alice: {homework: 3d}",
            "extensions:\n  alice: {vectors: 3d}",
            "course.yaml:12:11: extensions.alice.vectors: no rubric of vectors has a due, so that nothing is",
        ),
        (
            COURSE,
            "# canvas:",
            'canvas: {url: "https://lms.edu/courses/1", course: 1, assignments: {vectors: 2}}\n# canvas:',
            "course.yaml:15:1: canvas: url: leads to a course; write https://lms.edu",
        ),
        (EXPECTED, ORACLE, "return {1}", ":10: saxpy: gives {1}, which cannot be compared; give numbers,"),
        (EXPECTED, ORACLE, "yield x", "of vectors: returns a value that cannot be passed on"),
        (
            EXPECTED,
            ORACLE,
            "return y + np.random.default_rng().normal(size=y.shape)",
            ":10: saxpy: answers case 'whole numbers' of vectors differently when it is asked again; give it",
        ),
        (
            RUBRIC,
            "    inputs: vectors",
            "    tolerance: {float64: {rtol: -1, atol: 0}}\n    inputs: vectors",
            "tolerance.float64: rtol and atol must be 0 or more",
        ),
        (
            COURSE,
            "# canvas:",
            'canvas: {url: "https://lms.example.edu", course: 1, assignments: {vektors: 2}}\n# canvas:',
            'course.yaml:15:67: canvas.assignments.vektors: no assignment is called "vektors"; did you mean',
        ),
        (
            ASSIGNMENT,
            "limits=",
            f'build={BUILD}(command=("sh", "b"), {PRODUCTS.replace("A", "MY LIB")}),\n            limits=',
            ": build: variable: 'MY LIB' is no name of a variable that is free; write",
        ),
        (
            EXPECTED,
            "def saxpy",
            "def saxy",
            "of: expected.py has no saxpy; write it there, or name another by expected; did you mean saxy?",
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


READS = "assignments/vectors/given/driver.py:2 reads VECTORS, which only items have that need the build; "


@pytest.mark.parametrize(
    ("right", "wrong", "line"),
    [
        ("", "", None),
        ("needs: [binary]", "group: g", f"vectors.yaml:6:70: items[1].of: {READS}write needs: [binary]"),
        ("check: build", "check: manual", f"{READS}add an item with check: build, and need it"),
        ('"make"', '"make", "all"', ':17: build: command: Makefile has no rule for "all"; there are a.so'),
        (
            "VECTORS",
            "VECTOR",
            ":17: variable: assignments/vectors/given/driver.py:2 reads VECTORS; write one",
        ),
        ("-O2", "-g -fsanitize=undefined", None),
        (
            "-O2",
            "-g -fsanitize=undefined,thread",
            ":17: limits: given/Makefile has -fsanitize=undefined,thread, which reserves terabytes; write "
            "reserve_mb=40_000_000 among them",
        ),
    ],
)
def test_what_a_build_lacks_is_named_before_anything_is_built(course, right, wrong, line):
    path, rubric, makefile = with_build(course)
    for file in (path, rubric, makefile):
        file.write_text(file.read_text().replace(right, wrong))
    done = grader(course, "rubric", "check")
    assert (line or "") in done.stderr
    assert done.returncode == (4 if line else 0), done.stderr


def test_a_build_that_needs_what_is_built_is_not_named_as_the_one_to_need(course):
    _, rubric, _ = with_build(course)
    binary = "{id: binary, title: t, points: 0, check: build"
    text = rubric.read_text().replace("needs: [binary]", "group: g")
    rubric.write_text(text.replace(binary, f"{binary}, needs: [second]"))
    advice = "add an item with check: build that needs no other, and need it"
    done = grader(course, "rubric", "check")
    assert [line.endswith(READS + advice) for line in done.stderr.splitlines()] == [True, True]
    also = binary.replace("binary", "first_of_all")
    rubric.write_text(rubric.read_text() + f"  - {also}}}\n")
    done = grader(course, "rubric", "check")
    lines = [line.endswith(f"{READS}write needs: [first_of_all]") for line in done.stderr.splitlines()]
    assert lines == [True, True]


@pytest.mark.parametrize(
    ("makefile", "files", "remarks"),
    [
        ("a.so: a.cpp main.cpp\n", ["a.cpp"], 1),
        ("SOURCE=./main.cpp\n", ["a.cpp"], 1),
        ("a.so: a.cpp main.cpp\n", ["a.cpp", "main.cpp"], 0),
        ("a.so: a.cpp domain.cpp main.cpp.o\n", ["a.cpp"], 0),
    ],
)
def test_a_file_of_students_that_make_names_and_the_reference_lacks_is_remarked(
    course, makefile, files, remarks
):
    path, _, given = with_build(course)
    given.write_text(makefile)
    path.write_text(path.read_text().replace('("vectors.py",)', '("vectors.py", "a.cpp", "main.cpp")'))
    for file in files:
        (course / REFERENCE).with_name(file).write_text("")
    line = f"{ASSIGNMENT}:13: accepts: given/Makefile names main.cpp, and reference/ has none; write it"
    assert [each for each in told_remarks(course) if "names main.cpp" in each] == [line] * remarks


def with_build(course: Path) -> tuple[Path, Path, Path]:
    """Have the driver read the product of a build; return the declaration, the rubric and the Makefile."""
    given = course / "assignments/vectors/given"
    given.mkdir()
    (given / "driver.py").write_text("import os\nHOME = os.environ['VECTORS']\ndef saxpy(a, x, y): ...\n")
    (given / "Makefile").write_text(".PHONY: clean\nFLAGS := -O2\na.so: a.cpp\n\tg++ $(FLAGS) $<\n")
    path, rubric = course / ASSIGNMENT, course / RUBRIC
    build = 'command=("make",), products=("a.so",), variable="VECTORS"'
    path.write_text(path.read_text().replace("limits=", f"build={BUILD}({build}), limits="))
    common = "{title: t, points: 0, inputs: vectors, check: matches_reference, of: driver.saxpy"
    rubric.write_text(
        "schema: 1\nassignment: vectors\npoints: 0\nitems:\n"
        "  - {id: binary, title: t, points: 0, check: build}\n"
        f"  - {common}, id: first, needs: [binary]}}\n"
        f"  - {common}, id: second, needs: [first]}}\n"
    )
    return path, rubric, given / "Makefile"


def test_a_second_driver_that_was_forgotten_is_named_and_not_the_first_one_in_its_place(course):
    given = course / "assignments/vectors/given"
    given.mkdir()
    (given / "driver.py").write_text("def saxpy(a, x, y): ...\n")
    path, rubric = course / ASSIGNMENT, course / RUBRIC
    requires = 'requires={"driver": ("vectors.py",), "lines_driver": ("vectors.py",)}'
    path.write_text(path.read_text().replace("limits=", f"{requires}, limits="))
    for function in ("saxpy", "lines"):
        rubric.write_text(re.sub(r"of: \S+", f"of: lines_driver.{function}", rubric.read_text()))
        (line,) = [line for line in told(course) if "driver" in line]
        assert "of: given/ has no lines_driver.py, nor has reference/; write it" in line


def test_a_family_with_a_second_parameter_is_named_with_its_line(course):
    path = course / INPUTS
    path.write_text(path.read_text().replace("def vectors(rng)", "def vectors(rng, count)"))
    line = path.read_text()[: path.read_text().index("def vectors")].count("\n") + 1
    why = "is called with rng alone (missing a required argument: 'count'); give all else a default"
    assert list(told(course)) == [f"{INPUTS}:{line}: vectors: {why}"]


def test_a_family_that_is_the_same_for_every_seed_is_a_remark(course):
    path = course / INPUTS
    text = path.read_text()
    own = "    rng = np.random.default_rng(0)\n"
    head, body = text.split("def vectors(rng)", 1)
    signature, body = body.split("\n", 1)
    path.write_text(f"{head}def vectors(rng){signature}\n{own}{body}")
    done = grader(course, "course", "check")
    assert done.returncode == 0
    assert done.stdout.startswith("GPU 101: fine")
    assert ": vectors: gives the same for every seed" in done.stderr


def test_a_timed_family_of_several_cases_is_named(course):
    path, reference = course / RUBRIC, course / "assignments/vectors/reference/vectors.py"
    reference.write_text(f"{reference.read_text()}\n\ndef slow(a, x, y):\n    return a * x + y\n")
    keys = "check: speedup\n    over: vectors.slow\n    at_least: 2"
    path.write_text(path.read_text().replace("check: matches_reference", keys))
    inputs = course / INPUTS
    line = f"{INPUTS}:12: vectors: gives 5 cases; a family whose calls are timed gives one"
    assert list(told(course)) == [line]
    inputs.write_text(inputs.read_text().replace('    yield case("any', '    return\n    yield case("any'))
    assert list(told(course)) == []


CLASSES = """

class Model:
    def __init__(self): ...

    def forward(self): ...

    def scaled(self): ...


class Loss:
    def forward(self):
        def inner(): ...


class Empty: ...


if True:
    def chosen(): ...
"""


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("forbid: [numpy.matmull]", "forbid[0]: numpy {numpy} has no matmull; did you mean matmul?"),
        ("forbid: [math.fmax, numpi.dot]", "forbid[1]: no module is called numpi; did"),
        ("forbid: [numpy.linalg.invv]", "forbid[0]: numpy.linalg has no invv; did you mean inv?"),
        ("forbid: [numpy.*], allow: [numpy.zeross]", "allow[0]: numpy {numpy} has no zeross; did you"),
        (
            "function: saxpy, require_decorator: [functools.cache|functools.lru_cach]",
            "require_decorator[0]: functools has no lru_cach; did you mean lru_cache?",
        ),
        (
            "forbid: [numpy.linalg]",
            "forbid[0]: numpy.linalg is a module, and covers none of its functions",
        ),
        (
            "forbid: [time, datetime.datetime]",
            "forbid[0]: time is a module, and covers none of its functions",
        ),
        (
            "forbid: [np.dot]",
            "forbid[0]: np is short for numpy, and names are looked up in full; write numpy.d",
        ),
        (
            "forbid: [vec.dot]",
            "forbid[0]: vec is short for numpy.linalg, and names are looked up in full; write",
        ),
        ("function: saxpyy, forbid: [max]", "function: {reference} has no saxpyy; did you mean saxpy?"),
        ("function: scaled", "function: {reference} has no scaled; did you mean Model.scaled?"),
        ("function: Modle.scaled", "function: {reference} has no Modle.scaled; did you mean Model.scaled?"),
        ("function: Model.scalde", "function: {reference} has no Model.scalde; did you mean Model.scaled?"),
        (
            "function: forward",
            "function: {reference} has no forward outside of its classes; name one of Loss.forward, Model.f",
        ),
        (
            "function: Model",
            "function: {reference} has Model as a class; name one of its methods, as Model.f",
        ),
        ("function: Empty", "function: {reference} has Empty as a class; take function out"),
        ("function: inner", "function: {reference} has no inner; "),
        ("function: Model.scaled, forbid: [max]", None),
        ("function: chosen, forbid: [max]", None),
        ("function: saxpy, forbid: [numpy.*, numpy], decides: true", None),
        ("forbid: [numpy.mat*, numpy.ndarray.dot, .dott, '@', concurrent.futures.*, maxx]", None),
        (
            "forbid: [numpy.linalg.*, vectors.nothing, math.of_other, cupyx.scipy.nothing]",
            None,
        ),
    ],
)
def test_a_name_that_a_library_lacks_is_named(course, keys, message):
    path = course / RUBRIC
    path.write_text(path.read_text().replace("  - id", item(f"source, file: vectors.py, {keys}")))
    reference = course / "assignments/vectors/reference/vectors.py"
    reference.write_text(f"from numpy import linalg as vec\n{reference.read_text()}{CLASSES}")
    lines = [line for line in told(course) if "earns.s: missing" not in line]
    assert len(lines) == bool(message), lines
    if message:
        message = message.format(numpy=version("numpy"), reference="assignments/vectors/reference/vectors.py")
        assert f"items[0].{message}" in lines[0]
        assert lines[0].startswith("rubrics/vectors.yaml:7:")


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("source, file: more.py", "file: reference/ has no more.py; write it"),
        (
            "answer, file: answers.*, question: 1, text: why",
            "file: reference/ has no file for answers.*; write one, such as reference/answers.md",
        ),
        ("manual, reads: answers.*", ""),
    ],
)
def test_a_document_that_an_item_reads_and_the_reference_lacks_is_named(course, keys, message):
    file = course / ASSIGNMENT
    file.write_text(file.read_text().replace("accepts=(", 'accepts=("more.py", "answers.*", '))
    path = course / RUBRIC
    bonus = item(keys).replace("points: 0", "points: 1, bonus: true")
    path.write_text(path.read_text().replace("  - id", bonus))
    lines = [line for line in told(course) if "earns.s: missing" not in line and "accepts:" not in line]
    assert [line.partition(": ")[2] for line in lines] == ([f"items[0].{message}"] if message else [])


def test_a_document_of_the_reference_that_nobody_may_hand_in_is_told_as_that_alone(course):
    (course / REFERENCE).with_name("answers.md").write_text("1. Because.\n")
    path = course / RUBRIC
    bonus = item("answer, file: answers.*, question: 1, text: why").replace(
        "points: 0", "points: 1, bonus: true"
    )
    path.write_text(path.read_text().replace("  - id", bonus))
    (line,) = [line for line in told(course) if "answers" in line]
    why = '"answers.*" lies in reference/ alone, and no pattern of accepts fits it'
    assert line.endswith(f"items[0].file: {why}; add it to accepts in assignment.py")


def test_a_file_beside_the_files_of_a_submission_is_remarked(course):
    (course / "tests/submissions/vectors_right/vectors.py").write_text("")
    done = grader(course, "course", "check")
    told = "tests/submissions/vectors_right/vectors.py: lies beside files/, so that it is not handed in"
    assert (done.returncode, told in done.stderr) == (0, True)


def test_a_rule_on_a_file_that_decides_only_of_its_import_is_remarked(course):
    decides = "forbid: [numpy.*], decides: true"
    path = course / RUBRIC
    path.write_text(path.read_text().replace("  - id", item(f"source, file: vectors.py, {decides}")))
    done = grader(course, "course", "check", "--json")
    assert all("earns.s: missing" in problem for problem in json.loads(done.stdout)["problems"])
    assert (
        "items[0].decides: without function only what runs when vectors.py is imported is decided, and it "
        "calls none of its own functions then; all else is shown to a person"
    ) in done.stderr


@pytest.mark.parametrize(
    ("keys", "way"),
    [
        ("matches_reference, of: vectors.saxpy, inputs: vectors", "give it simulated_inputs"),
        (
            "properties, of: vectors.saxpy, inputs: vectors",
            "leave it out: properties has no simulated_inputs",
        ),
        ("matches_reference, of: vectors.saxpy, inputs: vectors, simulated_inputs: vectors", ""),
        ("build", ""),
    ],
)
def test_points_from_a_simulator_are_a_remark_where_none_stands_in(course, keys, way):
    path = course / RUBRIC
    simulated = item(f"{keys}, devices: {{gpu: 1}}, simulated: earns")
    path.write_text(path.read_text().replace("  - id", simulated, 1))
    remark = "items[0].simulated: no simulator stands in for this item; "
    stderr = grader(course, "course", "check").stderr
    assert (f"{remark}{way}\n" in stderr) if way else (remark not in stderr)


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        ("[np.random.uniform(size=3)]", "an array of shape (3,)"),
        ("np.random.default_rng(0).uniform(size=3)", "an array of shape (3,)"),
        ("[Uniform(0, 1, (3,)), 0.5]", "0.5"),
        ("[Uniform(0, 1, (3,)), Array((2, 3))]", ""),
    ],
)
def test_an_oracle_of_random_results_that_gives_no_distribution_is_named(course, answer, what):
    oracle = "def drawn(a, x, y):\n    from grader.api.values import Array, Uniform\n\n    return "
    (course / EXPECTED).write_text(f"{(course / EXPECTED).read_text()}\n\n{oracle}{answer}\n")
    path = course / RUBRIC
    drawn = item("properties, of: vectors.saxpy, inputs: vectors, expected: drawn")
    path.write_text(path.read_text().replace("  - id", drawn, 1))
    gives = f"drawn: gives {what}; give a distribution, as Uniform(0, 1, (3, 4)), or Array of a shape"
    lines = [line for line in told(course) if "drawn" in line]
    assert [line.partition("expected.py:")[2].partition(" ")[2] for line in lines] == (
        [gives] if what else []
    )


def test_an_oracle_that_asks_a_function_of_its_case_is_not_random(course):
    """A function of a case may count; each call of the oracle begins with a fresh one."""
    counts = """
class Counter:
    def __init__(self): self.calls = 0
    def __call__(self):
        self.calls += 1
        return self.calls

def vectors(rng):
    left = [1, 2, 3]
    yield case("counts", Counter(), lambda: left.pop(), 1.0)
"""
    head = (course / INPUTS).read_text().partition("\ndef vectors")[0]
    (course / INPUTS).write_text(head + counts)
    (course / EXPECTED).write_text("def saxpy(a, x, y):\n    return a() + x() * y\n")
    assert list(told(course)) == []


def test_a_driver_that_takes_the_cases_is_named_where_the_function_of_students_does_not(course):
    reference, given = course / REFERENCE, course / "assignments/vectors/given"
    reference.write_text("def saxpy(pair, y): return pair[0] * pair[1] + y\n")
    (line,) = told(course)
    before = (course / RUBRIC).read_text().partition("    of: ")[0].splitlines()
    named_by = f"{RUBRIC}:{len(before) + 1}: item vectors.saxpy"
    unfit = "cannot take case 'whole numbers' of vectors in inputs.py (too many positional arguments)"
    advice = f"correct the function, the case, or the item's of ({named_by})"
    assert line == f"{REFERENCE}:1: {unfit}; {advice}", "any of them may be meant"
    given.mkdir()
    (given / "aid.py").write_text("def saxpy(x): ...\n")
    (given / "driver.py").write_text(
        "import vectors\n\ndef saxpy(a, x, y): return vectors.saxpy((a, x), y)\n"
    )
    (line,) = told(course)
    assert line == (
        f"{named_by}: vectors.saxpy ({REFERENCE}:1) {unfit}, and driver.saxpy "
        "(assignments/vectors/given/driver.py:3) can; did you mean of: driver.saxpy?"
    )
    (course / RUBRIC).write_text((course / RUBRIC).read_text().replace("of: vectors.", "of: driver."))
    assert list(told(course)) == []


def test_a_function_that_does_not_end_is_named(course, monkeypatch):
    text = (course / INPUTS).read_text()
    loop = "    while True:\n        try:\n            1\n        except Exception: pass\n    n = "
    (course / INPUTS).write_text(text.replace("    n = ", loop))
    items = (SimpleNamespace(check="one", options=Named(inputs="vectors")),)
    monkeypatch.setattr("grader.selftest.functions.WITHIN_S", 0.05)
    monkeypatch.chdir(course)
    kinds = {"one": SimpleNamespace(one_case=False)}
    problems = try_functions(course / "assignments/vectors", items, kinds, YamlDocument(name=RUBRIC))
    (line,) = problems
    place = rf"{INPUTS}:1[4-7]: vectors: has not ended after 0\.05 s; make it shorter, or end its loop"
    assert re.fullmatch(place, line)


def test_a_file_of_the_course_in_the_place_of_a_students_is_named(course):
    folder = course / "assignments/vectors"
    (folder / "given").mkdir()
    shutil.copy(folder / "reference/vectors.py", folder / "given")
    (line,) = told(course)
    assert line.startswith(f"{ASSIGNMENT}:13: accepts: given/vectors.py takes the place of the vectors.py")


def test_a_course_that_gives_out_all_that_is_compiled_is_named(course):
    """Nothing that a student hands in would be built: every submission earned everything."""
    folder = course / "assignments/vectors"
    path = course / ASSIGNMENT
    path.write_text(
        path.read_text().replace("limits=", f'build={BUILD}(command=("make",), {PRODUCTS}), limits=')
    )
    for file in ("reference/src/saxpy.cpp", "given/src/saxpy.cpp", "reference/src/own.cpp"):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text("int x;\n")
    (folder / "given/Makefile").write_text("all:\n\ttrue\n")
    assert not [line for line in told(course) if "takes the place" in line]
    (folder / "reference/src/own.cpp").unlink()
    replaced = "accepts: given/src/saxpy.cpp takes the place of the src/saxpy.cpp that students hand in"
    (line,) = [line for line in told(course) if "takes the place" in line]
    assert replaced in line
    (folder / "reference/src/own.cpp").write_text("int y;\n")
    (folder / "given/src/saxpy.cpp").write_text("int x; // TODO\n")  # a starter
    (line,) = [line for line in told(course) if "takes the place" in line]
    assert replaced in line
    (folder / "given/src/saxpy.cpp").write_text("int x;\n")
    path.write_text(path.read_text().replace("accepts=(", 'accepts=("src/saxpy.cpp", "src/own.cpp", '))
    (line,) = [line for line in told(course) if "takes the place" in line]
    assert replaced in line


@pytest.mark.parametrize(
    ("imports", "lines"),
    [
        ("import vectors", []),
        ("import json, vecters", [":1: no module is called vecters; did you mean vectors?"]),
        ("import vectors\nimport nummpy", [":2: no module is called nummpy; did you mean numpy?"]),
        ("import vectosr", [":1: no module is called vectosr; did you mean vectors?"]),
        ("import numpy, nupmy.linalg", [":1: no module is called nupmy; did you mean numpy?"]),
    ],
)
def test_a_misspelt_import_of_the_courses_driver_is_named(course, imports, lines):
    driver = course / "assignments/vectors/given/driver.py"
    driver.parent.mkdir()
    driver.write_text(imports + "\n")
    assert list(told(course)) == [f"assignments/vectors/given/driver.py{line}" for line in lines]


@pytest.mark.parametrize(
    ("file", "line"),
    [
        (INPUTS, "from grader import case"),
        (EXPECTED, "from grader import case"),
        (ASSIGNMENT, "from grader import case"),
    ],
)
def test_an_import_that_grader_api_has_is_named_once(course, file, line):
    path = course / file
    path.write_text(f"{line}\n{path.read_text()}")
    assert [*told(course)] == [f"{file}:1: grader has no case; write from grader.api import case"]


def test_a_file_of_inputs_that_cannot_be_imported_is_told_once(course):
    path = course / INPUTS
    path.write_text(f"raise KeyError('x')\n{path.read_text()}")
    assert [*told(course)] == [f"{INPUTS}:1: KeyError: 'x'"]


@pytest.mark.parametrize(
    ("imported", "call"),
    [
        ("from grader.api import case", "case"),
        ("from grader.api import case, case as example", "example"),
        ("from grader.api import case\nfrom grader import api", "api.case"),
        ("from grader.api import case\nimport grader.api", "grader.api.case"),
    ],
)
def test_each_case_that_no_yield_gives_is_told_at_its_line(course, imported, call):
    path = course / INPUTS
    text = path.read_text().replace("from grader.api import case", imported)
    text = text.replace('yield case("any', f'{call}("any').replace('yield case("nothing', f'{call}("nothing')
    path.write_text(text)
    numbers = [n for n, line in enumerate(text.splitlines(), 1) if line.startswith(f"    {call}(")]
    assert len(numbers) == 2
    told_lines = [f"{INPUTS}:{n}: makes a case that no family gives; write yield before it" for n in numbers]
    assert [*told(course)] == told_lines


def test_a_function_whose_name_the_starter_misspells_is_a_remark(course):
    starter = course / "assignments/vectors/starter/vectors.py"
    starter.parent.mkdir(exist_ok=True)
    starter.write_text("import math\n\n\ndef saxpi(a, x, y): ...\n\n\ndef own_helper(x): ...\n")
    done = grader(course, "course", "check")
    place = "assignments/vectors/starter/vectors.py:4"
    advice = "the reference has no such function; did you mean saxpy?"
    assert (done.returncode, done.stderr) == (0, f"grader: {place}: saxpi: {advice}\n")
    starter.write_text("def saxpy(a, x, y): ...\n\n\ndef saxpi(x): ...\n")
    assert [*told(course)] == []


@pytest.mark.parametrize("text", ["title: x\n b: c\n", "extensions: {ben: vectors: 1d}\n", "- title\n"])
def test_a_course_yaml_that_is_no_mapping_is_told_once(course, text):
    (course / COURSE).write_text(text)
    (line,) = told(course)
    assert line.startswith(f"{COURSE}:")


def test_a_value_that_a_family_returns_behind_yields_is_told_at_its_line(course):
    path = course / INPUTS
    text = path.read_text().replace('yield case("any', 'return case("any')
    part = "def part(rng):\n    yield case('part', 1)\n    return rng\n"
    kept = f"{part}\n\ndef whole(rng):\n    rng = yield from part(rng)\n"
    inner = "def inner(rng):\n    def draw():\n        return 3\n    yield case('in', draw())\n    return\n"
    path.write_text(f"{text}\n\n{kept}\n\n{inner}")
    number = 1 + text[: text.index("return case")].count("\n")
    lost = (
        "vectors: returns a value behind yields, which is lost; write yield, or yield from for several cases"
    )
    assert [*told(course)] == [f"{INPUTS}:{number}: {lost}"]


def test_a_family_without_any_yield_is_told_at_the_lines_of_its_cases_alone(course):
    path = course / INPUTS
    text = path.read_text()
    path.write_text(text.replace("yield case", "case"))
    lines = [*told(course)]
    assert len(lines) == text.count("yield case")
    assert all(line.endswith(": makes a case that no family gives; write yield before it") for line in lines)


def test_a_family_without_yield_and_cases_is_told_at_its_own_line(course):
    path = course / INPUTS
    path.write_text(path.read_text().replace("yield case", "row = case"))
    assert [*told(course)] == [f"{INPUTS}:12: vectors: returns None; write yield before case(…)"]


def test_a_function_of_the_course_that_is_called_case_may_stand_alone(course):
    path = course / INPUTS
    text = (
        path.read_text()
        .replace("import case", "import case as example")
        .replace("yield case", "yield example")
    )
    path.write_text(text.replace("    n = ", "    case()\n    n = ") + "\n\ndef case(): ...\n")
    assert [*told(course)] == []


def test_an_argument_that_inputs_misspells_is_told_at_its_line(course):
    path = course / INPUTS
    lines = [line for line in path.read_text().splitlines() if not line.lstrip().startswith("yield")]
    lines += [
        '    yield case("right", 2, np.ones(3), y=np.ones(3))',
        '    yield case("wrong", 2, np.ones(3), yy=1)',
    ]
    path.write_text("\n".join(lines) + "\n")
    gives = "gives yy, which {} does not take; did you mean y?"
    start = f"{INPUTS}:{len(lines)}: "
    assert [line for line in told(course) if "for every seed" not in line] == [
        start + gives.format(f"saxpy of {EXPECTED}:10"),
        start + gives.format(f"vectors.saxpy of {REFERENCE}:4"),
    ]


def test_packages_that_are_not_here_are_remarked_for_another_machine_may_have_them(course):
    driver = course / "assignments/vectors/given/driver.py"
    driver.parent.mkdir()
    driver.write_text("import vectors\nimport only_there\n")
    path = course / ASSIGNMENT
    path.write_text(path.read_text().replace('("numpy",)', '("numpy", "only_a.b", "only_c")'))
    for file in (REFERENCE, INPUTS, EXPECTED):
        path = course / file
        path.write_text(f"import only_for_{path.stem}\n{path.read_text()}")
    done = grader(course, "course", "check")
    assert done.returncode == 0
    line = "{} is not installed here: install it, add its file to the course, or correct the name"
    assert sorted(done.stderr.replace("grader: ", "").splitlines()) == sorted(
        [
            f"{ASSIGNMENT}:15: preloads: only_a and only_c are not installed here: install them, add their "
            "files to the course, or correct the names",
            f"assignments/vectors/given/driver.py:2: {line.format('only_there')}",
            *(
                f"{file}:1: {line.format(f'only_for_{Path(file).stem}')}"
                for file in (REFERENCE, INPUTS, EXPECTED)
            ),
        ]
    )

    done = grader(course, "rubric", "check")
    assert (done.returncode, done.stderr.count("not installed here")) == (0, 3)


@pytest.mark.parametrize(
    ("module", "code", "line"),
    [
        (
            "only_there",
            5,
            "only_there is not installed here: install it, add its file to the course, or correct the name",
        ),
        ("vectosr", 4, "no module is called vectosr; did you mean vectors?"),
    ],
)
def test_a_module_that_the_courses_tests_lack_is_told_by_the_same_rule(course, module, code, line):
    tests = course / "assignments/vectors/given/tests/test_it.py"
    tests.parent.mkdir(parents=True)
    tests.write_text(f"import {module}\n\n\ndef test_it(): pass\n")
    item = "items:\n  - {id: t, title: t, points: 1, check: pytest, file: tests/test_it.py}\n"
    rubric = course / RUBRIC
    rubric.write_text(rubric.read_text().replace("items:\n", item).replace("points: 10  #", "points: 11  #"))
    done = grader(course, "course", "check")
    assert f"assignments/vectors/given/tests/test_it.py:1: {line}" in done.stderr
    reference = "assignments/vectors/reference"
    done = grader(course, "run", reference, "--student", "ann", "--out", "out")
    first, *_ = json.loads((course / "out/vectors/ann/score.json").read_text())["items"]
    assert (done.returncode, first["reason"]) == (code, f"given/tests/test_it.py: {line}")


def test_a_file_of_the_course_cannot_be_preloaded(course):
    (course / "assignments/vectors/given").mkdir()
    (course / "assignments/vectors/given/helper.py").touch()
    path = course / ASSIGNMENT
    path.write_text(path.read_text().replace('("numpy",)', '("numpy", "helper")'))
    why = "helper.py is a file of the course, and only packages can be preloaded; take it out of preloads"
    assert list(told(course)) == [f"{ASSIGNMENT}:15: preloads: {why}"]


@pytest.mark.parametrize("lacks", ["driver", "misspelt", "student"])
def test_a_module_that_the_courses_driver_lacks_costs_nobody_points(course, lacks):
    driver = course / "assignments/vectors/given/driver.py"
    driver.parent.mkdir()
    driver.write_text("import vectors\n\n\ndef saxpy(a, x, y):\n    return vectors.saxpy(a, x, y)\n")
    work = course / "work/vectors.py"
    work.parent.mkdir()
    work.write_text((course / REFERENCE).read_text())
    at_fault = work if lacks == "student" else driver
    module = "vectosr" if lacks == "misspelt" else "module_of_another_machine"
    at_fault.write_text(f"import {module}\n{at_fault.read_text()}")
    rubric = course / RUBRIC
    of = "of: driver.saxpy\n    expected: saxpy"
    rubric.write_text(rubric.read_text().replace("of: vectors.saxpy", of))
    done = grader(course, "run", "work", "--student", "ann", "--out", "out")
    score = json.loads((course / "out/vectors/ann/score.json").read_text())
    (item,) = score["items"]
    if lacks == "driver":
        assert (done.returncode, item["status"]) == (5, "pending")
        assert "given/driver.py:1: module_of_another_machine is not installed here" in item["reason"]
    elif lacks == "misspelt":
        assert (done.returncode, item["status"]) == (4, "pending")
        assert "given/driver.py:1: no module is called vectosr; did you mean vectors?" in item["reason"]
    else:
        assert (done.returncode, item["status"]) == (0, "not earned")


def test_what_rests_on_text_alone_is_found_by_rubric_check_too(course):
    path = course / ASSIGNMENT
    path.write_text(path.read_text().replace('title="Vectors"', 'title=" "'))
    settings = course / COURSE
    settings.write_text(
        settings.read_text().replace(
            "# extensions:\n#   alice: {homework: 3d}", "extensions: {bob: {vectors: 3d}}"
        )
    )
    (course / "roster.csv").write_text("student,name\nalice,Alice\n")
    done = grader(course, "rubric", "check")
    first, second = done.stderr.splitlines()
    assert "extensions.bob: nobody on the roster is called so" in first
    assert f"{ASSIGNMENT}:11: title: is empty" in second
    assert done.returncode == 4


def test_a_rubric_is_checked_by_its_name_too(course):
    done = grader(course, "rubric", "check", "vectors")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("rubrics/vectors.yaml: fine\n")


def test_a_rubric_of_another_suffix_is_refused_where_it_is_named(course):
    (course / RUBRIC).rename(course / "rubrics" / "vectors.yml")
    done = grader(course, "rubric", "check", "rubrics/vectors.yml")
    refused = "grader: rubrics/vectors.yml: rubrics end in .yaml; rename it\n"
    assert (done.returncode, done.stdout, done.stderr) == (4, "", refused)


def test_two_items_of_one_id_are_one_mistake(course):
    path = course / RUBRIC
    text = path.read_text().replace("points: 10  #", "points: 20  #")
    head, items = text.split("items:\n")
    path.write_text(f"{head}items:\n{items}\n{items.rstrip()}\n    needs: [vectors.saxpy]\n")
    (line,) = told(course)
    assert '"vectors.saxpy" is the id of items[0] too; give each its own' in line


def test_a_misspelt_name_in_accepts_is_named_beside_right_ones(course):
    (course / "assignments/vectors/reference/answers.md").write_text("1. two\n")
    path = course / ASSIGNMENT
    path.write_text(path.read_text().replace('("vectors.py",)', '("vectors.py", "answer.md", "notes.pdf")'))
    assert list(told(course)) == [
        f'{ASSIGNMENT}:13: accepts: reference/ has no "answer.md"; rename answers.md there to answer.md, '
        "or write answers.md"
    ]


def test_a_run_names_a_rubric_of_another_suffix_too(course):
    (course / RUBRIC).rename(course / "rubrics" / "vectors.yml")
    done = grader(course, "run", "assignments/vectors/reference", "--student", "ann", "--out", "out")
    assert (done.returncode, done.stderr) == (
        4,
        "grader: rubrics/vectors.yml: rubrics end in .yaml; rename it\n",
    )


def test_a_run_refuses_a_required_file_that_nobody_can_hand_in(course):
    path = course / ASSIGNMENT
    path.write_text(path.read_text().replace("limits=", 'requires={"vectors": ("utils.py",)}, limits='))
    done = grader(course, "run", "assignments/vectors/reference", "--student", "ann", "--out", "out")
    assert done.returncode == 4
    assert (
        "requires: ['vectors']: given/ has no \"utils.py\", and no pattern of accepts fits it; "
        in done.stderr
    )


@pytest.mark.parametrize(("accepts", "why"), [("./vectors.py", "lets in nothing"), ("a.py", "fits no file")])
def test_a_run_refuses_patterns_that_let_nothing_in(course, accepts, why):
    path = course / ASSIGNMENT
    path.write_text(path.read_text().replace('("vectors.py",)', f'("{accepts}",)'))
    done = grader(course, "run", "assignments/vectors/reference", "--student", "ann", "--out", "out")
    assert done.returncode == 4
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"grader: {ASSIGNMENT}:13: accepts: ")
    assert why in line


def test_a_copy_of_an_assignment_is_named_with_the_file_that_it_was_copied_from(course):
    shutil.copytree(course / "assignments/vectors", course / "assignments/zcopy")
    (line,) = told(course)
    assert line.startswith("assignments/zcopy/assignment.py:")
    assert line.endswith(f": grader_assignments: {ASSIGNMENT} already brings 'vectors'; rename one")


def test_a_rubric_of_another_suffix_is_named(course):
    (course / RUBRIC).rename(course / "rubrics" / "vectors.yml")
    assert list(told(course)) == ["rubrics/vectors.yml: rubrics end in .yaml; rename it"]


WRONG, NOTHING = "tests/submissions/vectors_wrong", "tests/submissions/vectors_nothing"


def test_what_a_submission_must_earn_is_held_against_the_rubric(course):
    def expects(name, right, wrong):
        path = course / f"tests/submissions/vectors_{name}/expected.yaml"
        assert right in path.read_text()
        path.write_text(path.read_text().replace(right, wrong))

    shutil.copytree(course / WRONG, course / NOTHING)
    expects("nothing", "total: 0", "total: 1")
    expects("right", "vectors.saxpy: 10", "vectors.saxpi: 10")
    expects("wrong", "vectors.saxpy: 0", "vectors.saxpy: 11")
    (course / "tests/submissions/another/files").mkdir(parents=True)
    ids = "no item of rubric vectors has this id; did you mean vectors.saxpy?"
    right = "tests/submissions/vectors_right/expected.yaml"
    assert list(told(course)) == [
        "tests/submissions/another: has no expected.yaml; say there what it must earn",
        f"{NOTHING}/expected.yaml:5:1: total: must be the sum of earns, 0, got 1",
        f"{right}:3:1: earns.vectors.saxpy: missing; give its points, or pending",
        f"{right}:4:3: earns.vectors.saxpi: {ids}",
        f"{WRONG}/expected.yaml:4:3: earns.vectors.saxpy: must be from 0 to 10, as the rubric has it, got 11",
        f"{WRONG}/expected.yaml:5:1: total: must be the sum of earns, 11, got 0",
    ]


def test_an_oracle_that_is_misspelt_is_one_mistake(course):
    """Where no oracle has the function's own name, which is why another one is named."""
    oracle, rubric = course / EXPECTED, course / RUBRIC
    oracle.write_text(oracle.read_text().replace("def saxpy", "def naive"))
    of = "    of: vectors.saxpy"
    assert of in rubric.read_text()
    rubric.write_text(rubric.read_text().replace(of, f"    expected: naiv\n{of}"))
    (line,) = told(course)
    assert line.endswith('.expected: no function of expected.py is called "naiv"; did you mean naive?')


def test_a_rubric_of_another_name_than_its_assignment_is_named_to_submissions_that_name_none(course):
    (course / RUBRIC).rename((course / RUBRIC).with_name("vector.yaml"))
    lines = [line for line in told(course) if line.startswith("tests/")]
    assert lines
    for line in lines:
        advice = "rename vector.yaml to vectors.yaml, or write rubric: vector"
        assert line.endswith(f"/expected.yaml:1:1: assignment: rubrics/ has no vectors.yaml; {advice}")


def test_a_rubric_that_is_wrong_is_no_mistake_of_the_submissions(course):
    path = course / RUBRIC
    path.write_text(path.read_text().replace("points: 10", "points: 11", 1))
    (line,) = told(course)
    assert line.startswith(RUBRIC)


def test_an_assignment_whose_declaration_is_misspelt_is_named(course):
    (course / ASSIGNMENT).rename(course / "assignments/vectors/assigment.py")
    line = "assignments/vectors: has no assignment.py, so that nothing declares it; rename assigment.py"
    assert line in told(course)


def test_an_assignment_that_is_not_returned_is_named_at_its_file(course):
    path = course / ASSIGNMENT
    path.write_text(path.read_text().replace("    return [", "    [", 1))
    line = f"{ASSIGNMENT}: declares no assignment; has grader_assignments a return and an @hookimpl?"
    first, *_ = told(course)
    assert first == line
    done = grader(course, "rubric", "check")
    assert (done.returncode, done.stderr.splitlines()[0]) == (4, f"grader: {line}")


def test_two_assignments_of_one_number_on_the_platform_are_named(course):
    assert grader(course, "new", "more").returncode == 0
    settings = course / COURSE
    canvas = 'canvas: {url: "https://lms.edu", course: 1, assignments: {vectors: 2, more: 2}}\n# canvas:'
    settings.write_text(settings.read_text().replace("# canvas:", canvas))
    (line,) = told(course)
    assert "canvas.assignments.more: 2 is that of vectors too, whose grades would be replaced; give" in line


def test_an_assignment_without_a_rubric_is_named(course):
    (course / RUBRIC).unlink()
    shutil.rmtree(course / "tests")
    assert list(told(course)) == [
        "assignments/vectors: no rubric grades this assignment; write rubrics/vectors.yaml"
    ]


def test_an_assignment_without_a_rubric_beside_others_is_named(course):
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
    (course / ASSIGNMENT).write_text(f"{(course / ASSIGNMENT).read_text()}\nprint('for the teacher')\n")
    done = grader(course, command, "check", "--json")
    assert (done.returncode, done.stderr) == (4, "for the teacher\n")
    (problem,) = json.loads(done.stdout)["problems"]
    assert problem.startswith("rubrics/vectors.yaml:12:5: items[0].inputs: no family of inputs.py is called")


OWN_KIND = """
from dataclasses import dataclass

from grader.api.check import Award, CheckKind, Observation, Outcome, option


class Own(CheckKind):
    name = "own"

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        mode: str = option("What breaks.", default="")

        def __post_init__(self):
            {}["x"] if self.mode == "options" else None

    def complete(self, options, others, *, points):
        1 / 0 if options.mode == "complete" else None
        return options

    def observe(self, options, context):
        if options.mode != "nothing":
            return Observation(item=context.item, outcome=Outcome.OBSERVED, seed=context.seed)

    def award(self, options, observation, related):
        1 / 0 if options.mode == "award" else None
        if options.mode == "number":
            return 1.0
        return Award(fraction=5.0 if options.mode == "points" else 1.0, reason="seen")
"""
CHECKS = "assignments/vectors/checks.py"


@pytest.mark.parametrize(
    ("mode", "line"),
    [
        ("options", f"{CHECKS}:15: __post_init__: KeyError: 'x'; correct the file"),
        ("complete", f"{CHECKS}:18: complete: ZeroDivisionError: division by zero; correct the file"),
        ("award", f"{CHECKS}:26: award: ZeroDivisionError: division by zero; correct the file"),
        (
            "number",
            f"{CHECKS}:25: check kind own: award: must return an Award, got 1.0 for item o; correct the file",
        ),
        (
            "points",
            f"{CHECKS}:25: check kind own: award: must return a fraction from 0 to 1, got 5.0 for item o; "
            "correct the file",
        ),
        (
            "nothing",
            f"{CHECKS}:21: check kind own: TypeError: observe must return an Observation, got None;",
        ),
        ("import", f"check kind own: {CHECKS}:1: NameError: name 'nothing' is not defined"),
    ],
)
def test_an_exception_in_a_kind_of_the_courses_own_is_told_with_its_line(course, mode, line):
    (course / CHECKS).write_text("nothing\n" if mode == "import" else OWN_KIND)
    path = course / ASSIGNMENT
    hook = "@hookimpl\ndef grader_checks():\n    return [DeferredKind('own', f'{__package__}.checks:Own')]\n"
    path.write_text(path.read_text().replace("Assignment,", "Assignment, DeferredKind,") + f"\n\n{hook}")
    items = f"items:\n  - {{id: o, title: o, points: 10, check: own, mode: {mode}}}\n"
    (course / RUBRIC).write_text(f"schema: 1\nassignment: vectors\npoints: 10\n{items}")
    if mode in {"award", "number", "points", "nothing"}:  # no submission is run to find this
        command = ("run", "assignments/vectors/reference", "--student", "ann", "--out", "out")
    else:
        command = ("course", "check")
    done = grader(course, *command)
    if mode == "nothing":
        assert done.returncode == 4
        assert line in (course / "out/vectors/ann/score.json").read_text()
    else:
        assert (done.returncode, done.stderr) == (4, f"grader: {line}\n")


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        ("[type('K', (), {})]", "K is not derived from grader.api.check.CheckKind"),
        ("[Own()]", "gives an object of checks.Own; give the class, without brackets"),
        ("[Lacking]", "checks.Lacking lacks Options, award, name, observe"),
        ("[Own, Own]", "gives 'own' twice; leave one out, or rename it"),
        ("[[Own]]", "gives a list in a list; return the list itself, or yield its entries one by one"),
        ("[type('K', (Own,), {'name': 3})]", "K.name: must be text, got 3"),
        (
            "[type('K', (Own,), {'award': lambda self, options: None})]",
            "K.award: takes (self, options); write (self, options, observation, related)",
        ),
    ],
)
def test_a_hook_of_the_courses_that_gives_no_kind_is_told_once_with_its_line(course, answer, line):
    (course / CHECKS).write_text(OWN_KIND + "\n\nclass Lacking(CheckKind):\n    pass\n")
    path = course / ASSIGNMENT
    hook = f"@hookimpl\ndef grader_checks():\n    from .checks import Lacking, Own\n\n    return {answer}\n"
    path.write_text(f"{path.read_text()}\n\n{hook}")
    where = 1 + path.read_text().splitlines().index("def grader_checks():")
    (told_line,) = told(course)
    assert told_line.startswith(f"{ASSIGNMENT}:{where - 1}: grader_checks: ")
    assert told_line.endswith(line)


@pytest.mark.parametrize(
    ("right", "wrong", "line"),
    [
        ("    @dataclass(", "    dict(", "{hook} checks.Own.Options: is no dataclass; write @dataclass("),
        (
            "mode: str",
            "mode: list[str]",
            "{hook} checks.Own.Options.mode: list[str] cannot be read from YAML; use",
        ),
        (
            'default=""',
            "default=print",
            "{hook} checks.Own.Options.mode: its default: a builtin_function_",
        ),
        ("mode: str", "mode", "checks.py:10: TypeError: 'mode' is a field but has no type annotation"),
        ("class Own", "clas Own", "checks.py:7: not Python (invalid syntax); correct the file"),
        ("from dataclasses", "from .data", "checks.py:2: there is no data.py beside it; correct the name"),
        (
            "from dataclasses",
            "from inputs",
            "checks.py:2: inputs.py is beside it; write from .inputs import …",
        ),
    ],
)
def test_a_class_of_keys_that_no_rubric_can_give_is_named(course, right, wrong, line):
    assert right in OWN_KIND
    (course / CHECKS).write_text(OWN_KIND.replace(right, wrong))
    path = course / ASSIGNMENT
    hook = "@hookimpl\ndef grader_checks():\n    from .checks import Own\n\n    return [Own]\n"
    path.write_text(f"{path.read_text()}\n\n{hook}")
    number = path.read_text().splitlines().index("def grader_checks():")
    (told_line,) = told(course)
    assert line.replace("{hook}", f"assignment.py:{number}: grader_checks:") in told_line


def test_what_students_hand_in_is_no_file_of_the_course(course):
    (course / "assignments/vectors/given").mkdir()
    (course / "assignments/vectors/given/driver.py").write_text("import vectors\n")
    path = course / RUBRIC
    before = path.read_text()
    path.write_text(before.replace("  - id", item("source, file: driver.py, forbid: [sum]"), 1))
    assert '"driver.py" lies in given/, and nobody hands it in' in "".join(told(course))
    path.write_text(before.replace("  - id", item("script, file: driver.py"), 1))
    assert not [line for line in told(course) if RUBRIC in line]


def test_a_criterion_for_what_is_no_item_is_named(course):
    settings = course / COURSE
    rubrics = "rubrics: {vectors: {vectors.saxpi: _1, vectors.saxpy: _2}, vektors: {vectors.saxpy: _3}}"
    canvas = f'canvas: {{url: "https://lms.edu", course: 1, assignments: {{vectors: 2}}, {rubrics}}}'
    settings.write_text(settings.read_text().replace("# canvas:", f"{canvas}\n# canvas:"))
    item, assignment = told(course)
    assert item.endswith(
        'canvas.rubrics.vectors.vectors.saxpi: no item of vectors is called "vectors.saxpi"; '
        "did you mean vectors.saxpy?"
    )
    assert assignment.endswith('vektors: no assignment is called "vektors"; did you mean vectors?')


def test_a_ratio_that_everybody_has_is_a_remark(course):
    path = course / RUBRIC
    items = "".join(
        f"  - {{id: s{number}, title: t, points: 0, check: {keys}, of: vectors.saxpy, inputs: vectors}}\n"
        for number, keys in enumerate(
            (
                "speedup, over: slow.saxpy, at_least: 0.3",
                "speedup, over: slow.saxpy, at_least: 1.3",
                "scaling, at_least: {'2': 0.9, '4': 2}",
            )
        )
    )
    (course / "assignments/vectors/given").mkdir(exist_ok=True)
    (course / "assignments/vectors/given/slow.py").write_text("def saxpy(a, x, y): ...\n")
    path.write_text(path.read_text().replace("items:\n", f"items:\n{items}"))
    done = grader(course, "course", "check")
    remarks = [line for line in done.stderr.splitlines() if "at_least: a program" in line]
    why = "a program that is no faster reaches {}, too; write more than 1, unless that is meant"
    assert [line.partition(": items")[2] for line in remarks] == [
        f"[0].at_least: {why.format(0.3)}",
        f"[2].at_least: {why.format(0.9)}",
    ]


def test_a_kind_of_the_courses_own_remarks_on_its_options(course):
    remarks = """
    def remarks(self, options, assignment):
        yield "mode", f"{options.mode!r} is slow; is it meant for {assignment.rpartition('/')[2]}?"
"""
    (course / CHECKS).write_text(OWN_KIND + remarks)
    path = course / ASSIGNMENT
    hook = "@hookimpl\ndef grader_checks():\n    from .checks import Own\n\n    return [Own]\n"
    path.write_text(f"{path.read_text()}\n\n{hook}")
    item = "  - {id: o, title: t, points: 0, check: own, mode: thorough}"
    path = course / RUBRIC
    path.write_text(path.read_text().replace("items:\n", f"items:\n{item}\n"))
    assert any("items[0].mode: 'thorough' is slow; is it meant for vectors?" in line for line in told(course))


def test_a_tolerance_of_less_than_a_step_of_its_dtype_is_a_remark(course):
    path = course / RUBRIC
    keys = "matches_reference, of: vectors.saxpy, inputs: vectors, tolerance: "
    items = item(f"{keys}{{float32: {{rtol: 1e-9, atol: 0}}, float64: {{rtol: 0, atol: 0}}}}")
    path.write_text(path.read_text().replace("  - id", items, 1))
    (line,) = told_remarks(course)
    assert line == (
        "rubrics/vectors.yaml:7:108: items[0].tolerance.float32: rtol 1e-09 and atol 0 are less than a step "
        "of float32 (1.2e-07 of a value), so that a right result is lost if its last bit is rounded "
        "otherwise; write rtol: 1e-05, atol: 1e-06, or 0 for both if nothing is rounded"
    )


@pytest.mark.parametrize(
    ("dtype", "expected", "given", "unless"),
    [
        ("float32", "float64", "", ", unless results are float32"),
        ("float64", "float32", "", ""),
        ("float32", "float32", "", None),
        ("float32", "float64", "import numpy as np\n\nNARROW = np.float32\n", None),
        ("float32, float64", "float64", "", None),
    ],
)
def test_a_tolerance_for_a_dtype_that_no_expected_value_has_is_a_remark(
    course, dtype, expected, given, unless
):
    path = course / INPUTS
    family = "\n\ndef one(rng):\n    yield case('a pair', 2.0, rng.normal(size=3), rng.normal(size=3))\n"
    path.write_text(f"{path.read_text()}{family}")
    path = course / EXPECTED
    path.write_text(path.read_text().replace("dtype=y.dtype", f"dtype=np.{expected}"))
    (course / "assignments/vectors/given").mkdir(exist_ok=True)
    (course / "assignments/vectors/given/driver.py").write_text(given)
    tolerances = ", ".join(f"{name}: {{rtol: 0, atol: 0.05}}" for name in dtype.split(", "))
    keys = f"matches_reference, of: vectors.saxpy, inputs: one, tolerance: {{{tolerances}}}"
    path = course / RUBRIC
    path.write_text(path.read_text().replace("  - id", item(keys), 1))
    line = (
        f"rubrics/vectors.yaml:7:104: items[0].tolerance.{dtype}: is not for the expected values, which are "
        f"{expected} in all cases; give {expected}{unless}"
    )
    assert told_remarks(course) == ([] if unless is None else [line])


def test_a_tolerance_among_the_keys_of_a_courses_own_kind_is_looked_at_however_deep(course):
    kind = OWN_KIND.replace("Award,", "Award, Tolerance, Tolerances,").replace(
        '        mode: str = option("What breaks.", default="")\n',
        '        mode: str = option("What breaks.", default="")\n'
        '        within: Tolerance = option("Of any.", default=Tolerance(rtol=1e-20, atol=0.0))\n'
        '        each: tuple[Tolerances, ...] = option("Of each.", default=())\n',
    )
    (course / CHECKS).write_text(kind)
    path = course / ASSIGNMENT
    hook = "@hookimpl\ndef grader_checks():\n    from .checks import Own\n\n    return [Own]\n"
    path.write_text(f"{path.read_text()}\n\n{hook}")
    keys = "own, each: [{float16: {rtol: 0.01, atol: 0}}, {float16: {rtol: 1e-4, atol: 0}}]"
    path = course / RUBRIC
    path.write_text(path.read_text().replace("  - id", item(keys), 1))
    whole, part = told_remarks(course)
    assert ": items[0].within: rtol 1e-20 and atol 0 are less than a step of float64 (2.2e-16" in whole
    assert ": items[0].each[1].float16: rtol 0.0001 and atol 0 are less than a step of float16" in part


def declaring(course: Path, right: str, wrong: str) -> list[str]:
    """The lines on a course whose `assignment.py` is changed, and whose reference has a file more."""
    (course / REFERENCE).with_name("report.py").write_text("")
    file = course / ASSIGNMENT
    assert right in file.read_text()
    file.write_text(file.read_text().replace(right, wrong))
    return [*told(course)]


def test_a_comma_that_lacks_between_two_names_is_told_with_both_of_them(course):
    (line,) = declaring(course, '("vectors.py",)', "(\"vectors.py\" 'report.py')")
    assert line == (
        f"{ASSIGNMENT}:9: accepts: must be a tuple of texts, got the text 'vectors.pyreport.py', for no "
        "comma stands between its parts; write ('vectors.py', 'report.py')"
    )


@pytest.mark.parametrize(
    ("right", "wrong", "line"),
    [
        (
            'accepts=("vectors.py",)',
            'accepts=(\n"vectors.py"  # the program\n\n"report.py",\n)',
            ":14: accepts: 'vectors.pyreport.py' has no comma between its parts; write 'vectors.py', 're",
        ),
        (
            '("vectors.py",)',
            '("vectors.py" "b.py", "re" "port.py", "a.py" "*.cu", "c.py")',
            ":13: accepts: 'vectors.pyb.py' has no comma between its parts; write 'vectors.py', 'b.py'",
        ),
        (
            '("numpy",)',
            '("numpy" "json",)',
            "preloads: 'numpyjson' has no comma between its parts; write 'num",
        ),
        ("limits=", 'requires={"vectors": ("vectors.py" "report.py",)}, limits=', "requires: 'vectors.pyrep"),
        ("limits=", 'gpu_kinds=("H100" "H200",), limits=', "gpu_kinds: 'H100H200' has no comma between"),
        (
            "limits=",
            f'build={BUILD}(command=("sh" "-c", "b"), {PRODUCTS}), limits=',
            "build: 'sh-c' has no comma between its parts; write 'sh', '-c'",
        ),
    ],
)
def test_a_comma_that_lacks_in_a_tuple_is_told_at_the_line_of_the_first_name(course, right, wrong, line):
    lines = declaring(course, right, wrong)
    assert any(line in each for each in lines), lines
    field = line.partition(": ")[0].removeprefix(":14: ").removeprefix(":13: ")
    assert not any(f": {field}: " in each and "no comma" not in each for each in lines), lines


def test_what_a_comma_that_lacks_in_accepts_leads_to_is_not_told_beside_it(course):
    (course / REFERENCE).with_name("more.py").write_text("")
    wrong = '("vectors.py" "more.py", "report.py"), requires={"vectors": ("vectors.py",)}'
    lines = declaring(course, '("vectors.py",)', wrong)
    assert [line for line in lines if ASSIGNMENT in line] == [
        f"{ASSIGNMENT}:13: accepts: 'vectors.pymore.py' has no comma between its parts; "
        "write 'vectors.py', 'more.py'"
    ]


@pytest.mark.parametrize(
    "wrong",
    ['("vectors.py", "src/" "more.py", "re" "port.py")', '("vectors.py",), title="One text" "of two"'],
)
def test_a_text_may_be_written_in_parts(course, wrong):
    file = course / ASSIGNMENT
    file.write_text(re.sub(r"title=.*\n", "", file.read_text()) if "title" in wrong else file.read_text())
    assert declaring(course, '("vectors.py",)', wrong) == []


def test_accepts_that_fits_nothing_is_told_with_all_files_of_the_reference(course):
    lines = declaring(course, '("vectors.py",)', '("vectors.pyreport.py",)')
    assert f"{ASSIGNMENT}:13: accepts: fits no file of reference/; write ('report.py', 'vectors.py')" in lines
    for number in range(9):
        (course / REFERENCE).with_name(f"kernel{number}.cu").write_text("")
    assert f"{ASSIGNMENT}:13: accepts: fits no file of reference/; write ('*.cu', '*.py')" in told(course)


def test_a_file_of_the_reference_that_is_called_nearly_as_students_call_it_may_be_renamed(course):
    (course / REFERENCE).rename((course / REFERENCE).with_name("vector.py"))
    accepts, preloads = (line for line in told(course) if line.startswith(ASSIGNMENT))
    assert accepts == (
        f"{ASSIGNMENT}:13: accepts: fits no file of reference/; rename vector.py there to vectors.py, or "
        "write ('vector.py',)"
    )
    assert preloads == (
        f"{ASSIGNMENT}:15: preloads: no file is called vectors.py; rename vector.py to vectors.py, or write "
        "vector"
    )
