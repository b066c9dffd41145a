"""Packages that only some features need: the extra that brings each, and the command that installs it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

DISTRIBUTION = "gpu-grader"
"""The project's name on package indexes, where `grader` is another one."""
EXTRAS: Mapping[str, str] = {
    "sqlalchemy": "gradebook",
    "psycopg": "postgresql",
    "numba": "numba",
    "greenlet": "numba",
    "torch": "torch",
    "numba-cuda": "gpu",
    "cupti-python": "gpu",
    "nvidia-ml-py": "gpu",
    "pytest": "pytest",
    "ray": "ray",
    "starlette": "review",
    "uvicorn": "review",
    "python-docx": "documents",
    "nbformat": "documents",
    "pillow": "documents",
}
"""The extra that brings a package, by the package's name on the index."""
MODULES: Mapping[str, str] = {
    "PIL": "pillow",
    "cupti": "cupti-python",
    "docx": "python-docx",
    "numba_cuda": "numba-cuda",
    "pynvml": "nvidia-ml-py",
}
"""The package of each module that has another name than its package."""
LIBRARIES = frozenset({"cupy", "jax", "numba", "numpy", "torch", "triton"})
"""Packages that another machine may have, whatever is installed here."""
_PIP = "pip"
ANY_PIP = (_PIP, "install")
"""The pip in evidence, which other machines and students read: no path of this machine may stand there."""


def installer() -> tuple[str, ...]:
    """Return the command that installs into this environment; a `pip` on the PATH may belong to another one.

    Environments of `pipx` and of `uv tool` have no pip of their own.
    """
    if Path(sys.prefix, "pipx_metadata.json").is_file():
        return ("pipx", "runpip", Path(sys.prefix).name, "install")
    if find_spec(_PIP) is None:
        return ("uv", _PIP, "install", "--python", sys.executable)
    return (sys.executable, "-m", _PIP, "install")


def install_command(*packages: str, pip: Sequence[str] = ()) -> str:
    """Return the command that installs packages, quoted for any shell; by their extras if they have some."""
    extras = sorted({EXTRAS[package] for package in packages if package in EXTRAS})
    named = [f"{DISTRIBUTION}[{','.join(extras)}]"] if extras else []
    named += [package for package in packages if package not in EXTRAS]
    return shlex.join([*(pip or installer()), *named])
