"""A call that fails is the submission's failure only if the reference does not fail in its place."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest

from grader.checks.matches_reference import MatchesReference
from grader.checks.script import Script
from grader.contracts.call import Call, InputCase
from grader.errors import CourseError, NotObservedError
from grader.harness import reference_control
from grader.harness.reference_control import REQUEST_BYTES, REQUESTS, Requests, failure
from grader.model.observation import Outcome
from grader.sandbox.bubblewrap import BubblewrapSandbox
from grader.testing.contexts import Contexts

COURSE = {
    "inputs.py": """
        from grader.api import case
        def numbers(rng):
            yield case("one", 1.0)
            yield case("two", 2.0)
    """,
    "expected.py": "def half(x): return x / 2\n",
}
WORK = {"work.py": "def half(x): return x / 2\n"}
WRONG = {"work.py": "def half(x): return x.no_such_name\n"}
REFERENCE_FILES = {"reference/work.py": "def half(x): return 0.5 * x\n"}
DRIVER = "import work\ndef half(x): return work.half(x)\n"
STARTS = "import subprocess\n{}subprocess.run({}, check=True{})\n"


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    contexts = Contexts(tmp_path_factory.mktemp("context"), [BubblewrapSandbox()])
    yield contexts
    contexts.close()


@pytest.fixture
def context(shown, tmp_path):
    if missing := BubblewrapSandbox().available():
        pytest.skip(missing)

    def make(files, course):
        return shown.make(tmp_path, files, {**COURSE, **REFERENCE_FILES, **course})

    yield make
    shown.end()


def observe(context, of="driver.half"):
    return MatchesReference().observe(MatchesReference.Options(of=of, inputs="numbers"), context)


@pytest.mark.parametrize(
    ("driver", "error", "line"),
    [
        ("x = 1 / 0\n" + DRIVER, CourseError, r"^given/driver.py:1: .*ZeroDivisionError"),
        (DRIVER + "    \nimport sys; sys.exit('no GPU')\n", CourseError, r"^given/driver.py:4: .*no GPU"),
        (
            DRIVER.replace("return", "raise ValueError('x');"),
            CourseError,
            r"^given/driver.py:2: .*ValueError",
        ),
        (DRIVER.replace("(x):", "(x, y):"), CourseError, r"^reference: .*missing 1 required positional"),
        (
            DRIVER.replace("return", "import os; os.abort();"),
            CourseError,
            r"^reference: half\(\): .*signal 6",
        ),
        (DRIVER.replace("half(x):", "third(x):"), CourseError, r"^reference: there is no function half"),
        (
            STARTS.format("", "['no-such-nvcc']", "") + DRIVER,
            NotObservedError,
            r"^given/driver.py:2: starts no-such-nvcc, which is not on this machine; install it",
        ),
        (
            STARTS.format("", "'no-such-nvcc -o x'", ", shell=True") + DRIVER,
            NotObservedError,
            r"^given/driver.py:2: .*exit status 127.*; install what it starts",
        ),
        (
            STARTS.format("def half(x): ", "['no-such-nvcc']", ""),
            NotObservedError,
            r"^given/driver.py:2: starts no-such-nvcc, which is not on this machine; install it",
        ),
        ("open('data.txt')\n" + DRIVER, CourseError, r"^given/driver.py:1: .*data.txt"),
        ("import ctypes; ctypes.CDLL('libnosuch.so.1')\n" + DRIVER, CourseError, "driver.py:1: .*libnosuch"),
    ],
)
@pytest.mark.parametrize("files", [WORK, WRONG], ids=["right", "wrong"])
def test_what_fails_with_the_reference_as_well_costs_nobody_points(context, driver, error, line, files):
    with pytest.raises(error, match=line):
        observe(context(files, {"given/driver.py": driver}))


@pytest.mark.parametrize(
    ("driver", "line"),
    [
        (DRIVER, r"^inputs.py:3: half\(\): TypeError: .*'z'.*; correct the argument's name$"),
        (DRIVER.replace("half(x):", "half(z):").replace("(x)", "(y=z)"), r"^given/driver.py:2: .*'y'"),
    ],
)
def test_an_argument_that_inputs_misspells_is_told_at_its_line(context, driver, line):
    inputs = "from grader.api import case\ndef numbers(rng):\n    yield case('one', z=1.0)\n"
    made = context(
        WORK,
        {"given/driver.py": driver, "inputs.py": inputs, "expected.py": "def half(z): return z / 2\n"},
    )
    with pytest.raises(CourseError, match=line):
        observe(made)


def test_a_driver_that_works_with_the_reference_blames_the_submission(context):
    made = context(WRONG, {"given/driver.py": DRIVER})
    assert [case.outcome for case in observe(made).cases] == [Outcome.CRASHED] * 2


@pytest.mark.parametrize(
    "mine",
    ["import no_such_module\n", "import sys; sys.exit(3)\n", "def half(x:\n", "def third(x): return 1\n"],
)
def test_a_submission_that_fails_where_the_reference_works_is_to_blame(context, mine):
    observation = observe(context({"work.py": mine}, {}), of="work.half")
    assert observation.outcome in {Outcome.CRASHED, Outcome.REFUSED}


def test_a_reference_that_fails_beside_a_right_submission_is_not_even_asked(context):
    made = context(WORK, {"reference/work.py": "def half(x): raise ValueError\n"})
    assert [case.outcome for case in observe(made, of="work.half").cases] == [Outcome.OBSERVED] * 2


def test_a_call_that_neither_ends_is_the_courses(context):
    never = "def half(x):\n    while True: pass\n"
    with pytest.raises(CourseError, match=r"^reference: half\(\): the program did not end within"):
        observe(context({"work.py": never}, {"reference/work.py": never}), of="work.half")


@pytest.mark.parametrize(
    ("expected", "seen"),
    [
        ("def half(x): return float('nan')\n", "expected nan"),
        ("def half(x): return x / 3\n", "got 0.5"),
        ("def half(x): return [x / 2]\n", "expected"),
        ("def half(x): return x / 2 if x == 1 else x\n", "two: got 1"),
    ],
)
@pytest.mark.parametrize("credit", ["all", "per_case"])
def test_an_oracle_that_the_reference_does_not_meet_costs_nobody_points(context, expected, seen, credit):
    made = context(WORK, {"expected.py": expected})
    options = MatchesReference.Options(of="work.half", inputs="numbers", credit=credit)
    with pytest.raises(CourseError, match=f"^reference: .*{seen}.*; the reference is wrong as well") as error:
        MatchesReference().observe(options, made)
    assert "expected.py or the tolerance" in str(error.value)


@pytest.mark.parametrize(
    ("returns", "advice"),
    [
        ("", "is a return missing in given/driver.py, or in the reference?"),
        (
            "return 3 * ",
            "correct given/driver.py or what it runs, the reference, expected.py or the tolerance",
        ),
    ],
)
def test_a_driver_that_returns_something_else_than_the_oracle_is_named(context, returns, advice):
    made = context(WORK, {"given/driver.py": DRIVER.replace("return ", returns)})
    with pytest.raises(CourseError, match=r"; the reference is wrong as well as the submission; ") as error:
        observe(made)
    assert str(error.value).endswith(f"; {advice}")


def test_an_oracle_that_returns_nothing_is_named_and_not_the_reference(context):
    made = context(WORK, {"expected.py": "def half(x): x / 2\n"})
    said = r"expected\.py:1: half: returns None for case 'one'; is a return missing\?$"
    with pytest.raises(CourseError, match=said) as error:
        observe(made, of="work.half")
    assert "reference" not in str(error.value)


def test_a_wrong_result_where_the_reference_is_right_is_the_submissions(context):
    observation = observe(context({"work.py": "def half(x): return x\n"}, {}), of="work.half")
    assert [case.agrees["half"] for case in observation.cases] == [False, False]


def test_a_wrong_result_where_the_reference_fails_is_held(context):
    course = {"reference/work.py": "def half(x): raise ValueError('no')\n"}
    with pytest.raises(CourseError, match=r"ValueError: no.*\(reference/work.py:1\)"):
        observe(context({"work.py": "def half(x): return x\n"}, course), of="work.half")


STATE = {
    "an oracle": {
        "expected.py": "LEFT = [2.0]\ndef half(x):\n    LEFT[0] /= 2\n    return LEFT[0] * x / 2\n"
    },
    "a default": {"expected.py": "def half(x, seen=[]):\n    seen.append(x)\n    return x / 2 * len(seen)\n"},
    "its arguments": {
        "inputs.py": """
            import numpy as np
            from grader.api import case
            ONES = np.ones(3)
            def numbers(rng):
                yield case("one", ONES)
                yield case("two", ONES)
        """,
        "expected.py": "def half(x):\n    x /= 2\n    return x\n",
    },
    "a function of a case": {
        "inputs.py": """
            from grader.api import case
            ASKED = []
            def halves(x):
                ASKED.append(x)
                return x / 2 / len(ASKED)
            def numbers(rng):
                yield case("one", 1.0, halves)
                yield case("two", 2.0, halves)
        """,
        "expected.py": "def half(x, f): return f(x)\n",
        "work.py": "def half(x, f): return f(x)\n",
    },
    "an oracle that asks": {
        "inputs.py": """
            from grader.api import case
            def numbers(rng):
                yield case("one", 1.0, lambda: None)
                yield case("two", 2.0, lambda: None)
        """,
        "expected.py": "LEFT = [2.0]\ndef half(x, f):\n    LEFT[0] /= 2\n    return LEFT[0] * x / 2\n",
        "work.py": "def half(x, f): return x / 2\n",
    },
}


@pytest.mark.parametrize("state", ["an oracle", "a default"])
def test_an_oracle_that_changes_with_its_calls_loses_nobody_points(context, state):
    with pytest.raises(CourseError, match="the reference is wrong as well as the submission"):
        observe(context(WORK, STATE[state]), of="work.half")


@pytest.mark.parametrize("state", ["its arguments", "a function of a case", "an oracle that asks"])
def test_what_a_function_of_the_course_changes_is_gone_with_the_call(context, state):
    course = dict(STATE[state])
    observation = observe(
        context({"work.py": course.pop("work.py", WORK["work.py"])}, course), of="work.half"
    )
    assert [case.agrees["half"] for case in observation.cases] == [True, True]


NOTES = """
    from grader.api import case
    class Notes:
        def __init__(self): self.asked = []
        def __call__(self, x):
            self.asked.append(x)
            return x
    def numbers(rng):
        yield case("one", Notes())
"""
ODD = "def half(note):\n    note('odd')\n    return 1\n"


@pytest.mark.parametrize(
    ("reference", "held"),
    [("def half(note): return note(1)\n", False), (ODD, True), ("", True)],
    ids=["right", "as odd", "none"],
)
def test_an_oracle_that_fails_on_what_a_program_asked_is_the_submissions_fault_if_the_reference_is_right(
    context, reference, held
):
    oracle = "from grader.api import after_call\n@after_call\ndef half(note): return sum(note.asked)\n"
    course = {"inputs.py": NOTES, "expected.py": oracle, "reference/work.py": reference}
    made = context({"work.py": ODD}, course)
    if held:
        with pytest.raises(CourseError, match=r"expected.py:\d+: half: TypeError"):
            observe(made, of="work.half")
        return
    assert [case.outcome for case in observe(made, of="work.half").cases] == [Outcome.REFUSED]


COUNTS = """
    from grader.api import case
    class Counter:
        asked = 0
        def __call__(self):
            self.asked += 1
            return self.asked
    def numbers(rng):
        yield case("one", Counter())
"""
TWICE = "def half(count): return [count(), count()]\n"


@pytest.mark.parametrize(
    ("oracle", "agrees"),
    [
        ("@after_call\ndef half(count): return [1, count.asked]\n", True),
        ("@after_call\ndef half(count): return [1, count.asked + count.asked]\n", False),
        ("def half(count): return [1, count.asked]\n", False),
        ("def half(count): return [count(), count()]\n", True),
    ],
    ids=["marked", "wrong", "unmarked", "anew"],
)
def test_an_oracle_that_is_marked_sees_what_the_functions_of_its_case_were_asked(context, oracle, agrees):
    expected = f"from grader.api import after_call\n{oracle}"
    course = {"inputs.py": COUNTS, "expected.py": expected, "reference/work.py": ""}
    made = context({"work.py": TWICE}, course)
    Path(made._job.assignment_folder, "reference/work.py").unlink()
    assert observe(made, of="work.half").cases[0].agrees == {"half": agrees}


@pytest.mark.parametrize(
    ("oracle", "line"),
    [
        ("from grader.api import after_call\n@after_call\ndef half(x, f): return x\n", "is a local one"),
        ("def half(x, f): return (n for n in ())\n", "returns a value that cannot be passed on"),
        ("import os\ndef half(x, f): os._exit(3)\n", "its process ended with status 3;"),
        ("def half(x, f): raise KeyError(x)\n", "KeyError: 1.0"),
    ],
)
def test_what_an_oracle_cannot_do_is_told_with_its_line(context, oracle, line):
    inputs = "from grader.api import case\ndef numbers(rng): yield case('one', 1.0, lambda: 1)\n"
    made = context({"work.py": "def half(x, f): return x\n"}, {"inputs.py": inputs, "expected.py": oracle})
    with pytest.raises(CourseError, match=rf"expected.py:\d: half: .*{line}"):
        observe(made, of="work.half")


STATEFUL = {
    "inputs.py": """
        from grader.api import case
        def numbers(rng):
            yield from (case(str(n), n) for n in range(9))
    """,
    "expected.py": "def half(n): return n // 2\n",
    "reference/work.py": "MADE = []\ndef half(n):\n    MADE.append(n)\n    return (len(MADE) - 1) // 2\n",
}


def test_calls_before_a_wrong_result_are_made_with_the_reference_as_well(context):
    """A reference whose answers depend on its calls would be wrong without them."""
    wrong = STATEFUL["reference/work.py"].replace("// 2", "// (2 + (n == 7))")
    observation = observe(context({"work.py": wrong}, STATEFUL), of="work.half")
    assert [case.agrees["half"] for case in observation.cases] == [True] * 7 + [False, True]


def test_after_a_crash_the_reference_begins_anew_as_the_submission_does(context):
    crashes = "MADE = []\ndef half(n):\n    MADE.append(n)\n    return n if n != 4 else 1 / 0\n"
    course = {**STATEFUL, "expected.py": "def half(n): return (n if n < 5 else n - 5) // 2\n"}
    observation = observe(context({"work.py": crashes}, course), of="work.half")
    assert [case.outcome is Outcome.CRASHED for case in observation.cases] == [False] * 4 + [True] + [
        False
    ] * 4


def test_of_more_calls_than_are_kept_the_first_are_held_against_the_reference(context, monkeypatch):
    monkeypatch.setattr(reference_control, "REQUESTS", 4)
    wrong = STATEFUL["reference/work.py"].replace("// 2", "// (2 + (n == 7))")
    observation = observe(context({"work.py": wrong}, STATEFUL), of="work.half")
    assert [case.agrees["half"] for case in observation.cases] == [True] * 7 + [False, True]


def test_large_arguments_are_held_against_the_reference_alone(context, monkeypatch):
    monkeypatch.setattr(reference_control, "REQUEST_BYTES", 100)
    course = {**STATEFUL, "reference/work.py": WORK["work.py"], "expected.py": "def half(n): return n + 1\n"}
    with pytest.raises(CourseError, match=r"^reference: 8: got 4.0, expected 9"):
        observe(context({"work.py": "def half(n): return n + (n < 8)\n"}, course), of="work.half")


def test_a_wrong_oracle_shows_also_behind_calls_that_are_right(context, monkeypatch):
    monkeypatch.setattr(reference_control, "REQUESTS", 4)
    course = {**STATEFUL, "expected.py": "def half(n): return 9 if n in {2, 8} else n // 2\n"}
    with pytest.raises(CourseError, match="reference: 2: got 1, expected 9"):
        observe(context({"work.py": STATEFUL["reference/work.py"]}, course), of="work.half")


HOLDS = {
    "a port": "import socket\nheld = socket.create_server(('127.0.0.1', 50007))\n",
    "a port that waits": """
        import socket
        server = socket.create_server(('127.0.0.1', 50007))
        client = socket.create_connection(('127.0.0.1', 50007))
        accepted, _ = server.accept()
        accepted.close()
        client.close()
        server.close()
    """,
}


@pytest.mark.parametrize("ending", ["raise ValueError(x)", "return 3 * x"], ids=["raises", "wrong"])
@pytest.mark.parametrize("held", HOLDS)
def test_what_a_program_holds_does_not_reach_the_reference(context, held, ending):
    """If it did, the reference would fail as well, and an error be raised."""
    serves = """
        import socket
        def half(x):
            with socket.socket() as server:
                server.bind(("127.0.0.1", 50007))
            return x / 2
    """
    mine = f"{dedent(HOLDS[held])}\ndef half(x):\n    {ending}\n"
    observe(context({"work.py": mine}, {"reference/work.py": dedent(serves)}), of="work.half")


def test_a_lock_that_a_program_holds_ends_before_the_reference_begins(context):
    """If it did not, the reference would fail as well, and an error be raised."""
    locks = """
        import fcntl
        file = open("/given/table.txt")
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        def half(x):
            return {}
    """
    files = {"work.py": dedent(locks).format("x.no_such_name")}
    course = {"reference/work.py": dedent(locks).format("x / 2"), "given/table.txt": "1"}
    observe(context(files, course), of="work.half")


def test_without_a_reference_nothing_is_compared(context):
    made = context(WRONG, {"reference/work.py": "", "given/driver.py": DRIVER})
    Path(made._job.assignment_folder, "reference/work.py").unlink()
    assert observe(made).cases[0].outcome is Outcome.CRASHED


def test_calls_before_are_made_with_the_reference_as_well(context):
    """A function that needs another one's state does not fail with the reference for want of it."""
    course = {
        "given/driver.py": """
            import work
            STATE = []
            def begin(): STATE.append(work)
            def half(x): return STATE[0].half(x)
        """
    }
    with context(WRONG, course).subject("driver") as subject:
        assert subject.call("begin", InputCase(name="", args=())).outcome is Outcome.OBSERVED
        assert subject.call("half", InputCase(name="", args=(1.0,))).outcome is Outcome.CRASHED


def test_after_more_calls_than_are_kept_the_submission_is_blamed(context):
    driver = f"LEFT = [{REQUESTS + 1}]\ndef half(x):\n    LEFT[0] -= 1\n    return 1 / LEFT[0]\n"
    course = {"given/driver.py": driver}
    with context(WORK, course).subject("driver") as subject:
        case = InputCase(name="", args=(1.0,))
        calls = [subject.call("half", case) for _ in range(REQUESTS + 1)]
        assert calls[-1].outcome is Outcome.CRASHED


@pytest.mark.parametrize("sizes", [[1] * REQUESTS, [REQUEST_BYTES + 1]], ids=["calls", "bytes"])
def test_what_was_once_too_much_to_keep_stays_so(sizes):
    requests, case = Requests(), InputCase(name="one", args=(1.0,))
    assert requests.followed_by("half", case) == (("half", case),)
    for size in sizes:
        requests.add("half", case, size)
    alone = () if len(sizes) > 1 else (("half", case),)
    for _ in range(3):
        assert requests.followed_by("half", case) is None, "a part of the calls is not what the program did"
        assert requests.disputed_with("half", case) == alone
        requests.add("half", case, 1)


def test_a_program_that_is_run_is_compared_too(context):
    options = Script.Options(file="main.py")
    starts = {"main.py": STARTS.format("", "['no-such-nvcc']", "")}
    course = {f"reference/{name}": text for name, text in starts.items()}
    with pytest.raises(NotObservedError, match=r"^reference/main.py:2: starts no-such-nvcc"):
        Script().observe(options, context(starts, course))


def test_a_program_that_ends_as_a_shell_without_its_program_is_compared_too(context):
    ends = {"main.py": "import os, sys\nsys.exit(os.waitstatus_to_exitcode(os.system('no-such-nvcc')))\n"}
    course = {f"reference/{name}": text for name, text in ends.items()}
    with pytest.raises(NotObservedError, match=r"^reference: the program ended with exit status 127"):
        Script().observe(Script.Options(file="main.py"), context(ends, course))


@pytest.mark.parametrize("reference", ["print(1)\n", None])
def test_a_program_that_fails_where_the_references_works_or_is_not_there_is_to_blame(context, reference):
    starts = {"main.py": STARTS.format("", "['no-such-nvcc']", "")}
    course = {} if reference is None else {"reference/main.py": reference}
    observation = Script().observe(Script.Options(file="main.py"), context(starts, course))
    assert observation.outcome is Outcome.CRASHED


def test_a_reference_that_could_not_be_observed_is_the_machines(tmp_path):
    call = Call(outcome=Outcome.NOT_OBSERVED, note="the GPU is gone")
    assert isinstance(failure(call, tmp_path), NotObservedError)


SHARED = {
    "inputs.py": """
        import numpy as np
        from grader.api import case
        def numbers(rng):
            yield case("ones", np.ones(3))
    """,
    "expected.py": "def halved(x): return x / 2\n",
    "given/driver.py": """
        import work
        def halved(x):
            work.half(x)
            return x
    """,
}
HALVES = {"work.py": "def half(x): x /= 2\n"}
STRICT = MatchesReference.Options(of="driver.halved", inputs="numbers", changed_inputs="fails")


def test_arguments_that_the_reference_changes_as_well_are_not_told_as_changed(context):
    made = context(HALVES, {"reference/work.py": HALVES["work.py"], **SHARED})
    observation = observe(made, of="driver.halved")
    assert [(case.agrees, case.changed_inputs) for case in observation.cases] == [({"halved": True}, ())]


def test_where_changes_fail_those_of_the_reference_are_the_courses(context):
    made = context(HALVES, {"reference/work.py": HALVES["work.py"], **SHARED})
    said = (
        "reference: ones: changes argument 1 in place as well as the submission; let halved of "
        "given/driver.py hand on copies (array.copy(), tensor.clone()), or take changed_inputs out of the "
        "rubric"
    )
    with pytest.raises(CourseError) as error:
        MatchesReference().observe(STRICT, made)
    assert str(error.value) == said


@pytest.mark.parametrize("options", [STRICT, replace(STRICT, changed_inputs="noted")])
def test_arguments_that_the_submission_alone_changes_are_told(context, options):
    course = {
        **SHARED,
        "given/driver.py": "import work\ndef halved(x): return work.half(x)\n",
        "reference/work.py": "def half(x): return x / 2\n",
    }
    made = context({"work.py": "def half(x):\n    x /= 2\n    return x\n"}, course)
    (case,) = MatchesReference().observe(options, made).cases
    assert (case.agrees, case.changed_inputs) == ({"halved": True}, ("argument 1",))


def test_a_reference_that_fails_leaves_a_change_open_where_it_costs(context):
    made = context(HALVES, {"reference/work.py": "def half(x): raise ValueError\n", **SHARED})
    with pytest.raises(CourseError, match="ValueError"):
        MatchesReference().observe(STRICT, made)
    (case,) = observe(made, of="driver.halved").cases
    assert case.changed_inputs == ("argument 1",)


@pytest.mark.parametrize(
    ("note", "told"),
    [
        (
            "FileNotFoundError: [Errno 2] No such file or directory: '/built/show'",
            "the build makes no product show; name show in products of assignment.py",
        ),
        (
            "OSError: /built/libhis.so: cannot open shared object file: No such file or directory",
            "the build makes no product libhis.so; did you mean libhist.so?",
        ),
        ("OSError: /built/libhist.so: undefined symbol: f", "correct the course's files or its limits"),
    ],
)
def test_a_product_that_the_build_does_not_make_is_named(tmp_path, note, told):
    call = Call(outcome=Outcome.CRASHED, note=f"show(): {note}")
    error = failure(call, tmp_path, others=("hist.cpp", "show.cpp", "libhist.so"))
    assert str(error).endswith(f"; the reference fails like the submission; {told}")


@pytest.mark.parametrize(
    ("driver", "frames", "told"),
    [
        ("def softmax(x): return ln.softmax(x)\n", ("ln.py",), True),
        # the item names the driver, and the mistake is the reference's own
        ("def softmax(x): return ln.softmax(x)\n", ("driver.py", "ln.py"), False),
        ("", ("ln.py",), False),
    ],
)
def test_a_function_that_a_driver_has_as_well_is_told_where_the_reference_is_called_past_it(
    tmp_path, driver, frames, told
):
    for folder in ("given", "reference"):
        (tmp_path / folder).mkdir()
    (tmp_path / "given/driver.py").write_text(driver)
    (tmp_path / "reference/ln.py").write_text("def softmax(x): return x.max(dim=1)\n")
    lines = "".join(f'  File "{file}", line 1, in softmax\n' for file in frames)
    traceback = f"Traceback (most recent call last):\n{lines}TypeError: no\n"
    error = failure(
        Call(outcome=Outcome.CRASHED, note="softmax(): TypeError: no", traceback=traceback), tmp_path
    )
    assert str(error).startswith("reference/ln.py:1: softmax(): ")
    assert str(error).endswith("did you mean driver.softmax?") is told


@pytest.mark.parametrize(
    ("note", "told"),
    [
        (
            "AttributeError: module 'lin' has no attribute 'train'",
            "reference/lin.py defines no train; did you mean trian?",
        ),
        ("ImportError: cannot import name 'loss' from 'lin'", "reference/lin.py defines no loss"),
        (
            "AttributeError: module 'numpy' has no attribute 'trian'",
            "correct the course's files or its limits",
        ),
    ],
)
def test_a_name_that_the_driver_asks_the_reference_for_in_vain_is_told_with_the_one_that_is_meant(
    tmp_path, note, told
):
    (tmp_path / "reference").mkdir()
    (tmp_path / "reference/lin.py").write_text("def trian(x): return x\n")
    error = failure(Call(outcome=Outcome.CRASHED, note=f"train(): {note}"), tmp_path)
    assert str(error).endswith(f"; the reference fails like the submission; {told}")
