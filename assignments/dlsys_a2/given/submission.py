"""The package `dlsys` as it is graded: the course's files with the submission's `autodiff.py` among them."""

import sys
from importlib import import_module
from pathlib import Path

_packages = [folder for folder in (Path(entry).resolve() / "python" for entry in sys.path) if folder.is_dir()]
# In the order in which they were: the course's folder comes first, so its files win.
sys.path[:0] = [str(folder) for folder in (Path(__file__).resolve().parent / "tests", *_packages)]


def module(name):
    """A module of `dlsys`."""
    return import_module(f"dlsys.{name}")
