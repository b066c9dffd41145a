"""What the source tool sees of a file, however it is written."""

from __future__ import annotations

from textwrap import dedent

import pytest

from grader.subject.tools import source


@pytest.fixture
def look(tmp_path):
    def look(code: str | bytes, function: str = "f"):
        path = tmp_path / "work.py"
        path.write_bytes(code if isinstance(code, bytes) else dedent(code).encode())
        return source.main(str(path), function)

    return look


def names(found) -> set[str]:
    return {use["name"] for use in found["uses"]}


@pytest.mark.parametrize(
    "code",
    [
        "import numpy\ndef f(a, b): return numpy.maximum(a, b)",
        "import numpy as xp\ndef f(a, b): return xp.maximum(a, b)",
        "from numpy import maximum\ndef f(a, b): return maximum(a, b)",
        "from numpy import maximum as m\ndef f(a, b): return m(a, b)",
        "from numpy import *\ndef f(a, b): return maximum(a, b)",
        "import numpy as np\nm = np.maximum\ndef f(a, b): return m(a, b)",
        "import numpy as np\nm, n = np.maximum, np.minimum\ndef f(a, b): return m(a, b)",
        "import numpy as np\nq = np\ndef f(a, b): return q.maximum(a, b)",
        "def f(a, b):\n    import numpy as np\n    return np.maximum(a, b)",
        "def f(a, b):\n    from numpy import maximum as m\n    g = m\n    return g(a, b)",
        "import numpy as np\ndef f(a, b, m=np.maximum): return m(a, b)",
        "import numpy as np\ndef f(a, b): return list(map(np.maximum, a, b))",
        "import numpy as np\nf = np.maximum",
        "import numpy as np\nf = lambda a, b: np.maximum(a, b)",
        "import numpy as np\ndef f(a, b):\n    def g(x): return np.maximum(x, b)\n    return g(a)",
        "try:\n    import numpy as np\nexcept ImportError:\n    np = 0\ndef f(a): return np.maximum(a, a)",
        "import numpy as np\ndef g(a, b): return np.maximum(a, b)\ndef f(a, b): return g(a, b)",
        "import numpy as np\ndef h(a): return np.maximum(a, a)\ndef g(a): return h(a)\ndef f(a): return g(a)",
        "import numpy as n\nclass G:\n  def go(self, a): return n.maximum(a, a)\ndef f(a): return G().go(a)",
        "import numpy as np\ntable = {'m': np.maximum}\ndef f(a): return table['m'](a, a)",
        "from functools import partial\nimport numpy as n\ng = partial(n.maximum, 0)\ndef f(a): return g(a)",
        "import numpy as np\nfrom numba import njit\ndef g(a): return np.maximum(a, a)\nf = njit(g)",
    ],
)
def test_a_use_is_seen_through_every_alias_and_helper(look, code):
    assert "numpy.maximum" in names(look(code))


@pytest.mark.parametrize(
    "code",
    [
        "import numpy as np\ndef f(np): return np.maximum",
        "from numpy import maximum\ndef f(a, b):\n    maximum = a if a > b else b\n    return maximum",
        "import numpy as np\ndef f(a: np.maximum) -> np.maximum: return a",
        "import numpy as np\ndef g(a): return np.maximum(a, a)\ndef f(a): return a",
        "import numpy as np\ndef f(a):\n    'uses np.maximum'\n    return a  # np.maximum(a, a)",
        "import numpy as np\ndef maximum(a, b): return a\ndef f(a): return maximum(a, a)",
        "import numpy as np\ndef g(a): return np.maximum(a, a)\ndef f(g): return g(1)",
    ],
)
def test_what_is_no_use_is_not_taken_for_one(look, code):
    assert "numpy.maximum" not in names(look(code))


def test_builtins_methods_and_the_operator_have_names_of_their_own(look):
    found = look("def f(a, b):\n    c = a.dot(b) @ b\n    c @= b\n    return max(c.x.sum(), 1)")
    assert names(found) >= {"max", ".dot", ".sum", "@"}
    assert names(look("def f(max): return max(1, 2)")) == set()


def test_a_star_import_does_not_take_the_place_of_a_builtin(look):
    assert names(look("from numpy import *\ndef f(a): return max(a)")) == {"max"}


def test_a_use_has_its_line_and_its_text(look):
    (use,) = look("import math\n\n\ndef f(a):\n    x = 1\n    return math.sqrt(a)\n")["uses"]
    assert use == {"name": "math.sqrt", "line": 6, "text": "return math.sqrt(a)", "certain": True}


@pytest.mark.parametrize(
    ("code", "depth"),
    [
        ("def f(a): return a", 0),
        ("def f(a):\n    for x in a: pass\n    for y in a: pass", 1),
        ("def f(a):\n    for x in a:\n        while x: x -= 1", 2),
        ("def f(a): return [[y for y in x] for x in a]", 2),
        ("def f(a): return [y for x in a for y in x]", 2),
        ("def g(x):\n    for y in x: pass\ndef f(a):\n    for x in a: g(x)", 2),
        ("def g(x):\n    for y in x: pass\ndef f(a):\n    for x in a: pass\n    g(a)", 1),
        ("def f(a):\n    for x in a: f(x)", 1),
        ("from numba import prange\ndef f(a):\n    for x in prange(3):\n        for y in prange(3): pass", 2),
        (
            "class K:\n  def g(self):\n    for x in []: pass\n  def f(self):\n    for x in []: self.g()",
            2,
        ),
    ],
)
def test_loops_are_counted_as_deep_as_they_nest(look, code, depth):
    assert look(code, "K.f" if "class K" in code else "f")["loops"] == depth


@pytest.mark.parametrize(
    "code",
    [
        "from numba import njit\n@njit(parallel=True)\ndef f(a): return a",
        "import numba\n@numba.njit(cache=True, parallel=True)\ndef f(a): return a",
        "import numba as nb\n@nb.njit(parallel = True)\ndef f(a): return a",
        "from numba import njit\ndef g(a): return a\nf = njit(parallel=True)(g)",
        "from numba import njit\nfast = njit\n@fast(parallel=True)\ndef f(a): return a",
    ],
)
def test_a_decorator_is_known_by_its_full_name_and_its_keywords(look, code):
    (decorator,) = look(code)["decorators"]
    assert decorator["name"] == "numba.njit"
    assert decorator["keywords"]["parallel"] == "True"


def test_a_method_is_looked_at_with_the_methods_it_calls(look):
    code = "import math\nclass K:\n    def f(self): return self.g()\n    def g(self): return math.pi"
    found = look(code, "K.f")
    assert "math.pi" in names(found)
    assert found["followed"] == ["K.g"]


def test_a_missing_function_gives_the_names_of_those_there_are(look):
    assert look("def g(): pass\nclass K:\n    def m(self): pass\nF = 3", "F") == {"names": ["K", "K.m", "g"]}


def test_no_function_means_the_whole_file(look):
    found = look("import math\nx = math.pi\ndef g(): return math.e", "")
    assert names(found) == {"math.pi", "math.e"}


@pytest.mark.parametrize(
    ("content", "line", "said"),
    [
        (b"def f(:\n", 1, "invalid syntax"),
        (b"x = 1\ndef f(a):\n    print 'hello'\n", 3, "Python 2"),
        (b"try:\n    x = 1\nexcept ValueError, e:\n    pass\n", 3, "Python 2"),
        ("def f(): pass".encode("utf-16"), 1, "not written in UTF-8"),
        (b"x = '\x00'\n", 1, "not written in UTF-8"),
        (b"y = 2\nx = '\xff\xfe'\n", 2, "not written in UTF-8"),
        (b'{"cells": [], "nbformat": 4}', 1, "is a Jupyter notebook"),
        (b"x = " + b"(" * 5000 + b")" * 5000, 1, "too many nested"),
    ],
)
def test_what_is_no_python_3_is_a_problem_with_its_line(look, content, line, said):
    found = look(content)
    assert said in found["problem"]
    assert found["line"] == line or not line


def test_what_is_nested_deeper_than_python_imports_is_told_as_that_alone(look):
    assert look(b"def f(a): return a" + b" + a" * 60_000) == {"too_deep": True}
    assert "problem" not in look(b"def f(a): return a" + b" + a" * 2_000)


def test_windows_line_ends_a_bom_and_odd_spaces_change_no_line_number(look):
    code = b"\xef\xbb\xbfimport math\r\n# \x0c \xe2\x80\xa8\r\ndef f(a):\r\n    return math.sqrt(a)\r\n"
    (use,) = look(code)["uses"]
    assert (use["line"], use["text"]) == (4, "return math.sqrt(a)")


def test_an_odd_escape_in_a_text_is_no_concern(look):
    assert names(look(b"def f(a):\n    return '\\d', len(a)\n")) == {"len"}


def test_nothing_of_the_file_is_run(look, capfd):
    look("print('ran')\ndef f(a=print('ran')): pass")
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(
    ("body", "certain"),
    [
        ("    return math.sqrt(a)", True),
        ("    for i in range(a):\n        x = [math.sqrt(i)]\n    return x", True),
        ("    return helper(a)", True),
        ("    with open('x'):\n        return -math.sqrt(a)", True),
        ("    if a:\n        return math.sqrt(a)", False),
        ("    if a:\n        return a\n    return math.sqrt(a)", False),
        ("    try:\n        return math.sqrt(a)\n    except ValueError:\n        return a", False),
        ("    return math.sqrt(a) if a else a", False),
        ("    return a or math.sqrt(a)", False),
        ("    return [math.sqrt(x) for x in a]", True),
        ("    return [math.sqrt(x) for x in a if x]", False),
        ("    return (math.sqrt(x) for x in a)", False),
        ("    return lambda: math.sqrt(a)", False),
        ("    def later():\n        return math.sqrt(a)\n    return later", False),
        ("    return math.sqrt", False),
        ("    math = a\n    return math.sqrt(a)", False),
        ("    m = math.sqrt\n    return m(a)", False),
        ("    return a\n    return math.sqrt(a)", False),
        ("    while a:\n        a = math.sqrt(a)", False),
        ("    yield math.sqrt(a)", False),
    ],
)
def test_a_call_is_certain_only_where_it_runs_whatever_the_arguments_are(look, body, certain):
    code = f"import math\n\ndef helper(a):\n    return math.sqrt(a)\n\ndef f(a):\n{body}\n"
    assert any(use["certain"] for use in look(code)["uses"] if use["name"] == "math.sqrt") == certain
