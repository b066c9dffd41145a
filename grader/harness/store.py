"""A folder in which what was built is kept under the digest of all that decides what comes out."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from grader.errors import NotObservedError
from grader.subject.standins import cuda_on_cpu

VARIABLE = "GRADER_CACHE"
"""Names the folder of everything that may be thrown away at any time."""
_FACTS = "facts.json"
_FILES = "files"


def cache_folder() -> Path:
    """Where this user keeps what can be made again."""
    if named := os.environ.get(VARIABLE):
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "grader"


def digest_of(*parts: Any) -> str:
    """The digest of JSON values, in hexadecimal."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def folder_digest(folder: Path) -> str:
    """The digest of all files below a folder with their names; empty for a folder that is not there."""
    files = sorted(file for file in folder.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    return digest_of({str(f.relative_to(folder)): _of_bytes(f.read_bytes()) for f in files}) if files else ""


def _of_bytes(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """The files of one digest."""

    facts: Mapping[str, Any]
    """JSON."""
    folder: Path
    """Holds the files, each under its own path; everybody may read them."""


class Store:
    """A folder that many workers may use at once: an entry appears whole or not at all."""

    def __init__(self, folder: Path) -> None:
        """The folder is made when something is kept."""
        self._folder = folder

    def find(self, digest: str) -> Entry | None:
        """Return an entry; None if there is none, or its files have changed."""
        entry = self._folder / digest
        try:
            document = json.loads((entry / _FACTS).read_bytes())
            files = entry / _FILES
            now = {path: _of_bytes((files / path).read_bytes()) for path in document["files"]}
            if now == document["files"]:
                return Entry(facts=document["facts"], folder=files)
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            pass
        return None

    def keep(self, digest: str, facts: Mapping[str, Any], files: Mapping[str, bytes]) -> Entry:
        """Store files with facts on them.

        Raises:
            OSError: the folder cannot be written.
        """
        with tempfile.TemporaryDirectory(prefix="new-", dir=self._made()) as temporary:
            entry = Path(temporary, "entry")
            for path, content in files.items():
                file = entry / _FILES / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
                file.chmod(0o755)  # a product may be a program, which others start
            digests = {path: _of_bytes(content) for path, content in files.items()}
            (entry / _FACTS).write_text(json.dumps({"facts": facts, "files": digests}))
            self._install(entry, digest)
        return Entry(facts=facts, folder=self._folder / digest / _FILES)

    def stand_in(self, python: str) -> Path:
        """A folder with a compiler for the CPU in nvcc's place, made once.

        `python` is the path of an interpreter inside.

        Raises:
            NotObservedError: this machine cannot compile it.
        """
        folder = self._folder / f"cuda_on_cpu-{_stand_in_digest(python)[:20]}"
        if folder.is_dir():
            return folder
        with tempfile.TemporaryDirectory(prefix="new-", dir=self._made()) as temporary:
            entry = Path(temporary, "entry")
            try:
                cuda_on_cpu.install(str(entry), python)
            except (FileNotFoundError, subprocess.CalledProcessError) as error:
                raise NotObservedError(f"kernels cannot be compiled for the CPU: {error}") from None
            self._install(entry, folder.name)
        return folder

    def _made(self) -> Path:
        self._folder.mkdir(parents=True, exist_ok=True)
        return self._folder

    def _install(self, entry: Path, name: str) -> None:
        """Put it where it belongs, for all users to read; who was there first with the same was as good."""
        for path in (entry, *entry.rglob("*")):
            path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)
        place = self._folder / name
        with suppress(OSError):
            entry.rename(place)
            return
        shutil.rmtree(place)  # it was there, and was not found to be right
        entry.rename(place)


@cache
def _stand_in_digest(python: str) -> str:
    compiler = subprocess.run(["g++", "--version"], capture_output=True, text=True, check=False).stdout
    return digest_of(folder_digest(Path(cuda_on_cpu.__file__).parent), compiler, python)
