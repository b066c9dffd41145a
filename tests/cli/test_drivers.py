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


@pytest.mark.parametrize(
    ("driver", "code", "reason"),
    [
        (
            "import work\ndef double(x): return work.Net().double(x)\n",
            "class net:\n    def double(self, x): return 2 * x\n",
            "work.py defines no Net; did you mean net?",
        ),
        (
            "from work import Net\ndef double(x): return Net().double(x)\n",
            "class net:\n    def double(self, x): return 2 * x\n",
            "work.py defines no Net; did you mean net?",
        ),
        (
            "import work\ndef double(x): return work.double(x)\n",
            "def dubble(x): return 2 * x\ndef square(x): return x * x\n",
            "work.py defines no double; did you mean dubble?",
        ),
        (
            "import work\ndef double(x): return work.double(x)\n",
            "def other(x): return 2 * x\n",
            "work.py defines no double",
        ),
        ("import work\ndef double(x): return work.double(x)\n", "\n", "work.py is empty"),
    ],
)
def test_a_name_that_the_students_file_lacks_is_one_cause_in_all_items(course, reasons, driver, code, reason):
    course.write("assignments/tiny/given/driver.py", driver)
    reference = "class Net:\n    def double(self, x): return 2 * x\ndef double(x): return 2 * x\n"
    course.write("assignments/tiny/reference/work.py", reference)
    asked = "Net.double" if "Net" in driver else "double"
    rule = {"id": "rule", "title": "Rule", "points": 2, "check": "source", "file": "work.py"}
    rule |= {"function": asked, "forbid": ["math.*"], "hint": "Write it yourself."}
    again = ITEM | {"id": "again", "title": "Again", "hint": "What is twice zero?"}
    course.rubric(ITEM, again, rule)
    assert reasons(code)[:2] == [reason] * 2
    items = json.loads((course.results() / "score.json").read_text())["items"]
    assert [item["hint"] for item in items] == [""] * 3
    if "empty" not in reason:
        assert items[2]["reason"] == reason
        assert "4 points lost" in (course.results() / "feedback/report.html").read_text()


def test_a_name_that_some_calls_alone_need_costs_those_alone(course, reasons):
    driver = "import work\ndef double(x): return work.double(x) if x else work.zero()\n"
    course.write("assignments/tiny/given/driver.py", driver)
    course.write("assignments/tiny/reference/work.py", "def double(x): return 2 * x\ndef zero(): return 0\n")
    course.rubric(ITEM | {"credit": "per_case"})
    (reason,) = reasons("def double(x): return 2 * x")
    assert reason == "1 of 2 cases agree; zero: work.py defines no zero"
    assert json.loads((course.results() / "score.json").read_text())["items"][0]["points"] == 0.5


INSIDE = "def double(x):\n    import work\n    return work.double(x)\n"
OPENS = "def double(x):\n    open('work.py').close()\n    import work\n    return work.double(x)\n"


@pytest.mark.parametrize("driver", [INSIDE, OPENS, "import helper\ndef double(x): return helper.double(x)\n"])
def test_a_file_that_the_driver_needs_in_its_functions_is_told_once_with_all_that_it_costs(
    course, reasons, driver
):
    course.write("assignments/tiny/given/driver.py", driver)
    course.write("assignments/tiny/given/helper.py", INSIDE)
    course.rubric(ITEM, ITEM | {"id": "again", "title": "Again"})
    assert reasons("def double(x): return 2 * x", "more.py") == ["work.py was not handed in"] * 2
    page = (course.results() / "feedback/report.html").read_text()
    assert "work.py was not handed in. This costs 2 points in 2 items." in page
    assert "do without it" not in page


def test_a_file_of_the_assignment_that_the_students_own_file_imports_is_to_be_handed_in(reasons):
    (reason,) = reasons("from more import x")
    assert reason.endswith("No module named 'more' (work.py:1); more.py was not handed in")


@pytest.mark.parametrize(
    ("code", "ending"),
    [
        ("while True: pass", "the program did not end within 1 s of its own time; work.py:1 runs when"),
        ("import os; os.kill(os.getpid(), 11)", "the program was ended by signal 11"),
        ("import os; os.kill(os.getpid(), 9)", "the program was ended by a SIGKILL that it sent itself"),
        ("import os; os._exit(3)", "the program ended itself (exit status 3)"),
        ("import os; os.abort()", "the program was ended by signal 6"),
        ("import sys; sys.exit(3)", "the program ended itself (sys.exit(3))"),
        ("x = bytearray(2**40)", "MemoryError in work.py:1 (x = bytearray(2**40)); 2048 MiB are allowed"),
    ],
)
def test_every_end_of_an_import_by_the_driver_names_the_students_file(course, reasons, code, ending):
    about = course.folder / "assignments/tiny/assignment.py"
    about.write_text(about.read_text().replace("import_wall_s=20.0", "import_wall_s=1.0"))
    (reason,) = reasons(code)
    assert reason.startswith(f"work.py could not be imported: {ending}"), reason


def test_an_error_of_the_driver_itself_at_import_names_the_students_file_beside_it(course, reasons):
    course.write(
        "assignments/tiny/given/driver.py",
        "import work\nzero = work.double(0)\ndef double(x): return 2 * x\n",
    )
    (reason,) = reasons("def double(): return 0")
    assert reason == (
        "driver.py could not be imported: TypeError: double() takes 0 positional arguments but 1 was given; "
        "driver.py is the course's, and imports your work.py"
    )


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


TRAINS = """import work

def double(x):
    network = work.train(4711)
    return (
        network(x) + check(f"{x}", 4711)
    )

def check(text, number): return 0
"""
FORGES = """def train(n):
    names = {}
    exec(compile('\\n' * 8 + 'def forged(x): return 1 / 0', '/given/driver.py', 'exec'), names)
    return names['forged']
"""
CALLS = "; double() is the course's, and calls your work.train()"


@pytest.mark.parametrize(
    ("code", "ending"),
    [
        (
            "def train(n): pass\n",
            f"TypeError: 'NoneType' object is not callable{CALLS}; "
            "given/driver.py:6: return network(x) + check(f'', ...)",
        ),
        (
            "def train(): return abs\n",
            "TypeError: train() takes 0 positional arguments but 1 was given; that is your work.train(), "
            "as the course calls it: given/driver.py:4: network = work.train(...)",
        ),
        (  # raised in a library
            "import json\ndef train(n): return json.loads\n",
            f"not int{CALLS}; given/driver.py:6: return network(x) + check(f'', ...)",
        ),
        # the program writes its frames itself: they select a line of the course, and move nothing
        (
            FORGES,
            f"ZeroDivisionError: division by zero{CALLS}; given/driver.py:9: def check(text, number):",
        ),
    ],
)
def test_an_exception_in_the_drivers_line_is_told_with_that_line_and_the_students_call(
    course, reasons, code, ending
):
    course.write("assignments/tiny/given/driver.py", TRAINS)
    course.write("assignments/tiny/reference/work.py", "def train(n): return lambda x: 2 * x\n")
    (reason,) = reasons(code)
    assert reason.endswith(ending)
    assert "4711" not in reason
    card = json.loads((course.results() / "score.json").read_text())
    assert card["standing"] == "final"


def test_what_the_course_asserts_is_not_shown_to_students(course, reasons):
    test = "import work\ndef double(x):\n    CONDITION\n    return 2 * x\n"
    holds = "work.double(x) > -4711"
    course.write("assignments/tiny/given/driver.py", test.replace("CONDITION", f"assert {holds}"))
    (reason,) = reasons("def double(x): return -5000")
    calls = "; double() is the course's, and calls your work.double()"
    assert reason.endswith(f"AssertionError: a condition that the course's test asserts does not hold{calls}")
    assert "4711" not in (course.results() / "feedback/report.html").read_text()
    raises = f"if not {holds}: raise ValueError"
    course.write("assignments/tiny/given/driver.py", test.replace("CONDITION", raises))
    (reason,) = reasons("def double(x): return -5001")
    assert reason.endswith(f"ValueError in a test of the course{calls}")


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


@pytest.mark.parametrize(
    "driver",
    [
        "import table, work\ndef double(x): return work.double(x)\n",
        "import work\ndef double(x):\n    import table\n    return work.double(x)\n",
    ],
)
def test_a_file_of_the_driver_that_the_reference_alone_has_is_the_courses_to_give(course, driver):
    course.write("assignments/tiny/given/driver.py", driver)
    course.write("assignments/tiny/reference/table.py", "")
    course.rubric(ITEM)
    done = course.run("run", course.submit("ann", "def double(x): return 2 * x"))
    assert done.returncode == 4, done.stderr
    item = json.loads((course.results() / "score.json").read_text())["items"][0]
    assert "given/ has no table.py, which is needed, and nobody is asked to hand it in" in item["reason"]
    assert item["outcome"] == "not_observed"


def test_a_driver_in_the_reference_alone_is_refused_before_anybody_is_graded(course):
    course.write("assignments/tiny/reference/driver.py", "def double(x): return 2 * x\n")
    course.rubric(ITEM)
    done = course.run("run", course.submit("ann", "def double(x): return 2 * x"))
    assert done.returncode == 4
    why = 'of: "driver.py" lies in reference/ alone, and no pattern of accepts fits it; move it to given/'
    assert why in done.stderr


@pytest.mark.parametrize(
    "forged",
    [
        "ModuleNotFoundError(\"No module named 'notes'\")",
        "ModuleNotFoundError(\"No module named 'more'\")",
        "AttributeError(\"module 'work' has no attribute 'nothing'\")",
        "FileNotFoundError(2, 'No such file or directory', 'more.py')",
    ],
    ids=["blames the course", "a file", "a name", "data"],
)
def test_what_a_program_says_the_driver_lacks_is_held_against_the_drivers_text(course, reasons, forged):
    course.write("assignments/tiny/reference/notes.py", "x = 1\n")
    code = f"exec(compile({'raise ' + forged!r}, '/given/driver.py', 'exec'))"
    (reason,) = reasons(f"def double(x):\n    {code}\n")
    score = json.loads((course.results() / "score.json").read_text())
    assert (score["standing"], score["missing"]) == ("final", [])
    assert "(work.py:2, in double())" in reason
