"""NVIDIA's management library (NVML), or one line on why it cannot be loaded.

It is loaded when it is first asked, once per process. NVML does not survive a fork: a process that has asked
may start programs, but must not go on in a forked child.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from grader.extras import ANY_PIP, install_command

_DRIVER = (Path("/proc/driver/nvidia/version"), Path("/dev/nvidiactl"))
"""Either shows that a driver is loaded; containers may have only the second."""

_ADVICE = {
    "NVMLError_LibraryNotFound": "libnvidia-ml.so.1 is not found; install the driver's libraries, "
    "or add their folder to LD_LIBRARY_PATH",
    "NVMLError_DriverNotLoaded": "the NVIDIA driver is not loaded; nvidia-smi as root loads it",
    "NVMLError_LibRmVersionMismatch": "the driver was updated while an older one runs; restart the machine",
    "NVMLError_NoPermission": "this user may not open the device files /dev/nvidia*",
}


class Nvml:
    """The initialised library, each of whose functions may be missing or fail."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def ask(self, function: str, *arguments: Any) -> Any:
        """Call a function of the library; None if it is missing or fails for this device."""
        try:
            return getattr(self._module, function)(*arguments)
        except (AttributeError, self._module.NVMLError):
            return None

    def first(self, functions: Iterable[str], *arguments: Any) -> Any:
        """Return the answer of the first function that has one: older drivers lack newer functions."""
        answers = (self.ask(function, *arguments) for function in functions)
        return next((answer for answer in answers if answer is not None), None)

    def constant(self, name: str) -> Any:
        """Return a constant of the library's header; None if this version lacks it."""
        return getattr(self._module, name, None)


@cache
def load() -> tuple[Nvml | None, str]:
    """Load the library; without it return None and one line with the cause and advice."""
    try:
        module = importlib.import_module("pynvml")
    except ImportError:
        if not driver_loaded():
            return None, "no NVIDIA driver is loaded"
        return None, f"nvidia-ml-py is not installed: {install_command('nvidia-ml-py', pip=ANY_PIP)}"
    try:
        module.nvmlInit()
    except module.NVMLError as error:
        if not driver_loaded():
            return None, "no NVIDIA driver is loaded"
        return None, _ADVICE.get(type(error).__name__, f"NVML: {error}")
    return Nvml(module), ""


def driver_loaded(signs: Iterable[Path] = _DRIVER) -> bool:
    """Tell whether an NVIDIA driver runs on this machine."""
    return any(sign.exists() for sign in signs)
