"""What a driver's function uses of the students' files."""

from __future__ import annotations

import pytest

from grader.harness.driver_calls import (
    asks_for_file,
    asks_for_module,
    asks_for_name,
    calls_of_students,
    exit_statuses,
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


PROGRAMS = """
import subprocess

def only(text):
    return subprocess.run(["a"]).returncode

def words(text):
    done = subprocess.run(["a"], input=text)
    return [done.returncode, done.stdout.split()]

def flat(text):
    done = subprocess.run(["a"], input=text)
    status = done.returncode
    numbers = [status] + [float(word) for word in done.stdout.split()]
    return numbers

def starred(text):
    done = subprocess.run(["a"], input=text)
    return (*done.stdout.split(), done.returncode)

def named(text):
    done = subprocess.run(["a"], input=text)
    if done.stderr:
        return {"error": done.stderr, "status": done.returncode}
    return {"status": done.returncode, "lines": done.stdout}

def by_another(text):
    return words(text)

def endless(text):
    return endless(text)

def nothing(text):
    if subprocess.run(["a"]).returncode:
        raise RuntimeError
    return [-6, []]
"""


@pytest.mark.parametrize(
    ("function", "places"),
    [
        ("only", {()}),
        ("words", {(0,)}),
        ("flat", {(0,)}),
        ("starred", set()),
        ("named", {("status",)}),
        ("by_another", {(0,)}),
        ("endless", set()),
        ("nothing", set()),
        ("missing", set()),
    ],
)
def test_where_a_driver_returns_the_status_of_a_program_is_read_from_it(tmp_path, function, places):
    (tmp_path / "driver.py").write_text(PROGRAMS)
    assert exit_statuses(tmp_path, "driver", function) == places


@pytest.mark.parametrize(
    "code",
    [
        "from driver import words\ndef lines(text): return words(text)",
        "from driver import by_another as run\ndef lines(text): return run(text)",
        "import driver\ndef lines(text): return driver.words(text)",
        "import parts.driver as other\ndef lines(text): return other.words(text)",
    ],
)
def test_the_status_is_read_from_the_file_whose_function_a_driver_calls(tmp_path, code):
    for name in ("driver.py", "parts/driver.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(PROGRAMS)
    (tmp_path / "lines.py").write_text(f"{code}\ndef words(text): return text\n")
    assert exit_statuses(tmp_path, "lines", "lines") == {(0,)}


def test_no_status_is_read_from_a_file_that_is_not_there(tmp_path):
    assert exit_statuses(tmp_path, "driver", "words") == frozenset()
    (tmp_path / "driver.py").write_text("import os\ndef words(text): return os.getpid()\n")
    assert exit_statuses(tmp_path, "driver", "words") == frozenset()


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
