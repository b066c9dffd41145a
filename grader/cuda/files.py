"""What of the file system a program must see to reach its GPUs: device files, and the driver's libraries."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from grader.cuda.gpus import Gpu

SHARED_NODES = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools")
"""What every program with a GPU opens, beside the GPU's own. The last two may be missing until the first CUDA
program after the driver's start has run: a health probe sees to that."""

DRIVER = "libcuda.so.1"

_CACHE = Path("/etc/ld.so.cache")
_SYSTEM = ("/usr/", "/lib/", "/lib64/")


def nodes(gpus: Iterable[Gpu]) -> tuple[str, ...]:
    """All device files for a program that has these GPUs; empty for none, and without what is not there."""
    own = [gpu.node for gpu in gpus]
    return tuple(node for node in (*own, *SHARED_NODES) if own and Path(node).exists())


def driver_folders(search: str | None = None, cache: Path = _CACHE) -> tuple[str, ...]:
    """Folders of the driver's libraries that a sandbox must show, and name in LD_LIBRARY_PATH.

    Empty if the dynamic linker finds `libcuda.so.1` among the system's libraries by itself, or nowhere.

    Args:
        search: folders separated by colons; our own LD_LIBRARY_PATH if it is not given.
        cache: what ldconfig wrote.
    """
    search = os.environ.get("LD_LIBRARY_PATH", "") if search is None else search
    named = [folder for folder in search.split(":") if folder.startswith("/")]
    known = _cached(cache)
    if any(folder.startswith(_SYSTEM) for folder in known):
        return ()
    holding = (folder.rstrip("/") for folder in (*named, *known) if (Path(folder) / DRIVER).is_file())
    return tuple(dict.fromkeys(holding))


def _cached(cache: Path) -> list[str]:
    """Where the linker's cache knows the driver: it keeps whole paths, ended by a zero byte."""
    try:
        content = cache.read_bytes()
    except OSError:
        return []
    paths = re.findall(rb"(/[^\0]*)/" + re.escape(DRIVER.encode()) + rb"\0", content)
    return [os.fsdecode(path) + "/" for path in paths]
