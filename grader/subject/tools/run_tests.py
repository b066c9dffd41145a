"""Collects a file of tests, or runs one test of it, with pytest; unlike other tools it runs student code.

So all that it answers is a claim: a test, which shares its process, can make it answer anything.
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
"""Imported by pytest itself; its files of settings are not read."""

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
    course_folder, submission = _folders()
    has_file = bool(course_folder) and os.path.isfile(os.path.join(course_folder, file))
    if not (fresh and has_file):
        return {"fresh": fresh, "there": has_file}
    # a file of the submission that is called like one of the standard library shall not stop pytest
    sys.path[:] = [path for path in sys.path if path not in (course_folder, submission)]
    import pytest

    root = _lay_out(course_folder, submission, os.path.dirname(file))
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
    xml = _read(junit).replace(f"{root}/", "")
    return {"fresh": True, "there": True, "status": status, "tests": session.tests, "junit": xml}


class _Session:
    """Plugin of pytest: an object and no file, so that no file of the submission takes its place."""

    def __init__(self, prefix: str, output: TextIO) -> None:
        self._prefix = prefix
        self.output = output
        self.tests: list[str] = []

    def pytest_sessionstart(self) -> None:
        """Give the tests their output: pytest's own reporter has got the other stream."""
        sys.stdout = self.output
        with suppress(AttributeError):  # what a program prints before it crashes shall not be lost
            self.output.reconfigure(line_buffering=True)  # type: ignore[attr-defined]

    def pytest_runtest_setup(self) -> None:
        """Seed before fixtures, which may draw as well."""
        _seed()

    def pytest_collection_finish(self, session: Any) -> None:
        """Remember what there is."""
        self.tests = [item.nodeid.removeprefix(self._prefix) for item in session.items]


def _folders() -> tuple[str, str]:
    """Return the course's folder, or an empty path, and the submission's, in which a child begins."""
    first, second = sys.path[:2]
    return ("", first) if os.path.samefile(first, ".") else (first, second)


def _lay_out(course_folder: str, submission: str, beside: str) -> str:
    """Copy the submission with the course's files over it; the folder `beside` is the course's alone."""
    root = f"{tempfile.gettempdir()}/run"
    alone = os.path.join(submission, beside)

    def left_out(folder: str, names: list[str]) -> list[str]:
        return [name for name in names if name == CONFTEST or os.path.join(folder, name) == alone]

    shutil.copytree(submission, root, ignore=left_out)
    shutil.copytree(course_folder, root, dirs_exist_ok=True)
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
