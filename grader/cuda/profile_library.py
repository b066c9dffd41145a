"""The library that records a program's work through CUPTI: compiled once, from CUPTI's own headers."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import site
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from grader.errors import NotObservedError
from grader.extras import install_command

SOURCE = Path(__file__).with_name("profile_library.cc")
HEADER, DRIVER_HEADER = "cupti.h", "cuda.h"
HEADERS = Path(__file__).with_name("headers")
"""Of ours, behind all others: what a package brings of which nothing else is needed."""
PACKAGES = ("nvidia-cuda-cupti", "nvidia-cuda-runtime")
"""The packages that bring headers and library where no CUDA toolkit is installed."""
COMPILE_S = 120
RECORDS = {
    "KERNEL": "CUpti_ActivityKernel",
    "MEMCPY": "CUpti_ActivityMemcpy",
    "PEER": "CUpti_ActivityMemcpyPtoP",
    "MEMSET": "CUpti_ActivityMemset",
}
"""Records of which every CUPTI has several versions and writes the newest."""


def built_library() -> Path:
    """Return the library, compiled on first use and kept in the user's cache.

    Raises:
        NotObservedError: a compiler, a header or CUPTI is missing here; the line says which.
    """
    compiler = shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        raise NotObservedError("a profile of a program needs a C++ compiler; apt install g++")
    include, driver, library = headers()
    line = [
        compiler,
        *flags(include, driver),
        str(SOURCE),
        str(library),
        f"-Wl,-rpath,{library.parent}",
        "-ldl",
    ]
    name = hashlib.sha256("\0".join([*line, SOURCE.read_text(encoding="utf-8")]).encode()).hexdigest()[:20]
    target = cache() / f"profile-{name}.so"
    if not target.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_suffix(f".{os.getpid()}")
        run = subprocess.run(
            [*line, "-o", str(partial)], capture_output=True, text=True, check=False, timeout=COMPILE_S
        )
        if run.returncode:
            first = next((one for one in run.stderr.splitlines() if "error" in one), run.stderr[:200])
            raise NotObservedError(f"the library for profiles cannot be compiled: {first}; see its compiler")
        partial.rename(target)
    return target


def headers() -> tuple[Path, Path, Path]:
    """Return the folders of CUPTI's and of the driver's headers, and CUPTI's library.

    Raises:
        NotObservedError: one of them is missing here; the line says which.
    """
    include = next((folder for folder in _includes() if (folder / HEADER).is_file()), None)
    library = None if include is None else _cupti_beside(include)
    if include is None or library is None:
        raise NotObservedError(f"a profile of a program needs CUPTI; {install_command(PACKAGES[0])}")
    driver = next((folder for folder in (include, *_includes()) if (folder / DRIVER_HEADER).is_file()), None)
    if driver is None:
        advice = install_command(PACKAGES[1])
        raise NotObservedError(f"a profile of a program needs CUDA's headers ({DRIVER_HEADER}); {advice}")
    return include, driver, library


def flags(include: Path, driver: Path) -> list[str]:
    """Return the flags of the compiler, with the names of CUPTI's newest records."""
    records = _records(include / "cupti_activity.h")
    defined = (f"-D{name}={record}" for name, record in records.items())
    folders = [f"-I{include}", f"-I{driver}", "-idirafter", str(HEADERS)]
    # defs: a symbol that is looked for when the library is loaded has to be in what it is linked with
    return ["-std=c++17", "-O1", "-shared", "-fPIC", "-pthread", "-Wl,-z,defs", *folders, *defined]


def _records(header: Path) -> dict[str, str]:
    """Return the newest version of each record in a header, by the name that our source gives it."""
    text = header.read_text(encoding="utf-8", errors="replace")
    newest = {}
    for name, record in RECORDS.items():
        versions = [int(number or 0) for number in re.findall(rf"}} {record}(\d*);", text)]
        if not versions:
            raise NotObservedError(f"{header}: has no {record}; {install_command(PACKAGES[0])}")
        newest[name] = f"{record}{max(versions) or ''}"
    return newest


def cache() -> Path:
    """Return the folder of what is compiled once."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "grader" / "profile"


def _includes() -> Iterator[Path]:
    """Yield folders of headers: of packages of this environment, then of CUDA toolkits."""
    for packages in dict.fromkeys([*sys.path, *site.getsitepackages()]):
        yield from sorted(Path(packages or ".").glob("nvidia/*/include"))
    for home in (os.environ.get("CUDA_HOME", ""), "/usr/local/cuda", "/usr/lib/cuda", "/usr"):
        if home:
            yield from (Path(home, "extras", "CUPTI", "include"), Path(home, "include"))


def _cupti_beside(include: Path) -> Path | None:
    """Return CUPTI's library of the same installation as its headers."""
    root = include.parent
    folders = (root / "lib", root / "lib64", root.parent.parent / "lib64", root / "lib" / "x86_64-linux-gnu")
    libraries = (file for folder in folders for file in sorted(folder.glob("libcupti.so*")))
    return next(libraries, None)
