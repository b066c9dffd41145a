"""Products in the order of columns, with every kind of operand."""

import pytest


@pytest.mark.slow
@pytest.mark.parametrize(
    "function",
    [
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("plain", "second_transposed", "both_transposed")
        ),
        "first_transposed",
    ],
)
def test_a_product_is_right_with_each_operand_transposed_or_not(run, function):
    done = run("blas", function)
    assert (done.status, done.out[0], done.reported) == (0, 0, [])


def test_vectors_matrices_by_vectors_and_transposition(run):
    done = run("blas", "vectors")
    assert done.out[:5] == [7, 2, 28, 34, 2]


def test_a_handle_that_was_destroyed_is_no_handle(run):
    assert run("blas", "vectors").status == 1


def test_an_operand_that_is_too_small_is_told_with_the_line_of_the_call(run, line_of):
    done = run("blas", "too_small")
    assert done.status == 13
    assert (done.fault["fault"], done.fault["line"]) == ("illegal_access", line_of("call", "blas"))
    assert done.fault["what"] == "cublasSgemm is given more elements than were allocated on the device"
