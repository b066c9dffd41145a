"""A function of the course that does not end is stopped, and a person is told where it stands."""

from __future__ import annotations

import os
import sys
import sysconfig
import threading
import time
from pathlib import Path

import pytest

from grader.coursecode import PACKAGE
from grader.files import show_path
from grader.machine import time_limit as module
from grader.machine.time_limit import TimeIsUpError, mistake_in, tell_by, time_limit

MAIN = "Current thread 0x2 (most recent call first):\n"
SOURCE = """
def loop():
    while True:
        try:
            1
        except Exception:
            pass

def wait(event):
    event.wait()

class Slow:
    def __del__(self):
        while True:
            pass

def destroys():
    Slow()
    while True:
        pass

def search():
    import re
    re.match("(x|x)*y", "x" * 60)
"""


@pytest.fixture
def course():
    names = {"__name__": f"{PACKAGE}.a.inputs"}
    exec(compile(SOURCE, "/course/inputs.py", "exec"), names)
    return names


def test_a_loop_ends_with_the_line_at_which_it_stood(course):
    with pytest.raises(TimeIsUpError) as error, time_limit(0.02):
        course["loop"]()
    file, line, function = error.value.place
    assert (str(file), function) == ("/course/inputs.py", "loop")
    assert 3 <= line <= 7


def test_a_search_for_a_pattern_ends_too_though_no_other_thread_runs_meanwhile(course):
    with pytest.raises(TimeIsUpError) as error, time_limit(0.02):
        course["search"]()
    assert error.value.place[2] == "search"


def test_a_function_that_waits_ends_by_the_clock(course):
    with pytest.raises(TimeIsUpError), time_limit(9.0, wall_s=0.02):
        course["wait"](threading.Event())


def test_the_outer_limit_ends_what_is_within_an_inner_one(course):
    with pytest.raises(TimeIsUpError), time_limit(0.02), time_limit(9.0):
        course["loop"]()


STDLIB = sysconfig.get_path("stdlib")
SITE = sysconfig.get_path("purelib")
OURS = f"{Path(module.__file__).parent.parent}/harness/course_functions.py"


@pytest.mark.parametrize(
    ("frames", "place"),
    [
        (
            [f"{STDLIB}/re/__init__.py", "/course/expected.py", OURS, f"{STDLIB}/runpy.py"],
            "/course/expected.py",
        ),
        ([f"{SITE}/numpy/core.py", f"{SITE}/plugin/kind.py", OURS], f"{SITE}/plugin/kind.py"),
        (["/course/helper.py", "/course/expected.py", OURS], "/course/helper.py"),
        ([OURS, f"{STDLIB}/runpy.py"], ""),
        ([], ""),
    ],
)
def test_the_place_in_compiled_code_is_the_line_of_the_course_or_the_plugin(frames, place):
    lines = "".join(f'  File "{file}", line {number} in f\n' for number, file in enumerate(frames))
    said = mistake_in(
        f'Thread 0x1 (most recent call first):\n  File "/x.py", line 1 in watch\n\n{MAIN}{lines}'
    )
    assert (said.partition(":")[0], bool(said)) == (place and show_path(Path(place)), bool(place))


def test_a_second_signal_does_not_pass_by_the_limit_that_the_first_one_leaves():
    watch = module._Watch()
    over = module._Limit(cpu_s=0.0, wall_s=0.0, packages=(), tells=False)
    for _ in range(2):
        watch._limits.append(over)
        with pytest.raises(module._Interrupt):
            watch._stop(0, None)
        watch._stop(0, None)
        watch.end(over)


def test_an_interrupt_in_a_destructor_is_repeated_and_python_prints_nothing_of_it(course, monkeypatch):
    ignored = []
    monkeypatch.setattr(sys, "unraisablehook", ignored.append)
    with pytest.raises(TimeIsUpError), time_limit(0.02):
        course["destroys"]()
    assert ignored == []
    assert sys.unraisablehook == ignored.append


def test_an_inner_limit_leaves_the_outer_one(course):
    with time_limit(9.0):
        with pytest.raises(TimeIsUpError), time_limit(0.01):
            course["loop"]()
        assert sum(range(1000)) == 499500


@pytest.mark.parametrize(
    ("act", "place"),
    [
        (lambda course, told: course["wait"](told), "10: wait"),
        (
            lambda course, told: exec(
                compile("told.wait()", "/course/inputs.py", "exec"), course | {"told": told}
            ),
            "1: its import",
        ),
    ],
    ids=["function", "import"],
)
def test_a_person_is_told_of_a_long_one_once(course, monkeypatch, act, place):
    monkeypatch.setattr(module, "TELL_S", 0.01)
    lines, told = [], threading.Event()

    def tell(line):
        lines.append(line)
        told.set()

    tell_by(tell)
    try:
        with time_limit(9.0):
            act(course, told)
    finally:
        tell_by(None)
    assert lines == [f"/course/inputs.py:{place} has not ended yet"]


def test_what_ends_in_time_is_left_alone_and_so_are_other_threads(course):
    with time_limit(9.0):
        assert True
    outcome = []

    def elsewhere():
        with time_limit(0.0):
            time.sleep(0)
            outcome.append("ended")

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert outcome == ["ended"]


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # the child only computes
def test_a_process_that_was_forked_has_limits_of_its_own(course):
    with time_limit(9.0):
        pass
    child = os.fork()
    if child == 0:
        try:
            with time_limit(0.02):
                course["loop"]()
        except TimeIsUpError:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
