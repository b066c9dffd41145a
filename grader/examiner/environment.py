"""What the machine is that an exam runs on: facts that explain a number, months later."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grader import __version__

DEVICE_FILES = {"gpu": "nvidia[0-9]*"}
"""What the driver makes in `/dev` for each device of a kind."""

LENT: frozenset[str] = frozenset()
"""Devices that sandboxes show to hand-ins: nobody loses points because a program cannot see its device."""


def environment() -> Mapping[str, Any]:
    """Processor, cores, memory, load, kernel, interpreter, grader: plain JSON; unknown facts are left out."""
    uname = os.uname()
    facts = {
        "grader": __version__,
        "python": f"{platform.python_implementation()} {sys.version.split()[0]}",
        "kernel": f"{uname.sysname} {uname.release}",
        "machine": uname.machine,
        "processor": _field("/proc/cpuinfo", "model name"),
        "cores": len(os.sched_getaffinity(0)),
        "memory": _field("/proc/meminfo", "MemTotal"),
        "load_1min": round(os.getloadavg()[0], 2),
    }
    return {name: value for name, value in facts.items() if value != ""}


def missing_devices(needed: Mapping[str, int]) -> str:
    """Which devices a hand-in cannot have here, in one line; empty if it can have all of them."""
    return ", ".join(filter(None, (_missing(name, count) for name, count in needed.items())))


def _missing(name: str, count: int) -> str:
    needs = f"needs {count} {name.upper()}{'' if count == 1 else 's'}"
    found = len(list(Path("/dev").glob(DEVICE_FILES[name])))
    if found < count:
        return f"{needs}; this machine has {found or 'none'}"
    if name not in LENT:
        return f"{needs}; no sandbox lends one to a hand-in yet"
    return ""


def _field(file: str, name: str) -> str:
    try:
        lines = Path(file).read_text().splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), "")
