from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from textwrap import dedent

import numpy as np
import pytest

from grader.checks import elements
from grader.checks.calls import failed_observation
from grader.checks.matches_reference import MatchesReference
from grader.contracts.call import Call
from grader.errors import CourseError
from grader.harness.tolerance import Tolerance, Tolerances
from grader.model.observation import STUDENTS_DOING, Observation, Outcome
from grader.model.options import measuring
from grader.model.trace import Launch, Proven, Trace, Watched
from grader.scoring.advice import of_differences

KIND = MatchesReference()
CASES = {"one": (1.0,), "two": (2.0,), "three": (3.0,)}


def options(**keys):
    return MatchesReference.Options(of="utils.f", inputs="family", **keys)


def double(x):
    return 2 * x


def triple(x):
    return 3 * x


def wrong_for_two(x):
    return 2 * x + (x == 2)


def award(observation, **keys):
    found = KIND.award(options(**keys), observation, {})
    return found.fraction, found.reason


def observe(context, **keys):
    return KIND.observe(options(**keys), context)


def test_a_right_function_earns_everything_in_one_child(make_context):
    context = make_context(double, CASES, f=double)
    observation = observe(context)
    assert award(observation) == (1.0, "3 of 3 cases agree")
    assert len(context.subjects) == 1
    assert (observation.outcome, observation.item, observation.seed) == (
        Outcome.OBSERVED,
        "utils.f",
        "c0ffee",
    )
    assert observation.output == "one\ntwo\nthree\n"


@pytest.mark.parametrize(("devices", "calls"), [(0, 9), (2, 3)])
def test_a_simulator_of_threads_tries_three_orders_and_virtual_gpus_have_none(make_context, devices, calls):
    context = make_context(double, CASES, f=double)
    context.simulated, context.devices = True, devices
    observe(context, simulated_inputs="family")
    assert sum(subject.calls for subject in context.subjects) == calls


def test_a_case_keeps_what_went_in_what_came_back_and_what_was_expected(make_context):
    observation = observe(make_context(wrong_for_two, {"two": (2.0,)}, f=double))
    (case,) = observation.cases
    assert (case.name, case.called, case.returned, case.expected) == ("two", "f(2.0)", "5.0", "4.0")
    assert case.inputs == {"args": [2.0], "kwargs": {}}
    assert case.note == "got 5, expected 4"
    assert case.agrees == {"f": False}
    assert (case.quantities["wall_s"].value, case.quantities["wall_s"].unit) == (0.25, "s")
    assert case.quantities["max_abs_error"].value == 1.0
    assert case.quantities["allowed_difference"].value == "1e-09 of the expected value plus 1e-12"


def test_a_shortened_result_shows_the_first_element_that_is_wrong(make_context):
    right = [float(n) for n in range(200)]
    observation = observe(
        make_context(lambda: [*right[:150], -1.0, *right[151:]], {"long": ()}, f=lambda: right)
    )
    (case,) = observation.cases
    assert case.note.startswith("item 150: got -1, expected 150")
    assert " more, -1.0, … 49 more]" in case.returned
    assert " more, 150.0, … 49 more]" in case.expected


def test_a_wrong_case_alone_keeps_small_arrays_whole(make_context):
    thirds = np.full(64, 1 / 3)
    context = make_context(lambda x: x * (x[0] < 1), {"right": (thirds,), "wrong": (3 * thirds,)}, f=double)
    right, wrong = (
        observe(make_context(double, {"one": (thirds,)}, f=double)).cases[0],
        observe(context).cases[1],
    )
    assert right.longer == {}
    assert wrong.longer["called"].count("1.0") == 64
    assert wrong.longer["expected"].count("2.0") == 64


def test_where_no_numbers_were_compared_nothing_is_said_of_a_difference(make_context):
    (case,) = observe(make_context(lambda: [0.5], {"one": ()}, f=lambda: 0.5)).cases
    assert "allowed_difference" not in case.quantities


@pytest.mark.parametrize(
    ("returned", "expected"),
    [([1.0, 2.0], [1.0, 2.0, 3.0]), (np.ones(3), np.ones(4)), (np.float16(1), 1.0)],
    ids=["another length", "another shape", "too coarse"],
)
def test_where_no_numbers_were_compared_none_are_counted(make_context, returned, expected):
    context = make_context(lambda: returned, {"one": ()}, f=lambda: expected)
    (case,) = observe(context, precision="float32").cases
    assert case.note
    assert not {"total", "wrong"} & set(case.quantities)


def test_whole_numbers_may_not_differ_and_a_page_says_so(make_context):
    (case,) = observe(make_context(lambda: 1, {"one": ()}, f=lambda: 2)).cases
    assert case.quantities["allowed_difference"].value == "none"


def test_one_wrong_case_loses_everything_and_is_named(make_context):
    observation = observe(make_context(wrong_for_two, CASES, f=double))
    assert award(observation) == (0.0, "two: got 5, expected 4")


ABORTED = (
    "got -6, expected 0; the program was ended by signal 6 "
    "(SIGABRT: it gave up, as after a failed assertion or where its heap is damaged)"
)


@pytest.mark.parametrize(
    ("returned", "note"),
    [
        ([-6, []], f"item 0: {ABORTED}"),
        ([-6, ["1", "2"]], f"item 0: {ABORTED}"),
        ([-6], f"item 0: {ABORTED}"),
        (
            [134, []],
            "item 0: got 134, expected 0; the program ended with status 134, which a shell gives for signal",
        ),
        (
            [3, []],
            "item 0: got 3, expected 0; item 1 has 0 items, expected 2; item 0 is the program's exit status",
        ),
        (
            [1, ["1", "2"]],
            "item 0: got 1, expected 0 (1 of 3 values differ); item 0 is the program's exit status",
        ),
        ([0, ["1", "3"]], "item [1][1]: got '3', expected '2' (1 of 3 values differ)"),
    ],
    ids=str,
)
def test_a_program_that_a_signal_ended_is_told_so_first(make_context, tmp_path, returned, note):
    (tmp_path / "given").mkdir()
    (tmp_path / "given/utils.py").write_text("def f(): return [run().returncode, run().stdout.split()]\n")
    expected: dict[str, object] = {}
    exec(compile("def f(): return [0, ['1', '2']]", str(tmp_path / "expected.py"), "exec"), expected)
    observation = observe(make_context(lambda: returned, {"one": ()}, f=expected["f"]))
    assert award(observation)[1].startswith(f"one: {note}")
    advice = [*of_differences(observation)]
    assert bool(advice) == ("signal" not in note)


def test_a_number_of_no_program_is_no_signal(make_context):
    observation = observe(make_context(lambda: [-6, []], {"one": ()}, f=lambda: [0, [1.0]]))
    assert award(observation)[1] == "one: item 0: got -6, expected 0; item 1 has 0 items, expected 1"


def test_an_oracle_may_be_a_function_of_a_library(make_context):
    assert award(observe(make_context(lambda x: -x, CASES, f=np.negative))) == (1.0, "3 of 3 cases agree")


def test_credit_per_case_earns_the_share_of_cases(make_context):
    observation = observe(make_context(wrong_for_two, CASES, f=double))
    fraction, reason = award(observation, credit="per_case")
    assert fraction == pytest.approx(2 / 3)
    assert reason == "2 of 3 cases agree; two: got 5, expected 4"


def test_an_accepted_alternative_earns_everything_and_is_named(make_context):
    keys = {"accept": ("other",)}
    observation = observe(make_context(triple, CASES, f=double, other=triple), **keys)
    assert award(observation, **keys) == (1.0, "agrees with the accepted answer other (3 of 3 cases agree)")
    assert observation.cases[1].agrees == {"f": False, "other": True}


def test_of_several_answers_the_nearest_one_says_what_is_wrong(make_context):
    keys = {"accept": ("with_one_more",)}

    def almost(x):
        return [x, x, x + 1]

    context = make_context(almost, CASES, f=lambda x: [x, x], with_one_more=lambda x: [x, x, x])
    assert award(observe(context, **keys), **keys) == (
        0.0,
        "one: item 2: got 2, expected 1 (1 of 3 values differ)",
    )


def test_a_mixture_of_accepted_answers_earns_nothing(make_context):
    keys = {"accept": ("other",)}
    mixed = lambda x: double(x) if x < 2 else triple(x)  # noqa: E731 - as short as what it mixes
    observation = observe(make_context(mixed, CASES, f=double, other=triple), **keys)
    assert award(observation, **keys) == (0.0, "one: got 2, expected 3")
    assert award(observation, credit="per_case", **keys)[0] == pytest.approx(2 / 3)
    assert observation.cases[1].note == ""


def test_the_oracle_may_have_a_name_of_its_own(make_context):
    observation = observe(make_context(triple, CASES, thrice=triple), expected="thrice")
    assert award(observation, expected="thrice") == (1.0, "3 of 3 cases agree")


@pytest.mark.parametrize(
    ("error", "outcome"), [(ZeroDivisionError(), Outcome.CRASHED), (MemoryError(), Outcome.OUT_OF_MEMORY)]
)
def test_after_a_crash_a_fresh_child_takes_the_next_case(make_context, error, outcome):
    def crashes_at_two(x):
        if x == 2:
            raise error
        return 2 * x

    context = make_context(crashes_at_two, CASES, f=double)
    observation = observe(context)
    assert [case.outcome for case in observation.cases] == [Outcome.OBSERVED, outcome, Outcome.OBSERVED]
    assert [subject.calls for subject in context.subjects] == [2, 1]
    assert award(observation) == (0.0, f"two: raised {error!r}")
    assert award(observation, credit="per_case")[0] == pytest.approx(2 / 3)
    assert "crashes_at_two" in observation.facts["tracebacks"]["two"]


def test_a_child_that_died_after_its_answer_is_replaced(make_context):
    context = make_context(None, CASES, f=double)

    def answers_and_dies(x):
        context.subjects[-1].alive = False
        return 2 * x

    context.program["f"] = answers_and_dies
    assert award(observe(context)) == (1.0, "3 of 3 cases agree")
    assert len(context.subjects) == 3


def test_after_a_call_without_end_nothing_more_is_called(make_context):
    def hangs_at_two(x):
        if x == 2:
            raise TimeoutError
        return 2 * x

    context = make_context(hangs_at_two, CASES, f=double)
    observation = observe(context)
    assert [case.outcome for case in observation.cases] == [
        Outcome.OBSERVED,
        Outcome.TIMED_OUT,
        Outcome.TIMED_OUT,
    ]
    assert [subject.calls for subject in context.subjects] == [2]
    assert observation.cases[2].note == "not called: an earlier call did not end in time"
    assert observation.cases[2].called == "f(3.0)"
    assert award(observation, credit="per_case")[0] == pytest.approx(1 / 3)


def test_where_each_case_counts_the_others_are_called_in_fresh_children_until_three_have_no_end(make_context):
    def hangs_at_two(x):
        if x == 2:
            raise TimeoutError
        return 2 * x

    context = make_context(hangs_at_two, CASES, f=double)
    observation = observe(context, credit="per_case")
    assert [case.outcome.value for case in observation.cases] == ["observed", "timed_out", "observed"]
    assert [subject.calls for subject in context.subjects] == [2, 1]
    assert award(observation, credit="per_case")[0] == pytest.approx(2 / 3)

    def always_hangs(x):
        raise TimeoutError

    more = CASES | {name + " more": args for name, args in CASES.items()}
    context = make_context(always_hangs, more, f=double)
    observation = observe(context, credit="per_case")
    assert [case.outcome.value for case in observation.cases] == ["timed_out"] * 6
    assert [subject.calls for subject in context.subjects] == [1, 1, 1]
    assert observation.cases[3].note == "not called: an earlier call did not end in time"


@pytest.mark.parametrize("outcome", [Outcome.CRASHED, Outcome.TIMED_OUT, Outcome.NOT_OBSERVED])
def test_a_file_that_cannot_be_imported_is_the_observation(make_context, outcome):
    failed = Call(outcome=outcome, note="exit(0) at import", traceback="line 1")
    observation = observe(make_context(double, CASES, imports=(failed,), f=double))
    assert (observation.outcome, observation.cases) == (outcome, ())
    assert observation.note == "utils.py could not be imported: exit(0) at import"


def test_a_syntax_error_of_another_file_is_told_by_its_own_place(make_context):
    failed = Call(outcome=Outcome.CRASHED, note="nets.py:4: expected ':'", traceback="line 4")
    observation = observe(make_context(double, CASES, imports=(failed,), f=double))
    assert observation.note == "nets.py:4: expected ':'"


def test_an_import_that_fails_in_a_later_child_is_that_cases_crash(make_context):
    def crashes(x):
        raise ValueError

    imports = (Call(outcome=Outcome.OBSERVED), Call(outcome=Outcome.CRASHED, note="no import"))
    observation = observe(make_context(crashes, CASES, imports=imports, f=double))
    assert observation.outcome is Outcome.OBSERVED
    assert [case.note for case in observation.cases] == [
        "raised ValueError()",
        "no import",
        "raised ValueError()",
    ]


def test_an_import_that_fails_has_one_sentence_in_every_kind(make_context):
    context = make_context(double, CASES, f=double)
    failed = Call(outcome=Outcome.CRASHED, note="importing utils.py: KeyError: 1 (utils.py:3)")
    assert (
        failed_observation(context, failed).note == "utils.py could not be imported: KeyError: 1 (utils.py:3)"
    )
    ended = Call(outcome=Outcome.CRASHED, note="f(): KeyError: 1")
    assert failed_observation(context, ended).note == ended.note


def test_a_function_that_does_not_exist_is_refused(make_context):
    observation = observe(make_context(None, CASES, f=double))
    assert (observation.outcome, observation.note) == (Outcome.REFUSED, "there is no function f")
    assert observation.facts == {"no_result": True}


def test_a_fault_of_the_machine_leaves_the_whole_item_open(make_context):
    def unlucky_at_two(x):
        if x == 2:
            raise OSError("the sandbox is gone")
        return 2 * x

    observation = observe(make_context(unlucky_at_two, CASES, f=double))
    assert (observation.outcome, observation.cases) == (Outcome.NOT_OBSERVED, ())
    assert "the sandbox is gone" in observation.note


def test_inputs_changed_in_place_are_noted_and_cost_only_if_the_rubric_says_so(make_context):
    def doubles_in_place(x):
        x *= 2
        return x

    cases = {"zeros": (np.zeros(3),), "ones": (np.ones(3),)}
    observation = observe(make_context(doubles_in_place, cases, f=double))
    assert [case.changed_inputs for case in observation.cases] == [(), ("argument 1",)]
    assert award(observation) == (1.0, "2 of 2 cases agree")
    assert award(observation, changed_inputs="fails") == (0.0, "ones: changed argument 1 in place")
    assert award(observation, changed_inputs="fails", credit="per_case")[0] == 0.5


def test_a_fault_in_an_oracle_is_not_the_students(make_context):
    def broken(x):
        raise KeyError("no such table")

    with pytest.raises(KeyError):
        observe(make_context(double, CASES, f=broken))


def test_a_family_without_cases_is_the_courses_fault(make_context):
    with pytest.raises(CourseError, match=r"inputs\.py: family: gives no cases"):
        observe(make_context(double, {}, f=double))


def test_tolerance_and_dtype_reach_the_comparison(make_context):
    context = make_context(lambda x: np.float32(2.1 * x), CASES, f=double)
    assert award(observe(context))[0] == 0.0
    wide = Tolerances(float32=Tolerance(rtol=0.1, atol=0.0))
    assert award(observe(context, tolerance=wide))[0] == 1.0
    assert award(observe(context, tolerance=wide, dtype="exact"))[0] == 0.0


def test_an_observation_without_cases_earns_nothing(make_context):
    observation = replace(observe(make_context(double, CASES, f=double)), cases=())
    assert award(observation) == (0.0, "no case was looked at")


def test_only_keys_that_judge_leave_stored_evidence_fresh():
    keys = {"of", "inputs", "simulated_inputs", "expected", "accept", "tolerance", "precision", "dtype"}
    assert set(measuring(options())) == keys | {
        "loops_over",
        "begins_on",
        "compiled",
        "made_on_gpu",
        "exchanged_inputs",
    }


def test_evidence_of_special_values_is_strict_json(make_context):
    observation = observe(make_context(lambda x: x, {"nan": (np.array([np.nan]),)}, f=lambda x: x))
    json.dumps(observation.cases[0].inputs, allow_nan=False)
    assert award(observation)[0] == 1.0


def test_the_host_imports_no_numpy_for_the_judging_half():
    code = (
        "import sys, grader.checks.matches_reference, grader.checks.properties; print('numpy' in sys.modules)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "False\n"


LOOPS = """
    def f(A):
        C = A.copy()
        for i in range(A.shape[0]):
            for j in range(A.shape[1]):
                C[i, j] = 2 * A[i, j]
        return C
"""
FAMILY = """
    import numpy as np
    from grader.api import case
    def family(rng): yield case("a few", rng.integers(0, 9, size=(5, 4)))
    def named(rng): yield case("by name", A=rng.integers(0, 9, size=(5, 4)))
"""
COURSE = {"reference/work.py": "", "inputs.py": FAMILY, "expected.py": "def f(A): return 2 * A\n"}


def followed(real_context, text, **keys):
    keys = {"of": "work.f", "inputs": "family", "loops_over": "family", **keys}
    chosen = MatchesReference.Options(**keys)
    observation = KIND.observe(chosen, real_context({"work.py": text}, COURSE))
    assert observation.fault is None
    if observation.outcome is not Outcome.OBSERVED:
        return observation.outcome, observation.note
    found = KIND.award(chosen, observation, {})
    return found.fraction, found.reason, *found.flags


def test_loops_over_single_elements_earn_the_points(real_context):
    assert followed(real_context, LOOPS) == (1.0, "its one case agrees")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("def f(A): return 2 * A", "work.py:1: computes with, or compares, a whole array; loops over"),
        ("def f(A): return A.__add__(A)", "work.py:1: uses .__add__"),
        ("def f(A, d=[]):\n d.append(d)\n return 2 * A if A.sum() else d", "work.py:3: uses .sum"),
    ],
)
def test_what_is_no_loop_costs_the_points_with_its_line(real_context, text, problem):
    fraction, reason = followed(real_context, text)
    assert fraction == 0.0
    assert reason.startswith(problem)


@pytest.mark.parametrize(
    "what",
    [
        pytest.param("def g(A): return [[sum(range(10**11))]]", marks=pytest.mark.slow),
        "def g(A): return g(A)",
        "def g(A): return [0] * 10**7",
        "def g(A):\n d = []\n d.append(d)\n return d",
        "def g(A):\n d = []\n for i in range(10**5): d = [d]\n raise ValueError(d)",
        "def g(A): return 'x' * 10**8",
        "def g(A): return 7 ** 10**7",
        "def g(A): return {g: g, 1: map, 2: ValueError(A[0, 0])}",
        "def g(A): raise ValueError(A, A[0, 0], g)",
        "def g(A): raise g",
        "def g(A): raise StopIteration",
        "def g(A): return (x for x in A)",
        "g = 3",
        "class g: pass",
        "import work as g",
        "g = 'x" + "y" * 10**6 + "'",
    ],
)
def test_no_program_keeps_the_tool_from_an_answer(real_context, what):
    context = real_context({"work.py": what}, COURSE)
    answer = elements.follow(context, "work.g", "family", context.expected("f"), Tolerances(), compiled=False)
    if not isinstance(answer, Observation):
        assert answer["problem"]
    else:
        assert answer.outcome in STUDENTS_DOING


def test_a_family_without_places_for_arguments_is_the_courses_mistake(real_context):
    with pytest.raises(CourseError, match="give arguments by place"):
        followed(real_context, LOOPS, loops_over="named")


def test_compiled_needs_inputs_for_the_loops():
    with pytest.raises(ValueError, match="compiled needs loops_over"):
        options(compiled=True)


def test_what_ran_on_no_input_is_shown_to_a_person(real_context):
    text = dedent(LOOPS).replace("def f(A):", "def f(A):\n    if A.size > 99:\n        return A + A")
    assert followed(real_context, text)[2:] == ("work.py:4 ran on none of the small inputs",)


@pytest.mark.parametrize(
    ("proof", "fraction", "undecided"),
    [(Proven.DEVICE, 1.0, False), (Proven.HOST, 0.0, False), (Proven.UNCLEAR, 0.0, True), (None, 1.0, False)],
)
def test_a_result_that_is_to_be_made_on_a_gpu_is_also_watched(
    make_context, monkeypatch, proof, fraction, undecided
):
    launch = Launch(kernel="k", grid=(1, 1, 1), block=(1, 1, 1))
    trace = Trace(source="cupti", launches=(launch,), launch_count=1)
    monkeypatch.setattr(
        "grader.checks.matches_reference.watch",
        lambda *args: Watched(trace=trace, proof=proof, unproven="why"),
    )
    context = make_context(lambda x: 2 * x, {"a number": (1.5,)}, double=lambda x: 2 * x)
    observation = KIND.observe(options(expected="double", made_on_gpu=True), context)
    award = KIND.award(options(expected="double", made_on_gpu=True), observation, {})
    assert (award.fraction, award.undecided) == (fraction, undecided)


def test_a_result_that_is_wrong_for_new_inputs_was_kept(make_context, monkeypatch):
    watched = Watched(trace=Trace(source="cupti"), wrong="got 1, expected 2")
    monkeypatch.setattr("grader.checks.matches_reference.watch", lambda *args: watched)
    context = make_context(lambda x: 2 * x, {"a number": (1.5,)}, double=lambda x: 2 * x)
    observation = KIND.observe(options(expected="double", made_on_gpu=True), context)
    earned = award(observation, expected="double", made_on_gpu=True)
    assert earned == (0.0, "called again with new inputs: got 1, expected 2")


def test_what_is_wrong_is_not_watched(make_context, monkeypatch):
    monkeypatch.setattr("grader.checks.matches_reference.watch", lambda *args: pytest.fail("watched"))
    context = make_context(lambda x: 3 * x, {"a number": (1.5,)}, double=lambda x: 2 * x)
    observation = KIND.observe(options(expected="double", made_on_gpu=True), context)
    assert KIND.award(options(expected="double", made_on_gpu=True), observation, {}).fraction == 0.0
