from __future__ import annotations

import sys

import numpy as np
import pytest

from grader.contracts.call import OpaqueValue
from grader.errors import CourseError
from grader.harness.compare import compare
from grader.harness.render import value_text
from grader.harness.tolerance import Tolerance, Tolerances
from grader.model.observation import Symptom
from grader.model.unused import UNUSED

MATRIX = np.arange(12.0).reshape(3, 4)
NAN, INF = float("nan"), float("inf")


def nested(value, depth):
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        pytest.param(MATRIX.tolist(), MATRIX, id="nested lists for an array"),
        pytest.param(tuple(map(tuple, MATRIX.tolist())), MATRIX, id="nested tuples for an array"),
        pytest.param(list(MATRIX), MATRIX, id="a list of rows for an array"),
        pytest.param([np.float64(v) for v in range(3)], np.arange(3.0), id="a list of numpy scalars"),
        pytest.param(MATRIX.astype(np.float32), MATRIX, id="float32 for float64"),
        pytest.param(MATRIX.astype(int), MATRIX, id="integers for floats"),
        pytest.param(MATRIX, MATRIX.astype(int), id="floats for integers"),
        pytest.param(MATRIX.astype(">f8"), MATRIX, id="another byte order"),
        pytest.param(np.asfortranarray(MATRIX), MATRIX, id="another memory order"),
        pytest.param((MATRIX, 1), [MATRIX, 1], id="a tuple for a list"),
        pytest.param([[MATRIX], []], ([MATRIX], ()), id="lists for tuples"),
        pytest.param(0.5, np.float64(0.5), id="a number for a numpy scalar"),
        pytest.param(np.array(0.5), 0.5, id="an array of shape () for a number"),
        pytest.param(np.float32(0.1), 0.1, id="a float32 scalar for a number"),
        pytest.param(2, 2.0, id="an integer for a float"),
        pytest.param(2 + 0j, 2.0, id="a complex number without imaginary part"),
        pytest.param([], np.empty((0, 3)), id="an empty list for an array without elements"),
        pytest.param(np.empty((0, 3), int), np.empty((0, 3)), id="no elements of another dtype"),
        pytest.param(NAN, NAN, id="NaN for NaN"),
        pytest.param([NAN, -INF, 1], np.array([NAN, -INF, 1]), id="special values in their places"),
        pytest.param(-0.0, 0.0, id="negative zero"),
        pytest.param(10**400, 10**400, id="giant integers"),
        pytest.param(10**30, 1e30, id="a giant integer for the same float"),
        pytest.param([2**63, 2**80], np.array([2**63, 2**80], dtype=float), id="giant integers in a list"),
        pytest.param({"b": 1, "a": MATRIX}, {"a": MATRIX, "b": 1}, id="dicts in another order"),
        pytest.param([True, np.False_], np.array([True, False]), id="booleans"),
        pytest.param("text", "text", id="the same text"),
        pytest.param(None, None, id="None where None is expected"),
    ],
)
def test_legitimate_variety_agrees(actual, expected):
    found = compare(actual, expected)
    assert (found.agrees, found.note, found.wrong) == (True, "", 0)


@pytest.mark.parametrize(
    ("actual", "expected", "note"),
    [
        (None, MATRIX, "returned None; expected an array of shape (3, 4)"),
        (None, 0.5, "returned None; expected a single number"),
        (None, [1, 2], "returned None; expected a list of 2 items"),
        (0, None, "got 0, expected None"),
        (
            OpaqueValue(type_name="torch.Tensor"),
            MATRIX,
            "returned a torch.Tensor; expected an array of shape (3, 4); give its .numpy(force=True)",
        ),
        (
            OpaqueValue(type_name="torch.Tensor"),
            0.5,
            "returned a torch.Tensor; expected a single number; give its .item()",
        ),
        (
            [MATRIX, OpaqueValue(type_name="object")],
            [MATRIX, MATRIX],
            "item 1 is an object; expected an array of shape (3, 4)",
        ),
        (MATRIX.T, MATRIX, "returned an array of shape (4, 3); expected an array of shape (3, 4)"),
        ([0, 1, MATRIX.T], [0, 1, MATRIX], "item 2 has shape (4, 3) instead of (3, 4)"),
        ([[0], [MATRIX.T]], [[0], [MATRIX]], "item [1][0] has shape (4, 3) instead of (3, 4)"),
        (np.array([0.5]), 0.5, "returned an array of shape (1,); expected a single number"),
        ([0.5], 0.5, "returned [0.5]; expected a single number"),
        (0.5, np.array([0.5]), "returned 0.5; expected an array of shape (1,)"),
        ([[1, 2], [3]], np.ones((2, 2)), "returned [[1, 2], [3]]; expected an array of shape (2, 2)"),
        ([1, "2"], np.ones(2), "returned [1, '2']; expected an array of shape (2,)"),
        ([1, True], np.ones(2), "returned [1, True]; expected an array of shape (2,)"),
        (
            [np.ones(2), np.ones(3)],
            np.ones((2, 2)),
            "returned [array([1.0, 1.0]), array([1.0, 1.0, 1.0])]; expected an array of shape (2, 2)",
        ),
        (
            [1.5, 10**400],
            np.ones(2),
            "returned [1.5, <an integer of 1329 bits>]; expected an array of shape (2,)",
        ),
        (0.1, 0.1 + 1e-7 / 3, "got 0.1, expected 0.100000033"),
        (MATRIX, list(MATRIX), "returned an array of shape (3, 4); expected a list of 3 items"),
        ([1, 2, 3], [1, 2, 3, 4], "returned 3 items, expected 4"),
        ([[1]], [[1, 2]], "item 0 has 1 item, expected 2"),
        ([1, [1]], [1, [1, 2]], "item 1 has 1 item, expected 2"),
        ([3, []], [0, [1, 2]], "item 0: got 3, expected 0; item 1 has 0 items, expected 2"),
        ([3, None], [0, 1], "item 0: got 3, expected 0; item 1 is None; expected a single number"),
        (
            [MATRIX + 1, MATRIX.T],
            [MATRIX, MATRIX],
            "item 0 at [0, 0]: got 1, expected 0; item 1 has shape (4, 3) instead of (3, 4)",
        ),
        (
            {"a": 3, "b": []},
            {"a": 0, "b": [1]},
            "item ['a']: got 3, expected 0; item ['b'] has 0 items, expected 1",
        ),
        ([3], [0, 1], "returned 1 item, expected 2"),
        ({"a": 1}, {"a": 1, "b": 2}, "the result lacks the key 'b'"),
        ({"a": 1, "c": 1}, {"a": 1}, "the result has a key that was not expected, 'c'"),
        (np.array(["a"]), np.ones(1), "the result has elements of dtype '<U1'; expected numbers"),
        (np.array([None]), np.ones(1), "the result has elements of dtype 'object'; expected numbers"),
        (True, 1, "the result holds True or False; expected a number"),
        (np.ones(2), np.array([True, True]), "the result holds numbers; expected True and False"),
        ("1.0", 1.0, "returned '1.0'; expected a single number"),
        ("a", "b", "got 'a', expected 'b'"),
        (0.731, 0.269, "got 0.731, expected 0.269"),
        (1, 2, "got 1, expected 2"),
        (NAN, 0.5, "got nan, expected 0.5"),
        (0.5, NAN, "got 0.5, expected nan"),
        (INF, -INF, "got inf, expected -inf"),
        (1e308, INF, "got 1e+308, expected inf"),
        (complex(NAN, 1), complex(NAN, 2), "got nan+1j, expected nan+2j"),
        (10**400, INF, "got <an integer of 1329 bits>, expected inf"),
        (10**400, 10**400 + 1, "got <an integer of 1329 bits>, expected <an integer of 1329 bits>"),
        (2**63, 2**63 + 1, "got 9223372036854775808, expected 9223372036854775809"),
    ],
)
def test_the_first_difference_is_one_sentence(actual, expected, note):
    found = compare(actual, expected)
    assert not found.agrees
    assert found.note.partition("; a float64")[0] == note
    assert found.wrong > 0


def test_the_place_and_the_number_of_wrong_values_are_told():
    wrong = np.arange(50.0).reshape(5, 10)
    right = wrong.copy()
    right[2, 5:] += 1
    found = compare([0, wrong], [0, right])
    assert found.note == "item 1 at [2, 5]: got 25, expected 26 (5 of 51 values differ)"
    assert (found.wrong, found.total, found.max_abs_error) == (5, 51, 1.0)
    assert found.max_rel_error == pytest.approx(1 / 26)


def test_a_near_miss_shows_the_digits_that_differ_and_the_tolerance():
    found = compare(np.array([0.5, 0.123456789]), np.array([0.5, 0.12345678]))
    assert found.note == (
        "at [1]: got 0.123456789, expected 0.12345678; a float64 may differ by 1e-09 of the expected value "
        "plus 1e-12"
        " (1 of 2 values differ)"
    )


@pytest.mark.parametrize(
    ("dtype", "off", "agrees"),
    [
        ("float16", 5e-4, True),
        ("float16", 5e-3, False),
        ("float32", 5e-6, True),
        ("float32", 5e-5, False),
        ("float64", 5e-10, True),
        ("float64", 5e-9, False),
        ("complex64", 5e-6, True),
        ("complex128", 5e-9, False),
    ],
)
def test_the_coarser_dtype_decides_the_tolerance(dtype, off, agrees):
    wide = "complex128" if dtype.startswith("c") else "float64"
    exact = np.full(3, 1.0, wide)
    rounded = (exact * (1 + off)).astype(wide)
    coarse = exact.astype(dtype)
    assert compare(coarse, rounded).agrees is agrees
    assert compare(rounded, coarse).agrees is agrees


def test_the_tolerance_that_was_applied_is_named():
    assert compare(np.float32(1), 1.0).tolerance == "float32"
    assert compare([1, np.ones(2)], [1, np.ones(2, np.float16)]).tolerance == "float16"
    assert compare(1, 1).tolerance == "exact"


def test_of_values_of_several_dtypes_that_of_the_first_difference_is_told():
    expected = {"loss": 2.0, "gradient": np.full(2, 0.5)}
    found = compare({"loss": np.float32(2.00001), "gradient": np.array([0.5, 0.5 + 1e-8])}, expected)
    assert found.note.startswith("item ['gradient'] at [1]: got 0.50000001, expected 0.5; a float64 may")
    assert (found.tolerance, found.max_abs_error) == ("float64", pytest.approx(1e-8))
    found = compare({"loss": np.float32(2.1), "gradient": np.array([0.5, 0.7])}, expected)
    assert (found.tolerance, found.max_abs_error) == ("float32", pytest.approx(0.1))


def test_a_rubric_may_widen_one_dtype_without_touching_the_others():
    wide = Tolerances(float32=Tolerance(rtol=0.1, atol=0.0))
    assert compare(np.float32(1.05), 1.0, wide).agrees
    assert not compare(1.05, 1.0, wide).agrees


def test_integers_are_exact_however_large_the_tolerance():
    anything = Tolerances(float64=Tolerance(rtol=0.9, atol=100.0))
    assert not compare(np.array([2**60]), np.array([2**60 + 1]), anything).agrees
    assert not compare(np.array([2**63], np.uint64), np.array([2**63 - 1]), anything).agrees


@pytest.mark.parametrize(
    ("actual", "expected", "agrees"),
    [
        (np.ones(2, np.float32), np.ones(2), False),
        (np.ones(2, int), np.ones(2), False),
        (np.ones(2), np.ones(2), True),
        ([1.0, 1.0], np.ones(2), True),
        ([], np.ones(0, np.float32), True),
    ],
)
def test_exact_dtype_asks_for_the_expected_dtype(actual, expected, agrees):
    found = compare(actual, expected, dtype="exact")
    assert found.agrees is agrees
    assert agrees or found.note == f"the result has dtype {actual.dtype.name} instead of float64"


@pytest.mark.parametrize("special", [NAN, INF, -INF])
def test_no_expected_value_is_a_wildcard(special):
    expected = np.array([1.0, special])
    for wrong in (0.0, NAN, INF, -INF):
        agrees = compare(np.array([1.0, wrong]), expected).agrees
        assert agrees is bool(np.array_equal([wrong], [special], equal_nan=True))


@pytest.mark.parametrize("anything", [0, None, "text", [1, [2]], MATRIX, OpaqueValue(type_name="object")])
def test_what_is_unused_is_neither_looked_at_nor_counted(anything):
    expected = [UNUSED, np.arange(3.0), {"a": UNUSED, "b": 1}]
    found = compare([anything, np.arange(3), {"a": anything, "b": 1}], expected)
    assert (found.agrees, found.total) == (True, 4)
    assert compare([anything, np.arange(3), {"a": anything, "b": 2}], expected).wrong == 1


def test_what_is_unused_must_still_be_there():
    assert compare([MATRIX], [UNUSED, MATRIX]).note == "returned 1 item, expected 2"
    assert value_text([UNUSED, 1]) == "[…, 1]"


def test_an_infinite_error_is_reported_as_infinite():
    assert compare(NAN, 0.5).max_abs_error == INF
    assert compare(INF, 0.5).max_abs_error == INF


@pytest.mark.parametrize(
    "hostile",
    [
        pytest.param(nested(1.0, sys.getrecursionlimit() * 3), id="deep nesting"),
        pytest.param([0] * 1_000_000, id="a long list"),
        pytest.param([[]] * 1_000, id="empty lists"),
        pytest.param(10**5000, id="an integer too long to write"),
        pytest.param(-(10**5000), id="a negative one"),
        pytest.param([10**5000, 1.5], id="it beside a float"),
        pytest.param(np.zeros((1,) * 20), id="many axes"),
        pytest.param(np.array([(1, 2.0)], dtype="i4,f8"), id="a record array"),
        pytest.param(np.array(["2020-01-01"], dtype="M8[D]"), id="dates"),
        pytest.param(np.longdouble(2), id="a longdouble"),
        pytest.param("\ud800\x1b[2J\n" * 1000, id="text with escapes and lone surrogates"),
        pytest.param(OpaqueValue(type_name="evil\x1b[2J\n" * 100), id="a type with a hostile name"),
        pytest.param({"\x1b[2J": nested(1, 5000)}, id="a hostile key"),
        pytest.param(NAN, id="NaN"),
    ],
)
@pytest.mark.parametrize(
    "expected",
    [1.0, 1, True, "a", None, MATRIX, np.zeros(0), [], [1.0], {"a": 1}, [[MATRIX]], 10**400],
    ids=["float", "int", "bool", "text", "None", "array", "none", "[]", "list", "dict", "lists", "giant"],
)
def test_hostile_results_are_wrong_and_never_an_exception(hostile, expected):
    found = compare(hostile, expected)
    assert not found.agrees
    assert found.note.isprintable()
    assert len(found.note) < 300


@pytest.mark.parametrize("expected", [{1}, object(), [object()], np.array(["a"]), np.array([None]), b"x"])
def test_an_oracle_that_gives_something_incomparable_is_the_courses_fault(expected):
    with pytest.raises(CourseError, match=r"expected\.py: an oracle gave .*; give numbers"):
        compare([1] if isinstance(expected, list) else 1, expected)


HALF = np.float16(0.5)


@pytest.mark.parametrize(
    "value",
    [
        np.full(2, 0.5, np.float16),
        [HALF, HALF],
        [HALF, 0.5],
        [0.5, HALF],
        [np.array(0.5, np.float16), 0.5],
        np.full(2, 0.5, np.float16).astype(np.complex64).real.astype(np.float16),
    ],
    ids=["array", "numbers", "beside a number", "behind a number", "an array without axes", "real part"],
)
def test_floats_coarser_than_asked_for_are_refused_wherever_they_are(value):
    expected = np.full(2, 0.5)
    assert compare(value, expected).agrees
    compared = compare(value, expected, precision="float32")
    assert not compared.agrees
    assert compared.note == "the result has dtype float16, which is too coarse; give float32 or float64"


def test_a_number_of_half_precision_is_refused_by_its_place():
    compared = compare([1.0, HALF], [1.0, 0.5], precision="float32")
    assert compared.note == "item 1 has dtype float16, which is too coarse; give float32 or float64"


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128", "longdouble"])
def test_floats_as_fine_as_asked_for_are_not_refused(dtype, precision):
    fine = dtype not in ("float32", "complex64") or precision == "float32"
    assert compare(np.ones(3, dtype), np.ones(3), precision=precision).agrees is fine


def test_where_whole_numbers_are_expected_any_type_may_hold_them():
    whole = np.arange(256)
    assert compare(whole.astype(np.float16), whole, precision="float64").agrees
    assert compare([1, 2], np.ones(2) * [1, 2], precision="float64").agrees
    assert compare(np.array([0, 1], np.int8), np.array([0.0, 1.0]), precision="float64").agrees


@pytest.mark.parametrize(
    ("got", "expected", "symptom"),
    [
        (np.zeros(10), np.arange(1.0, 11.0), Symptom.UNWRITTEN),
        (np.array([0.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0]), Symptom.WRONG_VALUE),
        (np.array([1.0, np.nan]), np.array([1.0, 2.0]), Symptom.NAN),
        ([1, 2], [1, 3], Symptom.WRONG_VALUE),
        ("a", "b", Symptom.WRONG_VALUE),
        (OpaqueValue(type_name="DeviceNDArray"), np.zeros(2), Symptom.ON_DEVICE),
        (np.zeros((2, 3)), np.zeros((3, 2)), None),
        (np.zeros(3), np.zeros(3), None),
    ],
)
def test_a_difference_has_a_form_that_no_sentence_must_be_searched_for(got, expected, symptom):
    assert compare(got, expected).symptom is symptom


def test_an_element_before_a_wrong_structure_is_where_to_look():
    compared = compare([3.0, []], [0.0, [1.0, 2.0]])
    assert (compared.at, compared.symptom) == ((0,), Symptom.WRONG_VALUE)
    assert (compared.wrong, compared.total, compared.max_abs_error) == (3, 3, None)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_tolerance_of_less_than_a_step_of_its_dtype_is_told_with_what_to_write(dtype):
    step, default = float(np.finfo(dtype).eps), getattr(Tolerances(), dtype)

    def told(rtol: float, atol: float) -> list[tuple[str, str]]:
        return [*Tolerances(**{dtype: Tolerance(rtol=rtol, atol=atol)}).objections()]

    for rtol, atol in ((step / 2, 0.0), (step / 2, step / 2), (0.0, step / 2)):
        ((name, message),) = told(rtol, atol)
        assert name == dtype
        assert f"write rtol: {default.rtol:g}, atol: {default.atol:g}, or 0 for both" in message
    for rtol, atol in ((step, 0.0), (0.0, step), (step / 2, step), (0.0, 0.0)):
        assert told(rtol, atol) == []


def test_no_default_tolerance_is_less_than_a_step_of_its_dtype():
    assert [*Tolerances().objections()] == []


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_a_result_one_step_off_is_lost_below_a_step_and_right_from_it_on(dtype):
    expected = np.ones(3, dtype)
    actual = np.nextafter(expected.real, 2).astype(dtype)
    real = expected.real.dtype
    step = float(np.finfo(real).eps)
    for rtol, agrees in ((step / 2, False), (step, True)):
        tolerances = Tolerances(**{real.name: Tolerance(rtol=rtol, atol=0.0)})
        assert compare(actual, expected, tolerances).agrees is agrees
