"""Where the exit status of a program stands in what a driver returns."""

from __future__ import annotations

import pytest

from grader.harness.exit_statuses import exit_statuses

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

def started(text, options=()):
    with subprocess.Popen(["a", *options]) as program:
        printed = program.stdout.read()
    return program.returncode, printed

def unpacked(text, *options):
    status, printed = started(text, options)
    return [status, printed.split()]

def unpacked_last(text):
    first, (status, printed) = 1, started(text)
    return [printed, status]

def element(text):
    return started(text)[0]

def not_the_status(text):
    return started(text)[1]

def whole(text):
    return [*started(text), list(started(text))]

def checked(status, printed, wrong=0):
    if wrong:
        return {"wrong": wrong}
    return {"status": status, "lines": printed}

def by_arguments(text):
    return checked(*started(text), wrong=len(text))

def sometimes(text):
    status: int = 0
    if text:
        status = started(text)[0]
    return (status if text else 0, text)

def inner(text):
    def run():
        return subprocess.run(["a"]).returncode
    def unused():
        return {"unused": run()}
    return [text, run()]

def grows(text, so_far=()):
    return grows(text, [started(text)[0], *so_far]) if text else so_far
"""


@pytest.mark.parametrize(
    ("function", "places"),
    [
        ("unpacked", {(0,)}),
        ("unpacked_last", {(1,)}),
        ("element", {()}),
        ("not_the_status", set()),
        ("whole", {(0,)}),
        ("by_arguments", {("status",)}),
        ("sometimes", {(0,)}),
        ("inner", {(1,)}),
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


def test_a_function_that_calls_itself_is_followed_to_an_end(tmp_path):
    (tmp_path / "driver.py").write_text(PROGRAMS)
    assert (0,) in exit_statuses(tmp_path, "driver", "grows")


def test_no_status_is_read_from_a_file_that_is_not_there(tmp_path):
    assert exit_statuses(tmp_path, "driver", "words") == frozenset()
    (tmp_path / "driver.py").write_text("import os\ndef words(text): return os.getpid()\n")
    assert exit_statuses(tmp_path, "driver", "words") == frozenset()
