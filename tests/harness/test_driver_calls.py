"""What a driver's function uses of the students' files."""

from __future__ import annotations

import pytest

from grader.harness.driver_calls import calls_of_students

DRIVER = """
import numpy as np
import work
import work as w
import parts.layer
from work import double as twice
from parts import tools

def plain(x):
    return np.abs(work.double(x)) + np.sum(w.double(x))

def renamed(x):
    return [twice(value) for value in x]

def in_folders(x):
    return parts.layer.norm(tools.clip(x))

def by_way_of_others(x):
    return helper(x)

def helper(x):
    return Net().forward(x) + by_way_of_others(x)

class Net:
    def forward(self, x):
        import work as student
        return student.Layer(3).forward(x)

def alone(x):
    return np.abs(x)
"""


@pytest.mark.parametrize(
    ("function", "used"),
    [
        ("plain", ("work.double",)),
        ("renamed", ("work.double",)),
        ("in_folders", ("parts.layer.norm", "parts.tools.clip")),
        ("by_way_of_others", ("work.Layer",)),
        ("alone", ()),
        ("missing", ()),
    ],
)
def test_what_a_function_uses_of_the_students_files_is_named(tmp_path, function, used):
    driver = tmp_path / "driver.py"
    driver.write_text(DRIVER)
    assert calls_of_students(driver, function, {"work", "parts.layer", "parts.tools"}) == used


@pytest.mark.parametrize("content", [None, b"def f(:", b"\0"])
def test_a_driver_that_cannot_be_read_names_nothing(tmp_path, content):
    driver = tmp_path / "driver.py"
    if content is not None:
        driver.write_bytes(content)
    assert calls_of_students(driver, "f", {"work"}) == ()
