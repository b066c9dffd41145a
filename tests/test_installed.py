"""A module that cannot be imported is the course's mistake if misspelt, else a package that is not here."""

from __future__ import annotations

import pytest

from grader import installed
from grader.errors import CourseError, PackageError
from grader.installed import missing_error

WHERE = "given/driver.py:1"


@pytest.fixture(autouse=True)
def packages(monkeypatch):
    monkeypatch.setattr(installed, "is_installed", lambda module: module in ("json", "numpy"))


@pytest.mark.parametrize(
    ("names", "lines"),
    [
        (["torch"], ["torch is not installed here: pip install 'gpu-grader[torch]'"]),
        (["PIL"], ["PIL is not installed here: pip install 'gpu-grader[documents]'"]),
        (["pandaz"], ["pandaz is not installed here: install it, or correct the name"]),
        (
            ["torch", "numba", "greenlet", "pandaz", "cvv", "torch"],
            [
                "torch, numba and greenlet are not installed here: pip install 'gpu-grader[numba,torch]'",
                "pandaz and cvv are not installed here: install them, or correct the names",
            ],
        ),
    ],
)
def test_packages_that_are_not_here_are_the_machines(names, lines):
    error = missing_error(WHERE, names, course_modules=["norm"])
    assert type(error) is PackageError
    assert error.problems == (f"{WHERE}: {'; '.join(lines)}",)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("nrom", "norm"),
        ("nunpy", "numpy"),
        ("troch", "torch"),
        ("json.decodr", "json.decoder"),
    ],
)
def test_a_misspelt_module_is_the_courses(name, meant):
    error = missing_error(WHERE, [name, "numba"], course_modules=["norm"])
    assert type(error) is CourseError
    assert error.problems == (
        f"{WHERE}: no module is called {name}; did you mean {meant}?",
        f"{WHERE}: numba is not installed here: pip install 'gpu-grader[numba]'",
    )


def test_a_well_known_library_is_not_misspelt_whatever_is_like_it():
    error = missing_error(WHERE, ["cupy"], course_modules=["copy"])
    assert type(error) is PackageError


@pytest.mark.parametrize("name", ["norm", "json.something_else"])
def test_of_a_file_of_the_course_and_of_a_part_of_a_package_nothing_is_told(name):
    assert missing_error(WHERE, [name], course_modules=["norm"]) is None


def test_other_imports_of_the_same_file_that_are_not_here_are_told_with_it(tmp_path):
    file = tmp_path / "driver.py"
    file.write_text(
        "import json, cvv\nimport norm\nfrom pandaz.x import y\nimport pandaz\nimport numpy.linalg\n"
        "def later():\n    import late\n"
    )
    error = missing_error(WHERE, ["cvv"], course_modules=["norm"], file=file)
    assert str(error) == f"{WHERE}: cvv and pandaz are not installed here: install them, or correct the names"
