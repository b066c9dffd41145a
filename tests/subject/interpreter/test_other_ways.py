"""A text that loops over small arrays and computes otherwise elsewhere does not count."""

from __future__ import annotations

import pytest

LOOPS = """
    C = np.zeros_like(A)
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            C[i, j] = max(A[i, j], B[i, j])
    return C
"""
LARGE = [((1000, 1000), "<i8"), ((1000, 1000), "<i8")]
OF_ANY_KIND = """
    C = np.zeros_like(A)
    for I in [range(A.shape[0]), [slice(None)]][other]:
        for J in [range(A.shape[1]), [slice(None)]][other]:
            C[I, J] = (A[I, J] > B[I, J]) * A[I, J] + (A[I, J] <= B[I, J]) * B[I, J]
    return C
"""
CHANGED = {
    "a class body": "WAYS = [loops]\nclass Settings:\n WAYS.append(np.maximum)",
    "a with statement": "WAYS = [loops]\nwith open('x'):\n WAYS.append(np.maximum)",
    "a thread": (
        "import threading\nWAYS = [loops]\ndef change(): WAYS[0] = np.maximum\n"
        "threading.Timer(0, change).start()"
    ),
    "a lambda that a library calls": (
        "import sys\nWAYS = [loops]\nsys.setprofile(lambda *a: WAYS.append(np.maximum))"
    ),
    "a function around it": (
        "import threading\ndef make():\n WAYS = [loops]\n def change(): WAYS[0] = np.maximum\n"
        " return WAYS, change\nWAYS, change = make()\nthreading.Timer(0, change).start()"
    ),
    "another name": "WAYS = [loops]\nSAME = {'ways': WAYS}\nclass Settings:\n SAME['ways'][0] = np.maximum",
    "an import that fails": (
        "WAYS = [loops]\ntry: import not_installed\nexcept ImportError: WAYS[0] = np.maximum"
    ),
}
NUMBERS = {
    "a size": "other = min(1, A.size // 500)",
    "a number of cores": "import os\n    other = min(1, os.cpu_count() - 1)",
    "new memory": "other = int(np.empty(3, np.int64)[1] != 99)",
    "the type of a number in a list": "other = int(isinstance(A.tolist()[0][0], int))",
    "the type of a flat array": "other = 1 - int(isinstance(A.flat, np.ndarray))",
    "a stream": "import sys\n    other = int(sys.stdout is not None)",
    "an array that is printed": "other = min(1, len(f'{A}') // 2)",
    "a text with an array": "other = min(1, len('{}'.format(A)) // 3)",
    "the depth of a recursion": (
        "def deep(n):\n"
        "        try: return deep(n + 1)\n"
        "        except RecursionError: return n\n"
        "    other = min(1, deep(0) // 900)"
    ),
    "an import that fails": (
        "other = 1\n    try:\n        import not_installed\n        other = 0\n    except ImportError: pass"
    ),
}


@pytest.mark.parametrize("code", CHANGED.values(), ids=CHANGED)
def test_what_code_may_change_that_is_not_followed_is_refused(follow, code):
    problem = follow(f"def loops(A, B):{LOOPS}\n{code}\ndef f(A, B): return WAYS[-1](A, B)")
    assert "that is not followed" in problem


def test_so_is_a_number_that_it_may_bind_anew(follow):
    code = (
        "import threading\nBIG = 0\ndef change():\n global BIG\n BIG = 1\nthreading.Timer(0, change).start()"
    )
    assert "uses BIG, which code that is not followed may change" in follow(
        f"{code}\ndef f(A, B):\n    other = BIG{OF_ANY_KIND}"
    )


def test_so_is_a_number_that_depends_on_an_import(follow):
    code = "BIG = 0\ntry: import not_installed\nexcept ImportError: BIG = 1"
    problem = follow(f"{code}\ndef f(A, B):\n    other = BIG{OF_ANY_KIND}")
    assert "uses BIG, which depends on whether an import fails" in problem


@pytest.mark.parametrize("number", NUMBERS.values(), ids=NUMBERS)
def test_no_number_may_decide_whether_elements_or_arrays_are_computed_with(follow, number):
    assert follow(f"def f(A, B):\n    {number}{OF_ANY_KIND}", large=LARGE)


def test_rows_far_down_are_followed_as_well(follow):
    code = "def f(A, B):\n C = np.zeros_like(A)\n for i in range(len(A)):\n"
    rows = "  for J in [range(A.shape[1]), [slice(None)]][min(1, i // 60)]:\n"
    larger = "   C[i, J] = (A[i, J] > B[i, J]) * A[i, J] + (A[i, J] <= B[i, J]) * B[i, J]\n return C"
    assert "for a large array" in follow(code + rows + larger, large=LARGE)


def test_options_of_numba_are_written_out(follow):
    options = "OPTIONS = {}\nclass Settings:\n OPTIONS.update(forceobj=True)\n"
    problem = follow(f"{options}@jit(**OPTIONS)\ndef f(A, B):{LOOPS}", compiled=True)
    assert "options that are not written out" in problem


def test_a_list_that_a_cached_function_keeps_is_refused(follow):
    cached = "from functools import cache\n@cache\ndef calls(): return []\n"
    problem = follow(
        f"{cached}def f(A, B):\n    calls().append(1)\n    other = len(calls()) // 30{OF_ANY_KIND}"
    )
    assert "from call to call" in problem


@pytest.mark.parametrize(
    "counted", ["CALLS.append(1)\n    other = len(CALLS) // 30", "global N\n    N += 1\n    other = N // 30"]
)
def test_what_calls_count_is_shown_to_a_person(follow, counted):
    code = f"CALLS = []\nN = 0\ndef f(A, B):\n    {counted}{OF_ANY_KIND}"
    assert "changes what later calls find" in follow(code)


def test_loops_beside_habits_count_for_large_arrays_too(follow):
    habits = """
import os, sys, time, warnings
warnings.filterwarnings("ignore")
np.random.seed(0)
np.set_printoptions(precision=3)
LABEL, SIZES = "larger", (1000, 1000)
TIMES = []
class Watch: pass
try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None
def report(label): TIMES.append(label)
"""
    work = """
def f(A, B):
    start = time.perf_counter()
    print(f"{LABEL}: {A.shape} of {SIZES}, {A[0, 0]:d}, {1.5:.1f}, {A}", file=sys.stderr)
    C = A.copy()
    for i, row in enumerate(B):
        for j, b in enumerate(row):
            if b > C[i, j]:
                C[i, j] = b
    print("{:.3f} seconds".format(time.perf_counter() - start), f"{time.perf_counter() - start:.3f}")
    return C
"""
    assert follow(habits + work, large=LARGE) == ""
