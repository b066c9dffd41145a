"""GPUs that are played, for clusters on a machine without one: a module for NVML, a library for CUDA."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

NVML = """
import os

NODE = os.environ.get("GRADER_NODE", "host")
NVML_CLOCK_SM, NVML_CLOCK_MEM, NVML_TEMPERATURE_GPU = 1, 2, 0

class NVMLError(Exception): pass

def nvmlInit(): pass
def nvmlDeviceGetCount(): return {count}
def nvmlDeviceGetHandleByIndex(index): return index
def nvmlDeviceGetUUID(handle): return f"GPU-{{NODE}}-{{handle}}"
def nvmlDeviceGetName(handle): return {names}.get(NODE, {name!r})
def nvmlDeviceGetComputeRunningProcesses(handle): return []
"""


def play_gpus(
    folder: Path, *, name: str = "NVIDIA H999", names: Mapping[str, str] | None = None, count: int = 4
) -> Path:
    """Write them into a folder for PYTHONPATH and LD_LIBRARY_PATH, and return it.

    Args:
        folder: the folder, which is made.
        name: of each GPU.
        names: those of certain nodes.
        count: how many a node has.
    """
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    folder.mkdir()
    (folder / "pynvml.py").write_text(NVML.format(count=count, names=dict(names or {}), name=name))
    driver = Path(__file__).parent / "fake_driver.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", folder / "libcuda.so.1", driver], check=True)
    return folder
