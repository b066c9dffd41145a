"""The course's drivers of using_gpus tell right harnesses from wrong ones by a clock that they play."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from grader.coursecode import course_module
from grader.harness.compare import compare
from grader.harness.tolerance import Tolerance, Tolerances

pytest.importorskip("torch")

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "assignments" / "using_gpus"
SUBMISSIONS = ROOT / "tests" / "submissions"
NEAR = Tolerances(float64=Tolerance(rtol=0.03, atol=1e-9))

expected = course_module(FOLDER / "expected.py")
inputs = course_module(FOLDER / "inputs.py")

PROGRAM = """
import json, os, runpy, signal, sys
import torch
PlayedClock = runpy.run_path(f"{sys.argv[1]}/../clock.py")["PlayedClock"]
import torch._dynamo  # imports itself at a dispatch mode's first operator: once is enough

def work(source, driver, calls):
    os.makedirs(folder := f"/tmp/timing-{os.getpid()}")
    try:
        open(f"{folder}/timing.py", "w").write(source)
        sys.path[:0] = [sys.argv[1], folder]
        sys.dont_write_bytecode = True
        driver = __import__(driver)
        return [getattr(driver, function)(*map(argument, args)) for function, args in calls]
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        os.unlink(f"{folder}/timing.py")
        os.rmdir(folder)

def argument(plain):
    return PlayedClock(**plain) if isinstance(plain, dict) else plain

for line in sys.stdin:
    if (pid := os.fork()) == 0:
        signal.alarm(60)
        try:
            print(json.dumps(work(*json.loads(line))), flush=True)
            os._exit(0)
        finally:
            os._exit(1)
    if os.waitpid(pid, 0)[1]:
        print(json.dumps("the child died"), flush=True)
"""


@pytest.fixture(scope="module")
def answers():
    """What a driver's functions return beside a timing.py; a program that has imported torch forks for it."""
    argv = [sys.executable, "-W", "ignore", "-c", PROGRAM, str(FOLDER / "given")]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:

        def answers(source, driver, calls):
            process.stdin.write(json.dumps([source, driver, calls], default=costs) + "\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        yield answers
        process.stdin.close()


def costs(clock):
    """A played clock as JSON has it."""
    return {"make": clock.make, "first": clock.first, "each": clock.each}


def timing_of(name):
    folder = FOLDER / "reference" if name == "reference" else SUBMISSIONS / f"using_{name}" / "files"
    return (folder / "timing.py").read_text()


ITEMS = {
    "each": ("on_played_clock", inputs.plain_times),
    "without_making": ("on_played_clock", inputs.slow_to_make),
    "without_first": ("on_played_clock", inputs.slow_at_first),
    "threads": ("threads_of", inputs.numbers_of_threads),
}


def missed(answers, source):
    """The items of part 3 that a harness loses, and the first thing that is wrong with each."""
    asked = [
        (item, function, case.args)
        for item, (function, family) in ITEMS.items()
        for case in family(np.random.default_rng(3))
    ]
    seen = answers(source, "harness", [(function, args) for _, function, args in asked])
    assert isinstance(seen, list), seen
    notes = {}
    for (item, function, args), value in zip(asked, seen, strict=True):
        if note := compare(value, getattr(expected, function)(*args), NEAR).note:
            notes.setdefault(item, note)
    return notes


@pytest.mark.parametrize(
    ("name", "items"),
    [
        ("reference", set()),
        ("nina", set()),
        ("no_sync", set()),
        ("sleeps", set()),
        ("no_warm_up", {"without_first"}),
        ("times_making", {"without_making"}),
        ("divides_wrongly", {"each", "without_making", "without_first"}),
        ("threads_stay", {"threads"}),
        ("threads_ignored", {"threads"}),
        ("table_7", {"each", "without_making", "without_first", "threads"}),
    ],
)
def test_a_harness_loses_what_it_gets_wrong_and_nothing_else(answers, name, items):
    assert missed(answers, timing_of(name)).keys() == items


HARNESS = """
import time, timeit, torch
from time import perf_counter
from statistics import mean

def seconds_per_batch(make, step, batch, device, threads):
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    network = make().to(device)
    x, y = (one.to(device) for one in batch)
    step(network, x, y)
    try:
        {}
    finally:
        torch.set_num_threads(before)
"""


@pytest.mark.parametrize(
    "measured",
    [
        "t = perf_counter(); step(network, x, y); return perf_counter() - t",
        "t = time.monotonic(); step(network, x, y); return time.monotonic() - t",
        "t = time.perf_counter_ns(); step(network, x, y); return (time.perf_counter_ns() - t) / 1e9",
        "return timeit.timeit(lambda: step(network, x, y), number=4) / 4",
        "return min(timeit.repeat(lambda: step(network, x, y), number=1, repeat=3))",
        "return torch.tensor(timeit.Timer(lambda: step(network, x, y)).timeit(2) / 2, dtype=torch.float64)",
    ],
)
def test_every_usual_clock_is_played(answers, measured):
    assert missed(answers, HARNESS.format(measured)) == {}


@pytest.mark.parametrize(
    ("measured", "note"),
    [
        ("return 0.1", "item ['seconds']: got 0.1, expected"),
        (
            "t = time.process_time(); step(network, x, y); return time.process_time() - t",
            "item ['seconds']: got",
        ),
        ("t = perf_counter(); step(network, x, y)", "item ['seconds'] is None"),
    ],
)
def test_what_measures_something_else_is_told_so(answers, measured, note):
    told = missed(answers, HARNESS.format(measured))
    assert told.keys() == {"each", "without_making", "without_first"}
    assert note in told["each"]


def test_a_real_network_of_each_kind_learns_and_its_mini_batches_are_counted(answers):
    calls = [("ask", (case.args[0], "reduced", 2, "cpu", 1)) for case in inputs.reduced_networks(None)]
    source = HARNESS.format("t = time.time(); step(network, x, y); return time.time() - t")
    seen = answers(source, "harness", calls)
    assert isinstance(seen, list), seen
    assert [one["steps"] for one in seen] == [2, 2, 2, 2]
    assert all(0 < one["seconds"] < 60 for one in seen)


def test_our_own_clock_runs_around_the_same_step(answers):
    calls = [("prepare", ("LSTM", "reduced", 2, "cpu", 1)), ("run", (3,)), ("run", (3,))]
    _, first, second = answers("", "harness", calls)
    assert second < first  # it has learnt the only mini-batch that it sees


# The oracles of part 2


def test_a_step_by_hand_is_a_step_of_torchs():
    import torch

    weights, x, y, _, rate = next(inputs.lessons(np.random.default_rng(1))).args
    first, second = torch.nn.Linear(10, 6), torch.nn.Linear(6, 5)
    network = torch.nn.Sequential(first, torch.nn.Tanh(), second).double()
    with torch.no_grad():
        for parameter, values in zip(network.parameters(), weights, strict=True):
            parameter.copy_(torch.tensor(values))
    loss = torch.nn.functional.mse_loss(network(torch.tensor(x).double()), torch.tensor(y).double())
    loss.backward()
    torch.optim.SGD(network.parameters(), lr=rate).step()
    told = expected.learn(weights, x, y, ["cuda:0"], rate)
    assert told["loss"] == pytest.approx(loss.item())
    learnt = [one.detach().numpy() for one in network.parameters()]
    assert compare(learnt, told["weights"], Tolerances()).note == ""


def test_rows_are_shared_out_as_equally_as_can_be():
    def shared(count, devices):
        return expected.replicas(None, np.zeros((count, 1)), devices)["replicas"]

    two = ["cuda:0", "cuda:1"]
    assert shared(50, two) == "25 on cuda:0, 25 on cuda:1"
    assert shared(51, two) == "26 on cuda:0, 25 on cuda:1"
    assert shared(51, two[::-1]) == "25 on cuda:0, 26 on cuda:1"
    assert shared(1, two) == "1 on cuda:0"
