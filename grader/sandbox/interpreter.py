"""Paths of the running interpreter and its packages, which a sandbox mounts."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    """The Python that a subject server runs on: ours, without the virtual environment around it."""

    executable: str
    prefix: str
    """The installation's folder; read-only in a sandbox."""
    site: tuple[str, ...]
    """Folders of installed packages, in the order of `sys.path`."""


@cache
def interpreter() -> Interpreter:
    """Return the interpreter of this process."""
    return Interpreter(
        # of a virtual environment made with --copies, too: its own program is not below the prefix
        executable=os.path.realpath(getattr(sys, "_base_executable", sys.executable)),
        prefix=os.path.realpath(sys.base_prefix),
        # an editable install puts a clone on the path: only folders of packages may be shown
        site=tuple(p for p in sys.path if Path(p).name in {"site-packages", "dist-packages"}),
    )
