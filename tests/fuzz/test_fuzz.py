"""Damaged archives and rubrics; and the fuzzer sees what it is there to see."""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from grader.config.problem import Problem
from grader.config.rubric import check_rubric
from grader.errors import SubmissionError
from grader.intake.receive import receive

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


@pytest.fixture(scope="module")
def fuzz() -> Any:
    """The script, with the modules beside it."""
    sys.path.insert(0, str(SCRIPTS))
    try:
        import fuzz

        yield fuzz
    finally:
        sys.path.remove(str(SCRIPTS))


@pytest.mark.parametrize("count", [50, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("what", "answers"),
    [("archives", {"accepted", "SubmissionError"}), ("rubrics", {"accepted", "refused"})],
)
def test_whatever_is_thrown_ends_in_an_answer_or_in_one_line(what, answers, count, fuzz, tmp_path):
    tally = fuzz.fuzz(fuzz.target(what), range(count), seed=7, keep=tmp_path)
    assert tally.findings == {}
    assert set(tally.answers) >= answers
    assert sum(tally.answers.values()) == count


@pytest.mark.parametrize("what", [pytest.param("archives", marks=pytest.mark.slow), "rubrics"])
def test_a_case_is_its_seed_and_its_number(what, fuzz, monkeypatch):
    make = fuzz.target(what).make
    first = [make(random.Random(f"1:{index}")) for index in range(20)]
    monkeypatch.setattr("time.time", lambda: 1e9)
    assert [make(random.Random(f"1:{index}")) for index in range(20)] == first
    assert [make(random.Random(f"2:{index}")) for index in range(20)] != first


def bug(*_: Any, **__: Any) -> None:
    raise ValueError("not our family")


def two_problems(*_: Any, **__: Any) -> None:
    raise SubmissionError("one", "two")


def leaves_something(source: Path, **options: Any) -> Any:
    (source.parent / "left").touch()
    return receive(source, **options)


def climbs_out(source: Path, **options: Any) -> Any:
    (source.parent / "../../escaped").touch()
    return receive(source, **options)


def spoils_the_archive(source: Path, **_: Any) -> None:
    source.write_bytes(b"")
    raise SubmissionError("sorry")


def never_ends(*_: Any, **__: Any) -> None:
    while True:
        pass


def makes_a_link(source: Path, workspace: Path, **_: Any) -> None:
    workspace.mkdir(parents=True)
    (workspace / "utils.py").symlink_to("/etc/passwd")


@pytest.mark.parametrize(
    ("take", "finding"),
    [
        (bug, "ValueError: not our family"),
        (two_problems, "refused with 2 lines"),
        (leaves_something, "left behind ['a/b/c/left']"),
        (climbs_out, "left behind ['a/escaped']"),
        (spoils_the_archive, "changed the file"),
        (never_ends, "took more than 0.2 s of processor time"),
        (makes_a_link, "no plain file"),
    ],
)
def test_what_receiving_must_not_do_is_found(take, finding, fuzz, tmp_path):
    archives = fuzz.target("archives")
    target = fuzz.Target(make=archives.make, probe=lambda path: archives.probe(path, take))
    tally = fuzz.fuzz(target, [4], seed=1, keep=tmp_path, cpu_s=0.2)
    assert finding in tally.findings[4]
    assert [path.name[:2] for path in tmp_path.iterdir()] == ["4-"]


@pytest.mark.parametrize(
    ("check", "finding"),
    [
        (bug, "ValueError: not our family"),
        (lambda *_, **__: ("a\u2028b",), "more than one line"),
        (lambda *_, **__: ("a\x9bb",), "control characters"),
        (lambda *_, **__: ("a\ud800b",), "cannot be written"),
        (lambda *_, **__: ("Traceback (most recent call last):",), "about Python"),
        (lambda *_, **__: ("a", "a"), "one line twice"),
        (lambda *_, **__: ("a line of its own",), "checking says"),
    ],
)
def test_what_checking_a_rubric_must_not_do_is_found(check, finding, fuzz):
    module: ModuleType = sys.modules["fuzz_rubrics"]
    broken = fuzz.Target(make=lambda _: ("r.yaml", b"x: ["), probe=module.rubric_prober(check=check))
    assert finding in fuzz.fuzz(broken, [0], seed=1).findings[0]


def test_a_rubric_that_loads_in_spite_of_problems_is_found(fuzz):
    module: ModuleType = sys.modules["fuzz_rubrics"]
    probe = module.rubric_prober(check=check_rubric, load=lambda *_, **__: None)
    broken = fuzz.Target(make=lambda _: ("r.yaml", b"x: ["), probe=probe)
    assert "loads in spite of" in fuzz.fuzz(broken, [0], seed=1).findings[0]


@pytest.mark.slow
def test_the_command_says_what_it_found(fuzz, capsys, monkeypatch):
    assert fuzz.main(["archives", "--count", "5"]) == 0
    assert "; 0 findings\nslowest: case " in capsys.readouterr().out
    archives = fuzz.target("archives")
    broken = fuzz.Target(make=archives.make, probe=lambda path: archives.probe(path, two_problems))
    monkeypatch.setattr(fuzz, "target", lambda _: broken)
    assert fuzz.main(["archives", "--only", "3"]) == 1
    assert capsys.readouterr().out.startswith("case 3: refused with 2 lines")


def test_a_line_about_odd_letters_is_made_of_plain_ones():
    problem = Problem(path=("items", 0, "a\x00b"), message='got "\u2028\x9b\ud800é"')
    assert str(problem) == r'items[0].a\x00b: got "\u2028\x9b\ud800é"'


def test_nothing_of_a_run_stays(fuzz, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    fuzz.fuzz(fuzz.target("archives"), range(5), seed=1)
    assert os.listdir(tmp_path) == []  # noqa: PTH208 - of strings, for a readable failure
