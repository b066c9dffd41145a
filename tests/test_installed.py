"""A module that cannot be imported is the course's mistake if misspelt, else a package that is not here."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from grader import installed
from grader.coursecode import course_module
from grader.coursesyntax import exported_names
from grader.errors import CourseError, PackageError
from grader.installed import error_of_import, missing_error

WHERE = "given/driver.py:1"


@pytest.fixture(autouse=True)
def packages(monkeypatch):
    monkeypatch.setattr(installed, "is_installed", lambda module: module in ("json", "numpy"))


@pytest.mark.parametrize(
    ("names", "lines"),
    [
        (["torch"], ["torch is not installed here: pip install 'gpu-grader[torch]'"]),
        (["PIL"], ["PIL is not installed here: pip install 'gpu-grader[documents]'"]),
        (
            ["pandaz"],
            ["pandaz is not installed here: install it, add its file to the course, or correct the name"],
        ),
        (
            ["torch", "numba", "greenlet", "pandaz", "cvv", "torch"],
            [
                "torch, numba and greenlet are not installed here: pip install 'gpu-grader[numba,torch]'",
                "pandaz and cvv are not installed here: install them, add their files to the course, or "
                "correct the names",
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
    advice = "install them, add their files to the course, or correct the names"
    assert str(error) == f"{WHERE}: cvv and pandaz are not installed here: {advice}"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("from grader import case", "grader has no case; write from grader.api import case"),
        ("from grader.api import cases", "grader.api has no cases; write from grader.api import case"),
        ("from grader.api import Award", "grader.api has no Award; write from grader.api.check import Award"),
        ("from grader import qqqq", "grader has no qqqq; grader.api has the names that a course may import"),
        ("from json import laods", "json has no laods; did you mean loads?"),
        ("from json import qqqq", "json has no qqqq; correct the name"),
        ("from . import helpesr", "there is no helpesr.py beside it; correct the name"),
        ("from .helpers import hlep_me", "helpers.py has no hlep_me; did you mean help_me?"),
    ],
)
def test_a_name_that_a_module_lacks_is_the_courses_with_the_import_that_has_it(tmp_path, line, message):
    (tmp_path / "helpers.py").write_text("help_me = 1\n")
    file = tmp_path / "inputs.py"
    file.write_text(f"{line}\n")
    with pytest.raises(ImportError) as caught:
        course_module(file)
    error = error_of_import(caught.value, WHERE, tmp_path, file)
    assert type(error) is CourseError
    assert error.problems == (f"{WHERE}: {message}",)


@pytest.mark.parametrize("name", ["__init__", "check", "report", "engine", "sandbox", "platform", "exporter"])
def test_the_names_that_the_api_exports_are_read_without_importing_it(name):
    module = import_module(f"grader.api.{name}".removesuffix(".__init__"))
    assert [*exported_names(Path(module.__file__))] == module.__all__
