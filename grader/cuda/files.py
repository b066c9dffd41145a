"""Files that a program needs to use its GPUs: device files, and the driver's libraries."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from grader.cuda.gpus import Gpu

SHARED_NODES = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools")
"""Device files that every CUDA program opens, beside the GPU's own. The last two may be missing until the
first CUDA program after the driver's start; a health probe creates them."""

DRIVER = "libcuda.so.1"

_CACHE = Path("/etc/ld.so.cache")
_SYSTEM = ("/usr/", "/lib/", "/lib64/")


def nodes(gpus: Iterable[Gpu]) -> tuple[str, ...]:
    """Return the existing device files for a program with these GPUs; empty without GPUs."""
    of_gpus = [gpu.node for gpu in gpus]
    return tuple(node for node in (*of_gpus, *SHARED_NODES) if of_gpus and Path(node).exists())


def driver_folders(search: str | None = None, cache: Path = _CACHE) -> tuple[str, ...]:
    """Return the folders of the driver's libraries, which a sandbox must mount and add to LD_LIBRARY_PATH.

    Empty if the dynamic linker finds `libcuda.so.1` among the system's libraries by itself, or nowhere.

    Args:
        search: folders separated by colons; our own LD_LIBRARY_PATH if it is not given.
        cache: what ldconfig wrote.
    """
    search = os.environ.get("LD_LIBRARY_PATH", "") if search is None else search
    named = [folder for folder in search.split(":") if folder.startswith("/")]
    cached = _cached(cache)
    if any(folder.startswith(_SYSTEM) for folder in cached):
        return ()
    holding = (folder.rstrip("/") for folder in (*named, *cached) if (Path(folder) / DRIVER).is_file())
    return tuple(dict.fromkeys(holding))


def _cached(cache: Path) -> list[str]:
    """Return the driver's folders in ld.so.cache, which stores whole paths ended by a zero byte."""
    try:
        content = cache.read_bytes()
    except OSError:
        return []
    paths = re.findall(rb"(/[^\0]*)/" + re.escape(DRIVER.encode()) + rb"\0", content)
    return [os.fsdecode(path) + "/" for path in paths]
