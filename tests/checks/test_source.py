"""Rules on the source: hints to a person, unless the rubric lets them decide."""

from __future__ import annotations

from textwrap import dedent

import pytest

from grader.checks.source import Source
from grader.config.decode import decode
from grader.model.observation import NOT_IMPORTED, Fault, Observation, Outcome
from grader.model.options import measuring
from grader.subject.tools import source

KIND = Source()
TRIVIAL = """
    import numpy as np

    def max_cpu(A, B):
        C = np.zeros(A.shape)
        for i in range(A.shape[0]):
            for j in range(A.shape[1]):
                C[i, j] = A[i, j] if A[i, j] > B[i, j] else B[i, j]
        return C
"""
VECTORISED = """
    import numpy as np

    def max_cpu(A, B):
        for i in range(2):
            for j in range(2):
                pass
        return np.maximum(A, B)
"""
ALIASED = """
    from numpy import maximum as helper

    def better(a, b):
        return helper(a, b)

    def max_cpu(A, B):
        return [[better(a, b) for a, b in zip(x, y)] for x, y in zip(A, B)]
"""
FLAT = """
    def max_cpu(A, B):
        return [max(a, b) for a, b in zip(A, B)]
"""
HIDDEN = """
    import numpy as np

    def max_cpu(A, B):
        for a in A:
            for b in B:
                return getattr(np, "maxi" + "mum")(A, B)
"""
COURSE = {"reference/work.py": ""}
RULES = {"forbid": ("numpy.*", "@", ".max"), "allow": ("numpy.zeros",), "require_loops": 2}


def options(**keys):
    return Source.Options(**{"file": "work.py", "function": "max_cpu", **keys})


@pytest.fixture
def award(tmp_path):
    def award(code, **keys):
        (tmp_path / "work.py").write_text(dedent(code))
        chosen = options(**keys)
        facts = source.main(str(tmp_path / "work.py"), chosen.function)
        return KIND.award(chosen, Observation(item="i", outcome=Outcome.OBSERVED, facts=facts), {})

    return award


def test_a_trivial_loop_keeps_the_rules(award):
    found = award(TRIVIAL, **RULES, decides=True)
    assert (found.fraction, found.reason, found.flags) == (1.0, "the source keeps the rules", ())


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (VECTORISED, "work.py:8: uses numpy.maximum: return np.maximum(A, B)"),
        (ALIASED, "work.py:5: uses numpy.maximum: return helper(a, b)"),
        (FLAT, "work.py: max_cpu has loops nested 1 deep, not 2"),
    ],
)
def test_a_broken_rule_is_shown_to_a_person_and_costs_only_if_it_decides(award, code, said):
    hint = award(code, **RULES)
    assert hint.fraction == 1.0
    assert hint.flags == (said,)
    decided = award(code, **RULES, decides=True)
    if "loops" in said:  # a map and a recursion are none in the source
        assert (decided.fraction, decided.flags) == (1.0, (said,))
    else:
        assert (decided.fraction, decided.reason) == (0.0, said)


@pytest.mark.parametrize(
    ("code", "flag"),
    [
        ("def max_cpu(A, B): return A.max()", "work.py:2: uses max: def max_cpu(A, B): return A.max()"),
        ("def max_cpu(A, B): return A @ B", "work.py:2: uses @: def max_cpu(A, B): return A @ B"),
        (
            "def max_cpu(A, B): return np.array(A, dtype=np.int64)",
            "work.py:2: uses numpy.int64: def max_cpu(A, B): return np.array(A, dtype=np.int64)",
        ),
    ],
)
def test_what_is_not_certain_is_shown_to_a_person_even_where_the_source_decides(award, code, flag):
    rules = {**RULES, "allow": ("numpy.array",), "require_loops": 0}
    found = award(f"import numpy as np\n{code}", **rules, decides=True)
    assert (found.fraction, found.flags) == (1.0, (flag,))


CERTAIN = [
    "def max_cpu(A, B):\n    def add(u, v): return u + v\n    return add(A, np.maximum(A, B))",
    "def max_cpu(A, B):\n    add = lambda u: (yield u)\n    return np.maximum(A, B)",
    "def max_cpu(A, B):\n    def rows():\n        yield A\n    return np.maximum(A, B)",
    "def max_cpu(A, B):\n    class Sum:\n        def of(self): return 3\n    return np.maximum(A, B)",
    "def max_cpu(A, B):\n    for a in A:\n        if a: break\n    return np.maximum(A, B)",
    "def max_cpu(A, B):\n    while A:\n        A = A[1:]\n        continue\n    return np.maximum(A, B)",
    "def max_cpu(A, B):\n    while True:\n        if A: break\n    return np.maximum(A, B)",
    "import numba\n@numba.njit\ndef max_cpu(A, B): return np.maximum(A, B)",
]
UNCERTAIN = [
    "def max_cpu(A, B):\n    if A: return B\n    return np.maximum(A, B)",
    "def max_cpu(A, B):\n    for a in A:\n        return B\n    return np.maximum(A, B)",
    "def max_cpu(A, B):\n    for a in A:\n        if a: break\n        np.maximum(A, B)",
    "def max_cpu(A, B):\n  for a in A:\n    for b in B: a\n    else: break\n    np.maximum(A, B)",
    "def max_cpu(A, B):\n    class Sum:\n        if A: raise ValueError\n    return np.maximum(A, B)",
    "def max_cpu(A, B):\n    def never():\n        np.maximum(A, B)",
    "def max_cpu(A, B):\n    assert A, np.maximum(A, B)",
    "def max_cpu(A, B):\n  try: A()\n  except* ValueError: np.maximum(A, B)",
    "import sys\ndef max_cpu(A, B):\n    sys.exit()\n    np.maximum(A, B)",
    "def max_cpu(A, B):\n    while True: A()\n    np.maximum(A, B)",
    "import contextlib\ndef max_cpu(A, B):\n  with contextlib.suppress(OSError):\n    np.maximum(A(), B)",
    "def never(f): return print\n@never\ndef helper(A): np.maximum(A, A)\ndef max_cpu(A, B): helper(A)",
    "match 3:\n    case np: pass\ndef max_cpu(A, B): np.maximum(A, B)",
]


@pytest.mark.parametrize(
    ("code", "fraction"), [*((code, 0.0) for code in CERTAIN), *((code, 1.0) for code in UNCERTAIN)]
)
def test_only_what_leaves_its_own_block_makes_the_rest_of_it_uncertain(award, code, fraction):
    found = award(f"import numpy as np\n{code}", forbid=("numpy.maximum",), decides=True)
    assert found.fraction == fraction, found


@pytest.mark.parametrize(
    ("code", "used"),
    [
        ("import numpy as np\ndef max_cpu(x):\n    return np.maximum.reduce(x)", "numpy.maximum.reduce"),
        ("from numpy import maximum\ndef max_cpu(x):\n    return maximum.reduce(x)", "numpy.maximum.reduce"),
    ],
)
def test_what_belongs_to_a_forbidden_name_is_shown_to_a_person(award, code, used):
    found = award(code, forbid=("numpy.maximum",), decides=True)
    assert found.fraction == 1.0
    assert [used in flag for flag in found.flags] == [True]
    assert award(code, forbid=("numpy.maximum",), allow=("numpy.maximum.reduce",)).flags == ()
    assert award(code, forbid=("numpy.maximum.*",), decides=True).fraction == 0.0


def test_a_return_of_a_function_leaves_the_file_certain(award):
    code = "import os\ndef add(): return 3\nclass Sum:\n    def of(self): return 3\nos.getpid()\n"
    found = award(code, forbid=("os.*",), decides=True, function="")
    assert (found.fraction, found.reason) == (0.0, "work.py:5: uses os.getpid: os.getpid()")


def test_what_may_hide_a_use_is_flagged_and_never_decides(award):
    found = award(HIDDEN, **RULES, decides=True)
    assert found.fraction == 1.0
    assert found.flags == (
        'work.py:7: getattr may hide what is used: return getattr(np, "maxi" + "mum")(A, B)',
    )
    assert award(HIDDEN, require_loops=2).flags == ()


@pytest.mark.parametrize(
    ("required", "kept"),
    [
        (("numba.njit",), True),
        (("numba.njit(parallel=True)",), True),
        (("numba.njit(parallel=False)",), False),
        (("numba.njit(cache=True)",), False),
        (("numba.cuda.jit",), False),
        (("numba.cuda.jit|numba.njit",), True),
        (("numba.njit", "numba.cuda.jit"), False),
    ],
)
def test_a_decorator_is_required_by_name_and_keywords(award, required, kept):
    code = "import numba as nb\n@nb.njit(parallel=True)\ndef max_cpu(A, B): return A"
    assert award(code, require_decorator=required, decides=True).fraction == kept


PLAIN = "def max_cpu(A, B): return A\n"
FAST = f"@njit(parallel=True)\n{PLAIN}"


@pytest.mark.parametrize(
    ("code", "fraction", "said"),
    [
        (FAST, 1, ()),
        (f"from functools import cache\n@cache\n{FAST}", 1, ()),
        (f"FAST_MATH = True\n@njit(parallel=True, fastmath=FAST_MATH)\n{PLAIN}", 1, ()),
        (f"{PLAIN}max_cpu = njit(max_cpu, parallel=True)", 1, ()),
        (f"fast = njit(parallel=True)\n@fast\n{PLAIN}", 1, ("may stand for it",)),
        (f"def fast(f): return njit(parallel=True)(f)\n@fast\n{PLAIN}", 1, ("may stand for it",)),
        (f"options = dict(parallel=True)\n@njit(**options)\n{PLAIN}", 1, ("may stand for it",)),
        (f"@njit(parallel=PARALLEL)\n{PLAIN}", 1, ("may stand for it",)),
        (f"{FAST}{PLAIN}", 1, ("defined again",)),
        (f"{FAST}max_cpu = max_cpu.py_func", 1, ("defined again",)),
        (f"{FAST}for max_cpu in [max_cpu.py_func]: pass", 1, ("defined again",)),
        (f"@(lambda f: f.py_func)\n{FAST}", 1, ("may undo",)),
        (f"njit = lambda **options: lambda f: f\n{FAST}", 1, ("may undo",)),
        (f"def fast(f): return f\n@fast\n{PLAIN}", 0, ()),
        (f"@njit(parallel=False)\n{PLAIN}", 0, ()),
    ],
)
def test_a_decorator_that_may_be_another_is_left_to_a_person(award, code, fraction, said):
    required = ("numba.njit(parallel=True)",)
    found = award(f"from numba import njit\n{code}", require_decorator=required, decides=True)
    assert found.fraction == fraction, found
    assert len(found.flags) == len(said)
    assert all(map(str.__contains__, found.flags, said)), found.flags


def test_a_decorator_of_another_file_of_the_program_may_be_the_required_one(award, tmp_path):
    (tmp_path / "tools.py").write_text("from numba import njit\nfast = njit(parallel=True)\n")
    required = ("numba.njit(parallel=True)",)
    found = award(f"from tools import fast\n@fast\n{PLAIN}", require_decorator=required, decides=True)
    assert (found.fraction, len(found.flags)) == (1, 1)


def test_a_hundred_findings_make_a_short_list(award):
    code = "import numpy as np\ndef max_cpu(A, B):\n" + "    np.maximum(A, B)\n" * 100
    assert award(code, forbid=("numpy.*",)).flags[-1] == "and 90 more"


def test_rules_judge_and_do_not_measure():
    assert measuring(options(**RULES)) == {"file": "work.py", "function": "max_cpu"}


@pytest.mark.parametrize("text", ["numba.njit(", "numba.njit(True)", "3", "numba.njit()()"])
def test_a_decorator_that_cannot_be_read_is_refused_with_the_rubric(text):
    _, problems = decode(Source.Options, {"file": "a.py", "function": "f", "require_decorator": [text]})
    assert "must be like numba.njit" in str(problems[0])


def test_a_decorator_needs_a_function():
    _, problems = decode(Source.Options, {"file": "a.py", "require_decorator": ["numba.njit"]})
    assert "needs a function" in str(problems[0])


def test_a_file_is_read_in_a_sandbox_and_nothing_of_it_runs(real_context):
    evil = dedent(VECTORISED) + "\nimport os\nos._exit(3)\nprint('ran')\n"
    observation = KIND.observe(options(), real_context({"work.py": evil}, COURSE))
    assert observation.outcome is Outcome.OBSERVED
    assert KIND.award(options(**RULES), observation, {}).flags == (
        "work.py:8: uses numpy.maximum: return np.maximum(A, B)",
    )


@pytest.mark.parametrize(
    ("submission", "outcome", "note"),
    [
        ({"other.py": ""}, Outcome.REFUSED, "work.py was not handed in"),
        ({"work.py": "print 'hi'\n"}, Outcome.REFUSED, "work.py:1: is written for Python 2"),
        ({"work.py": "def max_cpu(:\n"}, Outcome.REFUSED, "work.py:1: invalid syntax"),
        (
            {"work.py": "def max_CPU(A, B): pass\n"},
            Outcome.REFUSED,
            "work.py defines no max_cpu; did you mean max_CPU?",
        ),
        ({"work.py": "x = " + "-" * 60_000 + "1"}, Outcome.REFUSED, "work.py"),
        ({"work.py": "[" * 90_000}, Outcome.REFUSED, "work.py:1: "),
    ],
)
def test_what_cannot_be_looked_at_is_the_students_doing_and_said_so(real_context, submission, outcome, note):
    observation = KIND.observe(options(), real_context(submission, COURSE))
    assert (observation.outcome, observation.fault) == (outcome, None)
    assert observation.note.startswith(note)


@pytest.mark.parametrize(
    "content",
    [
        b"import math\ndef max_cpu(A, B) return A\n",
        b"def max_cpu(A, B):\n    x = 1\n  return A\n",
        b"print 'hi'\n",
        b"x = '\xe4'\n",
        "x = 1\n".encode("utf-16"),
    ],
)
def test_a_file_that_python_does_not_read_has_one_note_here_and_where_it_is_imported(real_context, content):
    context = real_context({"work.py": ""}, COURSE)
    context._file("work.py").write_bytes(content)
    observation = KIND.observe(options(), context)
    with context.subject("work") as subject:
        assert observation.note == subject.imported.note
    assert observation.note.startswith("work.py:")
    assert observation.facts == {NOT_IMPORTED: ""}


@pytest.mark.parametrize(
    ("code", "observed"),
    [
        (f"@numba.njit(cache=0x{'F' * 6000})\ndef max_cpu(A, B): pass\n", True),
        (f"def max_cpu(A, B): pass\nx = 1{' + 1' * 2000}\n", True),
        (f"def max_cpu(A, B): pass\nx = y{'.real' * 2500}\n", True),
        (f"def max_cpu(A, B): pass\nx = {'-' * 60_000}1\n", False),
    ],
    ids=["a number of many digits", "a long sum", "a long chain", "deeper than Python imports"],
)
def test_a_long_expression_neither_hides_a_rule_nor_is_a_bug_of_ours(real_context, code, observed):
    observation = KIND.observe(options(), real_context({"work.py": code}, COURSE))
    assert (observation.outcome is Outcome.OBSERVED) == observed
    assert observation.fault is None
    assert NOT_IMPORTED not in observation.facts


def test_a_bug_of_our_tool_is_not_held_against_the_student(real_context):
    context = real_context({"work.py": FLAT}, COURSE)
    observation = KIND.observe(options(function=["f"]), context)
    assert (observation.outcome, observation.fault) == (Outcome.NOT_OBSERVED, Fault.GRADER)
