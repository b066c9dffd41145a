"""Facts about the machine of a run that explain a number, months later."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grader import __version__


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


def _field(file: str, name: str) -> str:
    try:
        lines = Path(file).read_text().splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), "")
