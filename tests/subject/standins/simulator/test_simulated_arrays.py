"""No kernel gets past the end of an array, or takes for a value what nobody stored."""

import pytest


def raised(simulated, code):
    with pytest.raises(Exception, match=": ") as caught:
        simulated(code)
    return str(caught.value)


FILL = """
@cuda.jit
def fill(A):
    i, j = cuda.blockIdx.x + SHIFT, cuda.threadIdx.x
    A[i, j] = 1

fill[8, 4](np.zeros((10, 4)))
result = None
"""


@pytest.mark.parametrize(
    ("shift", "block", "index"), [("5", 5, "(10, 0)"), ("-3", 0, "(-3, 0)"), ("np.int64(6)", 4, "(10, 0)")]
)
def test_a_store_outside_names_the_thread_the_block_the_index_and_the_shape(simulated, shift, block, index):
    said = raised(simulated, FILL.replace("SHIFT", shift))
    assert said == (
        f"IndexError: thread (0, 0, 0) of block ({block}, 0, 0):"
        f" index {index} is outside of an array of shape (10, 4)"
    )


@pytest.mark.parametrize(
    "expression",
    [
        "A[i]",
        "A[i, 0]",
        "A[3][i]",
        "A[:, i]",
        "A[:, i - 1]",
        "A[0, i - 1]",
        "A.T[i]",
        "S[i]",
        "S[i - 1]",
        "L[i]",
        "cuda.atomic.add(A, (i, 0), 1)",
    ],
)
def test_a_load_outside_is_found_however_it_is_written(simulated, expression):
    said = raised(
        simulated,
        f"""
        @cuda.jit
        def kernel(A):
            i = cuda.grid(1)
            S = cuda.shared.array(16, numba.float32)
            L = cuda.local.array(16, numba.float32)
            {expression}

        kernel[1, 17](np.zeros((16, 16)))
        """,
    )
    where = "thread (0, 0, 0)" if "i - 1" in expression else "thread (16, 0, 0)"
    assert said.startswith(f"IndexError: {where} of block (0, 0, 0): index ")
    assert "is outside of an array of shape (16" in said


def test_a_missing_bounds_check_is_found_and_a_right_one_passes(simulated):
    code = """
    @cuda.jit
    def twice(a):
        i = cuda.grid(1)
        CHECK
            a[i] *= 2

    a = np.arange(100)
    twice[4, 32](a)
    result = bool((a == 2 * np.arange(100)).all())
    """
    assert simulated(code.replace("CHECK", "if i < a.size:"))
    said = raised(simulated, code.replace("CHECK", "if True:"))
    assert said.startswith("IndexError: thread (4, 0, 0) of block (3, 0, 0): index 100 is outside")


def test_what_is_no_index_at_all_is_said_in_the_words_of_numpy(simulated):
    said = raised(simulated, "@cuda.jit\ndef kernel(a): a[0.5] = 1\nkernel[1, 1](np.zeros(3))")
    assert "only integers" in said
    said = raised(simulated, "@cuda.jit\ndef kernel(a): a[0, 1, 2] = 1\nkernel[1, 1](np.zeros((3, 3)))")
    assert "too many indices" in said


def test_other_errors_of_a_kernel_name_the_thread_as_well(simulated):
    code = "@cuda.jit\ndef kernel(n): 1 // (n - cuda.threadIdx.x)\nkernel[1, 3](1)"
    assert raised(simulated, code).startswith("ZeroDivisionError: thread (1, 0, 0) of block (0, 0, 0): ")


def test_memory_that_nobody_stored_to_is_full_of_poison(simulated):
    floats, integers, truths, mine, device, dynamic = simulated(
        """
        @cuda.jit
        def kernel(floats, integers, truths, mine, dynamic):
            if cuda.blockIdx.x == 0:
                cuda.shared.array(4, numba.float32)[0] = 1  # the next block does not see it
            i = cuda.threadIdx.x
            floats[i] = cuda.shared.array(4, numba.float32)[i]
            integers[i] = cuda.shared.array((4,), np.int32)[i]
            truths[i] = cuda.shared.array(4, numba.boolean)[i]
            mine[i] = cuda.local.array(4, numba.int64)[i]
            dynamic[i] = cuda.shared.array(0, numba.float64)[i]

        arrays = np.zeros(4), np.zeros(4, np.int32), np.zeros(4, bool), np.zeros(4, np.int64), np.zeros(4)
        kernel[2, 4, 0, 32](*arrays)
        floats, integers, truths, mine, dynamic = arrays
        device = cuda.device_array((2, 2), np.float32).copy_to_host()
        result = [np.isnan(floats), integers, truths, mine, np.isnan(device), np.isnan(dynamic)]
        """
    )
    assert floats == truths == dynamic == [True] * 4
    assert device == [[True, True]] * 2
    assert len(set(integers)) == 2
    assert min(integers) < -(10**9)
    assert max(integers) > 10**9
    assert min(map(abs, mine)) > 10**18


def test_dynamic_shared_memory_is_the_same_bytes_for_all_arrays_in_it(simulated):
    assert simulated(
        """
        @cuda.jit
        def kernel(out):
            words = cuda.shared.array(0, numba.int32)
            words[1] = 5
            halves = cuda.shared.array(0, numba.int16)
            out[0], out[1], out[2] = words.size, halves.size, halves[2]

        result = np.zeros(3, np.int64)
        kernel[1, 1, 0, 10](result)
        """
    ) == [2, 5, 5]


def test_two_shared_arrays_of_one_line_are_two(simulated):
    assert simulated(
        """
        @cuda.jit
        def kernel(out):
            a = cuda.shared.array(1, numba.int32); b = cuda.shared.array(1, numba.int32)
            a[0] = 1; b[0] = 2
            out[0] = a[0]

        result = np.zeros(1, np.int64)
        kernel[1, 1](result)
        """
    ) == [1]


def test_stores_are_cut_off_as_the_type_says_and_short_integers_are_calculated_with_in_full(simulated):
    assert simulated(
        """
        @cuda.jit
        def kernel(bytes, words, unsigned, singles):
            bytes[0] = 300
            bytes[1] = -1
            bytes[2] = (bytes[3] + bytes[3]) // 2
            words[0] = 2**63 + 5
            words[1] = words[2] + 1
            words[3] = 7.9
            words[2] = unsigned[0]
            singles[0] = singles[1] + singles[2]

        bytes, singles = np.array([0, 0, 0, 200], np.uint8), np.array([0, 2**24, 1], np.float32)
        words = np.array([0, 0, 2**63 - 1, 0])
        kernel[1, 1](bytes, words, np.array([2**64 - 1], np.uint64), singles)
        result = [bytes[:3], words, singles[0]]
        """
    ) == [[44, 255, 200], [5 - 2**63, -(2**63), -1, 7], 2.0**24]


def test_rows_and_records_of_an_array_are_the_array(simulated):
    assert simulated(
        """
        @cuda.jit
        def kernel(A, points):
            row = A[1]
            row[2] = 5
            A[0, :] = row
            A[0, 1] += len(row) + A.shape[0]
            points[1].x = points[0]["y"]

        A, points = np.zeros((2, 3)), np.zeros(2, [("x", "f8"), ("y", "i4")])
        points["y"] = 7
        kernel[1, 1](A, points)
        result = [A, points["x"]]
        """
    ) == [[[0, 5, 5], [0, 0, 5]], [0, 7]]


def test_atomic_operations_give_the_old_value_and_leave_the_new_one(simulated):
    operations = ["add", "sub", "and_", "or_", "xor", "exch", "max", "min", "nanmax", "nanmin", "inc", "dec"]
    code = "@cuda.jit\ndef kernel(a, old):\n" + "\n".join(
        f"    old[{i}] = cuda.atomic.{name}(a, {i}, 6)" for i, name in enumerate(operations)
    )
    code += """
    old[12] = cuda.atomic.cas(a, 12, 5, 9)
    old[13] = cuda.atomic.cas(a, 13, 4, 9)

a, old = np.full(14, 5), np.zeros(14, np.int64)
kernel[1, 1](a, old)
result = [a, old]
"""
    new = [11, -1, 4, 7, 3, 6, 6, 5, 6, 5, 6, 4, 9, 5]
    assert simulated(code) == [new, [5] * 14]


def test_constant_memory_is_what_the_host_array_held_and_cannot_be_stored_to(simulated):
    code = """
    table = np.array([4, 5, 6])

    @cuda.jit
    def kernel(a):
        known = cuda.const.array_like(table)
        STATEMENT

    result = np.zeros(1, np.int64)
    kernel[1, 1](result)
    """
    assert simulated(code.replace("STATEMENT", "a[0] = known[2]")) == [6]
    assert "read-only" in raised(simulated, code.replace("STATEMENT", "known[0] = a[0]"))
    assert "index 3 is outside" in raised(simulated, code.replace("STATEMENT", "a[0] = known[3]"))
