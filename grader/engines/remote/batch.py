"""One batch: packs of orders with equal needs, which a scheduler runs as the tasks of one array.

    <root>/batches/<name>/batch.json            what each task does, and with which resources
                          script.sh             what the scheduler starts
                          journals/<task>/<attempt>.jsonl
                          log-<task>            error output of the script

Its name is written into its orders before the scheduler hears of it, and is the name of the scheduler's job:
whoever comes after a host that was killed asks the scheduler for it.
"""

from __future__ import annotations

import os
import platform
import shutil
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from grader import __version__
from grader.config.codec import dumps, from_plain, loads
from grader.engines.remote.stored import Wants
from grader.errors import NotObservedError
from grader.files import write_whole

PREFIX = "grader-"
"""Begins the name of every batch."""
_BATCH = "batch.json"


def _python() -> str:
    return platform.python_version()


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """The content of `batch.json`."""

    name: str
    packs: tuple[tuple[str, ...], ...]
    """The keys of the orders of each task."""
    wants: Wants
    cores: int
    """How many cores each task has."""
    time_s: float
    """How long a task may take before the scheduler ends it, in seconds."""
    probe: bool = False
    """Whether its tasks only look at their machine."""
    grader: str = __version__
    """The host's version: it is part of every digest."""
    python: str = field(default_factory=_python)
    """The host's."""


def new_name() -> str:
    """Return a name for a batch, drawn at random."""
    return f"{PREFIX}{os.urandom(6).hex()}"


def folder_of(root: Path, name: str) -> Path:
    """Return the folder of a batch."""
    return root / "batches" / name


def write_batch(root: Path, batch: Batch) -> Path:
    """Write a batch and return its folder.

    Raises:
        OSError: it cannot be written.
    """
    folder = folder_of(root, batch.name)
    (folder / "journals").mkdir(parents=True)
    write_whole(folder / _BATCH, dumps(batch))
    return folder


def read_batch(folder: Path) -> Batch | None:
    """Return a batch; None if it was removed."""
    file = folder / _BATCH
    try:
        return from_plain(Batch, loads(file.read_bytes()), where=str(file))
    except (OSError, ValueError, NotObservedError):
        return None


def journals_of(folder: Path, task: int) -> Path:
    """Return the folder of a task's journals."""
    return folder / "journals" / str(task)


def last_words(folder: Path, task: int) -> str:
    """Return the last line of a task's error output; empty if there is none."""
    with suppress(OSError):
        lines = (folder / f"log-{task}").read_text(errors="replace")[-4000:].strip().splitlines()
        return lines[-1] if lines else ""
    return ""


def remove_batch(folder: Path) -> None:
    """Remove a batch of which nothing is open."""
    shutil.rmtree(folder, ignore_errors=True)
