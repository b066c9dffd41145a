"""What the benchmark of attacks says of a run, and that nothing is left of one that it kills."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = ROOT / "benchmarks"
SCRIPT = BENCHMARKS / "attacks.py"
BOB = "utils.create_batches"
"""What bob's submission gets wrong."""
sys.path.insert(0, str(BENCHMARKS))  # as Python does for a script
attacked_class, grading = map(import_module, ("attacked_class", "grading"))
sys.path.remove(str(BENCHMARKS))


def attacks(*words, file):
    """Run the script: its exit code, its lines in the file, and what it printed."""
    argv = [sys.executable, SCRIPT, *map(str, words), "--out", file]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, cwd=file.parent)
    lines = file.read_text().splitlines() if file.exists() else []
    assert not done.stderr
    return done.returncode, list(map(json.loads, lines)), done.stdout


def in_a_process(code):
    """What code prints as JSON beside the benchmarks; a subreaper of its own, so that ours is none."""
    prelude = f"import json, sys\nsys.path.insert(0, {str(BENCHMARKS)!r})\n"
    done = subprocess.run([sys.executable, "-c", prelude + code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_a_submission_that_earns_what_it_deserves_ends_with_0(tmp_path):
    code, lines, printed = attacks("bob", file=tmp_path / "lines.jsonl")
    assert code == 0
    assert len(lines) == 7
    assert {line["item"]: line["earned"] for line in lines}[BOB] == 0
    assert printed.splitlines()[-1] == "1 submissions, 7 items: 7 as deserved"


def test_what_is_in_the_file_is_not_run_again_and_counts(tmp_path):
    file = tmp_path / "lines.jsonl"
    items = ["sigmoid", "sigmoid_prime", "random_weights", "zeros_weights", "zeros_biases"]
    names = [f"utils.{item}" for item in (*items, "create_batches", "add_elementwise")]
    line = {
        "name": "bob",
        "deserved": 3,
        "earned": 3,
        "seconds": 4711,
        "reason": "",
        "verdict": "as deserved",
    }
    lines = [{**line, "item": name} for name in names]
    lines[0]["verdict"] = "EARNED"
    file.write_text("".join(f"{json.dumps(one)}\n" for one in lines))
    code, kept, printed = attacks("bob", file=file)
    assert code == 1
    assert kept == lines
    assert "4711.00  EARNED" in printed
    assert printed.endswith("7 items: 6 as deserved, 1 EARNED\n")


def test_what_there_is_no_time_for_is_left_for_a_later_command(tmp_path):
    code, lines, printed = attacks("bob", "--each", 30, "--within", 29, file=tmp_path / "lines.jsonl")
    assert (code, lines) == (1, [])
    assert printed.endswith("7 items: 7 left for a later command\n")


def test_only_gpu_leaves_out_what_needs_none(tmp_path):
    code, lines, printed = attacks("bob", "--only", "gpu", file=tmp_path / "lines.jsonl")
    assert (code, lines) == (0, [])
    assert printed.endswith("0 submissions, 0 items: nothing to grade\n")


def test_an_unknown_name_is_one_line(tmp_path):
    argv = [sys.executable, SCRIPT, "nobody_at_all"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("attacks.py: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_the_verdict_compares_what_was_earned_with_what_is_deserved():
    lines = in_a_process(
        """
import attacks
from argparse import Namespace
from dataclasses import replace
(trial,) = attacks.selected(Namespace(names=["bob"], only=None))
deserved = {"utils.sigmoid": 0.0, "utils.sigmoid_prime": 5.0, "utils.zeros_biases": 3.0}
trial = replace(trial, earns={**trial.earns, **deserved})
print(json.dumps([*attacks.observed(trial, [*deserved], 60.0, float("inf"))]))
"""
    )
    assert {line["item"]: (line["earned"], line["verdict"]) for line in lines} == {
        "utils.sigmoid": (3, "EARNED"),
        "utils.sigmoid_prime": (3, "LOST"),
        "utils.zeros_biases": (3, "as deserved"),
    }


@pytest.mark.slow
def test_an_item_that_hangs_is_named_and_those_before_it_are_scored_and_nothing_is_left_of_it(tmp_path):
    """The program of this submission hangs longer than the wall limit of the run, as a hung grader would."""
    (tmp_path / "utils.py").write_text(
        "import subprocess, time\n"
        "def sigmoid(x):\n"
        "    subprocess.Popen(['sleep', '4711'], start_new_session=True)\n"
        "    time.sleep(60)\n"
        "def sigmoid_prime(x): return 0.0\n"
    )
    lines, left = in_a_process(
        f"""
import attacks, grading
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
(trial,) = attacks.selected(Namespace(names=["bob"], only=None))
trial = replace(trial, archive=Path({str(tmp_path)!r}), earns={{**trial.earns, "utils.sigmoid_prime": 0}})
items = ["utils.sigmoid_prime", "utils.sigmoid"]
lines = [*attacks.observed(trial, items, 8.0, float("inf"))]
print(json.dumps([lines, len(grading.descendants())]))
"""
    )
    assert {line["item"]: line["verdict"] for line in lines} == {
        "utils.sigmoid_prime": "as deserved",
        "utils.sigmoid": "HUNG",
    }
    assert left == 0
    assert not any("4711" in command for command in commands())


def commands():
    """The command lines of all processes."""
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            yield process.read_text(errors="replace")
        except OSError:
            continue


def test_orphans_of_a_killed_process_are_found_and_killed():
    before, found, after = in_a_process(
        """
import grading, os, subprocess, time
from grader.subject import linux
linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)
spared = grading.descendants()
subprocess.run(["sh", "-c", "setsid sleep 600 & echo"], stdout=subprocess.DEVNULL)
found = grading.descendants() - spared
grading.end_all_but(spared)
print(json.dumps([len(spared), len(found), len(grading.descendants())]))
"""
    )
    assert (before, found, after) == (0, 1, 0)


def test_a_class_names_what_is_open_or_has_other_points_or_was_not_graded():
    from grader.config.course import load_course
    from grader.plugins import Plugins
    from grader.selftest.cases import Selection, cases_of

    (bob,) = cases_of(load_course(ROOT), Plugins(ROOT), Selection(patterns=("bob",)))
    right = [
        {"id": item, "points": points, "status": "earned", "reason": ""} for item, points in bob.earns.items()
    ]
    opened = [{**right[0], "status": "pending", "reason": "Broken pipe"}, *right[1:]]
    lost = [{**right[0], "points": 1.0}, *right[1:]]
    run = grading.Run(
        wall_s=1.0,
        in_time=True,
        scores=tuple(
            {"students": [student], "items": items}
            for student, items in (("a", right), ("b", opened), ("c", lost))
        ),
        complaints="",
    )
    assert list(attacked_class.undeserved(dict.fromkeys("abcd", bob), run)) == [
        "b (bob): utils.sigmoid is pending: Broken pipe",
        "c (bob): utils.sigmoid earned 1, deserves 3.0: ",
        "d (bob): was not graded",
    ]


def test_every_attack_deserves_nothing_or_a_person_somewhere_and_every_twin_everything():
    from grader.config.course import load_course
    from grader.plugins import Plugins
    from grader.selftest.cases import Selection, cases_of

    cases = cases_of(load_course(ROOT), Plugins(ROOT), Selection(patterns=("attack_*", "honest_*"), gpus=8))
    for case in cases:
        decided = {item: points for item, points in case.earns.items() if points != "pending"}
        possible = {item.id: item.points for item in case.rubric.items}
        if case.name.startswith("honest_"):
            assert decided == {item: possible[item] for item in decided}, case.name
        else:
            waits = case.earns.keys() - decided.keys() - case.leaves_out  # for a person, where it is unclear
            assert 0 in decided.values() or waits, case.name
