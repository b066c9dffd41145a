"""The machine's memory: how often the kernel ended a process because none was left."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

_VMSTAT = Path("/proc/vmstat")


def oom_kills(vmstat: Path = _VMSTAT) -> int:
    """How many processes the out-of-memory killer ended since the machine started; 0 before Linux 4.13."""
    with suppress(OSError):
        for line in vmstat.read_text().splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return 0
