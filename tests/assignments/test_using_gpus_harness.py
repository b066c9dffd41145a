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
pytestmark = pytest.mark.torch

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "assignments" / "using_gpus"
SUBMISSIONS = ROOT / "tests" / "submissions"
NEAR = Tolerances(float64=Tolerance(rtol=0.03, atol=1e-9))

expected = course_module(FOLDER / "expected.py")
inputs = course_module(FOLDER / "inputs.py")
clock = course_module(FOLDER / "clock.py")

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
        seeds = range(1, 25)
        sums = {seed: row for seed, row in zip(seeds, driver.sums(seeds, 4)) if len(set(row)) == 4}
        return [answer(driver, function, [argument(one, sums) for one in args]) for function, args in calls]
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        os.unlink(f"{folder}/timing.py")
        os.rmdir(folder)

def argument(plain, sums):
    return PlayedClock(**plain, sums=sums) if isinstance(plain, dict) else plain

def answer(driver, function, args):
    value = getattr(driver, function)(*args)
    return [value, args[0].threads_seen(args[-1]) if function == "threads_of" else ""]

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
    "without_making": ("ratio_of_played_times", inputs.slow_to_make),
    "without_first": ("ratio_of_played_times", inputs.slow_at_first),
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
    for (item, function, args), (value, by_sums) in zip(asked, seen, strict=True):
        args[0].threads_seen = lambda threads, by_sums=by_sums: by_sums
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
        ("divides_wrongly", {"each"}),
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


FEW = "t = perf_counter(); [step(network, x, y) for _ in range(3)]; return "


@pytest.mark.parametrize("measured", [f"{FEW}perf_counter() - t", f"{FEW}1e3 * (perf_counter() - t) / 3"])
def test_a_wrong_division_loses_the_time_of_one_mini_batch_and_nothing_else(answers, measured):
    assert missed(answers, HARNESS.format(measured)).keys() == {"each"}


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


def test_a_run_that_gives_no_time_is_told_so(answers):
    told = missed(answers, HARNESS.format("t = perf_counter(); step(network, x, y)"))
    assert "is 'None, and None in a plain run'" in told["without_making"]


ASKING = """
import sys, torch
import played_clock

def seconds_per_batch(make, step, batch, device, threads):
    clock = played_clock.clock
    begun = clock.did("read")
    {}
    return (clock.did("read") - begun) / 3
"""
ASKED = {
    "nothing": "for _ in range(3): clock.did('train')",
    "weights as they were": (
        "number, weights = clock.did('make')\n"
        "    for _ in range(3): clock.did('train', number, clock.did('rate')[0], weights)"
    ),
    "weights that are a little different": (
        "number, weights = clock.did('make')\n    for _ in range(3):\n"
        "        weights = [[w + 0.01 for w in row] for row in weights]\n"
        "        clock.did('train', number, clock.did('rate')[0], weights)"
    ),
    "weights that are not a number": (
        "number, weights = clock.did('make')\n    nan = [[float('nan')] * 4] * 5\n"
        "    for _ in range(3): clock.did('train', number, clock.did('rate')[0], nan)"
    ),
    "so many weights that one fits": (
        "number, weights = clock.did('make')\n"
        "    for _ in range(3): clock.did('train', number, clock.did('rate')[0], [weights] * 9)"
    ),
    "a rate that was not drawn": (
        "number, weights = clock.did('make')\n    for _ in range(3): clock.did('train', number, 0, weights)"
    ),
    "no rate at all": (
        "number, weights = clock.did('make')\n    for _ in range(3): clock.did('give', number, None, weights)"
    ),
    "a step that was taken, again and again": (
        "did, sent = clock.did, []\n    clock.did = lambda *a: (sent.append(a), did(*a))[1]\n"
        "    step(make(), *batch)\n    clock.did = did\n    begun = did('read')\n"
        "    for _ in range(3): did(*[a for a in sent if a[0] == 'train'][0])"
    ),
    "its weights with another rate": (
        "did, sent = clock.did, []\n    clock.did = lambda *a: (sent.append(a), did(*a))[1]\n"
        "    step(make(), *batch)\n    clock.did = did\n    begun = did('read')\n"
        "    (_, number, _, weights), = [a for a in sent if a[0] == 'train']\n"
        "    for _ in range(3): did('train', number, did('rate')[0], weights)"
    ),
    "its weights as another network's": (
        "did, sent = clock.did, []\n    clock.did = lambda *a: (sent.append(a), did(*a))[1]\n"
        "    step(make(), *batch)\n    clock.did = did\n    make()\n    begun = did('read')\n"
        "    (_, _, _, weights), = [a for a in sent if a[0] == 'train']\n"
        "    for _ in range(3): did('train', 1, did('rate')[0], weights)"
    ),
    "a moment in the future": "clock.did('wait_until', 2.0)",
    "to begin anew": "clock.did('begin')",
    "a step of no network": "step.__globals__['networks'].step = lambda *a: torch.tensor(0.5)\n"
    "    for _ in range(3): step(make(), *batch)",
}


def one_plain_time(rng):
    return [next(inputs.plain_times(rng))]


@pytest.mark.quick(3)
@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_a_clock_that_is_asked_without_training_does_not_go_on(answers, asked):
    timed = [("on_played_clock", one_plain_time), ITEMS["without_first"]]
    seen = answers(
        ASKING.format(asked),
        "harness",
        [(function, case.args) for function, family in timed for case in family(np.random.default_rng(3))],
    )
    if isinstance(seen, list):
        for (value, _), (function, family) in zip(seen, timed, strict=True):
            (case,) = family(np.random.default_rng(3))
            assert compare(value, getattr(expected, function)(*case.args), NEAR).note


BEGINS = """
import time
import played_clock

def seconds_per_batch(make, step, batch, device, threads):
    start = time.time()
    network = make()
    step(network, *batch)
    played_clock.clock.did("begin")
    for _ in range(10):
        step(network, *batch)
    return (time.time() - start) / 10
"""


def test_a_clock_that_is_told_to_begin_anew_goes_on(answers):
    assert "without_making" in missed(answers, BEGINS)


FORGED = {
    "the driver's list": (
        "cells = {name: c.cell_contents for name, c in zip(step.__code__.co_freevars, step.__closure__)}\n"
        "    step(make(), *batch)\n    cells['seen'][:] = [threads]"
    ),
    "a function of torch's": "torch.get_num_threads = lambda: threads\n    step(make(), *batch)",
    "numbers of threads where nothing is computed": (
        "set_threads = torch.set_num_threads\n    network = make()\n"
        "    torch.get_num_threads = lambda: threads\n    set_threads(1)\n    step(network, *batch)"
    ),
    "sums that were not computed": (
        "torch.get_num_threads = lambda: threads\n    sums = step.__globals__['_sum']\n"
        "    step.__globals__['_sum'] = lambda seed: 1.5\n    step(make(), *batch)"
    ),
    "no steps": (
        "cells = {name: c.cell_contents for name, c in zip(step.__code__.co_freevars, step.__closure__)}\n"
        "    cells['seen'][:] = [threads]\n    torch.set_num_threads(threads)\n"
        "    step.__globals__['_add']('meanwhile')\n    torch.set_num_threads(1)"
    ),
    "threads that stay": (
        "torch.set_num_threads(threads)\n    step(make(), *batch)\n    torch.get_num_threads = lambda: 1"
    ),
}


@pytest.mark.quick(3)
@pytest.mark.parametrize("forged", FORGED.values(), ids=FORGED)
def test_what_a_program_says_of_its_threads_is_not_believed(answers, forged):
    (case, _) = inputs.numbers_of_threads(np.random.default_rng(3))
    source = f"import torch\ndef seconds_per_batch(make, step, batch, device, threads):\n    {forged}\n"
    seen = answers(f"{source}    return 1.0\n", "harness", [("threads_of", case.args)])
    assert isinstance(seen, list), seen
    ((_, by_sums),) = seen
    assert by_sums != clock.AS_SAID


def test_a_copy_of_a_network_may_be_trained_first(answers):
    copied = "import copy\n        step(copy.deepcopy(network), x, y)\n"
    measured = f"{copied}        t = time.time(); step(network, x, y); return time.time() - t"
    assert missed(answers, HARNESS.format(measured)) == {}


def test_a_real_network_of_each_kind_learns_and_its_mini_batches_are_counted(answers):
    calls = [("ask", (case.args[0], "reduced", 2, "cpu", 1)) for case in inputs.reduced_networks(None)]
    source = HARNESS.format("t = time.time(); step(network, x, y); return time.time() - t")
    seen = answers(source, "harness", calls)
    assert isinstance(seen, list), seen
    assert [one["steps"] for one, _ in seen] == [2, 2, 2, 2]
    assert all(0 < one["seconds"] < 60 for one, _ in seen)


def test_our_own_clock_runs_around_the_same_step(answers):
    calls = [("prepare", ("LSTM", "reduced", 2, "cpu", 1)), ("run", (3,)), ("run", (3,))]
    _, (first, _), (second, _) = answers("", "harness", calls)
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
