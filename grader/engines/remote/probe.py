"""A probe: what another machine is like, looked at by a task there, and what that means for grading.

`machine_facts` runs there; `findings` judges them on the host.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader import __version__
from grader.contracts.engine import EngineFinding
from grader.cuda.gpus import VISIBLE, gpus
from grader.engines.remote.batch import Batch
from grader.engines.remote.node import SETUP_STATUS
from grader.engines.remote.stored import LEAST_ISOLATION
from grader.machine.cores import Cores
from grader.machine.lease import Leases
from grader.model.magnitude import counted

DOCTOR_S = 300.0
"""Seconds that `grader doctor` may take there."""
_NOT_STARTED = (126, 127)
"""A shell's status for a command that it cannot start, or does not find."""
LATE_S = 5.0
"""Where a new line shows later than this, every order waits for it."""
CLOCK_S = 60.0
"""A clock that differs by more is worth a word."""
_GIB = 2**30


@dataclass(frozen=True, slots=True)
class Arrival:
    """The way of a line from another machine."""

    carrier: str
    """What brought it, such as a shared folder."""
    late_s: float
    """How many seconds after it was written it could be read here."""
    clock_ahead_s: float
    """How many seconds the clock of that machine is ahead of ours."""
    printed: str
    """The last line of its error output: of `setup`, for the probe prints none."""


def machine_facts() -> dict[str, Any]:
    """Return what a task has on this machine: plain JSON."""
    cores = Cores()
    threads = sum(1 for core in cores.allowed if set(cores.siblings(core)) & set(cores.allowed))
    temporary = tempfile.gettempdir()
    leases = Leases()
    return {
        "python": platform.python_version(),
        "executable": sys.executable,
        "grader": __version__,
        "cores": len(cores.allowed),
        "threads": threads,
        "gpus": [gpu.name for gpu in gpus() if not gpu.mig],
        "divided": sum(gpu.mig for gpu in gpus()),
        "visible": os.environ.get(VISIBLE),
        "leases": str(leases.folder),
        "leases_writable": not leases.objection()[0],
        "temporary": temporary,
        "temporary_free": shutil.disk_usage(temporary).free,
        "doctor": _doctor(),
        "setup_status": int(os.environ.get(SETUP_STATUS) or 0),
    }


def _doctor() -> dict[str, Any]:
    """Run `grader doctor` here, which tries every sandbox."""
    command = [sys.executable, "-P", "-m", "grader", "doctor", "--json"]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=DOCTOR_S, check=False
        )
        report: dict[str, Any] = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        return {"isolation": "", "findings": [], "error": str(error)}
    return report


def findings(
    facts: Mapping[str, Any], batch: Batch, *, machine: str, arrival: Arrival, limit_s: float, least: str
) -> Iterator[EngineFinding]:
    """Judge the facts of a machine for a batch.

    Args:
        facts: of `machine_facts`.
        batch: the batch of the probe, which says what its tasks are given.
        machine: what tasks and which machine, for a heading.
        arrival: how its lines came here.
        limit_s: how long a task may take, in seconds.
        least: the weakest sandbox that the course demands; empty for none.
    """

    def finding(name: str, works: bool, message: str, advice: str = "") -> EngineFinding:
        return EngineFinding(machine=machine, name=name, works=works, message=message, advice=advice)

    yield _sandbox(facts["doctor"], least or LEAST_ISOLATION, machine)
    same = facts["grader"] == batch.grader
    yield finding(
        "grader",
        same,
        f"version {facts['grader']}" + ("" if same else f", and {batch.grader} here"),
        "" if same else "install the same version on both: it is part of every digest",
    )
    same = facts["python"].split(".")[:2] == batch.python.split(".")[:2]
    yield finding(
        "Python",
        same,
        f"{facts['python']} at {facts['executable']}" + ("" if same else f", and {batch.python} here"),
        "" if same else "use the same Python on both; `setup` and `command` of the engine choose it",
    )
    granted, usable = batch.wants.gpus, facts["gpus"]
    if granted:
        names = ", ".join(sorted(set(usable))) or "none"
        divided = f", {facts['divided']} divided (MIG)" if facts["divided"] else ""
        yield finding(
            "GPUs",
            len(usable) == granted,
            f"{granted} granted, {len(usable)} can be used ({names}{divided}); {VISIBLE}={facts['visible']}",
            ""
            if len(usable) == granted
            else "see the driver there, and which devices the scheduler lets a task use",
        )
    enough = facts["cores"] >= batch.cores
    shared = f", {facts['threads']} of them share a core with another" if facts["threads"] else ""
    more = facts["cores"] > batch.cores
    confined = "; nothing keeps it to these, and timed items lease theirs" if more else ""
    yield finding(
        "cores",
        enough,
        f"{batch.cores} granted, {facts['cores']} can be used{shared}{confined}",
        "" if enough else "lower `cpus`, or see to which cores the scheduler binds a task",
    )
    yield finding(
        "leases",
        facts["leases_writable"],
        facts["leases"],
        "" if facts["leases_writable"] else "set GRADER_LEASES in `setup` to a folder on that machine",
    )
    yield finding(
        "temporary folder",
        facts["temporary_free"] > _GIB,
        f"{facts['temporary']}, {facts['temporary_free'] / _GIB:.1f} GiB free",
        "" if facts["temporary_free"] > _GIB else "set TMPDIR in `setup` to a folder with room",
    )
    in_time = arrival.late_s < LATE_S
    yield finding(
        arrival.carrier,
        in_time,
        f"a new line of that machine is seen here after {arrival.late_s:.1f} s",
        "" if in_time else f"every order waits for that; see why the {arrival.carrier} is slow",
    )
    ahead_s = arrival.clock_ahead_s
    wrong = abs(ahead_s) > CLOCK_S
    yield finding(
        "clock",
        True,  # times are corrected
        f"{abs(ahead_s):.0f} s {'ahead of' if ahead_s > 0 else 'behind'} this machine's"
        if wrong
        else "as this machine's",
        "there: timedatectl set-ntp true; a scheduler may refuse machines whose clocks differ"
        if wrong
        else "",
    )
    status = facts.get("setup_status", 0)
    failed = f"its last command ended with {status}" if status else ""
    if setup := "; ".join(filter(None, (failed, arrival.printed and f"printed: {arrival.printed}"))):
        certain = status in _NOT_STARTED
        advice = "correct `setup` in engines of course.yaml or of the site's file" if status else ""
        unsure = f"if that is a failure, {advice}" if advice else ""
        yield finding("setup", not certain, setup, advice if certain else unsure)
    yield finding("time limit", True, f"{counted(limit_s / 60, 'minute')} for a task")


def _sandbox(doctor: Mapping[str, Any], least: str, machine: str) -> EngineFinding:
    """Judge the sandboxes of a machine, with the cause and the cure that its own doctor names."""
    layers = [line for line in doctor["findings"] if line["about"] == "sandbox"]
    names = [line["name"] for line in layers]
    reached = doctor["isolation"]
    if reached in names and (least not in names or names.index(reached) <= names.index(least)):
        return EngineFinding(machine=machine, name="sandbox", works=True, message=reached)
    why, advice = doctor.get("error", ""), f"run {Path(sys.executable).name} -m grader doctor there"
    forbidden = [
        line for line in doctor["findings"] if line["name"] == "user namespaces" and not line["works"]
    ]
    missing = [line for line in layers if not line["works"]]
    if forbidden:
        why = f"user namespaces are {forbidden[0]['says']}"
        advice = f"there: {forbidden[0]['advice']}; or keep tasks off machines like it"
    elif missing and not why:
        why = "; ".join(f"{line['name']}: {line['says']}" for line in missing[:2])
        advice = next((f"there: {line['advice']}" for line in missing if line["advice"]), advice)
    message = f"{reached or 'none'}, and {least} or stronger is demanded ({why})"
    return EngineFinding(machine=machine, name="sandbox", works=False, message=message, advice=advice)
