"""Runs a program of one's own and profiles it by CUPTI, without a sandbox: what nvprof did."""

from __future__ import annotations

import ctypes
import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from grader.cuda.profile_library import built_library
from grader.errors import NotObservedError, UsageError
from grader.extras import install_command
from grader.model.profile import Profile, added
from grader.subject.cuda_driver import library as driver

NO_DRIVER = "no NVIDIA driver is found (libcuda.so.1); profile on a machine with a GPU"
OUT = "GRADER_PROFILE_OUT"
"""The variable that tells the library in a program where to write; the process's number is put behind."""
INJECTION = "CUDA_INJECTION64_PATH"
"""The variable by which the driver loads a library into every process that uses it."""
PYTHON = ".py"


def profile(command: Sequence[str], *, stdout: int | None = None) -> tuple[Profile, int]:
    """Run a Python script, or any other program, and return its profile and its exit status.

    A script is recorded in its own process by cupti-python. Into other programs, and what these start, the
    driver loads a library that is compiled here once. `stdout` is the descriptor in place of ours.

    Raises:
        UsageError: there is no such program.
        NotObservedError: the driver or a package is missing, or nothing was recorded.
    """
    with TemporaryDirectory(prefix="grader-profile-") as folder:
        out = Path(folder) / "profile.json"
        if command[0].endswith(PYTHON):
            return _script(command, out, stdout)
        return _program(command, out, stdout)


def _script(command: Sequence[str], out: Path, stdout: int | None) -> tuple[Profile, int]:
    script = command[0]
    if not Path(script).is_file():
        raise UsageError(f"{script}: there is no such file; name a Python script")
    # -P: a folder of the script's must not stand in the place of our modules
    line = [sys.executable, "-P", "-m", "grader.subject.profiler", str(out), *command]
    status = _run(line, stdout, dict(os.environ))
    if not out.is_file():
        raise NotObservedError(f"{script}: ended without a profile (status {status}); it must end by itself")
    measured = read_profile(json.loads(out.read_text(encoding="utf-8")), command)
    return replace(measured, children=False), status


def _program(command: Sequence[str], out: Path, stdout: int | None) -> tuple[Profile, int]:
    if driver() is None:
        raise NotObservedError(NO_DRIVER)
    library = built_library()
    begin = time.perf_counter()
    status = _run(list(command), stdout, {**os.environ, INJECTION: str(library), OUT: str(out)})
    wall_s = time.perf_counter() - begin
    files = sorted(out.parent.glob(f"{out.name}.*"))
    if not files:
        why = (
            f"{command[0]}: nothing was recorded: it used no GPU, or did not end by itself (status {status})"
        )
        raise NotObservedError(f"{why}; see whether it runs on the GPU")
    profiles = [read_profile(json.loads(file.read_text(encoding="utf-8")), command) for file in files]
    return replace(added(profiles), wall_s=wall_s), status


def _run(line: Sequence[str], stdout: int | None, environment: dict[str, str]) -> int:
    """Run a command to its end; the status of one that a signal ended is that of a shell."""
    try:
        status = subprocess.run(line, stdout=stdout, env=environment, check=False).returncode
    except OSError as error:
        raise UsageError(f"{line[0]}: cannot be started ({error.strerror}); name a program") from None
    return status if status >= 0 else 128 - status


def read_profile(plain: dict[str, Any], command: Sequence[str]) -> Profile:
    """Return a profile from what the recorded process wrote.

    Raises:
        NotObservedError: recording did not begin, because a package or the driver is missing.
    """
    if missing := plain.get("missing"):
        raise NotObservedError(f"a profile needs {missing}; {install_command(missing)}")
    problem = str(plain.get("problem", ""))
    if "missing" in plain:
        driverless = "libcuda" in problem
        raise NotObservedError(
            NO_DRIVER if driverless else f"CUPTI does not start: {problem}; see grader doctor"
        )
    readable = demangler()
    names = {row["name"]: readable(row["name"]) for row in plain["kernels"]}
    kernels = [{**row, "name": names[row["name"]]} for row in plain["kernels"]]
    keys = ("wall_s", "devices", "versions", "copies", "api", "problem")
    fields = {key: plain[key] for key in keys if key in plain}
    return msgspec.convert(
        {"wall_s": 0.0, **fields, "program": shlex.join(command), "kernels": kernels}, Profile, strict=False
    )


def demangler() -> Callable[[str], str]:
    """Return a function that writes a symbol as the source does, by libstdc++'s `__cxa_demangle`."""
    try:
        library = ctypes.CDLL("libstdc++.so.6")
        function = library.__cxa_demangle  # noqa: SLF001 - its name in libstdc++
    except (OSError, AttributeError):
        return str
    function.restype = ctypes.c_void_p
    free = ctypes.CDLL(None).free
    free.argtypes = [ctypes.c_void_p]

    def readable(symbol: str) -> str:
        status = ctypes.c_int()
        pointer = function(symbol.encode(), None, None, ctypes.byref(status))
        if status.value != 0 or not pointer:
            return symbol
        text = (ctypes.cast(pointer, ctypes.c_char_p).value or b"").decode(errors="replace")
        free(pointer)
        return text

    return readable
