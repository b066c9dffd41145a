"""Facts about the machine of a run that explain a number, months later."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grader import __version__
from grader.model.magnitude import size


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
        "memory": size(memory_kib * 1024) if (memory_kib := _memory_kib()) else "",
        "load_1min": round(os.getloadavg()[0], 2),
    }
    return {name: value for name, value in facts.items() if value != ""}


def _memory_kib() -> int:
    """Return how many KiB of memory the machine has; 0 if it does not say."""
    words = _field("/proc/meminfo", "MemTotal").split()
    return int(words[0]) if words and words[0].isdecimal() else 0


def _field(file: str, name: str) -> str:
    try:
        lines = Path(file).read_text().splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), "")
