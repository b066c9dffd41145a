"""A driver of the course imports the student's file: what goes wrong there is told as the student's."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import DOUBLE

ITEM = DOUBLE | {"of": "driver.double"}


@pytest.fixture
def reasons(course):
    course.write("assignments/tiny/given/driver.py", "import work\ndef double(x): return work.double(x)\n")
    course.rubric(ITEM)

    def grade(code: str, name: str = "work.py") -> list[str]:
        done = course.run("run", course.submit("ann", code, name=name))
        assert done.returncode == 0, done.stderr
        items = json.loads((course.results() / "score.json").read_text())["items"]
        return [item["reason"] for item in items]

    return grade


def test_a_file_that_the_driver_imports_was_not_handed_in(reasons):
    assert reasons("def double(x): return 2 * x", "more.py") == ["work.py was not handed in"]


def test_a_package_that_is_not_installed_is_flagged_for_staff_and_hints_at_nothing(course, reasons):
    course.rubric(ITEM | {"hint": "What is twice zero?"})
    reasons("import pandaz")
    (item,) = json.loads((course.results() / "score.json").read_text())["items"]
    assert (item["flags"], item["hint"]) == (["imports pandaz, which is not installed here"], "")
    reasons("from more import x")
    (item,) = json.loads((course.results() / "score.json").read_text())["items"]
    assert item["flags"] == ["imports more, which is not installed here"]


LATE = "def double(x):\n    import work\n    return work.double(x)\n"


@pytest.mark.parametrize("driver", [LATE, "import work\ndef double(x): return work.double(x)\n"])
def test_a_module_that_is_imported_during_a_call_comes_with_what_to_do(course, reasons, driver):
    course.write("assignments/tiny/given/driver.py", driver)
    (reason,) = reasons("def double(x):\n    import pandaz\n")
    assert reason.endswith(
        "No module named 'pandaz' (work.py:2, in double()); it was not handed in and is not installed here: "
        "do without it, or ask your course what may be imported"
    )
    course.write("assignments/tiny/given/driver.py", LATE)
    (reason,) = reasons("import pandaz\n")
    assert "(work.py:1); it was not handed in and is not installed here" in reason


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (
            "import math\nimport pandaz",
            "work.py could not be imported: ModuleNotFoundError: No module named 'pandaz' (work.py:2); it "
            "was not handed in and is not installed here: do without it, or ask your course what may be "
            "imported",
        ),
        ("def double(x) return", "work.py:1: expected ':'"),
        ("1 / 0", "work.py could not be imported: ZeroDivisionError: division by zero (work.py:1)"),
    ],
)
def test_what_fails_while_the_driver_imports_it_is_told_of_the_students_file(reasons, code, reason):
    assert reasons(code) == [reason]


@pytest.mark.parametrize(
    ("code", "place"),
    [
        ("def double(x): return half(x)\ndef half(x):\n    return x / 0\n", "work.py:3, in half()"),
        ("import math\ndouble = lambda x: math.log(-1)\n", "work.py:2"),
        ("def double(x):\n    assert x is None\n", ""),  # the note has the line already
        ("import json\ndef double(x):\n    return json.loads('no')\n", "work.py:3, in double()"),
    ],
)
def test_an_exception_is_told_with_the_line_of_the_students_that_led_to_it(reasons, code, place):
    (reason,) = reasons(code)
    assert "driver.py" not in reason
    assert reason.endswith(f" ({place})" if place else "AssertionError in work.py:2 (assert x is None)")


def test_what_the_course_asserts_is_not_shown_to_students(course, reasons):
    test = "import work\ndef double(x):\n    CONDITION\n    return 2 * x\n"
    holds = "work.double(x) > -4711"
    course.write("assignments/tiny/given/driver.py", test.replace("CONDITION", f"assert {holds}"))
    (reason,) = reasons("def double(x): return -5000")
    assert reason.endswith("AssertionError: a condition that the course's test asserts does not hold")
    assert "4711" not in (course.results() / "feedback/report.html").read_text()
    raises = f"if not {holds}: raise ValueError"
    course.write("assignments/tiny/given/driver.py", test.replace("CONDITION", raises))
    (reason,) = reasons("def double(x): return -5001")
    assert reason.endswith("ValueError in a test of the course")


@pytest.mark.parametrize(
    ("body", "ended"),
    [
        ("while True: pass", "did not end within 1 s of its own time"),
        ("import os; os.kill(os.getpid(), 11)", "ended by signal 11"),
    ],
)
def test_what_ends_a_program_without_a_line_is_told_with_the_students_call(course, reasons, body, ended):
    about = course.folder / "assignments/tiny/assignment.py"
    about.write_text(about.read_text().replace("call_wall_s=60.0", "call_wall_s=1.0"))
    (reason,) = reasons(f"def double(x):\n    {body}\n")
    assert ended in reason
    assert reason.endswith("; double() is the course's, and calls your work.double()")
