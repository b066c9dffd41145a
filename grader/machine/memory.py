"""The memory of this process, and the count of the kernel's out-of-memory kills."""

from __future__ import annotations

import ctypes
from contextlib import suppress
from pathlib import Path

_VMSTAT = Path("/proc/vmstat")
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_REUSED_BYTES = 32 * 2**20
"""The most that glibc takes for the second of these."""


def reuse_freed_memory() -> None:
    """Have malloc keep what is freed, up to 32 MiB, and take arrays of up to that size from it (mallopt).

    glibc otherwise returns an array of 128 KiB to the kernel, which zeroes each page for the next one: half
    of the time of a Fourier transform.
    """
    with suppress(AttributeError):  # another C library
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_M_TRIM_THRESHOLD, _REUSED_BYTES)
        mallopt(_M_MMAP_THRESHOLD, _REUSED_BYTES)


def oom_kills(vmstat: Path = _VMSTAT) -> int:
    """Return the number of out-of-memory kills since the machine started; 0 before Linux 4.13."""
    with suppress(OSError):
        for line in vmstat.read_text().splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return 0
