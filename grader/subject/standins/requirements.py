"""Tells what a machine lacks for a stand-in; to import numba or torch for that would take seconds."""

from __future__ import annotations

import os
import re
from importlib.util import find_spec

_BUILT_FOR_GPUS = re.compile(r"^(cuda|hip)\b[^=]*= *['\"]", re.MULTILINE)
"""In torch's version.py, where builds for the CPU have None."""


def why_not_played(gpus: int, present: int, *, torch: bool, built: bool) -> str:
    """Say why no stand-in plays so many GPUs where `present` real ones are; empty if one does.

    The stand-ins for a `built` program, which needs no package, and for numba's kernels play a single one,
    and only where there is none.
    """
    if torch and not built:
        return _why_no_virtual_gpus()
    if gpus > 1 or present:
        return "the simulator plays for a single GPU"
    return "" if built or find_spec("greenlet") else "greenlet is not installed"


def _why_no_virtual_gpus() -> str:
    torch = find_spec("torch")
    if torch is None or torch.origin is None:
        return "torch is not installed"
    with open(os.path.join(os.path.dirname(torch.origin), "version.py"), encoding="utf-8") as file:
        built_for_gpus = _BUILT_FOR_GPUS.search(file.read())
    return "torch is built for GPUs, not for the CPU alone" if built_for_gpus else ""
