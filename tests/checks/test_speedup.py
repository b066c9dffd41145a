"""Speedups are judged on intervals, and measured so that no side can be made to look better than it is."""

import re
import time
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from textwrap import dedent

import pytest

from grader.checks.calls import Oracle
from grader.checks.rounds import Runner, Schedule, timed_rounds
from grader.checks.speedup import Speedup
from grader.checks.watched import WATCHED
from grader.config.codec import to_plain
from grader.contracts.context import KERNEL_RAN, OTHERS_RAN
from grader.errors import CourseError
from grader.harness.subject import ChildSubject
from grader.harness.tolerance import Tolerance, Tolerances
from grader.machine.cores import Cores
from grader.machine.quiet import Readings
from grader.model.observation import Fault, Observation, Outcome, Quantity
from grader.model.trace import Trace, Watched
from grader.subject.check_processes import DescendantProcesses
from grader.subject.usage_watch import ProcessesUsage
from grader.worker.devices import Devices
from grader.worker.quiet import WatchedCores

OPTIONS = Speedup.Options(of="work.fast", over="work.slow", inputs="numbers", at_least=5.0)

REFERENCE = """
    import numpy as np
    def fast(x): return x + 1
    def slow(x):
        out = np.empty_like(x)
        for i in range(len(x)): out[i] = x[i] + 1
        return out
"""
INPUTS = """
    from grader.api import case
    def numbers(rng): yield case("many numbers", rng.standard_normal(40_000))
    def two(rng):
        yield case("one", rng.standard_normal(4))
        yield case("two", rng.standard_normal(4))
"""


SLEEP_S = 0.5


def coarse(call):
    """The call as a clock tells it that sees no wait below a sleep: its CPU time, and whole sleeps.

    Other programs on the machine keep a call waiting for a core, for less than that. What becomes of
    rounds in which they do has a test of its own, and `tests/harness/test_subject.py` has one for the clock.
    """
    if call.cpu_s is None:
        return call
    sleeps = int((call.wall_s - call.cpu_s) / SLEEP_S)
    return replace(call, wall_s=call.cpu_s + sleeps * SLEEP_S)


@pytest.fixture
def context_of(real_context, monkeypatch):
    """A real context over a real sandbox: give it the submission's `work.py`."""
    for name in ("call", "again"):
        original = getattr(ChildSubject, name)
        monkeypatch.setattr(
            ChildSubject, name, lambda *args, _call=original, **more: coarse(_call(*args, **more))
        )

    def make(code: str, reference: str = REFERENCE):
        course = {
            "inputs.py": INPUTS,
            "expected.py": "def fast(x): return x + 1",
            "reference/work.py": reference,
        }
        return real_context({"work.py": code}, course)

    return make


def observe(context, options=OPTIONS):
    return Speedup().observe(options, context)


def award(observation, options=OPTIONS):
    return Speedup().award(options, observation, {})


def test_a_fast_function_earns_and_every_sample_is_kept(context_of):
    observation = observe(context_of(REFERENCE))
    assert observation.outcome is Outcome.OBSERVED
    assert len(observation.facts["samples"]["of"]) >= OPTIONS.rounds
    assert award(observation).fraction == 1.0
    low, ratio, high = (observation.quantities[q].value for q in ("ratio_low", "ratio", "ratio_high"))
    assert low <= ratio <= high


def test_functions_that_share_a_child_are_timed_alike(context_of):
    context = context_of(REFERENCE)
    context._group = "both"
    observation = observe(context, replace(OPTIONS, budget_s=3.0))
    assert observation.outcome is Outcome.OBSERVED, observation.note
    assert award(observation).fraction == 1.0


def test_a_function_that_is_not_faster_does_not_earn(context_of):
    code = REFERENCE + "\n    fast = slow\n"
    result = award(observe(context_of(code)))
    assert result.fraction == 0.0
    assert "at least 5 are needed" in result.reason


def test_a_hidden_delay_in_the_slow_function_gains_nothing(context_of):
    code = """
        import time
        import numpy as np
        def fast(x):
            out = np.empty_like(x)
            for i in range(len(x)): out[i] = x[i] + 1
            return out
        def slow(x):
            time.sleep(SLEEP_S)
            return fast(x)
    """.replace("SLEEP_S", str(SLEEP_S))
    observation = observe(context_of(code))
    samples = observation.facts["samples"]
    assert min(samples["over"]) > OPTIONS.at_least * max(samples["of"]), "the cheat itself does not work"
    result = award(observation)
    assert result.fraction == 0.0
    assert any(flag.startswith("waiting_baseline") for flag in result.flags)


def test_a_slow_function_that_computes_more_than_it_must_gains_nothing(context_of):
    code = """
        import numpy as np
        def fast(x):
            out = np.empty_like(x)
            for i in range(len(x)): out[i] = x[i] + 1
            return out
        def slow(x):
            for _ in range(8): fast(x)
            return fast(x)
    """
    result = award(observe(context_of(code)))
    assert result.fraction == 0.0
    assert any(flag.startswith("slow_baseline") for flag in result.flags)


def test_the_result_of_a_timed_call_is_compared(context_of):
    code = (
        REFERENCE
        + """
    calls = []
    def fast(x):
        calls.append(1)
        return x + 1 if len(calls) < 4 else x
    """
    )
    result = award(observe(context_of(code)))
    assert result.fraction == 0.0
    assert "a timed call is wrong" in result.reason


def test_remembering_an_earlier_result_does_not_help_because_inputs_are_fresh(context_of):
    code = (
        REFERENCE
        + """
    kept = []
    def fast(x):
        if not kept: kept.append(x + 1)
        return kept[0]
    """
    )
    assert award(observe(context_of(code))).fraction == 0.0


NEAR = REFERENCE + "\n    def fast(x): return (x + 1) * (1 + 1e-6)\n"


def test_timed_results_may_differ_by_the_tolerance_of_the_item(context_of):
    """Sums in another order: right by the tolerance that the item of correctness has as well."""
    loose = replace(OPTIONS, tolerance=Tolerances(float64=Tolerance(rtol=1e-5, atol=0.0)))
    assert award(observe(context_of(NEAR, reference=NEAR), options=loose), loose).fraction == 1.0


def test_a_reference_that_is_further_off_is_told_with_the_tolerance(context_of):
    with pytest.raises(CourseError, match=r"; correct the reference, expected\.py or the tolerance$"):
        observe(context_of(NEAR, reference=NEAR))


def test_a_crash_in_a_timed_call_is_the_students(context_of):
    observation = observe(context_of(REFERENCE + "\n    def fast(x): raise ValueError('no')\n"))
    assert observation.outcome is Outcome.CRASHED
    assert "ValueError: no" in observation.note


def test_a_reference_that_fails_is_the_courses(context_of):
    with pytest.raises(CourseError, match=r"reference: fast: .*ValueError.* \(reference/\w+.py:\d+\)$"):
        observe(context_of(REFERENCE, reference=REFERENCE + "\n    def fast(x): raise ValueError\n"))


def test_a_result_that_the_oracle_of_the_course_calls_wrong_for_the_reference_too_is_the_courses(context_of):
    """Whichever of the two is called first in a round."""
    wrong = REFERENCE + "\n    def fast(x): return x + 2\n"
    with pytest.raises(CourseError, match="reference: fast: a timed call is wrong: "):
        observe(context_of(wrong, reference=wrong))


def test_a_reference_that_is_wrong_is_the_courses(context_of):
    with pytest.raises(CourseError, match="a timed call is wrong"):
        observe(context_of(REFERENCE, reference=REFERENCE + "\n    def fast(x): return x\n"))


def test_a_timed_family_gives_one_case(context_of):
    with pytest.raises(CourseError, match="gives 2 cases"):
        observe(context_of(REFERENCE), replace(OPTIONS, inputs="two"))


def stored(of, over, reference_of=0.001, reference_over=1.0, cpu=None) -> Observation:
    sides = {"of": of, "over": over, "reference_of": reference_of, "reference_over": reference_over}
    samples = {side: s if isinstance(s, list) else [s] * 9 for side, s in sides.items()}
    return Observation(
        item="speed",
        outcome=Outcome.OBSERVED,
        facts={"samples": samples, "cpu": {**samples, **({"over": cpu} if cpu else {})}},
    )


@pytest.mark.parametrize(
    ("observation", "fraction", "undecided", "flag"),
    [
        (stored(0.1, 1.0), 1.0, False, ""),
        (stored(0.5, 1.0), 0.0, False, ""),
        (stored([0.1] * 4 + [0.2] + [0.4] * 4, 1.0), 1.0, False, "near_threshold"),
        (stored(0.1, 1.0, reference_of=0.15), 0.0, True, ""),
        (stored(0.5, 5.0, reference_over=1.0), 0.0, False, "slow_baseline"),
        (stored(0.1, 5.0, reference_over=1.0), 1.0, False, "slow_baseline"),
        (stored(0.1, 1.5, cpu=[0.6] * 9), 1.0, False, "waiting_baseline"),
        (stored(0.1, 1.5, cpu=[0.4] * 9), 0.0, False, "waiting_baseline"),
    ],
)
def test_the_verdict_on_stored_samples(observation, fraction, undecided, flag):
    result = award(observation)
    assert (result.fraction, result.undecided, result.again) == (fraction, undecided, undecided)
    assert bool(flag) == bool(result.flags)
    assert not flag or result.flags[0].startswith(flag)


def test_a_hole_in_the_record_of_the_gpu_decides_nothing_and_the_next_run_looks_again():
    observation = stored(0.1, 1.0)
    watched = Watched(trace=Trace(source="cupti", complete=False, problem="a canary is missing"))
    result = award(replace(observation, facts={**observation.facts, WATCHED: to_plain(watched)}))
    assert (result.fraction, result.undecided, result.again) == (0.0, True, True)
    assert result.reason == "it could not be seen whether the GPU does the work: a canary is missing"


def test_another_threshold_is_judged_on_the_same_samples():
    missed = award(stored(0.1, 1.0), replace(OPTIONS, at_least=11.0))
    sentence = "10 times faster (between 10 and 10); at least 11 are needed (the median of 9 rounds; with "
    assert (missed.fraction, missed.reason.startswith(sentence)) == (0.0, True), missed.reason
    disturbed = replace(stored(0.1, 1.0), quantities={"disturbed_rounds": Quantity(value=2)})
    missed = award(disturbed, replace(OPTIONS, at_least=11.0))
    assert "the median of 9 rounds that nothing disturbed, of 11; with" in missed.reason
    assert award(stored(0.1, 1.0), replace(OPTIONS, at_least=9.0)).fraction == 1.0


def test_a_machine_that_never_gets_quiet_gives_no_low_score(context_of, monkeypatch):
    monkeypatch.setattr("grader.checks.rounds._waited", lambda call: "a loop had to wait")
    observation = Speedup().observe(replace(OPTIONS, budget_s=0.5), context_of(REFERENCE))
    assert observation.outcome is Outcome.NOT_OBSERVED
    assert observation.fault is Fault.BUSY
    assert observation.note.startswith("not timed: ")
    assert re.search(r"busy in (\d+) of \1 rounds \(a loop had to wait\); nothing is lost", observation.note)


class BusyWith:
    """Is busy by whether children of the program are there, and by how often children were started."""

    untold = False

    def __init__(self, context, busy):
        self._busy = busy
        self._present = []
        self._started = 0
        for whose in ("subject", "reference"):
            start = getattr(context, whose)
            setattr(context, whose, partial(self._counted, whose, start))

    @contextmanager
    def _counted(self, whose, start, module):
        with start(module) as subject:
            self._started += not self._present
            self._present.append(whose)
            yield subject
            self._present.remove(whose)

    def begin(self, *, anew=False):
        pass

    def end(self):
        busy = self._busy("subject" in self._present, self._started)
        return busy if isinstance(busy, str) else OTHERS_RAN if busy else ""


SHORT = replace(OPTIONS, budget_s=1.0)


def test_a_machine_that_is_busy_exactly_while_the_program_runs_is_made_busy_by_it(context_of):
    context = context_of(REFERENCE)
    context._quiet = BusyWith(context, lambda beside, started: beside)
    observation = observe(context, SHORT)
    assert observation.outcome is Outcome.REFUSED
    assert observation.note.startswith("cannot be timed: 3 times of 3 the cores were busy")


def test_what_was_disturbed_is_measured_again_once_the_reference_is_left_in_peace(context_of):
    context = context_of(REFERENCE)
    context._quiet = BusyWith(context, lambda beside, started: started == 1)
    observation = observe(context, SHORT)
    assert observation.outcome is Outcome.OBSERVED, observation.note
    assert award(observation).fraction == 1.0


def test_what_the_kernel_still_does_for_a_program_that_has_ended_is_waited_for(context_of):
    context = context_of(REFERENCE)
    context._quiet = BusyWith(context, lambda beside, started: KERNEL_RAN if started in (1, 2, 3) else "")
    observation = observe(context, SHORT)
    assert observation.outcome is Outcome.OBSERVED, observation.note
    assert context.quiet._started == 5


def test_what_the_kernel_never_stops_doing_is_the_machines(context_of, monkeypatch):
    monkeypatch.setattr("grader.checks.control.LEFTOVERS_S", 0.0)
    context = context_of(REFERENCE)
    context._quiet = BusyWith(context, lambda beside, started: KERNEL_RAN)
    observation = observe(context, SHORT)
    assert (observation.outcome, observation.fault) == (Outcome.NOT_OBSERVED, Fault.BUSY)
    assert KERNEL_RAN in observation.note


OPENS = """
import ctypes
libc = ctypes.CDLL(None)

def watches():
    return libc.inotify_init1(0) >= 0
"""


def test_a_program_beside_which_the_reference_fails_loses_its_points_for_good(context_of):
    """They have one user, of whom the kernel counts files that watch, among others."""
    held = "held = []\ndef fast(x):\n    while len(held) < 4000 and watches(): held.append(x)\n"
    one = "def fast(x):\n    assert watches()\n    return x + 1\n"
    reference = dedent(REFERENCE) + OPENS + one
    observation = observe(context_of(dedent(REFERENCE) + OPENS + held + "    return x + 1\n", reference))
    assert observation.outcome is Outcome.REFUSED, observation.note
    assert "never without it" in observation.note


def test_a_reference_that_fails_alone_is_the_courses_doing(context_of):
    reference = REFERENCE.replace("def fast(x): return x + 1", "def fast(x): raise ValueError")
    with pytest.raises(CourseError, match="ValueError"):
        observe(context_of(REFERENCE, reference))


@pytest.mark.slow
@pytest.mark.parametrize(
    "busy",
    [
        pytest.param(lambda beside, started: True, id="always", marks=pytest.mark.slow),
        pytest.param(lambda beside, started: beside or started > 3, id="from the second turn on"),
    ],
)
def test_a_machine_that_is_busy_at_other_times_too_is_the_machines_doing(context_of, busy):
    context = context_of(REFERENCE)
    context._quiet = BusyWith(context, busy)
    observation = observe(context, SHORT)
    assert (observation.outcome, observation.fault) == (Outcome.NOT_OBSERVED, Fault.BUSY)
    assert OTHERS_RAN in observation.note


@pytest.fixture
def quiet_machine(monkeypatch):
    """Watches over cores, for a context, on a machine where nobody computes but us and what we started."""
    usage, processes = ProcessesUsage(), DescendantProcesses()

    def counted(proc):
        first, *others = Cores().allowed
        busy_s = usage(processes.members()) / 1e9 + time.process_time()
        return Readings(busy_s=dict.fromkeys(others, 0.0) | {first: busy_s}, steal_s={})

    monkeypatch.setattr("grader.machine.quiet.readings", counted)
    devices = Devices("a test", retire=lambda: None, say=print, waits=print)
    return lambda context: WatchedCores((), devices, lambda: context._children.cpu_s)


def test_what_a_proof_has_the_program_compute_between_timed_calls_is_not_the_work_of_others(
    context_of, quiet_machine
):
    """A copy for each row took a second in each exchange, and the program was blamed for a busy machine."""
    code = REFERENCE + "\n    def more(x):\n        for _ in range(10): y = slow(x)\n        return y\n"
    context = context_of(code)
    context._quiet = quiet_machine(context)

    class Proof:
        def __init__(self, subject):
            self.subject = subject

        def before(self):
            self.subject.call("more", context.draw("numbers", 10**6)[0])

        def after(self, calls, *, counted):
            pass

        def finish(self):
            pass

    with context.subject("work") as subject, context.reference("work") as reference:
        runners = {
            name: Runner(
                subject=whose,
                function=function,
                ours=whose is reference,
                quick=function == "fast",
                proof=Proof(subject) if whose is subject else None,
            )
            for name, whose, function in (("fast", subject, "fast"), ("slow", reference, "slow"))
        }
        enough = Schedule(least=4, budget_s=10.0, decided=lambda rounds: True)
        rounds = timed_rounds(
            context, runners, "numbers", Oracle(lambda x: x + 1), loop="slow", schedule=enough
        )
    assert rounds.undisturbed >= 4
    assert rounds.disturbances == set()


def test_what_a_child_of_the_program_computes_in_a_round_is_not_the_work_of_others(context_of, quiet_machine):
    """Otherwise no round is quiet, and what is not faster stays open instead of earning nothing."""
    code = f"""{REFERENCE}
    import os, time
    def fast(x):
        child = os.fork()
        if child == 0:
            while time.process_time() < 0.1: pass
            os._exit(0)
        os.waitpid(child, 0)
        return x + 1
    """
    context = context_of(code)
    context._quiet = quiet_machine(context)
    observation = observe(context)
    assert observation.quantities["disturbed_rounds"].value == 0
    assert award(observation).fraction == 0.0


BESIDE = """
import os, threading, time
beside = []
def spin(s=60):
    end = time.thread_time() + s
    while time.thread_time() < end: pass
def forked(work):
    pid = os.fork()
    if pid == 0:
        work()
        os._exit(0)
    return pid
def four(work):
    return [work() for _ in range(4)]
def once(work):
    if not beside: beside.append(work())
"""

ORPHANED = "os.waitpid(forked(lambda: (os.setsid(), four(lambda: forked(spin)))), 0)"
BUSY = {
    "processes that stay": "once(lambda: four(lambda: forked(spin)))",
    "polite processes that stay": "once(lambda: four(lambda: forked(lambda: (os.nice(19), spin()))))",
    "orphans in a session of their own": f"once(lambda: {ORPHANED})",
    "threads": "once(lambda: four(lambda: threading.Thread(target=spin, daemon=True).start()))",
    "processes that end before the stand": "os.waitpid(forked(lambda: spin(0.1)), 0)",
}
QUICK = {"polite processes that stay"}


@pytest.mark.parametrize(
    "busy",
    [
        pytest.param(work, id=name, marks=() if name in QUICK else pytest.mark.slow)
        for name, work in BUSY.items()
    ],
)
def test_a_program_that_makes_itself_a_busy_machine_loses_its_points_for_good(
    context_of, quiet_machine, busy
):
    fast = f"def fast(x):\n    {busy}\n    for _ in range(4): y = slow(x)\n    return y\n"
    context = context_of(dedent(REFERENCE) + BESIDE + fast)
    context._quiet = quiet_machine(context)
    observation = observe(context)
    assert observation.outcome is Outcome.OBSERVED, observation.note
    assert award(observation).fraction == 0.0


def test_an_honest_program_with_processes_and_threads_of_its_own_earns(context_of, quiet_machine):
    code = """
import threading, subprocess
def background():
    for _ in range(10): subprocess.run(["/bin/true"])
def fast(x):
    thread = threading.Thread(target=background)
    thread.start()
    return x + 1
"""
    reference = REFERENCE.replace("def slow(x):", "def slow(x):\n        x = np.tile(x, 10)").replace(
        "return out", "return out[:len(x) // 10]"
    )
    context = context_of(dedent(reference) + code, reference)
    context._quiet = quiet_machine(context)
    observation = observe(context, replace(OPTIONS, budget_s=3.0))
    assert observation.outcome is Outcome.OBSERVED, observation.note
    # Its processes count as its work, and what they take is the machine's: 3 to 6 times is measured.
    assert award(observation, replace(OPTIONS, at_least=1.0)).fraction == 1.0


SLOW_REFERENCE = REFERENCE.replace(
    "def fast(x): return x + 1",
    """def fast(x):
        out = np.empty_like(x)
        for start in range(0, len(x), 4): out[start:start + 4] = x[start:start + 4] + 1
        return out""",
)
TOO_FAST = {
    "without loops": "def fast(x): return x + 1",
    "in place": "def fast(x):\n    x += 1\n    return x",
}


@pytest.mark.parametrize("code", TOO_FAST.values(), ids=list(TOO_FAST))
def test_what_is_too_fast_to_be_believed_is_measured_and_waits_for_a_person(context_of, code):
    context = context_of(dedent(REFERENCE) + dedent(code), SLOW_REFERENCE)
    observation = observe(context, replace(OPTIONS, budget_s=3.0, at_least=0.1))
    assert observation.outcome is Outcome.OBSERVED, observation.note
    believed = replace(OPTIONS, at_least=0.1, plausible=1e6)
    assert award(observation, believed).fraction == 1.0
    judged = award(observation, replace(believed, plausible=3.0))
    assert (judged.fraction, judged.undecided, judged.again) == (0.0, True, False)
    assert judged.flags[-1].startswith("implausible: ")
    assert len(observation.facts["identity_s"]) == len(observation.facts["samples"]["of"])
