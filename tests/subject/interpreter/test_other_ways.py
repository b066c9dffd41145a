"""A text that loops over small arrays and computes otherwise elsewhere does not count."""

from __future__ import annotations

from itertools import cycle

import pytest

from grader.subject.tools import elements

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
    "a generator that nobody began": (
        "begun = []\n    def begin():\n        begun.append(1)\n        yield 1\n"
        "    begin()\n    other = 1 - len(begun)"
    ),
    "a generator that reads a list later": (
        "begun = []\n    def begin(begun):\n        yield 0\n        yield len(begun)\n"
        "    steps = begin(begun)\n    next(steps)\n    begun.append(1)\n    other = next(steps)"
    ),
    "a generator that reads a name later": (
        "number = 0\n    def begin():\n        yield number\n    steps = begin()\n"
        "    number = 1\n    other = next(steps)"
    ),
    "a generator that reads an array later": (
        "D = np.zeros(1, np.int64)\n    def begin(D):\n        yield int(D[0])\n    steps = begin(D)\n"
        "    D[0] = 1\n    other = next(steps)"
    ),
    "a generator of another generator": (
        "def begin(steps):\n        yield next(steps)\n    steps = iter([0, 1])\n"
        "    begin(steps)\n    other = next(steps)"
    ),
    "the name of an error that was caught": (
        "other = 1\n    try: raise ValueError\n    except ValueError as error: pass\n"
        "    try: other = 0 * (error is None)\n    except NameError: pass"
    ),
    "a name before it is bound": (
        "def zero():\n        try: return numba_cores * 0\n        except NameError: return 1\n"
        "        numba_cores = 1\n    numba_cores = 1\n    other = zero()"
    ),
    "an error of an element alone": (
        "other = 1\n    try: divmod(A[0, 0], 1)\n    except TypeError: other = 0"
    ),
    "a type of two names": "other = int(np.float64 is np.double)",
    "a loop's function of two names": "other = int(prange is not range)",
    "functions that are compared": "other = int(prange != range)",
    "types that are looked up": "other = len({np.float64: 0, numba.float64: 1}) - 1",
    "quotes around a text": "other = min(1, len(repr('a')) // 3)",
    "the text of a function": "other = int('class' in '%s' % range)",
    "the text of a type": "other = int('class' in str(np.int64))",
    "memory that was in use before": (
        "old = np.full(4, 7)\n    del old\n    other = int(np.empty(4, np.int64)[3] == 7)"
    ),
    "a copy of such memory": "other = int(np.empty(4, np.uint8).copy()[3] == 7)",
    "a row of such memory": (
        "D = np.zeros((1, 4), np.int64)\n    D[0] = np.empty(4, np.int64)\n    other = int(D[0, 3] == 7)"
    ),
    "an error that NumPy alone raises": (
        "other = 1\n    try:\n        A.item()\n        other = 0\n    except ValueError: pass"
    ),
    "such an error in a `finally`": (
        "def zero():\n        number = 1\n        try:\n            A.item()\n            number = 0\n"
        "        finally: return number\n    other = zero()"
    ),
    "a list in a list that grows": ("D = [[]]\n    E = D[0]\n    D[0] += [1]\n    other = len(E)"),
    "a set of two names": "D = E = set()\n    D |= {1}\n    other = len(E)",
    "a list of two names": "D = E = [1]\n    D *= 2\n    other = len(E) - 1",
    "a copy of a list": (
        "import copy\n    D = [[]]\n    E = copy.copy(D)\n    D[0].append(1)\n    other = len(E[0])"
    ),
    "a copy of a dictionary": (
        "import copy\n    D = {}\n    E = copy.copy(D)\n    D[0] = 1\n    other = 1 - len(E)"
    ),
    "a function that runs once": (
        "from functools import cache\n    D = []\n    def grow():\n        D.append(1)\n        return 0\n"
        "    kept = cache(grow)\n    kept()\n    kept()\n    other = 2 - len(D)"
    ),
    "a function that gives what it gave": (
        "from functools import cache\n    D = []\n    def length(): return len(D)\n"
        "    kept = cache(length)\n    kept()\n    D.append(1)\n    other = 1 - kept()"
    ),
    "an array in a list": "D = np.int64([A])\n    other = len(D)",
    "an array of a number and a list": "other = len(np.int64(0) + [1])",
    "a truth value that is the only one": "other = int(bool(A[0, 0] == A[0, 0]) is True)",
    "the text of an element": "other = int(str(A[0, 0] - A[0, 0]) == '0')",
    "the text of a number of NumPy's": "other = int(f'{A[0, 0]!r}' != f'{A[0, 0]}')",
    "a number that equals a list": "other = 1 if A[0, 0] - A[0, 0] == [0] else 0",
    "a list that equals a list of lists": "other = int([A[0, 0] - A[0, 0]] == [[0]])",
    "a number of NumPy's in a list of lists": "other = int(np.int64(0) in [[0]])",
    "numbers of threads that are chosen": (
        "import os\n    numba.set_num_threads(1)\n"
        "    other = int(numba.get_num_threads() == 1 and os.cpu_count() > 1)"
    ),
    "a number of threads that is no number of cores": (
        "import os\n    other = int(os.cpu_count() != numba.get_num_threads())"
    ),
    "truth values in memory that was in use before": (
        "D = np.ones(77, np.bool_)\n    del D\n    other = 1 if np.empty(77, np.bool_)[76] else 0"
    ),
    "what is stored in a flat array that is turned": (
        "D = np.zeros((2, 2), np.int64).T\n    D.flat[0] = 1\n    other = D[0, 0]"
    ),
    "what is stored in a part of a flat array": (
        "D = np.zeros(4, np.int64)\n    E = D.flat[0:2]\n    E[0] = 1\n    other = 1 - D[0]"
    ),
    "so many values of an iterator": "other = 2 - len(np.fromiter([0, 0], np.int64, 1))",
    "new memory in another order": (
        "D = np.empty((2, 2), np.int64, order='F')\n    D.fill(0)\n    D.ravel()[0] = 1\n"
        "    other = 1 - D[0, 0]"
    ),
    "new memory in the order of another array": (
        "D = np.empty_like(np.zeros((2, 2), np.int64, order='F'))\n    D.fill(0)\n    D.ravel()[0] = 1\n"
        "    other = 1 - D[0, 0]"
    ),
    "a variable of the function between": (
        "def first():\n        x = 0\n        def second():\n            def third():\n"
        "                nonlocal x\n                x = 1\n            third()\n            x = 5\n"
        "        second()\n        return x\n    other = 1 - first()"
    ),
    "a parameter that has no name": "def named(a, /, **k): return len(k)\n    other = named(1, a=2)",
    "the order of texts in a set": "other = int(list({'a', 'b'})[0] == 'a')",
    "the type of a time": "import time\n    other = int(isinstance(time.time(), float))",
    "the type of a text": "other = int(isinstance('%d' % 1, str))",
    "an import that fails for a name": (
        "other = 1\n    try:\n        from math import not_there\n        other = 0\n"
        "    except ImportError: pass"
    ),
    "an import that fails in a function": (
        "def load():\n        from math import not_there\n    other = 1\n    try:\n        load()\n"
        "        other = 0\n    except ImportError: pass"
    ),
    "a generator that raises": (
        "def steps():\n        yield 0\n        raise IndexError\n    other = 1\n    try: steps()\n"
        "    except IndexError: other = 0"
    ),
    "an error behind a `try`": (
        "other = 0\n    try:\n        try: pass\n        except IndexError: pass\n        else: [][0]\n"
        "    except IndexError: other = 1"
    ),
    "a flat array that goes on": (
        "D = np.zeros(2).flat\n    for d in D: break\n    other = 2 - len([d for d in D])"
    ),
}
IMPORTED = {
    "a tuple that depends on an import": (
        "try:\n from math import not_there\n other = 0\n both = ()\nexcept ImportError: both = (1,)\n"
        "other = len(both)"
    ),
    "a function that depends on an import": (
        "try:\n from math import not_there\n which = min\nexcept ImportError: which = max\n"
        "other = which(0, 1)"
    ),
    "functions of a library in the place of Python's": (
        "from math import *\nother = int(isinstance(pow(2, 3), float))"
    ),
    "such of NumPy": "from numpy import *\nother = int(isinstance(sum([1, 2]), generic))",
    "names that a file does not export": "other = 1\nfrom exporting import *",
    "numbers of threads and cores": ("import os\nother = int(os.cpu_count() != numba.get_num_threads())"),
    "an error that NumPy alone raises": (
        "other = 1\ntry:\n np.zeros(3).item()\n other = 0\nexcept ValueError: pass"
    ),
    "such an error in a function": (
        "def zero():\n try:\n  np.zeros(3).item()\n  return 0\n except ValueError: return 1\nother = zero()"
    ),
}
NAMES = {
    "a patch": (
        "from unittest.mock import patch\npatch('work.range', lambda n: (slice(None),), create=True).start()"
    ),
    "another dictionary of Python's functions": (
        "__builtins__ = {'range': lambda n: (slice(None),), 'max': np.maximum}"
    ),
    "another file's functions as Python's": "import other as __builtins__",
    "code in a text": (
        "import timeit\ntimeit.timeit('work.max = np.maximum', 'import work, numpy as np', number=1)"
    ),
    "code for an interpreter": (
        "import code\ncode.InteractiveInterpreter().runsource('import work; work.max = 1')"
    ),
    "the names of the file": "locals().update(max=np.maximum)",
    "an object of a class": "class Change:\n def __init__(self):\n  print('changes')\nChange()",
    "a decorator": "import code\n@code.interact\ndef g(): pass",
    "a metaclass": "class Meta(type): pass\nclass Change(metaclass=Meta): pass",
    "a configuration of numba's": "numba.core.config.reload_config()",
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
    assert "uses BIG, which cannot be followed here (imports not_installed, which may fail)" in problem


@pytest.mark.parametrize(
    ("code", "line"),
    [
        (
            "class M:\n    pass\ndef f(A, B): return M().pick(A, B)",
            "uses M, a class, which cannot be followed here",
        ),
        (
            "async def work(): pass\ndef f(A, B): return work()",
            "uses work, an asynchronous function, which cannot be followed here",
        ),
        (
            "def f(A, B):\n    class M: pass\n    return M()",
            "uses a class, which is not followed here",
        ),
        (
            "def f(A, B):\n    match A.size:\n        case 1: return B\n    return A",
            "uses a match statement, which is not followed here",
        ),
        (
            "def f(A, B):\n    try: return A\n    except* ValueError: return B",
            "uses except*, which is not followed here",
        ),
    ],
)
def test_what_is_not_followed_is_called_as_students_call_it(follow, code, line):
    assert follow(code).endswith(line)


@pytest.mark.parametrize("number", NUMBERS.values(), ids=NUMBERS)
def test_no_number_may_decide_whether_elements_or_arrays_are_computed_with(follow, number):
    assert follow(f"def f(A, B):\n    {number}{OF_ANY_KIND}", large=LARGE)


@pytest.mark.parametrize("number", IMPORTED.values(), ids=IMPORTED)
def test_nor_one_that_is_made_where_the_file_is_imported(follow, number):
    code = f"{number}\ndef f(A, B):{OF_ANY_KIND}"
    assert follow(code, large=LARGE, exporting="__all__ = []\nother = 0")


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


def test_a_byte_that_new_memory_held_by_chance_counts(follow, monkeypatch):
    held = cycle([2**20 + 7, 2**20 + 9])
    monkeypatch.setattr(elements, "new_contents", lambda: next(held))
    seven = "    D = np.empty(2, np.uint8)\n    D[0] = 7\n    D[1] = 7\n    D = D.copy()"
    assert follow(f"def f(A, B):\n{seven}{LOOPS}") == ""
    assert "nothing was stored in" in follow(f"def f(A, B):\n{seven.replace('D[1] = 7', 'pass')}{LOOPS}")


@pytest.mark.parametrize("change", NAMES.values(), ids=NAMES)
def test_what_may_change_names_where_a_file_is_imported_is_shown_to_a_person(follow, change):
    assert follow(f"def f(A, B):{LOOPS}") == ""
    assert "work.py:" in follow(f"{change}\ndef f(A, B):{LOOPS}", other="def range(n): return [slice(None)]")


@pytest.mark.parametrize(
    "habit",
    [
        "import logging\nlog = logging.getLogger(__name__)",
        "import os, sys\nsys.path.append(os.path.dirname(os.path.abspath(__file__)))",
        "import os\nN = int(os.environ.get('N', '5'))",
        "from collections import namedtuple\nPoint = namedtuple('Point', 'x y')",
        "rng = np.random.default_rng(4)\nM = rng.integers(0, 9, (3, 3))",
        "__author__ = 'A'\n__all__ = ['f']",
    ],
)
def test_habits_where_a_file_is_imported_change_nothing(follow, habit):
    assert follow(f"{habit}\ndef f(A, B):{LOOPS}") == ""


@pytest.mark.parametrize(
    "loops",
    [
        "def steps(A, B):\n for i in range(5):\n  for j in range(4): yield i, j, A[i, j], B[i, j]\n"
        "def f(A, B):\n C = np.empty_like(A)\n for i, j, a, b in steps(A, B): C[i, j] = max(a, b)\n return C",
        "def f(A, B):\n C = np.empty(A.shape, np.uint8)\n places = np.ndindex(A.shape)\n while True:\n"
        "  try: p = next(places)\n  except StopIteration: return C.astype(int)\n"
        "  C[p] = int(max(A[p], B[p]))",
        "def f(A, B):\n C = np.empty_like(A)\n for i in range(5):\n  C[i] = A[i]\n  for j in range(4):\n"
        "   if B[i, j] > C[i, j]: C[i, j] = B[i, j]\n return C.copy()",
        "def f(A, B):\n if str(A.dtype) != 'int64': raise TypeError('%s' % A.dtype)\n"
        " return [[a if a > b else b for a, b in zip(*r)] for r in zip(A, B)]",
        "def f(A, B):\n C = [[]]\n for r in zip(A, B):\n  C[-1] += [a if a > b else b for a, b in zip(*r)]\n"
        "  C += [[]]\n return C[:-1]",
    ],
    ids=[
        "a generator",
        "an iterator that ends",
        "elements read again",
        "the text of a dtype",
        "its own error",
    ],
)
def test_loops_written_otherwise_count(follow, loops):
    assert follow(loops) in ("", "('work.py', 9)")
