"""The count of the kernel's out-of-memory kills."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

_VMSTAT = Path("/proc/vmstat")


def oom_kills(vmstat: Path = _VMSTAT) -> int:
    """Return the number of out-of-memory kills since the machine started; 0 before Linux 4.13."""
    with suppress(OSError):
        for line in vmstat.read_text().splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return 0
