"""Runs the script for the GPU, for the course's own profile; nothing of a submission is in this process."""

import runpy
import sys
from pathlib import Path

import torch

SCRIPT = Path(__file__).with_name("m1.2.py")


def run():
    """Run it to its end; return the names of what it ran on."""
    arguments, sys.argv = sys.argv, [str(SCRIPT)]
    try:
        runpy.run_path(str(SCRIPT), run_name="__main__")
    finally:
        sys.argv = arguments
    return {"gpu": torch.cuda.get_device_name(0), "torch": str(torch.__version__)}
