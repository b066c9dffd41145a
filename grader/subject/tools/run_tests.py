"""Collects a file of tests, or runs one test of it, with pytest; unlike other tools it runs student code.

So all that it answers is a claim: whoever shares a process with pytest can make it say anything.
"""

from __future__ import annotations

import os
import random
import shlex
import shutil
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from typing import Any, TextIO

SEED = 0
"""The same for everybody and at every time: a test that draws at random shall not pass by luck."""
JUNIT_CHARACTERS = 2**20
CONFTEST = "conftest.py"
"""What pytest imports by itself. Its files of settings are not asked for."""

_uses = count()


def main(file: str, test: str, pythonpath: Sequence[str]) -> dict[str, Any]:
    """Run one test of a file of the course, or without its name find out which tests there are.

    Runs in a copy of the submission with the course's files laid over it, which the tests may write to. Of
    what was handed in nothing configures pytest, and nothing lies in the folder of the tests, if they have
    one.

    Args:
        file: the file of tests, relative to the course's folder.
        test: what stands behind the first `::` of its node id.
        pythonpath: folders of the copy to import from, beside its top one.

    Returns:
        `fresh`: whether nothing ran in this process before; if not, nothing ran now.
        `there`: whether the course has that file; if not, nothing ran.
        `status`: the exit status of pytest.
        `tests`: what was collected, named like `test`.
        `junit`: the JUnit XML that pytest wrote; cut, and so not well-formed, beyond JUNIT_CHARACTERS.
    """
    fresh = next(_uses) == 0
    given, own = _folders()
    there = bool(given) and os.path.isfile(os.path.join(given, file))
    if not (fresh and there):
        return {"fresh": fresh, "there": there}
    # a file of the submission that is called like one of the standard library shall not stop pytest
    sys.path[:] = [path for path in sys.path if path not in (given, own)]
    import pytest

    root = _lay_out(given, own, os.path.dirname(file))
    os.chdir(root)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    junit = f"{tempfile.gettempdir()}/junit.xml"
    session = _Session(f"{file}::", sys.stdout)
    arguments = [
        *("-c", os.devnull, "--rootdir", root, "--confcutdir", root),
        *("-o", f"pythonpath={shlex.join([root, *(os.path.join(root, path) for path in pythonpath)])}"),
        *("-p", "no:cacheprovider", "--capture=no", f"--junitxml={junit}"),
        f"{file}::{test}" if test else file,
        *(() if test else ("--collect-only",)),
    ]
    _seed()
    with open(os.devnull, "w") as nowhere:
        sys.stdout = nowhere  # pytest's own words, until the session starts
        try:
            status = int(pytest.main(arguments, [session]))
        finally:
            sys.stdout = session.output
    said = _read(junit).replace(f"{root}/", "")
    return {"fresh": True, "there": True, "status": status, "tests": session.tests, "junit": said}


class _Session:
    """What of ours takes part: an object and no file, so that no file of the submission takes its place."""

    def __init__(self, prefix: str, output: TextIO) -> None:
        self._prefix = prefix
        self.output = output
        self.tests: list[str] = []

    def pytest_sessionstart(self) -> None:
        """What is printed from now on is the tests': whoever reports for pytest has got the other stream."""
        sys.stdout = self.output
        with suppress(AttributeError):  # what a program prints before it crashes shall not be lost
            self.output.reconfigure(line_buffering=True)  # type: ignore[attr-defined]

    def pytest_runtest_setup(self) -> None:
        """Before fixtures, which may draw as well."""
        _seed()

    def pytest_collection_finish(self, session: Any) -> None:
        """Remember what there is."""
        self.tests = [item.nodeid.removeprefix(self._prefix) for item in session.items]


def _folders() -> tuple[str, str]:
    """The course's folder, empty if there is none, and the submission's: a child begins in the latter."""
    first, second = sys.path[:2]
    return ("", first) if os.path.samefile(first, ".") else (first, second)


def _lay_out(given: str, own: str, beside: str) -> str:
    """A copy of the submission with the course's files over it; the folder `beside` is the course's alone."""
    root = f"{tempfile.gettempdir()}/run"
    alone = os.path.join(own, beside)

    def left_out(folder: str, names: list[str]) -> list[str]:
        return [name for name in names if name == CONFTEST or os.path.join(folder, name) == alone]

    shutil.copytree(own, root, ignore=left_out)
    shutil.copytree(given, root, dirs_exist_ok=True)
    return root


def _seed() -> None:
    """Begin the random numbers of what is imported by now."""
    random.seed(SEED)
    if "numpy" in sys.modules:
        import numpy.random

        numpy.random.seed(SEED)
    if torch := sys.modules.get("torch"):
        torch.manual_seed(SEED)


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(JUNIT_CHARACTERS + 1)
    except FileNotFoundError:  # pytest did not get that far
        return ""
