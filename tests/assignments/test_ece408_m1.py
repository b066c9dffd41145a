# ruff: noqa: RUF001 - reports as students write them, in several scripts
"""ece408_m1: outputs and times of both devices are held against each other; scripts print what is asked."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from grader.config.codec import to_plain
from grader.config.decode import decode
from grader.coursecode import course_module
from grader.model.observation import Observation, Outcome

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "assignments" / "ece408_m1"

printed_run = course_module(FOLDER / "printed_run.py")
printed_times = course_module(FOLDER / "printed_times.py")

CPU = """Loading model... done
New Inference
EvalMetric: {'accuracy': 0.8177}
19.83user 3.97system 0:13.42elapsed 177%CPU (0avgtext+0avgdata 5955540maxresident)k"""
GPU = """EvalMetric: {'accuracy': 0.8177}
4.37user 2.67system 0:04.59elapsed 153%CPU (0avgtext+0avgdata 2833892maxresident)k"""
ANSWERS = {"4": CPU, "5": "The run takes 13.42 seconds.", "6": GPU, "7": "It takes 4.59 s."}
ITEMS = {
    "4": {"shows": "output", "device": "cpu", "accuracy": 0.8177},
    "5": {"shows": "time", "device": "cpu", "printed_in": "4"},
    "6": {"shows": "output", "device": "gpu", "beside": "4", "accuracy": 0.8177},
    "7": {"shows": "time", "device": "gpu", "beside": "5", "printed_in": "6"},
}


def award(label, items=ITEMS, *, older=False, **answers):
    """The award of one item of a report with these answers in place of right ones."""
    answers = {**ANSWERS, **{key.removeprefix("q"): text for key, text in answers.items()}}
    keys = {"file": "report.*", "question": label, "text": "?", **items[label]}
    options, problems = decode(printed_run.PrintedRun.Options, keys)
    assert not problems
    labels = [label for label in (label, options.beside, options.printed_in) if label]
    facts = {
        "file": "report.md",
        "missing": not answers[label],
        "certain": True,
        "why": "",
        "answer": answers[label],
        "accuracies": {n: printed_times.accuracies(answers[n]) for n in labels},
        "printed": {n: printed_times.accuracies(answers[n], printed=True) for n in labels},
        "times": {n: [to_plain(time) for time in printed_times.run_times(answers[n])] for n in labels},
    }
    if older:
        del facts["printed"]
    stored = Observation(item=label, outcome=Outcome.OBSERVED, facts=json.loads(json.dumps(facts)))
    return printed_run.PrintedRun().award(options, stored, {})


def seconds(text):
    return [round(time.seconds, 3) for time in printed_times.run_times(text)]


@pytest.mark.parametrize("label", ITEMS)
def test_a_report_without_contradiction_earns_everything(label):
    right = award(label)
    assert (right.fraction, right.undecided) == (1.0, False)


@pytest.mark.parametrize("label", ITEMS)
def test_an_empty_answer_earns_nothing(label):
    nothing = award(label, **{f"q{label}": ""})
    assert (nothing.fraction, nothing.undecided) == (0.0, False)


@pytest.mark.parametrize("label", ITEMS)
def test_what_is_not_found_waits_for_a_person(label):
    assert award(label, **{f"q{label}": "See the picture.", "q4": "-", "q6": "-"}).undecided


def test_different_accuracies_cost_the_second_output_with_both_numbers():
    lost = award("6", q6=GPU.replace("0.8177", "0.8180"))
    assert (lost.fraction, lost.undecided) == (0.0, False)
    assert "0.818 on the GPU and 0.8177" in lost.reason


def test_accuracies_that_are_not_the_scripts_wait_for_a_person():
    both = {"q4": CPU.replace("0.8177", "0.9"), "q6": GPU.replace("0.8177", "0.9")}
    assert award("4", **both).undecided
    assert award("6", **both).undecided


def test_a_time_that_the_program_did_not_print_costs_the_item():
    lost = award("5", q5="The run takes 10.1 seconds.")
    assert (lost.fraction, lost.undecided) == (0.0, False)
    assert "10.1 s" in lost.reason
    assert "13.42 s" in lost.reason


@pytest.mark.parametrize(
    "text",
    [
        "The mean of 5 runs is 15.1 s.",
        "Im Mittel 15,1 s",
        "En moyenne 15,1 s",
        "Promedio: 15,1 s",
        "平均 15.1 秒",
        "15.1 s the second time",
    ],
)
def test_a_time_that_may_be_of_other_runs_than_the_shown_one_waits(text):
    assert award("5", q5=text).undecided


def test_each_output_of_time_has_its_own_user_time():
    runs = [
        f"User time (seconds): {user}\nSystem time (seconds): 0.00\nPercent of CPU this job got: {percent}%\n"
        f"Elapsed (wall clock) time (h:mm:ss or m:ss): 0:{elapsed}"
        for user, percent, elapsed in (("26.00", 200, "13.00"), ("18.00", 150, "12.00"))
    ]
    assert award("5", q4="\n".join(runs), q5="12 s").fraction == 1.0


def test_the_time_that_is_given_is_compared_and_not_that_of_a_first_slow_run():
    cold = GPU.replace("0:04.59", "0:16.00").replace("153%", "44%")
    assert award("7", q6=f"{cold}\n{GPU}", q7="4.59 s, after a first run of 16 s").fraction == 1.0


def test_a_part_of_a_number_is_no_accuracy():
    assert not printed_times.accuracies("EvalMetric: {'accuracy': 1.2}")


@pytest.mark.parametrize("text", ["about 13 s", "13.5 seconds", "13,42 s", "0.2237 minutes", "13420 ms", CPU])
def test_a_rounded_time_in_any_unit_agrees(text):
    assert award("5", q5=text).fraction == 1.0


def test_user_and_system_time_must_make_the_percentage():
    lost = award("5", q4=CPU.replace("177%", "77%"))
    assert (lost.fraction, lost.undecided) == (0.0, False)
    assert "177%" in lost.reason
    assert "77% are printed" in lost.reason


def test_a_gpu_that_is_not_faster_waits_for_a_person_with_both_times():
    slower = award("7", q6=GPU.replace("0:04.59", "0:19.59").replace("153%", "35%"), q7="It takes 19.59 s.")
    assert slower.undecided
    assert "19.59 s on the GPU and 13.42 s on the CPU" in slower.reason


def test_an_accuracy_in_a_sentence_is_no_output():
    assert award("4", q4="We got an accuracy 0.8177.").undecided


@pytest.mark.parametrize("label", ["4", "6"])
def test_several_accuracies_wait_for_a_person(label):
    several = award(label, q4=CPU.replace("0.8177", "0.7212") + "\nso the accuracy: 0.8177")
    assert several.undecided


def test_a_rounded_accuracy_beside_the_printed_one_is_the_same():
    assert award("4", q4=CPU + "\nThe accuracy: 0.818 is good.").fraction == 1.0


@pytest.mark.parametrize("text", ["It took 0.001 s.", "It took 145800 s."])
def test_times_that_no_run_takes_wait_for_a_person(text):
    bounds = {"7": {**ITEMS["7"], "least_s": 1, "most_s": 3600}}
    answers = {"q6": "EvalMetric: {'accuracy': 0.8177}", "q7": text, "q5": "It took 200000 s.", "q4": "-"}
    odd = award("7", items=bounds, **answers)
    assert odd.undecided
    assert "no run of this script takes" in odd.reason


def test_evidence_of_before_printed_lines_were_told_apart_is_judged():
    right = award("4", older=True)
    assert (right.fraction, right.undecided) == (1.0, False)


def test_several_times_without_a_printed_one_wait_for_a_person():
    assert award("5", q4="-", q5="First 20 s, then 13.4 s.").undecided


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1:02:03.50elapsed is not all", []),
        ("1.0user 0.5system 1:02:03.50elapsed 99%CPU", [3723.5]),
        ("real\t0m13.420s\nuser\t0m19.830s\nsys\t0m3.970s", [13.42]),
        ("real 13.42\nuser 19.83\nsys 3.97", [13.42]),
        (
            "User time (seconds): 19.83\nSystem time (seconds): 3.97\nPercent of CPU this job got: 177%\n"
            "Elapsed (wall clock) time (h:mm:ss or m:ss): 0:13.42",
            [13.42],
        ),
        ("python m1.1.py  19.83s user 3.97s system 177% cpu 13.420 total", [13.42]),
        ("python m1.1.py  19.83s user 3.97s system 177% cpu 1:13.42 total", [73.42]),
        ("CPU times: user 19.8 s, sys: 3.97 s, total: 23.8 s\nWall time: 13.4 s", [13.4]),
        ("CPU times: user 1min 9s, sys: 3.97 s, total: 1min 13s\nWall time: 1min 2.4 s", [62.4]),
        ("Days : 0\nSeconds : 13\nTotalSeconds : 13.42\nTotalMilliseconds : 13420", [13.42]),
        ("הריצה ארכה 13.42 שניות.", [13.42]),
        ("运行时间为13.42秒。", [13.42]),
        ("1 min 23.4 s", [83.4]),
        ("2 Minuten und 3 Sekunden", [123.0]),
        ("19.83 s user, 3.97 s system, 13.42 s elapsed", [13.42]),
        ("user time 19.83 s, real time 13.42 s", [13.42]),
        ("real 13.42 s user 19.83 s sys 3.97 s", [13.42]),
        ("on 16 cores", []),
        ("       13.42 real        19.83 user         3.97 sys", [13.42]),
        ("19.830u 3.970s 0:13.42 177.3%\t0+0k 0+8io 0pf+0w", [13.42]),
        (
            "Executed in   13.42 secs    fish   external\n usr time   19.83 secs\n sys time    3.97 secs",
            [13.42],
        ),
        ("0:13.42", [13.42]),
        ("1:02:03,50", [3723.5]),
        ("begun at 14:32:10 and again at 14:33", []),
        ("real time 13.42 s, user time 19.83 s, system time 3.97 s", [13.42]),
        ("13.42 s (user 19.83 s, sys 3.97 s)", [13.42]),
        ("13.42 s, and 19.83 s (user)", [13.42]),
        ("समय १३.४२ सेकंड था", [13.42]),
        ("استغرق ١٣٫٤٢ ثانية", [13.42]),
    ],
)
def test_elapsed_times_are_read_and_others_left_out(text, expected):
    assert sorted(set(seconds(text))) == expected


@pytest.mark.parametrize(
    "text",
    [
        "1" * 200_000,
        "1." * 100_000,
        f"real {'1' * 5000}m1s",
        f"1s user 1s system 1% cpu {'1' * 5000}:1.5 total",
    ],
    ids=["digits", "points", "minutes", "a clock"],
)
def test_a_long_row_of_digits_is_no_time(text):
    """It took hours, or was no int: the item was open, as a mistake of the course."""
    (time,) = printed_times.run_times(f"{text}; it took 62.5 s")
    assert time.seconds == 62.5


def test_the_handed_out_scripts_are_those_that_are_profiled():
    for file in (FOLDER / "given").glob("*.py"):
        if file.name != "profiled.py":
            assert (FOLDER / "starter" / file.name).read_bytes() == file.read_bytes(), file.name


def test_the_rubric_expects_the_accuracy_of_the_reference():
    rubric = (ROOT / "rubrics" / "ece408_m1.yaml").read_text()
    accuracy = re.search(r"&accuracy ([\d.]+)", rubric)[1]
    assert (FOLDER / "reference" / "report.md").read_text().count(f"{{'accuracy': {accuracy}}}") == 2


def test_both_scripts_differ_in_the_device_alone():
    first, second = (ast.dump(ast.parse((FOLDER / "given" / f"m1.{n}.py").read_text())) for n in (1, 2))
    assert first.replace("CPU", "GPU").replace("'cpu'", "'cuda'") == second


@pytest.mark.torch
@pytest.mark.skipif(find_spec("torch") is None, reason="needs torch")
def test_the_script_prints_what_a_report_shows():
    run = subprocess.run(
        [sys.executable, str(FOLDER / "given" / "m1.1.py"), "100"], capture_output=True, text=True, check=True
    )
    first, second, third, last = run.stdout.splitlines()
    assert (first, second, third) == (
        "Loading fashion-mnist data... done",
        "Loading model... done",
        "New Inference",
    )
    assert printed_times.accuracies(last) == (0.86,)
