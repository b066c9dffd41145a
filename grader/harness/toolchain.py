"""The programs of this machine that build a submission, and what has to be shown so that they work inside."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from grader.errors import NotObservedError
from grader.harness.server import PATH
from grader.installed import misspelt_programs

TOOLKIT = "/toolkit"
"""Where a toolkit that lies outside of the system's folders is shown."""
CUDA = ("/usr/local/cuda", "/opt/cuda")
"""Where toolkits are when nobody says."""
_ADVICE = {
    "nvcc": "install the CUDA toolkit, or set CUDA_HOME to its folder",
    "compute-sanitizer": "install the CUDA toolkit, or set CUDA_HOME to its folder",
    "g++": "install a C++ compiler (Debian, Ubuntu: apt install g++)",
}
_ANSWER_WITHIN_S = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolchain:
    """Where the programs are."""

    path: str = PATH
    """Where a program inside looks for programs."""
    mounts: tuple[tuple[str, str], ...] = ()
    """What has to be shown for it, also to programs that use what was built: the path inside and outside."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """What each program says of itself, by its name."""

    @property
    def environment(self) -> tuple[tuple[str, str], ...]:
        """The variables that a program inside needs to find them."""
        return (("PATH", self.path),) if self.path != PATH else ()

    def behind(self, folder: str, shown_at: str) -> Toolchain:
        """The same with the programs of a folder before all others."""
        mounts = (*self.mounts, (shown_at, folder))
        return Toolchain(path=f"{shown_at}:{self.path}", mounts=mounts, versions=self.versions)


@cache
def toolchain(programs: tuple[str, ...]) -> Toolchain:
    """Where these programs are; a child sees the system's folders, and one toolkit beside them.

    Raises:
        NotObservedError: one is missing.
    """
    usual = {name: shutil.which(name, path=PATH) for name in programs}
    further = {name for name, path in usual.items() if path is None}
    roots = [root for root in _toolkits() if all((root / "bin" / name).is_file() for name in further)]
    if further and not roots:
        missing = sorted(further)
        if misspelt := next(misspelt_programs(missing), ""):
            raise NotObservedError(misspelt)
        advice = _ADVICE.get(missing[0], "install it")
        what = f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} not on this machine"
        raise NotObservedError(f"{what}; {advice}")
    paths = {name: path or str(roots[0] / "bin" / name) for name, path in usual.items()}
    versions = {name: _version(path) for name, path in paths.items()}
    if not further:
        return Toolchain(versions=versions)
    root = roots[0].resolve()
    if root.is_relative_to("/usr"):
        return Toolchain(path=f"{root}/bin:{PATH}", versions=versions)
    return Toolchain(path=f"{TOOLKIT}/bin:{PATH}", mounts=((TOOLKIT, str(root)),), versions=versions)


def _toolkits() -> Iterator[Path]:
    """The folders that may hold `bin/nvcc`: what somebody named comes first."""
    named = (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"))
    on_path = shutil.which("nvcc")
    for folder in (*named, on_path and Path(on_path).resolve().parent.parent, *CUDA):
        if folder:
            yield Path(folder)


def _version(program: str) -> str:
    """Return what a program prints for `--version`; empty for nothing."""
    try:
        process = subprocess.run(
            [program, "--version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_ANSWER_WITHIN_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return process.stdout.strip()


def shortened(versions: Mapping[str, str]) -> dict[str, str]:
    """Each in one line: the one that names a release, or the first."""
    return {name: next(_telling(text.splitlines()), "") for name, text in versions.items()}


def _telling(lines: Iterable[str]) -> Iterator[str]:
    every = list(lines)
    yield from (line for line in every if "release" in line)
    yield from every
