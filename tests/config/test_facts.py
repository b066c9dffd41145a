from __future__ import annotations

import re
import sys
from types import SimpleNamespace

import pytest

from grader.config.facts import absent_imports, files_imported, import_place, read_facts
from grader.model.assignment import Assignment


def test_functions_of_the_reference_are_known_without_importing_it(course: SimpleNamespace) -> None:
    (course.homework / "reference" / "kernels.py").write_text(
        "raise SystemExit('imported')\n"
        "import numpy as np\n"
        "from math import sqrt\n"
        "LIMIT = 3\n"
        "NAMES = ['a']\n"
        "@np.vectorize\n"
        "def decorated(x): ...\n"
        "async def later(): ...\n"
        "short = lambda x: x\n"
        "typed: object = lambda x: x\n"
        "compiled = np.vectorize(short)\n"
        "alias = np.maximum\n"
        "if LIMIT:\n    def in_if(): ...\nelse:\n    def in_else(): ...\n"
        "try:\n    def in_try(): ...\nexcept ImportError:\n    def in_except(): ...\n"
        "class Net:\n    def method(self): ...\n"
        "def outer():\n    def inner(): ...\n"
    )
    facts = read_facts(course.homework)
    assert facts.problems == ()
    found = "alias compiled decorated in_else in_except in_if in_try later outer short typed"
    assert facts.functions == {f"kernels.{name}" for name in found.split()} | {"utils.slow", "utils.fast"}
    assert "kernels" not in sys.modules


def test_functions_of_the_courses_own_files_are_known_and_a_reference_may_have_none(
    course: SimpleNamespace,
) -> None:
    (course.homework / "given").mkdir()
    (course.homework / "given" / "driver.py").write_text("def train(): ...\n")
    assert read_facts(course.homework).functions == {"driver.train", "utils.slow", "utils.fast"}
    (course.homework / "reference" / "utils.py").unlink()
    facts = read_facts(course.homework)
    assert (facts.functions, facts.problems) == ({"driver.train"}, ())


@pytest.mark.parametrize(
    ("file", "advice"),
    [
        ("src/driver.py", "given/ has src/driver.py; move it to the top of given/"),
        ("driver.txt", "given/ has driver.txt; call it driver.py"),
        ("driver.py.txt", "given/ has driver.py.txt; call it driver.py"),
        ("driver", "given/ has driver; call it driver.py"),
        ("driver.cpp", ""),
        ("driver.py", ""),
    ],
)
def test_a_file_of_the_course_that_lies_elsewhere_is_named(course: SimpleNamespace, file: str, advice: str):
    path = course.homework / "given" / file
    path.parent.mkdir(parents=True)
    path.touch()
    assert read_facts(course.homework).misplaced("driver.train") == advice


@pytest.mark.parametrize(
    ("function", "is_absent"),
    [
        ("driver.trian", False),
        ("drivr.train", False),
        ("drivr.trian", False),
        ("text.train", False),  # given/ has text.txt, which is misplaced
        ("runs_driver.train", True),
        ("driver2.train", True),
        ("drivers.lengths", True),
        ("other.train", True),
    ],
)
def test_a_file_that_nobody_wrote_is_told_from_one_that_is_misspelt(
    course: SimpleNamespace, function: str, is_absent: bool
) -> None:
    given = course.homework / "given"
    given.mkdir()
    (given / "driver.py").write_text("def train(): ...\n")
    (given / "text.txt").touch()
    assert bool(read_facts(course.homework).absent_file(function)) == is_absent


def test_families_of_inputs_are_the_functions_that_take_rng_first(course: SimpleNamespace) -> None:
    (course.homework / "inputs.py").write_text(
        "def a(rng): yield 1\n"
        "def b(rng, /, size=3): yield 1\n"
        "c = lambda rng: []\n"
        "def size(n, rng): ...\n"
        "def none(): ...\n"
        "def star(*rng): ...\n"
    )
    assert read_facts(course.homework).inputs == {"a", "b", "c"}


def test_oracles_are_the_public_functions_of_expected_py(course: SimpleNamespace) -> None:
    (course.homework / "expected.py").write_text("def one(): ...\ndef _two(): ...\nthree = lambda: 3\n")
    assert read_facts(course.homework).oracles == {"one", "three"}


def test_an_odd_escape_is_no_news(course: SimpleNamespace) -> None:
    (course.homework / "expected.py").write_text("def one():\n    return '\\d'\n")
    assert read_facts(course.homework).problems == ()


def test_a_file_that_is_not_python_is_located_and_its_names_are_unknown(course: SimpleNamespace) -> None:
    (course.homework / "inputs.py").write_text("def a(rng):\n    yield (1\n")
    facts = read_facts(course.homework)
    assert facts.problems == (
        "assignments/hw1/inputs.py:2:11: not Python ('(' was never closed); correct the file",
    )
    assert facts.inputs is None
    (course.homework / "inputs.py").write_bytes(b"def a(rng):\n    return '\xf6'\n")
    (problem,) = read_facts(course.homework).problems
    assert re.fullmatch(r"assignments/hw1/inputs.py:\d:\d+: is not UTF-8; save the file as UTF-8", problem)
    assert facts.oracles == {"slow", "slow_too"}


def test_a_file_with_nul_bytes_is_not_python(course: SimpleNamespace) -> None:
    (course.homework / "expected.py").write_bytes(b"x = 1\x00")
    (problem,) = read_facts(course.homework).problems
    assert problem.startswith("assignments/hw1/expected.py:1:1: not Python (")


def test_files_that_are_missing_are_named(course: SimpleNamespace) -> None:
    (course.homework / "inputs.py").unlink()
    (course.homework / "reference" / "utils.py").unlink()
    (course.homework / "reference").rmdir()
    facts = read_facts(course.homework)
    said = (
        "cannot be read (No such file or directory); every assignment has inputs.py, expected.py, reference/"
    )
    assert facts.problems == (
        f"assignments/hw1/reference: {said}",
        f"assignments/hw1/inputs.py: {said}",
    )
    assert (facts.functions, facts.inputs) == (None, None)


def test_files_that_files_of_the_course_import_are_those_that_the_reference_alone_has(
    course: SimpleNamespace,
) -> None:
    given = course.homework / "given"
    (given / "layers").mkdir(parents=True)
    (given / "driver.py").write_text(
        "import numpy\nimport json\nimport left_out\nimport folder\nfrom steps import one\n"
        "try:\n    import optional\nexcept ImportError: ...\n"
        "def later():\n    import late\n"
    )
    (given / "steps.py").write_text("from layers.dense import f\nfrom package import net\nimport driver\n")
    (given / "alone.py").write_text("import numpy\n")
    (given / "broken.py").write_text("def (")
    reference = course.homework / "reference"
    (reference / "package").mkdir()
    (given / "folder").mkdir()
    for name in ("left_out", "folder", "json", "optional", "late", "package/net", "utils"):
        (reference / f"{name}.py").touch()
    accepts = ("optional.py", "late.py", "package/*.py", "utils.py")
    declared = Assignment(name="hw1", title="", accepts=accepts)
    assert files_imported(course.homework, declared) == {
        "driver": ("left_out.py", "package/net.py"),
        "steps": ("left_out.py", "package/net.py"),
    }


def test_imports_of_the_course_that_nobody_has_are_named_with_their_place(course: SimpleNamespace) -> None:
    given = course.homework / "given"
    given.mkdir(exist_ok=True)
    (given / "driver.py").write_text("import json\nimport helper, work, made\n")
    (given / "helper.py").write_text(
        "from nowhere.at import all\ntry:\n    import perhaps\nexcept ImportError: ...\n"
    )
    (given / "alone.py").write_text("import work\n")
    package = course.homework / "reference/package"
    package.mkdir(parents=True)
    (package / "net.py").write_text("import helper, package\n\nimport neither\nimport nowhere\n")
    absent = absent_imports(course.homework, ["work.py", "lib/made.so"])
    assert {name: place.rpartition("hw1/")[2] for name, place in absent.items()} == {
        "nowhere": "given/helper.py:1",
        "neither": "reference/package/net.py:3",
    }
    assert absent_imports(course.homework)["work"].endswith("given/alone.py:1")
    assert import_place(course.homework, "nowhere").endswith("given/helper.py:1")
