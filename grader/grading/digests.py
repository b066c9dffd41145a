"""Digests that decide whether an earlier observation is still valid."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from grader import __version__
from grader.config.codec import digest, digest_bytes, dumps, to_plain
from grader.coursecode import PACKAGE
from grader.model.assignment import Assignment
from grader.model.options import measuring
from grader.model.rubric import Rubric

_SUBMISSION = "the submission"
"""Stands for its digest."""
_DECIDES_NOTHING = frozenset({"team_at_most", "gpu_kinds"})
"""Declarations on which no measurement depends; other kinds of GPU invalidate only what ran on them."""


def task_digests(rubric: Rubric, assignment: Assignment, folder: Path) -> Callable[[str], dict[str, str]]:
    """Tells by item the digest of its task, given the digest of a submission; the files are read only once.

    It covers whatever decides what is measured: the submission, the assignment and the files of its `folder`
    that a run works with, the measuring options, this version of grader, and the package of a plugin's kind.
    Points and judging options are not in it.
    """
    declared = {name: value for name, value in to_plain(assignment).items() if name not in _DECIDES_NOTHING}
    basis = {"grader": __version__, "course": _course_files(folder), "assignment": declared}
    begun: dict[str, tuple[Any, bytes]] = {}
    for item in rubric.items:
        measured = {"check": item.check, "options": measuring(item.options), "group": item.group}
        if files := _plugin_files(type(item.options).__module__.partition(".")[0]):
            measured["plugin"] = files
        # the keys are sorted: all that submissions have in common stands before what they differ in
        head, _, tail = dumps({**basis, **measured, "submission": _SUBMISSION}).rpartition(_SUBMISSION)
        begun[item.id] = hashlib.sha256(head.encode()), tail.encode()

    def digests(submission: str) -> dict[str, str]:
        by_item = {}
        for name, (common, tail) in begun.items():
            whole = common.copy()
            whole.update(submission.encode() + tail)
            by_item[name] = f"sha256:{whole.hexdigest()}"
        return by_item

    return digests


@cache
def _plugin_files(package: str) -> dict[str, str]:
    """The digests of the Python files of an installed package; nothing of grader's own, or of a course."""
    module = sys.modules.get(package)
    if package in {"grader", PACKAGE} or not module or not module.__file__:
        return {}
    file = Path(module.__file__)
    files = sorted(file.parent.rglob("*.py")) if file.name == "__init__.py" else [file]
    return {str(each.relative_to(file.parent)): digest_bytes(each.read_bytes()) for each in files}


def course_digest(folder: Path) -> str:
    """`sha256:…` over the files of an assignment that a run works with."""
    return digest(_course_files(folder))


def _course_files(folder: Path) -> dict[str, str]:
    """The digests of an assignment's files that a run works with: not of what students are handed."""
    files = [*folder.glob("*.py")]
    for part in ("given", "reference", "data"):
        files += [file for file in folder.glob(f"{part}/**/*") if file.is_file() and file.suffix != ".pyc"]
    return {str(file.relative_to(folder)): digest_bytes(file.read_bytes()) for file in sorted(files)}
