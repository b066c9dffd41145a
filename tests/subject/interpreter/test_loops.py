"""Work done an element at a time counts in any honest form; work done by NumPy counts in none."""

from __future__ import annotations

import numpy as np
import pytest

from grader.subject.tools import elements

A = np.zeros((3, 2))

LARGER = {
    "index loops": """
        def f(A, B):
            n, m = A.shape
            C = np.zeros((n, m), dtype=np.int64)
            for i in range(n):
                for j in range(m):
                    if A[i][j] > B[i][j]:
                        C[i][j] = A[i][j]
                    else:
                        C[i][j] = B[i][j]
            return C
    """,
    "zip over rows and elements": """
        def f(A, B):
            C = []
            for row_a, row_b in zip(A, B):
                row = []
                for a, b in zip(row_a, row_b):
                    row.append(max(a, b))
                C.append(row)
            return np.array(C)
    """,
    "comprehensions": "def f(A, B): return [[a if a > b else b for a, b in zip(*r)] for r in zip(A, B)]",
    "map": "def f(A, B): return [list(map(max, a, b)) for a, b in zip(A, B)]",
    "a copy that is overwritten": """
        def f(A, B):
            C = A.copy()
            for i in range(len(A)):
                for j in range(len(A[0])):
                    if B[i, j] > C[i, j]:
                        C[i, j] = B[i, j]
            return C
    """,
    "ndindex": """
        def f(A, B):
            C = np.empty_like(A)
            for i, j in np.ndindex(np.shape(A)):
                C[i, j] = max(A[i, j], B[i, j])
            return C
    """,
    "a comparison with NumPy's own True": """
        def f(A, B):
            C = np.zeros_like(A)
            for i in range(A.shape[0]):
                for j in range(A.shape[1]):
                    C[i, j] = A[i, j] if (A[i, j] > B[i, j]) == np.True_ else B[i, j]
            return C
    """,
    "ndenumerate and enumerate": """
        def f(A, B):
            C = np.empty(A.shape, A.dtype)
            for (i, j), a in np.ndenumerate(A):
                C[i, j] = a if a >= B[i, j] else B[i, j]
            for i, row in enumerate(C):
                for j, c in enumerate(row):
                    row[j] = c
            return C
    """,
    "a helper with its own loop": """
        def larger(a, b):
            return a if a > b else b

        def row_of(a, b, /, *, out=None):
            out = [] if out is None else out
            for j in range(len(a)):
                out += [larger(a[j], b[j])]
            return out

        def f(A, B): return np.array([row_of(A[i], B[i]) for i in range(A.shape[0])], dtype=A.dtype)
    """,
    "a generator": """
        def larger(A, B):
            for a, b in zip(A, B):
                yield [max(int(x), int(y)) for x, y in zip(a, b)]

        def f(A, B): return list(larger(A, B))
    """,
    "while": """
        def f(A, B):
            C = np.zeros_like(A)
            i = 0
            while i < A.shape[0]:
                j = 0
                while True:
                    if j == A.shape[1]: break
                    C[i, j] = float(A[i, j]) if float(A[i, j]) > B[i, j] else B[i, j]
                    j += 1
                i += 1
            return C
    """,
    "arithmetic": """
        def f(A, B):
            C = np.zeros(A.shape, dtype=int)
            for i in range(A.shape[0]):
                for j in range(A.shape[1]):
                    C[i][j] = (A[i][j] + B[i][j] + abs(A[i][j] - B[i][j])) // 2
            return C
    """,
    "flat arrays": """
        def f(A, B):
            C = [max(a, b) for a, b in zip(A.ravel(), B.flatten())]
            return np.array(C).reshape(A.shape)
    """,
    "lists": """
        def f(A, B):
            a, b = A.tolist(), B.tolist()
            C = [[0] * len(a[0]) for _ in a]
            for i in range(len(a)):
                for j in range(len(a[0])):
                    C[i][j] = max(a[i][j], b[i][j])
            return C
    """,
    "recursion": """
        def row(a, b):
            return [] if len(a) == 0 else [max(a[0], b[0])] + row(a[1:], b[1:])

        def f(A, B): return [row(a, b) for a, b in zip(A, B)]
    """,
    "decorators and libraries that only help": """
        import sys, warnings
        from functools import lru_cache, wraps
        from itertools import chain

        def announced(function):
            @wraps(function)
            def announcing(*args, **more):
                print("begins", file=sys.stderr)
                return function(*args, **more)
            return announcing

        @lru_cache(maxsize=None)
        def larger(a, b): return max(a, b)

        @announced
        def f(A, B):
            warnings.warn("slow")
            C = [[larger(a, b) for a, b in zip(*r)] for r in zip(A, B)]
            return np.fromiter(chain.from_iterable(C), dtype=A.dtype).reshape(A.shape)
    """,
    "errors, prints, timing and checks": '''
        import time

        SIZE = 0

        def f(A: np.ndarray, B: "np.ndarray"):
            """The larger one."""
            global SIZE
            begun = time.perf_counter()
            assert isinstance(A, np.ndarray) and A.shape == B.shape, "shapes differ"
            assert A.dtype == np.int64 and B.dtype in (np.uint8, np.int64) and A.dtype != float
            if A.ndim != 2:
                raise ValueError(f"two axes are needed, not {A.ndim}")
            C = np.full(A.shape, -1)
            for i in range(A.shape[0]):
                for j in range(A.shape[1]):
                    try:
                        C[i, j] = max(A[i, j], B[i, j])
                    finally:
                        SIZE += 1
            print("took {:.3f} s".format(time.perf_counter() - begun), f"{C[0, 0]:d}", SIZE)
            return C
    ''',
}
PRODUCTS = {
    "three loops": """
        def f(X):
            n, m = X.shape
            C = np.zeros((n, n))
            for i in range(n):
                for j in range(n):
                    for k in range(m):
                        C[i, j] += X[i, k] * X[j, k]
            return C
    """,
    "sum": "def f(X): return [[sum(x * y for x, y in zip(a, b)) for b in X] for a in X]",
    "half of it": """
        def f(X):
            T = X.T
            C = np.zeros((len(X), len(X)), X.dtype)
            for i in range(len(X)):
                for j in range(i + 1):
                    total = X.dtype.type(0)
                    for k in range(T.shape[0]):
                        total += X[i, k] * T[k, j]
                    C[i, j] = C[j, i] = total
            return C
    """,
    "columns": "def f(X): return [[sum(x * y for x, y in zip(r, c)) for c in zip(*X.T)] for r in X]",
    "imports in the function": """
        def f(X):
            import math
            import numpy as xp
            from operator import mul as times
            if len(X) > 99:
                raise ValueError(xp.zeros(math.isqrt(4)))
            return xp.array([[math.fsum(map(times, a, b)) for b in X] for a in X])
    """,
    "libraries of Python's": """
        import math, operator
        from functools import reduce
        from itertools import product

        def f(X):
            C = [[0.0] * len(X) for _ in X]
            for i, j in product(range(len(X)), repeat=2):
                C[i][j] = reduce(operator.add, map(operator.mul, X[i], X[j]))
                C[j][i] = math.fsum(x * y for x, y in zip(X[i], X[j]))
            return C
    """,
}
VECTORISED = {
    "a method": ("def f(A, B): return A.clip(B)", "uses .clip"),
    "a function": ("def f(A, B): return np.maximum(A, B)", "uses numpy.maximum"),
    "another name": ("from numpy import maximum as m\ndef f(A, B): return m(A, B)", "uses numpy.maximum"),
    "import *": ("from numpy import *\ndef f(A, B): return maximum(A, B)", "uses numpy.maximum"),
    "a keyword's default": ("def f(A, B, m=np.maximum): return m(A, B)", "uses numpy.maximum"),
    "a function of a class": ("def f(A, B): return np.ndarray.clip(A, B)", "uses .clip"),
    "operators": ("def f(A, B): return (A > B) * A + (A <= B) * B", "whole array"),
    "operators of rows": ("def f(A, B): return [a + (b - a) for a, b in zip(A, B)]", "whole array"),
    "sum of arrays": ("def f(A, B): return sum([A, B])", "whole array"),
    "a mask": ("def f(A, B):\n C = A.copy()\n C[B > A] = B[B > A]\n return C", "whole array"),
    "lists of indices": ("def f(A, B):\n C = A.copy()\n C[[0, 1]] = B[[0, 1]]\n return C", "many elements"),
    "out": ("def f(A, B):\n C = A.copy()\n np.copyto(C, B, where=B > A)\n return C", "uses numpy.copyto"),
    "objects": ("def f(A, B): return np.maximum(np.array(A, object), np.array(B, object))", "uses "),
    "objects by text": ("def f(A, B): return max(np.array(A, 'O'), B)", "array of object"),
    "objects made empty": ("def f(A, B): return np.empty(A.shape, dtype='O')", "array of object"),
    "vectorize": ("def f(A, B): return np.vectorize(max)(A, B)", "uses numpy.vectorize"),
    "a function for NumPy": ("def f(A, B): return np.frompyfunc(max, 2, 1)(A, B)", "uses numpy.frompyfunc"),
    "map of NumPy": ("def f(A, B): return list(map(np.maximum, A, B))", "uses numpy.maximum"),
    "reduce": (
        "from functools import reduce\ndef f(A, B): return reduce(np.maximum, [A, B])",
        "numpy.maximum",
    ),
    "a part": (
        "from functools import partial\nm = partial(np.clip, a_max=None)\ndef f(A, B): return m(A, B)",
        "numpy.clip",
    ),
    "getattr": ("def f(A, B): return getattr(np, 'maxi' + 'mum')(A, B)", "uses getattr"),
    "eval": ("def f(A, B): return eval('np.maximum(A, B)')", "uses eval"),
    "sys.modules": ("import sys\ndef f(A, B): return sys.modules['numpy'].maximum(A, B)", "uses sys.modules"),
    "dunders": ("def f(A, B): return A.__class__.clip(A, B)", "uses .clip"),
    "dunders of functions": ("def f(A, B): return f.__globals__['np'].maximum(A, B)", "uses .maximum"),
    "numba.np": ("def f(A, B): return numba.np.numpy_support.np.maximum(A, B)", "uses numba.np"),
    "operator.matmul": ("import operator\ndef f(X): return operator.matmul(X, X.T)", "uses operator.matmul"),
    "@": ("def f(X): return X @ X.T", "multiplies whole arrays by @"),
    "dot": ("def f(X): return X.dot(X.T)", "uses .dot"),
    "einsum": ("def f(X): return np.einsum('ik,jk', X, X)", "uses numpy.einsum"),
    "math.sumprod": (
        "import math\ndef f(X): return [[math.sumprod(a, b) for b in X] for a in X]",
        "math.sumprod",
    ),
    "after filling": (
        "def f(A, B):\n C = np.empty(A.shape)\n for i in range(5):\n  for j in range(4): C[i, j] = A[i, j]\n"
        " return np.maximum(C, B)",
        "uses numpy.maximum",
    ),
    "once the loops failed": (
        "def f(A, B):\n try: return A.clip(B)\n except: return [list(map(max, *r)) for r in zip(A, B)]",
        "uses .clip",
    ),
    "for large matrices": (
        "def f(A, B):\n if A.size > 99: return A.clip(B)\n return [list(map(max, *r)) for r in zip(A, B)]",
        "uses .clip",
    ),
    "a delay for large matrices": (
        "import time\ndef f(A, B):\n if A.size > 99: time.sleep(1)\n"
        " return [list(map(max, *r)) for r in zip(A, B)]",
        "uses time.sleep",
    ),
    "a wait by the clock": (
        "import time\ndef f(A, B):\n while time.time() < 0: pass\n"
        " return [list(map(max, *r)) for r in zip(A, B)]",
        "uses a time",
    ),
    "a class": (
        "class C:\n def larger(self, A, B): return A.clip(B)\ndef f(A, B): return C().larger(A, B)",
        "uses C",
    ),
    "another file": ("from other import larger\ndef f(A, B): return larger(A, B)", "uses .clip"),
    "a helper for large matrices": (
        "def g(A, B): return np.maximum(A, B)\n"
        "def f(A, B): return g(A, B) if A.size > 99 else [list(map(max, *r)) for r in zip(A, B)]",
        "uses numpy.maximum",
    ),
    "names of Python's own": (
        "try:\n __file__\n f = np.maximum\nexcept NameError:\n"
        " def f(A, B): return [list(map(max, *r)) for r in zip(A, B)]",
        "uses numpy.maximum",
    ),
    "an import of its own": (
        "def f(A, B):\n import numpy as q\n return q.maximum(A, B)",
        "uses numpy.maximum",
    ),
    "an import for large matrices": (
        "def f(A, B):\n import numpy as q\n if A.size > 99: return q.maximum(A, B)\n"
        " return [list(map(max, *r)) for r in zip(A, B)]",
        "uses numpy.maximum",
    ),
    "no end": ("def f(A, B):\n while True: pass", "does not end"),
}


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """The whole answer on `f(A, A)`, notes for a person included."""

    def ask(code):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "work.py").write_text(code)
        return elements.main("work.py", "f", [(A, A)], False)

    return ask


@pytest.mark.parametrize("code", LARGER.values(), ids=LARGER)
def test_the_larger_element_is_found_by_any_loop(follow, code):
    assert follow(code) == ""


@pytest.mark.parametrize("code", PRODUCTS.values(), ids=PRODUCTS)
def test_a_product_is_found_by_any_loop(follow, code):
    assert follow(code) == ""


@pytest.mark.parametrize(("code", "problem"), VECTORISED.values(), ids=VECTORISED)
def test_what_is_no_loop_is_refused_with_its_line(follow, monkeypatch, code, problem):
    monkeypatch.setattr("grader.subject.interpreter.statements.CPU_S", 0.1)
    message = follow(code, other="def larger(A, B): return A.clip(B)")
    assert problem in message
    assert message.startswith(("work.py:", "other.py:"))


@pytest.mark.parametrize(
    "code",
    [
        "class C:\n def larger(self, A, B): return A\ndef f(A, B): return C().larger(A, B)",
        "def f(A, B):\n match A:\n  case _: return B",
        "def f(A, B):\n with A: return B",
        "class C:\n @staticmethod\n def larger(A, B): return A\ndef f(A, B): return C.larger(A, B)",
        "import collections\ndef f(A, B): return collections.defaultdict(int)",
        "from collections import defaultdict\ndef f(A, B): return defaultdict(int)",
        "from heapq import *\ndef f(A, B): return nlargest(1, B)",
        "from statistics import *\ndef f(A, B): return mean(A)",
        "from itertools import pairwise\nfrom collections import abc\ndef f(A, B): return abc.Sized(A)",
    ],
)
def test_what_may_be_right_and_cannot_be_followed_is_shown_to_a_person(asked, code):
    answer = asked(code)
    assert answer["notes"] == [answer["problem"]]


@pytest.mark.parametrize(
    "code",
    [
        "import numpy\ndef f(A, B): return numpy.maximum(A, B)",
        "from numpy import *\ndef f(A, B): return maximum(A, B)",
        "import torch\ndef f(A, B): return torch.maximum(A, B)",
    ],
)
def test_work_of_a_library_is_lost_without_a_person(asked, code):
    answer = asked(code)
    assert answer["problem"]
    assert answer["notes"] == []


ANOTHER = """
import numpy as np

def g(A, B): return np.maximum(A, B)

def slow(A, B): return [list(map(max, *r)) for r in zip(A, B)]

f = slow
"""


@pytest.mark.parametrize(
    "choice",
    [
        "[f := g for _ in (1,)]",
        "match g:\n case f: pass",
        "try:\n import nonexistent_library\nexcept ImportError:\n f = g",
        "import os\nif os.cpu_count() > 1:\n f = g",
        "import os\nif os.cpu_count() == 10**6: f = g",
        "import os\nf = slow if os.cpu_count() < 10**6 else g",
        "import os\nf = {10**6: g}.get(os.cpu_count(), slow)",
        "import os\ndef pick(n): return [slow, g][n > 10**6]\nf = pick(os.cpu_count())",
        "from contextlib import nullcontext\nwith nullcontext():\n def f(A, B): return g(A, B)",
        "from contextlib import nullcontext\nwith nullcontext(g) as f: pass",
        "W = [slow] * 600 + [g]\ndef f(A, B): return W[A.size](A, B)",
        "W = {'slow': (slow,), 'fast': (np.maximum,)}\ndef f(A, B): return W['slow'][0](A, B)",
        "from functools import partial\nW = [partial(slow), partial(g)]\ndef f(A, B): return W[0](A, B)",
        "def f(A, B, W=(slow, g)): return W[0](A, B)",
        "import itertools\nW = itertools.chain([slow] * 9, [g])\ndef f(A, B): return next(W)(A, B)",
    ],
)
def test_a_function_that_may_be_another_one_elsewhere_is_no_loop(follow, choice):
    assert follow(ANOTHER) == ""
    assert follow(f"{ANOTHER}\n{choice}").startswith("work.py")


@pytest.mark.parametrize(
    "rest",
    [
        "if __name__ == '__main__':\n A = slow([[1]], [[2]])",
        "try:\n from numba import njit\nexcept ImportError:\n def njit(function): return function",
        "FUNCTIONS = [slow, g]\nfor function in FUNCTIONS: print(function)",
        "import os\nCORES = os.cpu_count()\ndef largest(A): return max(map(max, A))",
        "import time\ndef timed(function, *a):\n t = time.time()\n function(*a)\n return time.time() - t",
    ],
)
def test_what_stands_beside_loops_costs_nothing(follow, rest):
    assert follow(f"{ANOTHER}\n{rest}") == ""


@pytest.mark.parametrize(
    "tampering",
    [
        "globals()['f'] = 3",
        "import sys\nsys.modules[__name__].f = 3",
        "exec('f = 3')",
        "import inspect\ninspect.currentframe().f_globals.update(f=3)",
        "import gc\n[d.update(f=3) for d in gc.get_objects() if 'f' in d]",
        "import builtins\nbuiltins.__dict__.update(zip=3)",
        "class C:\n import sys\n sys.modules['work'] = 3",
        "f.__code__ = f.__code__",
        "def g():\n import sys\n sys._getframe(1).f_globals['f'] = 3\ng()",
        "def g(x=globals().update(f=3)): pass",
        "def g(x: globals().update(f=3)): pass",
        "x: globals().update(f=3) = 1",
        "@(lambda g: globals().update(f=3))\nclass C: pass",
        "import threading\nthreading.Timer(0, lambda: globals().update(f=3)).start()",
        "import threading\ndef g():\n global f\n f = 3\nthreading.Timer(0, g).start()",
        "import threading\ndef g():\n import work\n work.f = 3\nthreading.Timer(0, g).start()",
    ],
)
def test_what_may_run_something_else_than_the_text_is_shown_to_a_person(follow, tampering):
    loops = "def f(A, B): return [list(map(max, *r)) for r in zip(A, B)]"
    assert follow(f"{loops}\n{tampering}").startswith("work.py:")
