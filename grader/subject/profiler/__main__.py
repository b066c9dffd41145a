"""`python -m grader.subject.profiler OUT SCRIPT [ARGS]`: runs a script, and writes the sums to OUT as JSON.

If recording cannot begin the script is not run, and OUT says why.
"""

from __future__ import annotations

import ctypes
import json
import os
import runpy
import sys
import time
from typing import Any

from ..cuda_driver import SUCCESS, library
from .totals import ActivityTotals

NAME_BYTES = 256


def main(out: str, script: str, arguments: list[str]) -> int:
    """Run and record; return the script's own exit status."""
    try:
        totals = ActivityTotals()
        totals.start()
    except ImportError:
        write(out, {"missing": "cupti-python"})
        return 0
    except RuntimeError as error:  # cupti-python's errors, of which the driver is one
        write(out, {"missing": "", "problem": str(error)})
        return 0
    process = os.getpid()
    sys.argv = [script, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))  # with -P nothing stands there
    begin, ended = time.perf_counter(), 0.0
    status: object = 0
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as error:
        status = error.code
    finally:
        ended = time.perf_counter()
        if os.getpid() == process:  # a forked process that ran to its end here has no records of its own
            write(out, totals.finish() | {"wall_s": ended - begin, **machine()})
    if status is None or isinstance(status, int):
        return int(status or 0)
    sys.stderr.write(f"{status}\n")
    return 1


def machine() -> dict[str, Any]:
    """Return the names of the devices that the program used, and the versions of what it imported."""
    versions = {
        name: str(getattr(sys.modules[name], "__version__", ""))
        for name in ("torch", "numba", "cupy")
        if name in sys.modules
    }
    return {"devices": device_names(), "versions": versions, "python": sys.version.split()[0]}


def device_names() -> dict[str, str]:
    """Return the name of each device by its number; none where the program has not started the driver."""
    names: dict[str, str] = {}
    count, device = ctypes.c_int(), ctypes.c_int()
    if library() is None or library().cuDeviceGetCount(ctypes.byref(count)) != SUCCESS:
        return names
    for number in range(count.value):
        name = ctypes.create_string_buffer(NAME_BYTES)
        if library().cuDeviceGet(ctypes.byref(device), number) == SUCCESS:
            library().cuDeviceGetName(name, NAME_BYTES, device)
            names[str(number)] = name.value.decode(errors="replace")
    return names


def write(out: str, profile: dict[str, Any]) -> None:
    """Write a profile as JSON."""
    with open(out, "w", encoding="utf-8") as file:
        json.dump(profile, file)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
