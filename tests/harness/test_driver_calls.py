"""What a driver's function uses of the students' files."""

from __future__ import annotations

import pytest

from grader.harness.driver_calls import (
    asks_for_file,
    asks_for_module,
    asks_for_name,
    calls_of_students,
)

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


LIBRARIES = """
import ctypes, os
import numpy as np

FOLDER = os.path.join(os.environ["BUILT"], "lib")
library = ctypes.CDLL(f"{FOLDER}/libwork.so")
other: int = 3
more = np.ctypeslib.load_library("libmore", os.environ["BUILT"])
libc = ctypes.CDLL("libc.so.6")
library.make.restype = ctypes.c_long

def middle(x):
    library.prepare()
    libc.puts(FOLDER.strip())
    return call(library.make, x)

def call(function, x):
    local = ctypes.cdll.LoadLibrary(FOLDER + "/local.so")
    local.begin()
    return function(x) + more.scale(x)
"""


@pytest.mark.parametrize(
    ("function", "variable", "used"),
    [
        ("middle", "BUILT", ("prepare", "make", "begin", "scale")),
        ("call", "BUILT", ("begin", "scale")),
        ("middle", "OTHER", ()),
        ("middle", "", ()),
    ],
)
def test_what_a_function_uses_of_libraries_that_were_built_is_named(tmp_path, function, variable, used):
    driver = tmp_path / "driver.py"
    driver.write_text(LIBRARIES)
    assert calls_of_students(driver, function, {"work"}, variable) == used


@pytest.mark.parametrize("content", [None, b"def f(:", b"\0"])
def test_a_driver_that_cannot_be_read_names_nothing(tmp_path, content):
    driver = tmp_path / "driver.py"
    if content is not None:
        driver.write_bytes(content)
    assert calls_of_students(driver, "f", {"work"}) == ()


ASKS = """
import work as w
from parts.layer import norm
import importlib
def f():
    w.Net().double()
    importlib.import_module("lazy").run()
    getattr(importlib.import_module("named"), "zero")()
    open("params.txt"), open(f"weights{1}.npy")
"""


@pytest.mark.parametrize(
    ("asks", "asked", "not_asked"),
    [
        (asks_for_module, ("work", "parts", "parts.layer", "lazy"), ("wor", "notes", "layer", "work.Net")),
        (
            asks_for_name,
            ("work.Net", "parts.layer.norm", "named.zero"),
            ("work.Ne", "work.double", "parts.norm"),
        ),
        (asks_for_file, ("params.txt", "weights.npy"), ("notes.txt",)),
    ],
)
def test_what_the_text_of_the_courses_files_asks_for(tmp_path, asks, asked, not_asked):
    (tmp_path / "driver.py").write_text(ASKS)
    (tmp_path / "broken.py").write_text("def f(:")
    parts = (lambda name: name.rpartition(".")[::2]) if asks is asks_for_name else lambda name: (name,)
    assert all(asks(tmp_path, *parts(name)) for name in asked)
    assert not any(asks(tmp_path, *parts(name)) for name in not_asked)
