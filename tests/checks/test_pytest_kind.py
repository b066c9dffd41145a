"""The tests of an existing file end alone, each in its own way, and the file is the course's."""

from __future__ import annotations

import signal
from dataclasses import replace

import pytest

from grader.checks import pytest_kind
from grader.checks.pytest_kind import Pytest
from grader.errors import CourseError, NeedsGpuError, NotObservedError
from grader.model.exit_status import ending
from grader.model.observation import MISSING_FILE, Case, Observation, Outcome, Quantity
from grader.model.options import measuring

KIND = Pytest()
OPTIONS = Pytest.Options(file="tests/test_ops.py", pythonpath=("python",))
ABORTED = f"the program {ending(-signal.SIGABRT)}"
RIGHT = """
    def add(a, b):
        return a + b
"""
TESTS = """
    from ops import add

    def test_add():
        assert add(1, 2) == 3
"""


def observe(real_context, ops, tests=TESTS, options=OPTIONS, *, given=None, **more):
    submission = {"python/ops.py": ops, **more}
    course = {"given/tests/test_ops.py": tests, "reference/python/ops.py": RIGHT, **(given or {})}
    return KIND.observe(options, real_context(submission, course))


def award(observation, **judging):
    return KIND.award(replace(OPTIONS, **judging), observation, {})


def cases_of(observation):
    assert observation.outcome is Outcome.OBSERVED, observation.note
    return {case.name: case for case in observation.cases}


EVERY_END = """
    import os
    import unittest

    import numpy as np
    import pytest
    from ops import add


    @pytest.fixture
    def array():
        return add([1], [2])


    @pytest.fixture
    def broken():
        raise ValueError("no such data")


    def test_pass(array):
        assert array == [1, 2]
        print("printed")


    def test_fail():
        assert add(1, 2) == 4


    def test_close():
        np.testing.assert_allclose(np.float32([1, 2]), [1, 3])


    def test_abort():
        print("before the end")
        os.abort()


    def test_ends_itself():
        os._exit(0)


    def test_interrupts():
        raise KeyboardInterrupt


    @pytest.fixture
    def leaving():
        yield
        pytest.exit("enough")


    def test_leaves(leaving):
        pass


    def test_set_up(broken):
        pass


    def test_skip():
        pytest.skip("no GPU here")


    @pytest.mark.xfail(reason="known")
    def test_known():
        raise NotImplementedError


    @pytest.mark.parametrize("a", [1, "two::x"])
    def test_many(a):
        assert add(a, a) == 2


    def test_flood():
        for _ in range(20_000):
            print("a line of the flood")
        raise RuntimeError("x" * 10_000)


    class TestShapes(unittest.TestCase):
        def test_equal(self):
            self.assertEqual(add(2, 2), 4)
"""


@pytest.mark.slow
def test_each_test_ends_alone_and_says_how(real_context):
    observation = observe(real_context, RIGHT, EVERY_END)
    seen = {
        case.name: (case.outcome, case.agrees.get("passed"), case.note.partition(" Mismatched")[0][:60])
        for case in cases_of(observation).values()
    }
    passed, lost = (Outcome.OBSERVED, True, ""), (Outcome.OBSERVED, False)
    assert seen == {
        "test_pass": passed,
        "test_fail": (*lost, "assert 3 == 4 + where 3 = add(1, 2)"),
        "test_close": (*lost, "AssertionError: Not equal to tolerance rtol=1e-07, atol=0"),
        "test_abort": (Outcome.CRASHED, None, ABORTED[:60]),
        "test_ends_itself": (Outcome.CRASHED, None, "the program ended itself (exit status 0)"),
        "test_interrupts": (Outcome.REFUSED, None, "the program interrupted pytest"),
        "test_leaves": (Outcome.REFUSED, None, "the program interrupted pytest"),
        "test_set_up": (*lost, 'failed on setup with "ValueError: no such data"'),
        "test_skip": (Outcome.OBSERVED, None, "skipped itself: no GPU here"),
        "test_known": (*lost, "known"),
        "test_many[1]": passed,
        "test_many[two::x]": (
            *lost,
            "AssertionError: assert 'two::xtwo::x' == 2 + where 'two::xtwo::x' = a"[:60],
        ),
        "test_flood": (*lost, "RuntimeError: " + "x" * 46),
        "TestShapes::test_equal": passed,
    }
    cases = cases_of(observation)
    assert cases["test_fail"].called == "pytest tests/test_ops.py::test_fail"
    assert "tests/test_ops.py:26: AssertionError" in cases["test_fail"].returned
    assert cases["test_pass"].quantities["wall_s"].value > 0
    printed = observation.output
    assert "test_pass:\nprinted\n\n" in printed
    assert "test_abort:\nbefore the end\n" in printed
    assert "characters left out" in printed
    assert "passed" not in printed  # pytest's own words
    assert len(printed) < 100_000


def test_a_test_that_hangs_ends_alone_and_those_for_which_no_time_is_left_are_not_run(real_context):
    tests = """
        import time

        from ops import add

        def test_hang():
            print("waits", flush=True)
            time.sleep(1000)

        def test_add():
            assert add(1, 2) == 3
    """
    # A child may take 5 s for a call.
    observation = observe(real_context, RIGHT, tests, replace(OPTIONS, budget_s=4.0))
    hang, add = observation.cases
    assert (hang.outcome, hang.note) == (
        Outcome.TIMED_OUT,
        "the program did not end within 5 s of its own time",
    )
    assert (add.outcome, add.note, add.quantities) == (Outcome.TIMED_OUT, pytest_kind.NOT_RUN, {})
    assert observation.output == "test_hang:\nwaits"
    assert (
        award(observation).reason
        == "0 of 2 tests pass; test_hang: the program did not end within 5 s of its own time"
    )


def test_nothing_that_was_handed_in_configures_pytest_or_takes_the_place_of_the_tests(real_context):
    passes = "def test_add():\n    pass\n"
    conftest = """
        import pytest

        @pytest.hookimpl(wrapper=True)
        def pytest_runtest_makereport(item, call):
            report = yield
            report.outcome = "passed"
            return report
    """
    observation = observe(
        real_context,
        "def add(a, b): return 0",
        **{
            "tests/test_ops.py": passes,
            "tests/ops.py": RIGHT,
            "tests/conftest.py": conftest,
            "conftest.py": conftest,
            "pytest.ini": "[pytest]\naddopts = --collect-only\n",
            "setup.cfg": "[tool:pytest]\naddopts = --collect-only\n",
            "pytest.py": "raise SystemExit('the submission took the place of pytest')",
            "xml.py": "raise SystemExit('the submission took the place of a library')",
        },
    )
    (case,) = cases_of(observation).values()
    assert (case.agrees, case.note) == ({"passed": False}, "assert 0 == 3 + where 0 = add(1, 2)")


def test_a_conftest_of_the_course_counts_and_its_files_lie_beside_the_tests(real_context):
    tests = """
        import pathlib
        import digits

        def test_nothing_is_looked_for_above_the_submission(request):
            for node in request.node.listchain():
                assert node.path.is_relative_to(pathlib.Path.cwd())

        def test_data(two):
            assert (pathlib.Path("tests/data.txt").read_text(), digits.NINE) == ("42", two + 7)
            pathlib.Path("plot.txt").write_text("may be written")
    """
    given = {
        "given/tests/conftest.py": "import pytest\n@pytest.fixture\ndef two(): return 2",
        "given/tests/digits.py": "NINE = 9",
        "given/tests/data.txt": "42",
    }
    theirs = {"conftest.py": "raise SystemExit('the submission ran')", "tests/__init__.py": "1 / 0"}
    observation = observe(real_context, RIGHT, tests, given=given, **theirs)
    assert award(observation).reason == "2 of 2 tests pass"


def test_random_numbers_begin_alike_before_each_test(real_context):
    tests = """
        import random
        import numpy as np

        FIRST = {}

        def draw():
            return random.random(), np.random.rand()

        def test_one():
            print(draw())

        def test_two():
            print(draw())
    """
    one, two = observe(real_context, RIGHT, tests).output.split("\n\n")
    assert one.partition("\n")[2] == two.partition("\n")[2] != ""


@pytest.mark.parametrize(
    ("submission", "accepts", "missing"),
    [
        ({"other.py": ""}, ("python/ops.py", "other.py"), "python/ops.py"),
        ({"other.py": ""}, ("ops.py", "other.py"), "ops.py"),
        ({"other.py": ""}, ("other.py",), ""),
        ({"python/ops.py": "import lost"}, ("*.py", "*/*.py"), ""),
    ],
)
def test_a_file_that_the_tests_import_and_nobody_handed_in_is_told(
    real_context, submission, accepts, missing
):
    context = real_context(submission, {"given/tests/test_ops.py": TESTS, "reference/python/ops.py": RIGHT})
    context._job = replace(context._job, accepts=accepts)
    observation = KIND.observe(OPTIONS, context)
    if missing:
        note = f"{missing} was not handed in"
        assert (observation.outcome, observation.note) == (Outcome.REFUSED, note)
        assert observation.facts == {MISSING_FILE: note}
    else:
        assert observation.outcome is Outcome.CRASHED
        assert MISSING_FILE not in observation.facts


@pytest.mark.parametrize(
    ("ops", "outcome", "note"),
    [
        (
            "import nothere",
            Outcome.CRASHED,
            "tests/test_ops.py could not be imported: ModuleNotFoundError: No module named 'nothere'",
        ),
        (
            "print('loading')\nimport os; os.abort()",
            Outcome.CRASHED,
            f"importing tests/test_ops.py: {ABORTED}",
        ),
        (
            "import pytest; pytest.skip('not today', allow_module_level=True)",
            Outcome.CRASHED,
            "tests/test_ops.py skips itself: not today",
        ),
        (
            "import pytest; pytest.exit('enough', 0)",
            Outcome.CRASHED,
            "tests/test_ops.py could not be imported: _pytest.outcomes.Exit: enough",
        ),
    ],
)
def test_a_program_that_cannot_be_imported_costs_one_attempt_and_all_tests(real_context, ops, outcome, note):
    observation = observe(real_context, ops)
    assert (observation.outcome, observation.note, observation.cases) == (outcome, note, ())
    assert ("loading" in observation.output) == ("loading" in ops)


def test_a_test_that_the_submission_makes_vanish_is_not_collected(real_context):
    tests = """
        import ops
        from ops import add

        if hasattr(ops, "add"):
            def test_add():
                assert add(1, 2) == 3

        def test_other():
            pass

        if hasattr(ops, "hide"):
            del test_add
    """
    observation = observe(real_context, RIGHT + "\n    hide = True\n", tests)
    case = cases_of(observation)["test_add"]
    assert (case.outcome, case.note) == (Outcome.REFUSED, "not collected")
    assert award(observation).reason == "1 of 2 tests pass; test_add: not collected"


def test_a_skip_of_the_courses_leaves_the_points_open_and_one_of_the_programs_does_not(real_context):
    ops = """
        import pytest

        def add(a, b):
            pytest.skip("hard")
    """
    found = award(observe(real_context, ops))
    assert (found.fraction, found.undecided) == (0.0, False)
    assert found.reason == "0 of 1 tests pass; test_add: the program skipped it: hard"


AS_IF_THE_TEST_DID = {
    "at the place of the test": 'pytest.skip.Exception("hard", _use_item_location=True)',
    "at a place of no file": 'exec("raise SkipTest(1)", vars(__import__("unittest")))',
}


@pytest.mark.parametrize("raised", AS_IF_THE_TEST_DID.values(), ids=AS_IF_THE_TEST_DID)
def test_a_skip_that_the_reference_does_not_have_is_the_programs(real_context, raised):
    """Where a test skipped itself is the word of the program's process."""
    ops = f"""
        import pytest

        def add(a, b):
            raise {raised}
    """
    found = award(observe(real_context, ops))
    assert (found.fraction, found.undecided) == (0.0, False)
    assert found.reason.endswith("(with the reference it does not)")


NOT_FRESH = """
    import sys

    Encoder = sys.modules["_grader_subject.wire"].Encoder
    encode = Encoder.encode
    Encoder.encode = lambda self, value, depth=0: encode(self, value if depth else {"fresh": False}, depth)
"""


def test_a_program_that_claims_to_share_its_process_has_the_reference_against_it(real_context):
    observation = observe(real_context, RIGHT + NOT_FRESH)
    assert observation.outcome is Outcome.REFUSED, observation.note


def test_a_file_that_skips_itself_even_with_the_reference_waits(real_context):
    tests = "import pytest\npytest.importorskip('no_such_library')\ndef test_a(): pass"
    observation = observe(real_context, RIGHT, tests)
    assert (observation.outcome, observation.fault) == (Outcome.NOT_OBSERVED, None)
    assert observation.note == (
        "tests/test_ops.py skips itself on this machine: could not import 'no_such_library': "
        "No module named 'no_such_library'"
    )


@pytest.mark.parametrize(
    ("tests", "file", "problem"),
    [
        (TESTS, "tests/test_other.py", r"given/tests/test_other\.py: is not there"),
        ("import nothere", "tests/test_ops.py", "with the reference: .* No module named 'nothere'"),
        ("def helper(): pass", "tests/test_ops.py", "with the reference: tests/test_ops.py: not collected"),
    ],
)
def test_a_file_of_tests_that_is_wrong_is_the_courses_fault(real_context, tests, file, problem):
    with pytest.raises(CourseError, match=problem):
        observe(real_context, RIGHT, tests, replace(OPTIONS, file=file))


def test_a_group_would_have_tests_share_a_process(real_context):
    context = real_context(
        {"python/ops.py": RIGHT}, {"given/tests/test_ops.py": TESTS, "reference/python/ops.py": RIGHT}
    )
    context._group = "ops"
    with pytest.raises(CourseError, match="take `group` away"):
        KIND.observe(OPTIONS, context)


def test_without_pytest_nothing_is_held_against_the_student(monkeypatch):
    monkeypatch.setattr(pytest_kind, "find_spec", lambda name: None)
    with pytest.raises(NotObservedError, match=r"; pip install 'gpu-grader\[pytest\]'$"):
        KIND.observe(OPTIONS, object())


def seen(**ends):
    """An observation of tests that passed (True), failed (False) or skipped themselves (None)."""
    return Observation(
        item="i",
        outcome=Outcome.OBSERVED,
        cases=tuple(
            Case(
                name=name.replace("__", "::").replace("_1", "[1]").replace("_2", "[2]"),
                outcome=Outcome.OBSERVED,
                agrees={} if end is None else {"passed": end},
                note="" if end else f"because of {name}",
            )
            for name, end in ends.items()
        ),
    )


def test_weights_are_shared_and_what_is_not_named_weighs_nothing():
    observation = seen(a=True, b_1=True, b_2=False, C__x=False, C__y=True, d=False)
    assert award(observation).fraction == pytest.approx(3 / 6)
    found = award(observation, tests={"a": 1, "b": 2, "C": 1, "C::y": 4})
    assert found.fraction == pytest.approx((1 + 1 + 0 + 4) / 8)
    assert found.reason == "3 of 5 tests pass; b[2]: because of b_2"
    assert award(observation, tests={"b[1]": 5, "b": 3}).fraction == pytest.approx(5 / 8)


def test_all_or_nothing_is_decided_by_the_tests_that_weigh_something():
    observation = seen(a=True, b=False, c=None)
    assert award(observation, credit="all", tests={"a": 1}).fraction == 1.0
    lost = award(observation, credit="all")
    assert (lost.fraction, lost.undecided) == (0.0, False)
    assert award(observation, credit="all", tests={"a": 1, "c": 1}).undecided


def test_a_test_that_skipped_itself_leaves_the_points_open_until_a_person_gave_them():
    observation = seen(a=True, c=None)
    found = award(observation)
    assert (found.undecided, found.reason) == (True, "1 of 2 tests pass; c: because of c; a person must look")
    given = {"points_given": Quantity(value=1.5), "points_possible": Quantity(value=2.0)}
    assert award(replace(observation, quantities=given)).fraction == 0.75
    assert award(observation, tests={"a": 1}).fraction == 1.0


def test_a_name_that_no_test_has_leaves_the_points_open_and_is_named():
    found = award(seen(a=True), tests={"a": 1, "test_gone": 2})
    assert found.undecided
    assert found.reason == "the rubric names tests that tests/test_ops.py does not have: test_gone"


@pytest.mark.parametrize("tests", [{"a": -1.0, "b": 1.0}, {"a": 0.0}])
def test_weights_that_are_none_are_refused(tests):
    with pytest.raises(ValueError, match="a weight is 0 or more"):
        replace(OPTIONS, tests=tests)


def test_weights_are_judged_on_the_same_evidence():
    assert measuring(OPTIONS).keys() == {"file", "pythonpath", "budget_s"}


def test_tests_that_import_what_asks_for_a_gpu_wait_for_one(real_context):
    with pytest.raises(NeedsGpuError, match="asks for a GPU, and there is none here"):
        observe(real_context, "raise RuntimeError('No CUDA GPUs are available')")
