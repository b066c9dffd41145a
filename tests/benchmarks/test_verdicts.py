"""What the proof of trust plants, continues and prints; what it finds needs a quiet machine, or a GPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from grader.config.course import load_course
from grader.config.rubric import load_rubric
from grader.model.observation import Observation, Outcome
from grader.plugins import Plugins

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "benchmarks" / "verdicts.py"
sys.path.insert(0, str(SCRIPT.parent))  # as Python does for a script
verdicts, plant, lines, tables = map(
    import_module, ("verdicts", "planted.plant", "planted.lines", "planted.tables")
)
sys.path.remove(str(SCRIPT.parent))


@pytest.fixture(params=[False, True], ids=["cpu", "gpu"])
def bed(request, tmp_path):
    made = plant.Bed(folder=tmp_path, gpu=request.param)
    made.lay_out()
    return made


def asked(*words):
    argv, sys.argv = sys.argv, ["verdicts.py", *map(str, words)]
    try:
        return verdicts.arguments()
    finally:
        sys.argv = argv


def test_the_course_that_is_laid_out_loads_and_needs_a_gpu_only_if_there_is_one(bed):
    course, plugins = load_course(bed.course), Plugins(bed.course)
    for name in ("planted", "clocks"):
        rubric = load_rubric(
            course.rubric_for("planted", name), kinds=plugins.checks, assignments=plugins.assignment_folders
        )
        assert [dict(item.devices) for item in rubric.items] == [{"gpu": 1} if bed.gpu else {}]


def run_planted(folder, code, **environment):
    """Run code beside the files of a submission; what it prints, as JSON."""
    argv = [sys.executable, "-c", f"import json, numpy as np\nfrom max_functions import *\n{code}"]
    done = subprocess.run(
        argv, cwd=folder, env=os.environ | environment, check=True, stdout=subprocess.PIPE, text=True
    )
    return json.loads(done.stdout)


def test_planted_functions_are_right_and_take_no_less_than_they_are_told(tmp_path):
    bed = plant.Bed(folder=tmp_path, gpu=False)
    bed.lay_out()
    submission = bed.plant("slow", plant.Known(fast_s=0.05, slow_s=0.2))
    code = """
import time
A, B = np.arange(12).reshape(3, 4), np.full((3, 4), 5)
begun, computed = time.perf_counter(), time.thread_time()
C = max_cpu(A, B)
computed = time.thread_time() - computed
begun = time.perf_counter()
D, own_s = max_timed(A, B)
took = time.perf_counter() - begun
print(json.dumps([C.tolist(), D.tolist(), computed, took, own_s]))
"""
    loop, quick, computed, took, own_s = run_planted(submission, code)
    assert loop == quick == np.maximum(np.arange(12).reshape(3, 4), 5).tolist()
    assert computed >= 0.2
    assert took >= own_s >= 0.05


@pytest.mark.parametrize("simulated", ["1", pytest.param("0", marks=pytest.mark.gpu)])
def test_the_kernel_is_right_however_long_it_computes_in_vain(simulated, tmp_path):
    bed = plant.Bed(folder=tmp_path, gpu=True)
    bed.lay_out()
    submission = bed.plant("spins", plant.Known(spins=7))
    code = """
A, B = np.arange(12, dtype=np.int32).reshape(3, 4), np.full((3, 4), 5, dtype=np.int32)
C = max_gpu(A, B)
print(json.dumps([C.tolist(), str(C.dtype)]))
"""
    found = run_planted(submission, code, NUMBA_ENABLE_CUDASIM=simulated, PYTHONWARNINGS="ignore")
    assert found == [np.maximum(np.arange(12).reshape(3, 4), 5).tolist(), "int32"]


def test_a_run_that_does_not_end_in_time_is_ended_and_is_none(tmp_path):
    bed = plant.Bed(folder=tmp_path, gpu=False)
    bed.lay_out()
    before = children()
    assert verdicts.graded(bed.course, bed.reference, verdicts.PARTS["planted"], 0.1) is None
    assert children() == before


def told_of(folder):
    return dict(line.split(" = ") for line in (folder / "known.py").read_text().splitlines())


def test_what_is_planted_has_the_ratio_that_it_is_named_after(tmp_path, monkeypatch):
    bed = plant.Bed(folder=tmp_path, gpu=False)
    bed.lay_out()
    seen = {
        "max_cpu": plant.Took(wall_s=0.05, cpu_s=0.04),
        "max_gpu": plant.Took(wall_s=0.0002, cpu_s=0.0002),
    }
    monkeypatch.setattr(plant.Bed, "quiet", lambda *_: seen)
    found = plant.planted(bed, (36, 42.5))
    for ratio, folder in found.items():
        told = told_of(folder)
        assert float(told["SLOW_S"]) / float(told["FAST_S"]) == pytest.approx(ratio)
        assert float(told["SLOW_S"]) == pytest.approx(plant.HEADROOM * 0.04)
    # or its own margin would be another one than the submission's
    assert told_of(bed.reference) == {"FAST_S": "0.0", "SLOW_S": told["SLOW_S"], "SPINS": "0"}
    with pytest.raises(plant.NoRoom, match=r"a ratio of 250: the quick function takes 0\.20 ms"):
        plant.planted(bed, (36, 250))


def test_a_kernel_computes_in_vain_for_as_long_as_a_length_asks(tmp_path, monkeypatch):
    bed = plant.Bed(folder=tmp_path, gpu=True)
    bed.lay_out()

    def quiet(_bed, folder, _family, _calls, functions):
        wall_s = 0.003 + 1e-7 * int(told_of(folder)["SPINS"])
        return dict.fromkeys(functions, plant.Took(wall_s=wall_s, cpu_s=wall_s))

    monkeypatch.setattr(plant.Bed, "quiet", quiet)
    found = {ms: int(told_of(folder)["SPINS"]) for ms, folder in plant.lasting(bed, (2, 5, 20)).items()}
    assert found == {2: 0, 5: 20_000, 20: 170_000}


def test_the_truth_is_measured_without_grader(tmp_path):
    bed = plant.Bed(folder=tmp_path, gpu=False)
    bed.lay_out()
    submission = bed.plant("slow", plant.Known(fast_s=0.03, slow_s=0.1))
    took = bed.quiet(submission, plant.SMALL, 1, ("max_cpu", "max_gpu"))
    assert took["max_cpu"].cpu_s >= 0.1
    assert took["max_gpu"].wall_s >= 0.03


def test_every_value_is_wanted_once_before_any_is_wanted_again():
    part = verdicts.PARTS["planted"]
    found = verdicts.wanted(part, asked("planted", "--out", "x", "--ratios", 36, 44, "--times", 2))
    assert [(told["run"], told["ratio"]) for told in found] == [(1, 36), (1, 44), (2, 36), (2, 44)]


@pytest.mark.parametrize(("words", "runs"), [((), 10), (("--load",), 5), (("--load", "beside"), 5)])
def test_a_busy_machine_is_asked_less_often(words, runs):
    found = verdicts.wanted(verdicts.PARTS["planted"], asked("planted", "--out", "x", *words))
    assert len(found) == 4 * runs


def test_a_run_that_the_file_holds_is_not_wanted_again_and_one_under_load_is_another(tmp_path):
    file = lines.Lines(tmp_path / "x.jsonl")
    quiet, loaded = (
        verdicts.wanted(verdicts.PARTS["planted"], asked("planted", "--out", "x", "--times", 2, *words))
        for words in ((), ("--load",))
    )
    for told in quiet[:5]:
        file.append(told | {"seconds": 1.0})
    again = lines.Lines(tmp_path / "x.jsonl")
    assert [told for told in quiet if not again.holds(told)] == quiet[5:]
    assert not any(map(again.holds, loaded))


def test_a_line_that_was_cut_off_is_done_again_and_spoils_no_other(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('{"run": 1}\n{"run": 2, "sec')
    file = lines.Lines(path)
    assert file.holds({"run": 1})
    assert not file.holds({"run": 2})
    file.append({"run": 3})
    assert lines.Lines(path).all == [{"run": 1}, {"run": 3}]


def test_no_run_begins_that_would_not_fit_in():
    clock = iter([0.0, 40.0, 40.0, 55.0, 55.0])
    found = list(verdicts.timely([{"run": n} for n in range(9)], 94.0, lambda: next(clock)))
    assert found == [({"run": 0}, 94.0), ({"run": 1}, 54.0)]  # the longest took 40 s, and 39 are left


def test_no_run_begins_on_a_guess_that_would_not_fit_in():
    ends = time.monotonic() + verdicts.GUESS_S / 2
    assert list(verdicts.timely([{"run": 1}], ends)) == []


def test_every_core_asked_for_has_a_process_for_as_long_as_it_is_asked_for():
    core = min(os.sched_getaffinity(0))
    before = children()
    with verdicts.busy([core]):
        (started,) = children() - before
        end = time.monotonic() + 10
        while os.sched_getaffinity(started) != {core} and time.monotonic() < end:
            time.sleep(0.01)
        assert os.sched_getaffinity(started) == {core}
    assert children() == before


def children():
    return set(map(int, Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()))


def test_the_load_beside_leaves_the_core_alone_that_is_timed_on():
    every, beside = (set(verdicts.LOADS[name]()) for name in ("every", "beside"))
    assert every == os.sched_getaffinity(0)
    assert len(every - beside) == 1


ITEM = {"status": "pending", "outcome": "not_observed", "reason": "r", "flags": [], "measured": {}}


@pytest.mark.parametrize(
    ("note", "verdict"),
    [
        ("not timed: the machine was busy in 3 of 6 rounds", "noisy"),
        ("needs 1 GPU; this machine has none", "pending"),
    ],
)
def test_what_is_open_because_of_noise_is_told_from_what_is_open_otherwise(note, verdict):
    seen = Observation(item="speedup", outcome=Outcome.NOT_OBSERVED, note=note)
    assert verdicts.facts(ITEM, seen)["verdict"] == verdict


def ran(verdict, ratio=None, *, flags=(), load="", planted=42.0):
    measured = {} if ratio is None else {"ratio": ratio, "disturbed_rounds": 2}
    item = {"verdict": verdict, "flags": list(flags), "measured": measured}
    about = {"part": "planted", "ratio": planted, "load": load, "cpu": False}
    return about | {"at": "2026-01-02T03:04:05", "machine": "16 cores", "items": {"speedup": item}}


def rows(text):
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if "|" in line
    ]


def test_the_table_counts_how_often_each_planted_ratio_earned():
    near = "near_threshold: 40 lies within the interval"
    truth = {"part": "truth", "ratio": 42.0, "load": "", "cpu": False}
    text = tables.tables(
        [
            truth | {"true_ratio": 41.9},
            truth | {"true_ratio": 42.05},
            ran("earned", 41.0, flags=[near]),
            ran("earned", 41.5),
            ran("not earned", 39.0),
            ran("noisy", load="every"),
            ran("held", planted=36.0),
        ]
    )
    heads, _, *found = rows(text)
    assert [dict(zip(heads, row, strict=True)) for row in found] == [
        row(planted="36", **{"open otherwise": "1"}),
        row(
            planted="42",
            runs="3",
            earned="2",
            measured="41.00 (39.00 to 41.50)",
            **{"true, checked": "41.90 to 42.05", "not earned": "1", "near threshold": "1"},
            **{"disturbed rounds": "2"},
        ),
        row(planted="42", cores="every busy", noisy="1"),
    ]
    assert text.endswith("2026-01-02, 16 cores")


def row(**cells):
    counts = ("earned", "not earned", "noisy", "open otherwise", "near threshold")
    empty = dict.fromkeys(("true, checked", "measured", "disturbed rounds"), "")
    return {"on": "GPU", "cores": "quiet", "runs": "1", **dict.fromkeys(counts, "0"), **empty, **cells}


def test_the_table_of_submissions_shows_every_verdict_that_an_item_got():
    about = {"part": "stable", "load": "", "at": "2026-01-02T03:04:05", "machine": "m"}
    text = tables.tables(
        [
            about
            | {"submission": "alice", "items": {"a": {"verdict": "earned"}, "b": {"verdict": "earned"}}},
            about | {"submission": "alice", "items": {"a": {"verdict": "earned"}, "b": {"verdict": "noisy"}}},
            about | {"submission": "zoe", "items": {"a": {"verdict": "skipped"}}},
        ]
    )
    assert rows(text)[0] == ["item, cores quiet", "alice, 2 runs", "zoe, 1 runs"]
    assert rows(text)[2:] == [
        ["a", "earned 2", "skipped 1"],
        ["b", "earned 1, noisy 1", "not looked at 1"],
    ]


def test_the_table_of_clocks_says_how_much_too_long_the_outside_clock_reads():
    timed = [{"wall_s": 0.004, "again_s": 0.00198, "own_s": 0.002, "cpu_s": 0.0}] * 4
    observed = [{"own_s": 0.0022, "kernels_s": 0.0004, "copies_s": 0.0008}] * 3
    item = {"timed": timed, "observed": observed, "disturbance": ""}
    about = {"part": "clocks", "about_ms": 2.0, "load": "", "cpu": False, "items": {"clocks": item}}
    heads, _, found = rows(tables.tables([about | {"at": "2026-01-02T03:04:05", "machine": "m"}]))
    cells = dict(zip(heads, found, strict=True))
    assert cells["outside too long, %"] == "+1.0 (+1.0 to +1.0)"
    assert cells["device (CUPTI), ms"] == "1.200 (1.200 to 1.200)"
    assert cells["outside less device, ms"] == "0.820 (0.820 to 0.820)"
    assert cells["calls"] == "4"


def run_script(*words):
    return subprocess.run(
        [sys.executable, SCRIPT, *map(str, words)], capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_a_program_of_known_ratio_is_graded_and_its_truth_looked_at_before_and_after(tmp_path):
    out = tmp_path / "x.jsonl"
    words = ("planted", "--cpu", "--ratios", 20, "--times", 1, "--out", out)
    assert run_script(*words).returncode == 0
    before, run, after = lines.Lines(out).all
    assert (before["when"], run["part"], after["when"]) == ("before", "planted", "after")
    assert run["items"]["speedup"]["verdict"] in {"earned", "not earned", "noisy"}
    size = out.stat().st_size
    assert run_script(*words).returncode == 0
    assert out.stat().st_size == size


@pytest.mark.slow
def test_each_clock_is_written_down_for_every_call(tmp_path):
    out = tmp_path / "x.jsonl"
    assert run_script("clocks", "--cpu", "--times", 1, "--out", out).returncode == 0
    for line in lines.Lines(out).all:
        calls = line["items"]["clocks"]["timed"]
        assert len(calls) == 40
        assert all(call["wall_s"] >= call["own_s"] >= line["about_ms"] / 1e3 for call in calls)


def test_a_submission_that_is_not_there_is_named(tmp_path):
    done = run_script("stable", "nobody", "--out", tmp_path / "x.jsonl")
    assert done.returncode == 1
    assert done.stderr.endswith("nobody.tar.gz: is not there; run scripts/build_submissions.py\n")


def test_a_command_without_the_time_for_a_run_says_what_is_left(tmp_path):
    out = tmp_path / "x.jsonl"
    done = run_script("stable", "alice", "--times", 3, "--within", 1, "--out", out)
    assert (done.returncode, out.exists()) == (1, False)
    assert done.stderr == f"{out}: 3 runs of stable are left\n"
