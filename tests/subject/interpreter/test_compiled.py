"""Loops count as compiled where numba compiles the function that touches the elements."""

from __future__ import annotations

import pytest

LOOPS = """
            C = np.empty_like(A)
            for i in prange(A.shape[0]):
                for j in range(A.shape[1]):
                    C[i, j] = max(A[i, j], B[i, j])
            return C
"""
COMPILED = {
    "numba where it is installed": f"""
        try:
            from numba import njit, prange
        except ImportError:
            def njit(function): return function
            prange = range

        @njit
        def f(A, B):{LOOPS}""",
    "njit": f"""
        @njit(parallel=True)
        def f(A, B):{LOOPS}""",
    "njit as it is": f"""
        @njit
        def f(A, B):{LOOPS}""",
    "jit with a signature": f"""
        @numba.jit("int64[:,:](int64[:,:], int64[:,:])", nopython=True, cache=True, fastmath=True)
        def f(A, B):{LOOPS}""",
    "types in a signature": f"""
        from numba import int64, types

        @njit(types.Array(int64, 2, "C")(int64[:, :], int64[:, :]), parallel=True)
        def f(A, B):{LOOPS}""",
    "njit of a function": f"""
        def loops(A, B):{LOOPS}
        f = njit(parallel=True)(loops)
    """,
    "a plain function around a helper": f"""
        @njit(parallel=True)
        def loops(A, B):{LOOPS}
        def f(A, B):
            A, B = np.ascontiguousarray(A), B.astype(np.int64)
            return loops(A, B).astype(int)
    """,
    "a result in an argument": """
        @njit(parallel=True)
        def fill(A, B, C):
            for i in prange(A.shape[0]):
                for j in range(A.shape[1]):
                    C[i, j] = A[i, j] if A[i, j] > B[i, j] else B[i, j]

        def f(A, B):
            C = np.zeros(A.shape, A.dtype)
            fill(A, B, C)
            return C
    """,
    "compiled functions that call one another": """
        @njit
        def larger(a, b): return a if a > b else b

        @vectorize
        def same(a): return a

        @jit(nopython=True)
        def row(a, b, c):
            for j in range(len(a)):
                c[j] = same(larger(a[j], b[j]))

        @njit(parallel=True)
        def f(A, B):
            C = np.zeros(A.shape, np.int64)
            for i in prange(len(A)):
                row(A[i], B[i], C[i])
            return C
    """,
    "one call for each row": """
        @njit
        def row(a, b): return np.array([max(x, y) for x, y in zip(a, b)])

        def f(A, B): return np.array([row(a, b) for a, b in zip(A, B)])
    """,
    "a function within": """
        @njit
        def f(A, B):
            def larger(a, b):
                return a if a > b else b
            C = A.copy()
            for i in range(A.shape[0]):
                for j in range(A.shape[1]):
                    C[i, j] = larger(A[i, j], B[i, j])
            return C
    """,
    "shapes that are printed": f"""
        @njit
        def loops(A, B):{LOOPS}
        def f(A, B):
            C = loops(A, B)
            print("made", C.shape, np.size(C), f"{{C.dtype}} of {{C.ndim}}")
            return C.reshape(A.shape)
    """,
    "threads": f"""
        import os
        os.environ["NUMBA_NUM_THREADS"] = "2"
        os.environ.setdefault("OMP_NUM_THREADS", "2")
        numba.set_num_threads(min(2, numba.get_num_threads()))

        @njit(parallel=True)
        def f(A, B):{LOOPS}""",
}
NOT_COMPILED = {
    "no decorator": (f"def f(A, B):{LOOPS}", "outside of the functions that numba compiles"),
    "NumPy alone": ("def f(A, B): return np.maximum(A, B)", "uses numpy.maximum"),
    "NumPy where numba compiles": ("@njit\ndef f(A, B): return np.maximum(A, B)", "uses numpy.maximum"),
    "rows by NumPy where numba compiles": (
        "@njit\ndef f(X): return [[np.dot(a, b) for b in X] for a in X]",
        "numpy.dot",
    ),
    "whole arrays where numba compiles": (
        "@njit\ndef f(A, B): return (A > B) * A + (A <= B) * B",
        "whole array",
    ),
    "a ufunc of the program's own": (
        "@vectorize\ndef m(a, b): return max(a, b)\ndef f(A, B): return m(A, B)",
        "whole array",
    ),
    "object mode": (f"@jit(forceobj=True)\ndef f(A, B):{LOOPS}", "outside of the functions"),
    "no nopython": (f"@jit(nopython=False)\ndef f(A, B):{LOOPS}", "outside of the functions"),
    "py_func": (
        f"@njit\ndef g(A, B):{LOOPS}\ndef f(A, B): return g.py_func(A, B)",
        "outside of the functions",
    ),
    "a decorator of the program's own": (
        f"def njit(**o): return lambda g: g\n@njit(parallel=True)\ndef f(A, B):{LOOPS}",
        "outside of the functions",
    ),
    "an empty function beside": (
        f"@njit\ndef g(A, B): return A\ndef h(A, B):{LOOPS}\ndef f(A, B):\n g(A, B)\n return h(A, B)",
        "outside of the functions",
    ),
    "a copy by compiled code": (
        "@njit\ndef g(A): return A.copy()\n"
        "def f(A, B): return [[max(a, b) for a, b in zip(*r)] for r in zip(g(A), B)]",
        "outside of the functions",
    ),
    "one call for each element": (
        "@njit\ndef g(A, B, i, j): return max(A[i, j], B[i, j])\n"
        "def f(A, B): return [[g(A, B, i, j) for j in range(4)] for i in range(5)]",
        "calls compiled functions 20 times",
    ),
    "numbers that leave compiled code": (
        "@njit\ndef g(A):\n return [[int(a) for a in r] for r in A]\n"
        "def f(A, B): return [[max(a, b) for a, b in zip(*r)] for r in zip(g(A), g(B))]",
        "outside of the functions",
    ),
    "lengths that leave compiled code": (
        "@njit\ndef g(A):\n return [[int(a) for a in r] for r in A]\n"
        "def f(A, B): return [[max(len(range(a)), len(range(b))) for a, b in zip(*r)] "
        "for r in zip(g(A), g(B))]",
        "outside of the functions",
    ),
    "texts that leave compiled code": (
        "@njit\ndef g(A):\n return [[str(a) for a in r] for r in A]\n"
        "def f(A, B): return [[max(int(a), int(b)) for a, b in zip(*r)] for r in zip(g(A), g(B))]",
        "outside of the functions",
    ),
    "texts that are put together in compiled code": (
        "@njit\ndef g(A):\n return [[f'{a}' for a in r] for r in A]\n"
        "def f(A, B): return [[max(int(a), int(b)) for a, b in zip(*r)] for r in zip(g(A), g(B))]",
        "outside of the functions",
    ),
    "arrays that a type of numbers makes": (
        "def f(A, B):\n a, b = np.int64([A])[0], np.int64([B])[0]\n return a * (a > b) + b * (a <= b)",
        "converts a whole array",
    ),
    "a number that compiled code computes otherwise": (
        "@njit\ndef wraps():\n x = 9223372036854775807\n x += 1\n return x < 0\n"
        "@njit\ndef larger(P, Q, C):\n for k in range(len(P)):\n"
        "  C[k] = (P[k] > Q[k]) * P[k] + (P[k] <= Q[k]) * Q[k]\n"
        "def f(A, B):\n C = np.zeros(A.shape, A.dtype)\n shape = [(-1,), (1, -1)][wraps()]\n"
        " larger(A.reshape(shape), B.reshape(shape), C.reshape(shape))\n return C",
        "outside of the functions",
    ),
    "the shape of an array that it makes": (
        "@njit\ndef made():\n x = 9223372036854775807\n return np.zeros(1 if x + 1 > x else 2)\n"
        "@njit\ndef larger(P, Q, C):\n for k in range(len(P)):\n"
        "  C[k] = (P[k] > Q[k]) * P[k] + (P[k] <= Q[k]) * Q[k]\n"
        "def f(A, B):\n C = np.zeros(A.shape, A.dtype)\n"
        " shape = [(-1,), (1, -1)][np.zeros_like(made()).shape[0] - 1]\n"
        " larger(A.reshape(shape), B.reshape(shape), C.reshape(shape))\n return C",
        "the shape of an array that compiled code made",
    ),
    "comparisons alone": (
        "@njit\ndef g(A, B): return [[a > b for a, b in zip(*r)] for r in zip(A, B)]\n"
        "def f(A, B):\n G = g(A, B)\n C = A.copy()\n for i in range(5):\n  for j in range(4):\n"
        "   if not G[i][j]: C[i, j] = B[i, j]\n return C",
        "outside of the functions",
    ),
    "a plain function called from compiled code": (
        f"def g(A, B):{LOOPS}\n@njit\ndef h(g, A, B): return g(A, B)\ndef f(A, B): return h(g, A, B)",
        "gives g to compiled code",
    ),
    "a closure of Python's": (
        "def f(A, B):\n def g(): return [list(map(max, *r)) for r in zip(A, B)]\n"
        " @njit\n def h(): return g()\n return h()",
        "calls g from compiled code",
    ),
    "what compiled code only collects": (
        "@njit\ndef g(m): return list(m)\ndef f(A, B): return [g(map(max, *r)) for r in zip(A, B)]",
        "gives compiled code a value of type map",
    ),
    "what hides in a tuple": (
        "@njit\ndef g(m): return list(m[0])\n"
        "def f(A, B): return [g(((max(*p) for p in zip(*r)),)) for r in zip(A, B)]",
        "gives compiled code a value of type generator",
    ),
    "what does not compile": (
        f"@njit\ndef g(A, B):{LOOPS}\ndef f(A, B):\n try: return g(A, B)\n"
        " except Exception: return [list(map(max, *r)) for r in zip(A, B)]",
        "catches errors beside compiled code",
    ),
    "what a try defines": (
        f"def g(A, B):{LOOPS}\ntry: f = njit('int64(int64)')(g)\nexcept Exception: f = g",
        "which a `try` may replace",
    ),
    "what another function does for large ones": (
        f"def h(A, B): return np.maximum(A, B)\n@njit\ndef g(A, B):{LOOPS}\n"
        "def f(A, B): return g(A, B) if A.size < 99 else h(A, B)",
        "uses numpy.maximum",
    ),
    "no compiler": (f"numba.config.DISABLE_JIT = True\n@njit\ndef f(A, B):{LOOPS}", "DISABLE_JIT"),
    "no compiler by its variable": (
        f"import os\nos.environ['NUMBA_DISABLE_JIT'] = '1'\n@njit\ndef f(A, B):{LOOPS}",
        "DISABLE_JIT",
    ),
    "no compiler by a variable whose name is put together": (
        f"import os\nos.environ['_'.join(['NUMBA', 'DISABLE', 'JIT'])] = '1'\n@njit\ndef f(A, B):{LOOPS}",
        "changes os.environ",
    ),
    "no compiler by an update": (
        f"import os\nos.environ.update(NUMBA_DISABLE_JIT='1')\n@njit\ndef f(A, B):{LOOPS}",
        "DISABLE_JIT",
    ),
    "no compiler by another name": (
        f"from os import environ as e\ne.setdefault('NUMBA' + '_DISABLE_JIT', 1)\n@njit\ndef f(A, B):{LOOPS}",
        "DISABLE_JIT",
    ),
    "guvectorize": (
        "from numba import guvectorize\n"
        "@guvectorize(['void(int64[:], int64[:], int64[:])'], '(n),(n)->(n)')\n"
        "def f(A, B, C):\n for i in range(len(A)): C[i] = max(A[i], B[i])",
        "numba.guvectorize",
    ),
}


@pytest.mark.parametrize("code", COMPILED.values(), ids=COMPILED)
def test_loops_in_functions_that_numba_compiles_count_in_any_honest_form(follow, code):
    assert follow(code, compiled=True) == ""


@pytest.mark.parametrize(("code", "problem"), NOT_COMPILED.values(), ids=NOT_COMPILED)
def test_work_done_elsewhere_does_not(follow, code, problem):
    assert problem in follow(code, compiled=True)


def test_what_numba_compiles_a_name_to_is_shown_to_a_person(follow):
    overloaded = "from numba.extending import overload\n@overload(max)\ndef g(a, b): return lambda a, b: a\n"
    problem = follow(f"{overloaded}@njit\ndef f(A, B):{LOOPS}", compiled=True)
    assert problem == "work.py:6: overload may change what a name stands for"


def test_the_same_loops_count_where_nothing_need_be_compiled(follow):
    assert follow(f"def f(A, B):{LOOPS}") == ""
