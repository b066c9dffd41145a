"""Packages that only some features need: the extra that brings each, and the command that installs it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence

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
    "python-docx": "documents",
    "nbformat": "documents",
    "pillow": "documents",
}
"""The extra that brings a package, by the package's name on the index."""
THIS_PIP = (sys.executable, "-m", "pip")
"""The pip of this environment; a `pip` on the PATH may belong to another one."""
ANY_PIP = ("pip",)
"""The pip in evidence, which other machines and students read: no path of this machine may stand there."""


def install_command(package: str, *, pip: Sequence[str] = THIS_PIP) -> str:
    """Return the command that installs a package, quoted for any shell; by its extra if it has one."""
    extra = EXTRAS.get(package)
    return shlex.join([*pip, "install", f"{DISTRIBUTION}[{extra}]" if extra else package])
