"""What a kind can tell of an item before anything runs: rules that nothing breaks, or that nobody keeps."""

from __future__ import annotations

import pytest

from grader.checks.build import BuildKind
from grader.checks.cuda_calls import CudaCalls
from grader.checks.files import Files
from grader.checks.kernel_launch import KernelLaunch
from grader.checks.matches_reference import MatchesReference
from grader.checks.placement import Placement
from grader.checks.profile import ProfileKind
from grader.checks.properties import Properties
from grader.checks.pytest_kind import Pytest
from grader.checks.ranks import Ranks
from grader.checks.report import ClaimedRatio, ReportKind
from grader.checks.scaling import Scaling
from grader.checks.script import Script
from grader.checks.source import Source
from grader.checks.speedup import Speedup

CALLED = {"of": "work.f", "inputs": "some"}
NUMBER = {"numbers": {"a": "a {}"}}
WRONG = [
    (Files, {"required": ("*",)}, "required", "* fits any file"),
    (Files, {"required": ("Work.py",)}, "required", "the reference has no Work.py, but work.py; write that"),
    (Files, {"required": ()}, "required", "asks for nothing"),
    (Files, {"required": ("work.py",), "max_mb": 1e-6}, "max_mb", "have 0.0 MiB together; allow more"),
    (Source, {"file": "work.py", "forbid": ("*",)}, "forbid", "forbids every name"),
    (Source, {"file": "work.py", "forbid": ("numpy.*",), "allow": ("*",)}, "allow", "allows every name"),
    (Source, {"file": "work.py", "allow": ("numpy.zeros",)}, "allow", "has no effect without forbid"),
    (Source, {"file": "work.py", "forbid": ("numpy.dot()",)}, "forbid", "no name is like 'numpy.dot()'"),
    (Source, {"file": "work.py", "require_loops": -1}, "require_loops", "must be 0 or more, got -1"),
    (Script, {"file": "work.py", "exit_status": 256}, "exit_status", "ends with 0 to 255, got 256"),
    (
        Script,
        {"file": "work.py", **NUMBER, "at_least": {"a": 2.0}, "at_most": {"a": 1.0}},
        "at_least",
        "a: must not exceed its at_most, 1, got 2",
    ),
    (Ranks, {"file": "work.py", **NUMBER, "at_most": {"a": float("nan")}}, "at_most", "must be a number"),
    (Properties, {**CALLED, "ks_at_least": 4.0}, "ks_at_least", "must be less than ks_at_most, 3.3"),
    (Pytest, {"file": "test_wrok.py"}, "file", "given/test_wrok.py is not there; did you mean test_work.py?"),
    (
        Pytest,
        {"file": "test_work.py", "tests": {"test_f": 1.0, "test_ff": 2.0, "TestG::test_h": 1.0}},
        "tests",
        "given/test_work.py has no test_ff; did you mean test_f?",
    ),
    (
        Pytest,
        {"file": "test_work.py", "tests": {"TestG::test_k[2]": 1.0}},
        "tests",
        "given/test_work.py has no TestG::test_k; did you mean TestG::test_h?",
    ),
    (
        Pytest,
        {"file": "test_work.py", "tests": {"test_h": 1.0}},
        "tests",
        "given/test_work.py has no test_h; write TestG::test_h",
    ),
    (ReportKind, {"file": "work.py", "terms": ("max|",)}, "terms", "an alternative without letters"),
    (
        ReportKind,
        {"file": "work.py", "ratios": (ClaimedRatio(of=("a", "b")),), "tolerance": 1.0},
        "tolerance",
        "any ratio is within 1 of itself",
    ),
    (ReportKind, {"file": "work.py", "min_words": -5}, "min_words", "must be 0 or more, got -5"),
    (BuildKind, {"warnings_at_most": -1}, "warnings_at_most", "must be 0 or more, got -1"),
    (Scaling, {**CALLED, "at_least": {"4": 4.5}}, "at_least", "4 cores are 4 times as many, got 4.5"),
    (
        KernelLaunch,
        {**CALLED, "kernel": "k", "threads": (64, 32)},
        "threads",
        "1024 threads at most, got 2048",
    ),
]
RIGHT = [
    (Files, {"required": ("*.py", "report.pdf"), "max_mb": 1.0}),
    (Source, {"file": "work.py", "forbid": ("*",), "allow": ("numpy.*",), "require_loops": 1}),
    (Script, {"file": "work.py", **NUMBER, "at_least": {"a": 1.0}, "at_most": {"a": 1.0}}),
    (Pytest, {"file": "test_work.py"}),
    (Pytest, {"file": "test_work.py", "tests": {"test_f[1-2]": 1.0, "TestG": 1.0, "TestG::test_h": 2.0}}),
    (Pytest, {"file": "test_more.py", "tests": {"test_from_elsewhere": 1.0}}),
    (Pytest, {"file": "test_loop.py", "tests": {"test_made": 1.0}}),
    (ReportKind, {"file": "work.py", "terms": ("max|maximum",), "ratios": (ClaimedRatio(of=("a", "b|c")),)}),
    (Scaling, {**CALLED, "at_least": {"4": 2.5}}),
    (KernelLaunch, {**CALLED, "kernel": "k", "threads": 1024}),
]


NEED_GPUS = [
    (ProfileKind, {"of": "work.f"}, 1),
    (Placement, CALLED, 1),
    (KernelLaunch, {**CALLED, "kernel": "k"}, 1),
    (KernelLaunch, {**CALLED, "kernel": "k", "simulated_inputs": "some"}, 1),
    (CudaCalls, {**CALLED, "epochs": (2, 4), "totals": "flat"}, 1),
    (MatchesReference, CALLED, 0),
    (MatchesReference, {**CALLED, "made_on_gpu": True}, 1),
    (MatchesReference, {**CALLED, "exchanged_inputs": "some"}, 1),
    (Ranks, {"file": "work.py", "processes": 4}, 0),
    (Ranks, {"file": "work.py", "processes": 4, "backend": "nccl"}, 4),
]


@pytest.mark.parametrize(("kind", "keys", "count"), NEED_GPUS)
def test_a_kind_says_how_many_gpus_an_item_needs(kind, keys, count):
    assert kind().gpus_needed(kind.Options(**keys)) == count


RATIO = "a program that is no faster reaches {}, too; write more than 1, unless that is meant"
OVER = {**CALLED, "over": "work.slow"}
DOUBTFUL = [
    (Speedup, {**OVER, "at_least": 0.3}, [RATIO.format(0.3)]),
    (Speedup, {**OVER, "at_least": 1.3}, []),
    (Scaling, {**CALLED, "at_least": {"2": 0.9, "4": 2.0, "8": 1.0}}, [RATIO.format(0.9), RATIO.format(1)]),
    (Scaling, CALLED, []),
    (Files, {"required": ("*",)}, []),
]


@pytest.mark.parametrize(("kind", "keys", "messages"), DOUBTFUL)
def test_a_kind_remarks_on_what_may_not_be_meant(assignment, kind, keys, messages):
    remarks = kind().remarks(kind.Options(**keys), assignment)
    assert [*remarks] == [("at_least", message) for message in messages]


@pytest.fixture
def assignment(tmp_path):
    sources = {
        "reference/work.py": "def f(): return 1\n" * 100,
        "given/test_work.py": "def test_f(): ...\nclass TestG:\n    def test_h(self): ...\n",
        "given/test_more.py": "from tests_of_mine import *\n",
        "given/test_loop.py": "for n in range(3): globals()[f'test_{n}'] = print\n",
    }
    for name, source in sources.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(source)
    return str(tmp_path)


@pytest.mark.parametrize(("kind", "keys", "key", "message"), WRONG)
def test_a_rule_that_cannot_be_is_named_with_its_key(assignment, kind, keys, key, message):
    ((told, text),) = kind().objections(kind.Options(**keys), assignment)
    assert told == key
    assert message in text


@pytest.mark.parametrize(("kind", "keys"), RIGHT)
def test_a_rule_that_can_be_kept_and_broken_is_fine(assignment, kind, keys):
    assert [*kind().objections(kind.Options(**keys), assignment)] == []
