"""For what an item has its submission built, and which items find what was made."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from grader.contracts.build import Built
from grader.errors import NeedsGpuError
from grader.harness.course_forks import AfterCalls
from grader.harness.item_context import Unwatched
from grader.harness.server_spec import OBSERVER
from grader.model.job import Job, Task
from grader.model.observation import MISSING_FILE, NEEDS_GPU, Fault, Observation, Outcome
from grader.model.options import ProgramFile, option
from grader.model.submission import Submission
from grader.subject.standins import NUMBA_SIMULATOR, requirements, virtual_devices
from grader.testing.kinds import AwardOnly
from grader.worker import devices
from grader.worker.devices import Devices
from grader.worker.items import Items


@dataclass
class Servers:
    lends_devices: bool = True


@dataclass
class NoChildren:
    """Nothing is started: only what would be is looked at."""

    servers: Servers = field(default_factory=Servers)
    program_s: float = 0.0
    after_calls: AfterCalls = field(default_factory=AfterCalls)
    _cores: tuple[int, ...] = ()

    def end(self, group):
        """Nothing was started."""


@dataclass
class Made:
    """What was asked to be built; nothing is."""

    asked: list = field(default_factory=list)

    def of(self, whose, *, architecture="", simulated=False):
        self.asked.append((whose, architecture, simulated))
        return Built(outcome=Outcome.OBSERVED, folder="/cache/x", variable="LIBRARY")


class Looks(AwardOnly):
    """A kind that keeps the set-up of its programs."""

    name = "looks"

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        builds: bool = option("Whether it builds.", default=False)
        simulated_inputs: str = option("A family.", default="")
        program: ProgramFile = option("What it runs.", default=ProgramFile(""))
        programs: tuple[ProgramFile, ...] = option("What else it runs.", default=())

    def __init__(self):
        self.setups = {}
        self.keeps = {}

    def observe(self, options, context):
        if options.builds:
            context.build(simulated=context.simulated)
        self.setups[context.item] = context._setup("work", "submission")
        observed = Observation(item=context.item, outcome=Outcome.OBSERVED, simulated=options.builds)
        return replace(observed, **self.keeps)

    def award(self, options, observation, related):
        raise NotImplementedError


@pytest.fixture
def run(monkeypatch, tmp_path):
    monkeypatch.setenv("GRADER_LEASES", str(tmp_path))

    def make(*found):
        monkeypatch.setattr(devices, "gpus", lambda: found)
        monkeypatch.setattr(devices, "why_none", lambda: "no driver")
        monkeypatch.setattr(devices, "probe", lambda one: "")
        job = Job(
            id="1",
            submission=Submission(student="s", assignment="a", archive="", digest="d", files=("network.py",)),
            course="",
            assignment_folder="",
            workspace="",
            tasks=(),
            preloads={"network": ("torch",)},
        )
        made, kind = Made(), Looks()
        leased = Devices("a test", retire=lambda: None, say=print, waits=print)
        items = Items(job, {"looks": kind}, NoChildren(), leased, Unwatched(), builds=made)
        return items, made, kind

    return make


def task(item, *, gpu=0, **options):
    needed = {"gpu": gpu} if gpu else {}
    return Task(item=item, check="looks", options=options, devices=needed, built=item in {"relu", "plain"})


def test_the_submission_is_built_for_the_gpu_that_the_machine_has(run, gpu):
    items, made, _ = run(gpu(0))
    items.observe(task("build", builds=True))
    assert made.asked == [("submission", "sm_90", False)]


def test_without_a_gpu_it_is_built_for_the_compilers_default(run):
    items, made, _ = run()
    items.observe(task("build", builds=True))
    assert made.asked == [("submission", "", False)]


def test_what_needs_the_build_finds_it_and_nothing_else_does(run):
    items, made, kind = run()
    items.observe(task("plain"))
    items.observe(task("other"))
    assert made.asked == [("submission", "", False)]
    assert kind.setups["plain"].mounts == (("/built", "/cache/x"),)
    assert kind.setups["plain"].environment == (("LIBRARY", "/built"),)
    assert kind.setups["other"].mounts == ()


def test_where_a_gpu_is_simulated_what_was_built_for_the_cpu_is_found_and_no_simulator_of_numba(run):
    items, made, kind = run()
    seen = items.observe(task("relu", gpu=1, simulated_inputs="few"))
    assert seen.simulated
    assert made.asked == [("submission", "", True)]
    setup = kind.setups["relu"]
    assert (NUMBA_SIMULATOR.module in setup.preloads, OBSERVER in setup.preloads) == (False, True)
    assert "NUMBA_ENABLE_CUDASIM" not in dict(setup.environment)
    assert dict(setup.environment)["CUDA_ON_CPU_ORDER"] == "shuffled"
    assert dict(setup.environment)["LIBRARY"] == "/built"


def test_what_loads_nothing_is_simulated_as_ever(run):
    items, made, kind = run()
    assert items.observe(task("numba", gpu=1, simulated_inputs="few")).simulated
    assert made.asked == []
    assert kind.setups["numba"].preloads == (NUMBA_SIMULATOR.module, OBSERVER)


def test_several_gpus_are_virtual_ones_where_the_file_that_is_called_imports_torch(run, monkeypatch, gpu):
    monkeypatch.setattr(requirements, "_why_no_virtual_gpus", lambda: "")
    items, _, kind = run(gpu(0))
    seen = items.observe(replace(task("split", gpu=4, simulated_inputs="few"), calls=("network",)))
    assert (seen.outcome, seen.simulated) == (Outcome.OBSERVED, True)
    setup = kind.setups["split"]
    assert (virtual_devices(4).module in setup.preloads, OBSERVER in setup.preloads) == (True, True)
    assert (NUMBA_SIMULATOR.module in setup.preloads, setup.devices) == (False, ())
    assert dict(setup.environment) == {"VIRTUAL_GPUS": "4"}
    other = items.observe(task("numba", gpu=4, simulated_inputs="few"))
    assert (other.outcome, other.note) == (Outcome.NOT_OBSERVED, "needs 4 GPUs; this machine has 1")


def test_an_item_whose_file_is_missing_waits_for_no_device_and_runs_nothing(run):
    items, _, kind = run()
    seen = items.observe(replace(task("lost", gpu=1), calls=("other",)))
    assert (seen.outcome, seen.note) == (Outcome.REFUSED, "other.py was not handed in")
    assert "lost" not in kind.setups


def test_a_file_that_is_missing_is_told_though_what_the_item_needs_failed_as_well(run):
    items, _, _ = run()
    items.note(task("build"), Observation(item="build", outcome=Outcome.CRASHED))
    seen = items.observe(replace(task("lost"), calls=("other",), needs=("build",)))
    assert (seen.outcome, seen.note) == (Outcome.REFUSED, "other.py was not handed in")
    skipped = items.observe(replace(task("there"), calls=("network",), needs=("build",)))
    assert skipped.outcome is Outcome.SKIPPED


@pytest.mark.parametrize(
    ("options", "missing"),
    [
        ({"program": "main.py"}, "main.py"),
        ({"programs": ["network.py", "plot.py"]}, "plot.py"),
        ({"program": "network.py", "programs": ["network.py"]}, ""),
    ],
)
def test_a_program_that_was_not_handed_in_is_told_and_nothing_runs(run, options, missing):
    items, _, kind = run()
    seen = items.observe(task("lost", **options))
    if not missing:
        assert seen.outcome is Outcome.OBSERVED
        return
    note = f"{missing} was not handed in"
    assert (seen.outcome, seen.note, seen.facts) == (Outcome.REFUSED, note, {MISSING_FILE: note})
    assert "lost" not in kind.setups


def test_a_kind_may_say_itself_that_it_simulated(run):
    items, _, _ = run()
    assert items.observe(task("build", builds=True)).simulated
    assert not items.observe(task("other")).simulated


def test_what_the_system_refuses_is_told_with_its_place_where_no_file_is_named(run, monkeypatch):
    items, _, kind = run()
    monkeypatch.setattr(kind, "observe", lambda options, context: os.fstat(99_999))
    told = items.observe(task("plain"))
    assert (told.outcome, told.fault) == (Outcome.NOT_OBSERVED, Fault.MACHINE)
    assert re.fullmatch(r"\[Errno 9\] Bad file descriptor \(\w+\(\) in \w+\.py:\d+\)", told.note), told.note
    monkeypatch.setattr(kind, "observe", lambda options, context: Path("/no/such/file").stat())
    assert items.observe(task("other")).note == "[Errno 2] No such file or directory: '/no/such/file'"


def test_what_a_machine_lacks_is_lent_to_nobody(run, gpu):
    items, *_ = run(gpu(0))
    assert [items.gpus_for(task("x", gpu=count)) for count in (0, 1, 2)] == [0, 1, 0]


def test_whether_an_item_passes_is_told_when_it_is_noted(run, gpu):
    items, *_ = run(gpu(0))
    before = items.observe(task("plain"))
    assert not items.note(task("plain"), before), "this kind judges nothing"
    crashed = replace(before, outcome=Outcome.CRASHED)
    waits = replace(task("waits"), uses=("other",))
    assert not items.note(waits, replace(crashed, item="waits"))
    needs = Task(item="later", check="looks", options={}, needs=("waits",))
    assert items.observe(needs).note == "waits for an item that it needs", (
        "nobody can judge it without the other one"
    )
    items.note(task("other"), replace(crashed, item="other"))
    items.note(waits, replace(crashed, item="waits"))
    assert items.observe(needs).outcome is Outcome.SKIPPED


@pytest.mark.parametrize(
    ("keeps", "problem"),
    [
        (
            {"facts": {"a": [{1, 2}]}},
            "cannot be stored: facts.a[0]: a set cannot be written as JSON; give plain",
        ),
        (
            {"quantities": {"time": 3.0}},
            "quantities.time must be a Quantity, got 3.0; write Quantity(value=…, unit=…)",
        ),
        (
            {"item": "another"},
            "ValueError: observe returned an observation of 'another'; write item=context.item",
        ),
    ],
)
def test_an_observation_that_cannot_be_stored_is_the_kinds_mistake_and_costs_no_other_item(
    run, keeps, problem
):
    items, _, kind = run()
    kind.keeps = keeps
    observation = items.observe(task("looks"))
    assert (observation.item, observation.outcome, observation.fault) == ("looks", "not_observed", "grader")
    assert problem in observation.note


class AsksForGpu(Looks):
    """A kind whose program asks for a GPU when it is imported."""

    def observe(self, options, context):
        if context._lent.waits_for_gpu:
            raise NeedsGpuError("work.py: CudaSupportError: no driver")
        outcome = Outcome.OBSERVED if context.devices else Outcome.CRASHED
        return Observation(item=context.item, outcome=outcome)


def of_import(item):
    return replace(task(item, gpu=1), gpu_for_import=True)


def test_an_item_without_a_gpu_waits_for_one_if_an_import_asks_for_it(run):
    items, _, _ = run()
    items._kinds = {"looks": AsksForGpu()}
    seen = items.observe(task("work"))
    assert (seen.outcome, seen.fault, seen.facts) == (Outcome.NOT_OBSERVED, None, {NEEDS_GPU: True})


@pytest.mark.parametrize(("timed", "outcome"), [(False, Outcome.OBSERVED), (True, Outcome.CRASHED)])
def test_where_a_gpu_is_it_gets_that_unless_it_is_timed_and_could_compute_there(run, gpu, timed, outcome):
    items, _, _ = run(gpu(0))
    kind = AsksForGpu()
    kind.timed = timed
    items._kinds = {"looks": kind}
    seen = items.observe(of_import("work"))
    assert (seen.outcome, seen.facts) == (outcome, {})
