from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest

from grader.contracts.call import InputCase, OpaqueValue
from grader.harness.render import call_text, called_texts, case_texts, describe, record, value_text


def test_a_call_reads_as_python_source():
    case = InputCase(
        name="odd", args=(np.array([0, 1.5]), [16, (2,)]), kwargs={"rate": 0.1, "name": "a\n", "flag": None}
    )
    text = call_text("fit", case)
    assert text == "fit(array([0.0, 1.5]), [16, (2,)], rate=0.1, name='a\\n', flag=None)"


class Clock:
    """An object that can be called, as a case may have one."""


def test_a_function_among_the_arguments_is_written_without_its_address_and_module():
    def tick():
        """Part of this function."""

    class Inner:
        """Part of this function, too."""

    values = (call_text, tick, lambda: 0, [Clock(), Inner()])
    text = call_text("measure", InputCase(name="a clock", args=values, kwargs={}))
    functions = "<function call_text>, <function tick>, <function <lambda>>"
    assert text == f"measure({functions}, [<Clock object>, <Inner object>])"
    assert value_text(SimpleNamespace(a=1)) == "namespace(a=1)"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.array(0.5), "array(0.5)"),
        (np.array([[1, 2], [3, 4]]), "array([[1, 2], [3, 4]])"),
        (np.array([0.1, np.nan, -np.inf], np.float32), "array([0.1, nan, -inf], dtype=float32)"),
        (np.array([True, False]), "array([True, False])"),
        (np.array([1 + 2j]), "array([(1+2j)])"),
        (np.array(["a\x1b"]), "array(['a\\x1b'], dtype=str64)"),
        (np.zeros((0, 3), np.float32), "array([], shape=(0, 3), dtype=float32)"),
        (np.arange(100), "array([0, 1, 2, …, 97, 98, 99], shape=(100,), dtype=int64)"),
        (np.zeros((1,) * 4), "array([[[[0.0]]]])"),
        (np.float64(0.1), "0.1"),
        (np.float32(0.1), "float32(0.1)"),
        (np.longdouble(0.5), f"{np.longdouble(0).dtype.name}(0.5)"),
        (np.datetime64("2020-01-01"), "datetime64[D]('2020-01-01')"),
        (0.1 + 0.2, "0.30000000000000004"),
        (True, "True"),
        ({"a": [1, ()]}, "{'a': [1, ()]}"),
        pytest.param(10**5000, "<an integer of 16610 bits>", id="a giant integer"),
        ("\ud800\x1b[2J", "'\\ud800\\x1b[2J'"),
        (OpaqueValue(type_name="torch.Tensor"), "<torch.Tensor>"),
        (OpaqueValue(type_name="a\x1b\n"), "<a\\x1b\\n>"),
    ],
)
def test_a_value_reads_as_python_writes_it(value, text):
    assert value_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.zeros((50, 50)), "array([[0.0, …, 0.0], …, [0.0, …, 0.0]], shape=(50, 50), dtype=float64)"),
        (np.full(64, 1 / 3), "array([0.33333333, …, 0.33333333], shape=(64,), dtype=float64)"),
        (np.zeros((2,) * 20), "array([…], shape=(2, 2,"),
        (list(range(1000)), "[0, 1, 2,"),
        ("a" * 1000, "'aaa"),
    ],
)
@pytest.mark.parametrize("limit", [90, 100])
def test_what_is_too_long_for_a_line_is_shortened(value, text, limit):
    shortened = value_text(value, limit=limit)
    assert shortened.startswith(text)
    assert len(shortened) <= limit


def test_a_shortened_list_says_how_many_items_are_left_out():
    assert value_text(list(range(100)), limit=30) == "[0, 1, 2, 3, 4, 5, … 94 more]"
    assert value_text([0] * 1_000_000, limit=30) == "[0, 0, 0, 0, … 999996 more]"


@pytest.mark.parametrize(
    ("value", "at", "text"),
    [
        (list(range(100)), (), "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, … 87 more]"),
        (list(range(100)), (5,), "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, … 87 more]"),
        (list(range(100)), (50,), "[0, 1, 2, 3, 4, 5, 6, 7, 8, … 41 more, 50, … 49 more]"),
        (list(range(100)), (99,), "[0, 1, 2, 3, 4, 5, 6, 7, 8, … 90 more, 99]"),
        (["a" * 30, "b" * 30, "c" * 30], (2,), "[… 2 more, 'cccccccccccccccccccccccccccccc']"),
        ({"a": "x" * 40, "b": [1, 2]}, ("b", 1), "{… 1 more, 'b': [1, 2]}"),
        (np.arange(100), (50,), "array([0, …, 50, …, 99], shape=(100,), dtype=int64)"),
        (np.zeros((9, 9, 9)), (4, 4, 4), "array([…], shape=(9, 9, 9), dtype=float64)"),
        (list(range(100)), (500,), "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, … 87 more]"),
        (np.arange(100), ("a",), "array([0, …, 99], shape=(100,), dtype=int64)"),
    ],
)
def test_what_is_shortened_keeps_the_element_that_is_asked_for(value, at, text):
    shortened = value_text(value, limit=56, at=at)
    assert shortened == text
    assert len(shortened) <= 56


def test_an_element_within_arrays_of_a_list_is_kept():
    arrays = [np.zeros((20, 30)) for _ in range(6)]
    arrays[4][3, 2] = 1
    shortened = value_text(arrays, at=(4, 3, 2))
    assert " … 3 more, array([[0.0, …, 0.0, …, 0.0], …, [0.0, …, 1.0, …, 0.0], …," in shortened
    assert len(shortened) <= 240


def test_a_shortened_value_has_a_longer_form_with_small_arrays_whole():
    eight, batch = np.arange(8) / 7, np.arange(24).reshape(8, 3) / 7
    texts = case_texts(returned=[batch, batch], expected=eight)
    assert "…" in texts["returned"]
    assert texts["longer"] == {"returned": f"[{', '.join([value_text(batch, limit=999)] * 2)}]"}
    assert "…" not in texts["longer"]["returned"]
    call = InputCase(name="large", args=(np.full((8, 8), -1e-100 / 3), 1))
    assert "…" in called_texts("f", call)["called"]
    assert called_texts("f", call)["longer"]["called"].count("-3.3333333e-101") == 64
    assert called_texts("f", InputCase(name="small", args=(eight,)))["longer"] == {}


def test_what_has_more_elements_than_a_small_array_has_no_longer_form():
    texts = case_texts(returned=list(range(65)), expected=np.zeros((1000, 1000)), at=(7, 7))
    assert texts["longer"] == {}
    nested = [[[list(range(40))] * 40] * 40] * 40
    assert len(case_texts(returned=nested)["longer"]["returned"]) <= 2_000
    call = InputCase(name="mixed", args=(np.zeros((99, 99)),), kwargs={"labels": np.full(64, 1 / 3)})
    short, longer = called_texts("f", call)["called"], called_texts("f", call)["longer"]["called"]
    assert longer.partition("labels=")[0] == short.partition("labels=")[0]
    assert longer.count("0.33333333") == 64


def test_nesting_is_shown_six_levels_deep():
    value: list = []
    for _ in range(100_000):
        value = [value]
    assert value_text(value) == "[[[[[[[…]]]]]]]"


@pytest.mark.parametrize(
    ("value", "phrase"),
    [
        (np.zeros((3, 4)), "an array of shape (3, 4)"),
        ((1,), "a tuple of 1 item"),
        ([1, 2], "a list of 2 items"),
        (OpaqueValue(type_name="set"), "a set"),
        (OpaqueValue(type_name="object"), "an object"),
        (None, "None"),
        (0.5, "0.5"),
    ],
)
def test_a_description_fits_into_a_sentence(value, phrase):
    assert describe(value) == phrase


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (
            np.array([[1.5, np.nan]], np.float32),
            {"$array": {"dtype": "float32", "shape": [1, 2], "values": [1.5, {"$float": "nan"}]}},
        ),
        (np.float64(-np.inf), {"$array": {"dtype": "float64", "shape": [], "values": [{"$float": "-inf"}]}}),
        (
            np.array([1j]),
            {"$array": {"dtype": "complex128", "shape": [1], "values": [{"$complex": [0.0, 1.0]}]}},
        ),
        (np.array([None]), {"$array": {"dtype": "object", "shape": [1]}}),
        (float("inf"), {"$float": "inf"}),
        ((1, [True, None]), {"$tuple": [1, [True, None]]}),
        ({"a": 2**70}, {"a": {"$int": hex(2**70)}}),
        (SimpleNamespace(), {"$type": "SimpleNamespace"}),
    ],
)
def test_a_record_is_strict_json(value, kept):
    assert record(value) == kept
    json.dumps(record(value), allow_nan=False)


def test_a_longdouble_is_kept_as_a_float():
    assert record(np.longdouble(0.5))["$array"]["values"] == [0.5]


def test_a_large_array_is_kept_by_a_digest_of_its_elements_alone():
    array = np.arange(100.0).reshape(10, 10)
    kept = record(array)
    assert set(kept["$array"]) == {"dtype", "shape", "sha256"}
    assert record(np.asfortranarray(array)) == kept
    assert record(array.astype(">f8")) == kept
    assert record(array + 1) != kept
    assert record(np.zeros(64))["$array"]["values"] == [0.0] * 64


def test_a_long_list_is_kept_by_a_digest_of_its_items():
    kept = record(list(range(100)))
    assert kept["$sequence"]["length"] == 100
    assert record([*range(99), 0]) != kept
