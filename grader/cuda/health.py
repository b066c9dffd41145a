"""Probes a GPU from a fresh process, so that a GPU that one program broke is not leased to another."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress

from grader.cuda.gpus import VISIBLE, Gpu
from grader.machine import orphans
from grader.model.exit_status import ending

_DIES_WITHIN_S = 5.0
"""Seconds to wait for a killed process; one that is stuck in the driver may never end."""


def probe(gpu: Gpu, within_s: float = 20.0) -> str:
    """Allocate, compute and copy on a GPU; return an empty text, or one sentence on the failure.

    A context that is opened and closed in order also clears what a killed program may leave behind (a
    utilisation that stays at 100 %).
    """
    # in a session of its own, so that all of it can be killed
    process = orphans.start(
        [sys.executable, "-P", "-m", "grader.cuda.probe"],
        env=os.environ | {VISIBLE: gpu.uuid},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, complaints = process.communicate(timeout=within_s)
    except subprocess.TimeoutExpired:
        return _killed(process, f"the probe of {gpu.uuid} did not end within {within_s:g} s")
    with suppress(ValueError, KeyError, TypeError):
        return str(json.loads(output)["problem"])
    last = (complaints.strip().splitlines() or ["it said nothing"])[-1]
    return f"the probe of {gpu.uuid} {ending(process.returncode)}: {last}"


def _killed(process: subprocess.Popen[str], hung: str) -> str:
    """Kill the process once: repeated signals do not end one that is stuck in the driver."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    try:
        _, steps = process.communicate(timeout=_DIES_WITHIN_S)
    except subprocess.TimeoutExpired:
        return f"{hung}, and process {process.pid} cannot be killed: the driver is stuck, restart the machine"
    last = steps.strip().splitlines()
    return f"{hung}: it hung in {last[-1]}" if last else hung
