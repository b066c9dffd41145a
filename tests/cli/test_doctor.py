"""What `grader doctor` says of GPUs, leases, and what would spoil a timing."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from textwrap import dedent

import click
import pytest

from grader.cli import spoilers
from grader.cli.devices import Card, cards, findings, leased
from grader.cli.doctor import _demanded, _packages, command
from grader.cli.spoilers import Surroundings
from grader.cuda.gpus import Gpu
from grader.cuda.state import GpuState, Process
from grader.machine.lease import Leases

GRADER = str(Path(sys.executable).with_name("grader"))
UUID = "GPU-aaaa1111-0000"

GPU = Gpu(
    index=0,
    uuid=UUID,
    name="NVIDIA H200",
    memory_bytes=143771 * 2**20,
    compute_capability=(9, 0),
    driver="580.159.04",
    cuda=(13, 0),
    mig=False,
    node="/dev/nvidia0",
)
IDLE = GpuState(
    processes=(),
    memory_used_bytes=4 * 2**20,
    sm_clock_mhz=345,
    sm_clock_max_mhz=1980,
    memory_clock_mhz=3201,
    throttle=(),
    temperature_c=31,
    utilisation=0.0,
    persistence=True,
    compute_mode="default",
    ecc_errors=0,
)
BLIND = GpuState(**dict.fromkeys(GpuState.__slots__))
CARD = Card(gpu=GPU, state=IDLE, holder="", quarantine="")
QUIET = Surroundings(cores=16, load_1min=0.3)


@pytest.mark.parametrize(
    ("installed", "says"),
    [
        ((), None),
        (("numba",), "not installed; only homework with numba needs it"),
        (("greenlet", "numba"), "1"),
    ],
)
def test_greenlet_is_asked_for_beside_numba_alone(monkeypatch, installed, says):
    def version(name):
        if name not in installed:
            raise PackageNotFoundError
        return "1"

    monkeypatch.setattr("importlib.metadata.version", version)
    lines = {line.name: line.says for line in _packages()}
    assert lines.get("greenlet") == says
    assert lines["torch"] == "not installed"


# one GPU, as pynvml would tell of it
PYNVML = f"""
    class NVMLError(Exception): pass
    class Memory: total, used = 2**30, 0
    def nvmlInit(): pass
    def nvmlDeviceGetCount(): return 1
    def nvmlDeviceGetHandleByIndex(index): return index
    def nvmlDeviceGetHandleByUUID(uuid): return 0
    def nvmlDeviceGetUUID(handle): return {UUID!r}
    def nvmlDeviceGetName(handle): return "Fake"
    def nvmlDeviceGetMemoryInfo(handle, version=None): return Memory
    def nvmlDeviceGetComputeRunningProcesses(handle): return []
"""


def said(lines):
    return {line.name: line.says for line in lines}


def disturbing(around=QUIET, **state):
    return said(spoilers.findings(around, [replace(CARD, state=replace(IDLE, **state))]))


def test_a_gpu_is_described_in_three_lines():
    assert said(findings([CARD], nodes=())) == {
        "GPU 0": "NVIDIA H200, 140.4 GiB, compute capability 9.0, driver 580.159.04, CUDA 13.0, "
        "GPU-aaaa1111-0000",
        "GPU 0 now": "345 of 1980 MHz, memory 3201 MHz, slowed by nothing, 31 °C, other programs: none, "
        "memory in use: 4 MiB",
        "GPU 0 lease": "free",
    }


def test_what_is_not_known_of_a_gpu_is_said_to_be_unknown():
    assert said(findings([replace(CARD, state=BLIND)], nodes=()))["GPU 0 now"] == (
        "unknown of unknown MHz, memory unknown MHz, slowed by unknown, other programs: unknown, "
        "memory in use: unknown"
    )


def test_what_others_do_on_a_gpu_is_said():
    busy = replace(
        IDLE,
        processes=(Process(pid=7, bytes=2**30), Process(pid=8, bytes=None)),
        throttle=("power cap",),
        compute_mode="exclusive process",
        ecc_errors=2,
    )
    now = said(findings([replace(CARD, state=busy)], nodes=()))["GPU 0 now"]
    assert "slowed by power cap" in now
    assert "other programs: 7 with 1024 MiB and 8," in now
    assert now.endswith("compute mode exclusive process, 2 memory errors")


def test_a_divided_gpu_a_held_one_and_one_in_quarantine_say_so():
    lines = {line.name: line for line in findings([replace(CARD, gpu=replace(GPU, mig=True))], nodes=())}
    assert "divided (MIG)" in lines["GPU 0"].says
    assert not lines["GPU 0"].works
    assert said(findings([replace(CARD, holder="ada")], nodes=()))["GPU 0 lease"] == "held by ada"
    lines = {line.name: line for line in findings([replace(CARD, quarantine="it hung")], nodes=())}
    assert (lines["GPU 0 lease"].works, lines["GPU 0 lease"].says) == (False, "in quarantine: it hung")
    assert "grader doctor --probe" in lines["GPU 0 lease"].advice


def test_device_files_that_no_program_made_yet_are_named(tmp_path):
    (there := tmp_path / "nvidiactl").touch()
    lines = said(findings([CARD], nodes=(str(there), str(tmp_path / "nvidia-uvm"))))
    assert lines["device files"] == f"{tmp_path}/nvidia-uvm: not there yet"
    assert "device files" not in said(findings([CARD], nodes=(str(there),)))


def test_on_a_quiet_machine_nothing_spoils_a_timing():
    assert disturbing() == {"nothing": "that can be seen from here"}


@pytest.mark.parametrize(
    ("around", "name", "says"),
    [
        ({"load_1min": 9.0}, "load", "load 9.0 over the last minute, on 16 cores"),
        ({"cores": 1}, "cores", "there is one only: the clock and the program take turns on it"),
        ({"quota": 2.0}, "quota", "the container may use 2 of 16 cores, and is stopped beyond that"),
        ({"governors": ("performance", "powersave")}, "governor", "powersave: clocks follow the load"),
        (
            {"busy": {3: 0.5, 7: 1.0}, "siblings": {3: (), 7: (15,)}},
            "busy cores",
            "3 at 50%, 7 (beside 15) at 100%",
        ),
    ],
)
def test_what_would_spoil_a_timing_on_the_processor_is_named(around, name, says):
    assert disturbing(replace(QUIET, **around)) == {name: says}


@pytest.mark.parametrize("around", [{"load_1min": 8.0}, {"quota": 16.0}, {"governors": ("performance",)}])
def test_what_would_not_is_not_named(around):
    assert set(disturbing(replace(QUIET, **around))) == {"nothing"}


@pytest.mark.parametrize(
    ("state", "says"),
    [
        ({"processes": (Process(pid=7, bytes=1),)}, "other programs compute on it: 7"),
        ({"processes": None}, "who else uses it cannot be seen"),
        ({"throttle": ("power brake", "power cap")}, "slowed down by power brake and power cap"),
        ({"persistence": False}, "no persistence mode: the driver starts anew for each program"),
    ],
)
def test_what_would_spoil_a_timing_on_a_gpu_is_named(state, says):
    assert disturbing(**state) == {"GPU 0": says}


def test_looking_around_sees_this_machine():
    around = spoilers.look(sleep=lambda _: None)
    assert around.cores == len(os.sched_getaffinity(0))
    assert all(0 < share <= 1 for share in around.busy.values())


def doctor(tmp_path, *options, **environment):
    done = subprocess.run(
        [GRADER, "doctor", "--json", *options],
        check=False,
        capture_output=True,
        text=True,
        timeout=600,
        env=os.environ | {"GRADER_LEASES": str(tmp_path / "leases"), **environment},
    )
    assert done.stderr == ""
    report = json.loads(done.stdout)
    report["said"] = {line["name"]: line["says"] for line in report["findings"]}
    return report


@pytest.mark.skipif(Path("/dev/nvidiactl").exists(), reason="this machine has GPUs")
def test_without_a_gpu_it_says_why_and_who_holds_leases_of_what_else_there_is(tmp_path):
    with Leases(tmp_path / "leases").take(["core-1"], 1, 0, "item triangle"):
        report = doctor(tmp_path, "--probe")
    assert report["gpus"] == []
    assert report["said"]["GPU"] == "no NVIDIA driver is loaded"
    assert report["said"]["folder"] == str(tmp_path / "leases")
    assert report["said"]["core-1"].endswith("for item triangle")
    assert "would spoil a timing" in {line["about"] for line in report["findings"]}


def test_a_folder_that_cannot_be_used_is_said_and_ends_nothing(tmp_path, monkeypatch):
    (tmp_path / "real").mkdir()
    (tmp_path / "leases").symlink_to(tmp_path / "real")
    leases = Leases(tmp_path / "leases")
    monkeypatch.setattr("grader.cli.devices.gpus", lambda: (GPU,))
    (card,) = cards(leases, probing=True)
    assert (card.holder, card.quarantine, card.probed) == ("", "", False)
    (line,) = leased(leases)
    assert not line.works
    assert "GRADER_LEASES" in line.says


@pytest.mark.parametrize(
    ("place", "mode", "works", "advice"),
    [
        ("file", 0o600, False, "GRADER_LEASES"),
        ("leases", 0o755, True, "chmod 1777 {}"),
        ("leases", 0o1777, True, ""),
        ("not/there", 0, False, "GRADER_LEASES"),
        ("/proc/nix", 0, False, "GRADER_LEASES"),
        ("/proc", 0, False, "GRADER_LEASES"),
        ("new", 0, True, ""),
    ],
)
def test_a_folder_in_which_no_lease_can_be_taken_is_told_before_one_is(tmp_path, place, mode, works, advice):
    folder = tmp_path / place
    if place == "file":
        folder.touch()
    elif mode:
        folder.mkdir()
    if mode:
        folder.chmod(mode)
    (line,) = leased(Leases(folder))
    assert (line.works, advice.format(folder) in line.advice, bool(line.advice)) == (
        works,
        True,
        bool(advice),
    )
    assert place != "new" or not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("least", "reached", "works"),
    [
        ("", "landlock", None),
        ("bubblewrap", "namespaces", False),
        ("bubblewrap", "bubblewrap", True),
        ("landlock", "namespaces", True),
        ("bubblwrap", "bubblewrap", False),
    ],
)
def test_a_course_that_demands_more_than_there_is_is_told_so(tmp_path, monkeypatch, least, reached, works):
    (tmp_path / "course.yaml").write_text(f"title: A course\nmin_isolation: '{least}'\n")
    monkeypatch.chdir(tmp_path)
    lines = [*_demanded(click.Context(command), reached)]
    assert [line.works for line in lines] == ([] if works is None else [works])
    if works is False:
        assert least in lines[0].says


@pytest.mark.slow
def test_a_probe_imposes_and_lifts_a_quarantine_and_leaves_a_leased_gpu_alone(tmp_path):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    source = Path(__file__).parent.parent / "cuda" / "fake_driver.c"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", tmp_path / "libcuda.so.1", source], check=True)
    (tmp_path / "pynvml.py").write_text(dedent(PYNVML))
    leases = Leases(tmp_path / "leases")
    machine = {"PYTHONPATH": str(tmp_path), "LD_LIBRARY_PATH": str(tmp_path), "CUDA_VISIBLE_DEVICES": "0"}

    report = doctor(tmp_path, "--probe", FAIL="cuLaunchKernel", **machine)
    assert report["said"]["GPU 0 lease"].startswith("in quarantine: cuLaunchKernel failed")
    assert report["gpus"][0]["gpu"]["uuid"] == UUID
    assert leases.quarantined(f"gpu-{UUID}").startswith("cuLaunchKernel failed")

    with leases.take([f"gpu-{UUID}"], 1, 0, "a run", quarantined=True):
        doctor(tmp_path, "--probe", **machine)
        assert leases.quarantined(f"gpu-{UUID}") != ""

    assert "in quarantine" in doctor(tmp_path, **machine)["said"]["GPU 0 lease"]
    report = doctor(tmp_path, "--probe", **machine)
    assert report["said"]["GPU 0 lease"] == "free, and a program ran on it as it must"
    assert leases.quarantined(f"gpu-{UUID}") == ""
