"""What a run finds, leases and lends; real leases, and a machine's GPUs as NVML would list them."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

from grader.errors import NotObservedError
from grader.harness.server_spec import NOTHING, ServerSpec, played_by
from grader.machine.lease import Leases
from grader.machine.notes import Holder
from grader.model.job import Job, Task
from grader.model.observation import Case, Observation, Outcome
from grader.model.submission import Submission
from grader.subject.standins import CUDA_ON_CPU, NUMBA_SIMULATOR, requirements, virtual_devices
from grader.worker import devices, run
from grader.worker.devices import Devices


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """Let a machine have these GPUs, all of them well unless said otherwise; gives the devices of a run."""
    monkeypatch.setenv("GRADER_LEASES", str(tmp_path))

    def make(*found, ill=(), log=None, share=None):
        monkeypatch.setattr(devices, "gpus", lambda: found)
        monkeypatch.setattr(devices, "why_none", lambda: "" if found else "no driver")
        monkeypatch.setattr(devices, "probe", lambda one: "it is dead" if one.uuid in ill else "")
        return Devices(
            "a test",
            retire=lambda: log is None or log.append("retired"),
            say=print,
            waits=print,
            share=share,
        )

    return make


def test_a_machine_says_which_gpus_it_lacks(machine, gpu):
    none = machine()
    assert none.lacking({"gpu": 1}, simulates=False) == "needs 1 GPU; this machine has none (no driver)"
    assert none.lacking({"gpu": 1}, simulates=True) == ""
    assert none.lacking({"gpu": 2}, simulates=True) == "needs 2 GPUs; this machine has none (no driver)"
    assert machine(gpu(0)).lacking({"gpu": 2}, simulates=True) == "needs 2 GPUs; this machine has 1"
    assert machine(gpu(0), gpu(1)).lacking({"gpu": 2}, simulates=False) == ""
    assert none.lacking({}, simulates=False) == ""
    assert machine(gpu(0, mig=True)).lacking({"gpu": 1}, simulates=False).startswith("needs 1 GPU; ")


def test_what_needs_nothing_gets_nothing_and_a_simulator_stands_in_for_a_gpu(machine, gpu):
    assert machine(gpu(0)).grant({}) == NOTHING
    assert machine().grant({"gpu": 1}) == played_by(NUMBA_SIMULATOR)


@pytest.mark.parametrize("torch", [False, True])
def test_a_compiled_program_asks_for_no_package_of_numbas_simulator(machine, gpu, monkeypatch, torch):
    monkeypatch.setattr(requirements, "find_spec", lambda name: None)
    none = machine()
    assert none.lacking({"gpu": 1}, simulates=True).startswith("needs 1 GPU; ")
    assert none.lacking({"gpu": 1}, simulates=True, torch=torch, built=True) == ""
    assert none.grant({"gpu": 1}, torch=torch, built=True).environment == CUDA_ON_CPU.environment
    for many in (none, machine(gpu(0))):
        assert many.lacking({"gpu": 2}, simulates=True, torch=torch, built=True).startswith("needs 2 GPUs; ")


@pytest.fixture
def torch_for(monkeypatch, tmp_path):
    """Let torch be installed, built for this version of CUDA or for none."""

    def install(cuda):
        (tmp_path / "version.py").write_text(
            f"__version__ = '2'\ncuda: Optional[str] = {cuda!r}\nhip = None\n"
        )
        found = SimpleNamespace(origin=str(tmp_path / "__init__.py"))
        monkeypatch.setattr(requirements, "find_spec", {"torch": found}.get)

    return install


def test_virtual_gpus_stand_in_for_a_program_of_torch_where_there_are_too_few(machine, torch_for, gpu):
    torch_for(None)
    for found in ((), (gpu(0),)):
        run = machine(*found)
        assert run.lacking({"gpu": 2}, simulates=True, torch=True) == ""
        assert run.grant({"gpu": 2}, torch=True) == played_by(virtual_devices(2))
        assert run.lacking({"gpu": 2}, simulates=False, torch=True).startswith("needs 2 GPUs; ")
        assert run.lacking({"gpu": 2}, simulates=True).startswith("needs 2 GPUs; ")
    assert not Leases().active()
    assert machine(gpu(0), gpu(1)).grant({"gpu": 2}, torch=True).devices


def test_a_machine_says_why_it_has_no_virtual_gpus(machine, torch_for, monkeypatch, gpu):
    torch_for("13.0")
    assert machine(gpu(0)).lacking({"gpu": 2}, simulates=True, torch=True) == (
        "needs 2 GPUs; this machine has 1, and no virtual ones: "
        "torch is built for GPUs, not for the CPU alone"
    )
    monkeypatch.setattr(requirements, "find_spec", lambda name: None)
    assert machine().lacking({"gpu": 1}, simulates=True, torch=True) == (
        "needs 1 GPU; this machine has none (no driver), and no virtual ones: torch is not installed"
    )


def test_only_the_leased_gpus_are_shown_and_named(machine, gpu):
    run = machine(gpu(0), gpu(1))
    lent = run.grant({"gpu": 1})
    assert (lent.devices[0], lent.count) == ("/dev/null", 1)
    assert "/dev/zero" not in lent.devices
    assert dict(lent.environment)["CUDA_VISIBLE_DEVICES"] == "GPU-0"
    assert dict(lent.environment)["NCCL_NVLS_ENABLE"] == "0"  # a killed program could harm other GPUs
    assert list(Leases().active()) == ["gpu-GPU-0"]
    run.close()
    assert not Leases().active()


def test_whoever_needs_more_gives_back_what_it_has_before_it_waits(machine, gpu):
    log = []
    run = machine(gpu(0), gpu(1), log=log)
    run.grant({"gpu": 1})
    assert run.grant({"gpu": 2}).count == 2
    assert log == ["retired"], "programs that see a device end before its lease does"
    assert run.grant({"gpu": 1}).count == 1
    assert sorted(Leases().active()) == ["gpu-GPU-0", "gpu-GPU-1"], "who has enough keeps it"


def test_a_gpu_that_is_ill_is_put_into_quarantine_and_is_nobodys_fault(machine, gpu):
    run = machine(gpu(0), ill={"GPU-0"})
    with pytest.raises(NotObservedError, match="H200 GPU-0 is put into quarantine: it is dead"):
        run.grant({"gpu": 1})
    assert "it is dead" in Leases().quarantined("gpu-GPU-0")
    assert run.lacking({"gpu": 1}, simulates=True) == ""
    assert not Leases().active()


@pytest.mark.parametrize("outcome", [Outcome.CRASHED, Outcome.TIMED_OUT, Outcome.OUT_OF_MEMORY])
def test_after_a_fault_the_gpu_is_examined(machine, monkeypatch, outcome, gpu):
    run = machine(gpu(0))
    run.grant({"gpu": 1})
    monkeypatch.setattr(devices, "probe", lambda one: "it hangs")
    run.after(Observation(item="a", outcome=Outcome.OBSERVED))
    assert run.leased
    case = Case(name="c", outcome=outcome)
    run.after(Observation(item="a", outcome=Outcome.OBSERVED, cases=(case,)))
    assert not run.leased
    assert run.lacking({"gpu": 1}, simulates=False).startswith("needs 1 GPU")


@pytest.mark.parametrize(("buses", "together"), [((3e9, 4e9), 7e9), ((3e9, 0.0), 0.0)])
def test_buses_are_known_together_or_not_at_all(machine, gpu, buses, together):
    run = machine(*(replace(gpu(n), bus_bytes_per_s=bus) for n, bus in enumerate(buses)))
    assert run.grant({"gpu": 2}).bus_bytes_per_s == together


def test_what_an_item_will_be_lent_is_known_beforehand_if_it_needs_all_there_is(machine, gpu):
    run = machine(gpu(1), gpu(0))
    assert devices.foreseen({"gpu": 1}) is None
    assert devices.foreseen({}) is None
    assert devices.foreseen({"gpu": 3}) is None
    beforehand = devices.foreseen({"gpu": 2})
    assert not Leases().active()
    assert beforehand == run.grant({"gpu": 2})
    machine()
    assert devices.foreseen({"gpu": 1}) is None


def test_only_servers_whose_devices_are_known_are_started_before_the_lease(machine, gpu):
    machine(gpu(0))
    submission = Submission(student="s", assignment="a", archive="", digest="d", files=())
    calls = {"check": "plain", "options": {}, "calls": ("work",)}
    tasks = (
        Task(item="launch", devices={"gpu": 1}, **calls),
        Task(item="right", **calls),
        Task(item="built", devices={"gpu": 1}, built=True, **calls),
        Task(item="several", devices={"gpu": 2}, **calls),
    )
    job = Job(
        id="1",
        submission=submission,
        course="",
        assignment_folder="",
        workspace="",
        tasks=tasks,
        preloads={"work": ("numba",)},
    )
    plain, lent = run._server_specs(job)
    assert plain == ServerSpec(preloads=("numba",))
    assert lent == Devices("a test", retire=print, say=print, waits=print).grant({"gpu": 1}).setup(("numba",))
    assert run._server_specs(replace(job, tasks=tasks[2:])) == [ServerSpec()]


def test_what_later_items_do_not_need_is_given_back(machine, gpu):
    log = []
    run = machine(gpu(0), gpu(1), log=log)
    run.grant({"gpu": 2})
    run.keep(2)
    assert len(Leases().active()) == 2
    run.keep(1)
    assert (log, Leases().active()) == (["retired"], {})
    run.grant({"gpu": 1})
    run.keep(0)
    assert not Leases().active()


def test_whoever_is_granted_a_gpu_leases_none_and_leaves_its_health_to_the_lender(machine, gpu):
    ours = machine(gpu(0), gpu(1))
    grant = ours.grant({"gpu": 1})
    theirs = Devices("beside", retire=lambda: None, say=print, waits=print, granted=("GPU-0",))
    assert theirs.grant({"gpu": 1}) == grant
    assert [one.uuid for one in theirs.usable] == ["GPU-0"]
    assert theirs.lacking({"gpu": 2}, simulates=False) == "needs 2 GPUs; this machine has 1"
    machine(gpu(0), gpu(1), ill={"GPU-0"})
    theirs.after(Observation(item="a", outcome=Outcome.CRASHED))
    theirs.keep(0)
    theirs.close()
    assert list(Leases().active()) == ["gpu-GPU-0"]
    assert not Leases().quarantined("gpu-GPU-0")


def test_a_lease_is_shared_once_it_is_there_and_the_gpu_is_well(machine, gpu):
    shared = []
    ill = machine(gpu(0), ill={"GPU-0"}, share=lambda lease, uuid: shared.append(uuid))
    with pytest.raises(NotObservedError):
        ill.grant({"gpu": 1})
    assert not shared
    Leases().release("gpu-GPU-0")
    well = machine(gpu(0), share=lambda lease, uuid: shared.append(uuid))
    well.grant({"gpu": 1})
    well.grant({"gpu": 1})
    assert shared == ["GPU-0"]


def test_only_another_child_of_our_parent_is_a_sibling():
    def holder(pid):
        return Holder(pid=pid, user="u", since="", what="")

    other = subprocess.Popen(["sleep", "60"])
    code = (
        "import sys; from grader.machine.notes import Holder; from grader.worker.devices import is_sibling;"
    )
    code += "print([is_sibling(Holder(pid=int(pid), user='u', since='', what='')) for pid in sys.argv[1:]])"
    pids = [str(pid) for pid in (other.pid, os.getpid(), 1, 0)]
    try:
        done = subprocess.run([sys.executable, "-c", code, *pids], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "[True, False, False, False]"
        assert not devices.is_sibling(holder(os.getpid()))
        assert not devices.is_sibling(holder(other.pid)), "a child of ours is none"
    finally:
        other.kill()
        other.wait()


def test_a_gpu_of_a_kind_that_the_assignment_does_not_name_is_not_used(machine, gpu, monkeypatch):
    made = machine(gpu(0))
    kind = Task(item="fast", check="speedup", options={}, devices={"gpu": 1}, gpu_kinds=("H999",))
    unfit = Devices("a test", retire=print, say=print, waits=print, tasks=(kind,))
    assert made.lacking({"gpu": 1}, simulates=False) == ""
    assert unfit.lacking({"gpu": 1}, simulates=False).endswith("; it is measured on H999)")
    fit = Devices(
        "a test", retire=print, say=print, waits=print, tasks=(replace(kind, gpu_kinds=(gpu(0).name,)),)
    )
    assert fit.lacking({"gpu": 1}, simulates=False) == ""
