"""A program of several processes is run whole; what each reports is compared, and who waits where is told."""

import os
import re
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from grader.checks.ranks import Ranks
from grader.errors import CourseError, NotObservedError
from grader.harness import ranks as harness_ranks
from grader.harness.servers import Servers
from grader.model.observation import Fault, Observation, Outcome, Quantity
from grader.sandbox.interpreter import interpreter
from grader.sandbox.landlock import LandlockSandbox

OPTIONS = Ranks.Options(file="main.py", launcher="spawn", within_s=20.0, blocked_s=1.0)
"""For programs that start their processes by multiprocessing: no torch, and so no seconds of importing it."""

SPAWNS = """
import multiprocessing, os, sys, time
from grader_ranks import inputs, report

{work}

if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(2)
    started = [context.Process(target=work, args=(rank, barrier)) for rank in range(2)]
    for one in started: one.start()
    for one in started: one.join()
"""
COURSE = {
    "reference/main.py": "",
    "inputs.py": """
        from grader.api import case

        def shares(rng):
            return [case("small", values=rng.integers(0, 9, size=(2, 3)), factor=2)]

        def two_cases(rng):
            return [case("one", values=rng.normal(size=(2, 3)), factor=1), *shares(rng)]

        def unnamed(rng):
            return [case("small", rng.normal(size=3))]
    """,
    "expected.py": """
        def own(values, factor):
            return [{"sum": factor * row.sum(), "row": factor * row} for row in values]

        def all_of_them(values, factor):
            return {"sum": factor * values.sum()}

        def too_few(values, factor):
            return [{"sum": 0}]
    """,
}
REPORTS = """
def work(rank, barrier):
    given = inputs()
    row = given["values"][rank] * given["factor"]
    report(sum=row.sum(), row=row, more="".__len__())
    if rank == 0: print("Test Accuracy: 93.5%")
"""


def observe(real_context, work, options=OPTIONS):
    return Ranks().observe(options, real_context({"main.py": SPAWNS.format(work=work)}, COURSE))


def award(observation, options=OPTIONS):
    return Ranks().award(options, observation, {})


def test_what_each_rank_reports_is_compared(real_context):
    options = replace(OPTIONS, inputs="two_cases", expected="own")
    seen = observe(real_context, REPORTS, options)
    assert (seen.outcome, seen.note) == (Outcome.OBSERVED, "")
    names = ["one, rank 0", "one, rank 1", "small, rank 0", "small, rank 1"]
    assert [case.name for case in seen.cases] == names
    assert all(case.agrees == {"own": True} for case in seen.cases)
    assert award(seen, options).reason == "2 processes ran to their end: 4 of 4 reports agree"
    assert [fact["status"] for fact in seen.facts["ranks"]] == [0, 0, 0]
    assert seen.facts["backend"] == "gloo"


def test_a_wrong_report_and_a_missing_one_are_told_of_their_rank(real_context):
    options = replace(OPTIONS, inputs="shares", expected="all_of_them")
    seen = observe(
        real_context,
        "def work(rank, barrier):\n    if rank == 0: report(sum=inputs()['values'].sum())",
        options,
    )
    assert seen.outcome is Outcome.OBSERVED
    result = award(seen, options)
    assert result.fraction == 0.0
    assert re.fullmatch(
        r"small, rank 0: .*got \d+, expected \d+; small, rank 1: did not report sum", result.reason
    )


def test_printed_numbers_are_read_from_the_first_rank_that_prints_them(real_context):
    numbers = {"accuracy": "Accuracy: {}%"}
    options = replace(OPTIONS, inputs="shares", numbers=numbers, at_least={"accuracy": 95.0})
    seen = observe(real_context, REPORTS, options)
    assert seen.quantities["accuracy"] == Quantity(value=93.5, taken_by="subject")
    assert award(seen, options).reason == "accuracy is 93.5, less than 95"
    assert award(seen, replace(options, at_least={"accuracy": 90.0})).fraction == 1.0
    assert award(seen, replace(options, at_least={}, prints="rank_0")).fraction == 1.0
    assert seen.output == "rank 0:\nTest Accuracy: 93.5%"


def test_who_prints_beside_rank_0_is_told(real_context):
    options = replace(OPTIONS, prints="rank_0")
    seen = observe(
        real_context, "def work(rank, barrier):\n    print('hello'); print('log', file=sys.stderr)", options
    )
    assert award(seen, options).reason == "rank 1 prints as well; only rank 0 should"
    assert award(seen).fraction == 1.0
    assert seen.output == "rank 0:\nhello\nlog\n\nrank 1:\nhello\nlog"


@pytest.mark.parametrize(
    ("work", "options", "note"),
    [
        pytest.param(
            "def work(rank, barrier):\n    if rank == 0: barrier.wait()",
            OPTIONS,
            r"main.py: is blocked: none of its processes goes on; rank 0 waits in wait \(main.py:6\), "
            r"for \d s; rank 1 has ended. Who has ended takes part no more",
            id="one leaves a barrier out",
        ),
        pytest.param(
            "def work(rank, barrier):\n    if rank == 1: time.sleep(1000)\n    barrier.wait()",
            replace(OPTIONS, within_s=3.0),
            r"main.py: did not end within 3 s of its own time; rank 0 waits in wait \(main.py:7\), for \d s; "
            r"rank 1 waits at main.py:6: if rank == 1: time.sleep\(1000\), for \d s",
            id="who sleeps goes on by itself",
        ),
        pytest.param(
            "def spin():\n    while 1: pass\ndef work(rank, b):\n    if rank: spin()\n    b.wait()",
            replace(OPTIONS, within_s=3.0),
            r"main.py: did not end within 3 s of its own time; rank 0 waits in wait \(main.py:9\), for \d s; "
            r"rank 1 is busy at main.py:6: while 1: pass",
            id="who computes is not blocked",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_who_waits_where_is_told(real_context, work, options, note):
    seen = observe(real_context, work, options)
    assert seen.outcome is Outcome.TIMED_OUT
    assert re.fullmatch(note, seen.note), seen.note
    assert "most recent call first" in seen.facts["ranks"][0]["stack"]
    stood = r"^rank 0 stood here:\n(.*\n)+?  File \"main.py\", line \d+ in work$"
    assert re.search(stood, seen.output, re.MULTILINE)


@pytest.mark.parametrize(
    ("work", "note"),
    [
        (
            "def work(rank, barrier):\n    if rank == 1: 1 / 0\n    barrier.wait()",
            "rank 1 failed at main.py:6: if rank == 1: 1 / 0: ZeroDivisionError: division by zero; "
            "rank 0 waits in wait (main.py:7), for ",
        ),
        ("def work(rank, barrier):\n    os._exit(5 * rank)", "rank 1 ended with status 5"),
        (
            "def work(rank, barrier):\n    if rank: os.kill(os.getpid(), 11)",
            "rank 1 was ended by signal 11 (SIGSEGV: it accessed memory that is not its own)",
        ),
        ("work = None\nraise ValueError('oh')", "the program failed at main.py:6: raise ValueError('oh'): "),
        ("def work(rank, barrier): pass\nos._exit(0)", "ranks 0 and 1 were never started"),
    ],
)
def test_who_failed_first_is_told(real_context, work, note):
    seen = observe(real_context, work)
    assert seen.outcome is Outcome.CRASHED
    assert seen.note.startswith(f"main.py: {note}")


def test_a_program_that_is_not_there_is_the_students(real_context):
    seen = Ranks().observe(OPTIONS, real_context({"other.py": ""}, COURSE))
    assert (seen.outcome, seen.note) == (Outcome.CRASHED, "main.py: the file is not there")


def test_the_courses_file_wins_and_knows_its_arguments_and_its_backend(real_context):
    course = {**COURSE, "given/main.py": SPAWNS.format(work=ASKS)}
    options = replace(OPTIONS, arguments=("--backend", "{backend}"))
    seen = Ranks().observe(options, real_context({"main.py": "1 / 0"}, course))
    assert seen.note == ""
    assert seen.output.startswith("rank 0:\n['--backend', 'gloo'] gloo")


def test_what_others_kept_a_program_waiting_is_not_counted(real_context):
    work = """
def work(rank, barrier):
    while time.process_time() < 1.5: pass
"""
    burns = "while True: pass"
    others = [subprocess.Popen([sys.executable, "-c", burns]) for _ in range(3 * (os.cpu_count() or 1))]
    try:
        seen = observe(real_context, work, replace(OPTIONS, within_s=3.0))
    finally:
        for other in others:
            other.kill()
            other.wait()
    assert seen.outcome is Outcome.OBSERVED, seen.note
    assert seen.quantities["wall_s"].value > 3.0, "the others did not disturb it"


ASKS = "def work(rank, barrier):\n    print(sys.argv[1:], os.environ['BACKEND'])"


def test_nothing_of_a_blocked_program_outlives_its_item(real_context):
    name = "ranksoutlive"
    work = f"""
def work(rank, barrier):
    import ctypes
    PR_SET_NAME = 15  # a program cannot write into /proc
    ctypes.CDLL(None).prctl(PR_SET_NAME, b"{name}")
    if os.fork() == 0:
        os.setsid()
        time.sleep(1000)
    if rank == 0: print("attacked", flush=True); time.sleep(1000)
"""
    seen = observe(real_context, work, replace(OPTIONS, within_s=2.0))
    assert "attacked" in seen.output
    alive = [comm for comm in Path("/proc").glob("[0-9]*/comm") if _read(comm) == name]
    assert alive == []


def _read(path):
    try:
        return path.read_text().strip()
    except OSError:
        return ""


@pytest.mark.parametrize(
    ("forged", "outcomes"),
    [
        (
            "import signal; os.kill(os.getppid(), 9); os.kill(2, 9); time.sleep(9)",
            {Outcome.CRASHED, Outcome.OUT_OF_MEMORY},
        ),
        ("report(x=1); open(os.environ['RANKS_FOLDER'] + '/0.end', 'w').write('[1, {')", {Outcome.OBSERVED}),
        (
            "report(x=1); os.mkdir(os.environ['RANKS_FOLDER'] + '/statuses')",
            {Outcome.OBSERVED, Outcome.CRASHED},
        ),
        (
            "os.mkdir(os.environ['RANKS_FOLDER'] + '/0.values'); "
            "open(os.environ['RANKS_FOLDER'] + '/0.values/sum.npy', 'w').write('junk')",
            {Outcome.OBSERVED, Outcome.CRASHED},
        ),
    ],
)
def test_forged_records_earn_nothing(real_context, forged, outcomes):
    options = replace(OPTIONS, inputs="shares", expected="all_of_them", within_s=5.0)
    seen = observe(real_context, f"def work(rank, barrier):\n    {forged}", options)
    assert seen.outcome in outcomes
    if seen.outcome is Outcome.OBSERVED:
        assert award(seen, options).fraction == 0.0


def test_what_the_course_did_wrong_is_told_to_the_course(real_context):
    with pytest.raises(CourseError, match="case 'small': give its arguments by name"):
        observe(real_context, REPORTS, replace(OPTIONS, inputs="unnamed"))


def test_an_oracle_must_speak_for_every_rank(real_context):
    with pytest.raises(CourseError, match=r"expected.py: too_few: must give a mapping .* a list of 2"):
        observe(real_context, REPORTS, replace(OPTIONS, inputs="shares", expected="too_few"))


def test_where_torch_is_missing_torchrun_waits(real_context, monkeypatch):
    monkeypatch.setattr(harness_ranks, "find_spec", lambda name: None)
    with pytest.raises(NotObservedError, match=r"^torchrun: torch .*; pip install 'gpu-grader\[torch\]'$"):
        observe(real_context, REPORTS, replace(OPTIONS, launcher="torchrun"))


def test_where_there_is_no_loopback_the_item_waits(real_context, monkeypatch, tmp_path):
    context = real_context({"main.py": SPAWNS.format(work=REPORTS)}, COURSE)
    sandbox = LandlockSandbox()
    if missing := sandbox.available():
        pytest.skip(missing)
    servers = Servers(
        (sandbox,),
        python=interpreter().executable,
        site=interpreter().site,
        workspaces={"submission": tmp_path / "workspace"},
        limits=context.limits,
        as_root=True,  # what runs here we wrote ourselves, and the interpreter may lie below a home
    )
    monkeypatch.setattr(context._children, "servers", servers)
    with closing(servers), pytest.raises(NotObservedError, match=r"^the sandbox landlock has no loopback"):
        Ranks().observe(OPTIONS, context)


def test_a_bug_of_ours_is_not_the_students(real_context, monkeypatch):
    context = real_context({"main.py": ""}, COURSE)
    monkeypatch.setattr(harness_ranks, "launch_order", lambda order: {"nothing": "in it"})
    seen = Ranks().observe(OPTIONS, context)
    assert (seen.outcome, seen.fault) == (Outcome.NOT_OBSERVED, Fault.GRADER)


def test_other_bounds_are_judged_on_the_same_evidence():
    options = replace(OPTIONS, numbers={"loss": "loss {}"}, at_most={"loss": 1.0})
    stored = Observation(
        item="i",
        outcome=Outcome.OBSERVED,
        quantities={"loss": Quantity(value=1.5)},
        facts={"printing_ranks": [0, 1]},
    )
    assert award(stored, options).reason == "loss is 1.5, more than 1"
    assert award(stored, replace(options, at_most={"loss": 2.0})).fraction == 1.0
    assert award(stored, replace(options, at_most={}, prints="rank_0")).fraction == 0.0


def test_a_bound_of_a_number_that_is_not_read_is_refused():
    with pytest.raises(ValueError, match="loss: is not among the numbers"):
        Ranks.Options(file="main.py", at_most={"loss": 1.0})
