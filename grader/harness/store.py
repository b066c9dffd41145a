"""A folder in which what was built is kept under the digest of all that decides what comes out."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import count, takewhile
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
    """A folder that many workers may use at once: an entry appears whole, by a rename, and stays as it is.

    Nothing is taken away, for a program may be running in it. The entry of a digest has its name or, where
    one of that name is there and is not right any more, that name with the first number that is free.
    """

    def __init__(self, folder: Path) -> None:
        """The folder is made when something is kept."""
        self._folder = folder

    def find(self, digest: str) -> Entry | None:
        """Return an entry; None if there is none whose files are what they were."""
        places = takewhile(Path.exists, self._places(digest))
        return next(filter(None, map(_read, places)), None)

    def keep(self, digest: str, facts: Mapping[str, Any], files: Mapping[str, bytes]) -> Entry:
        """Store files with facts on them, or return what another has stored meanwhile.

        Raises:
            OSError: the folder cannot be written.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="new-", dir=self._folder) as temporary:
            new = Path(temporary, "entry")
            for path, content in files.items():
                file = new / _FILES / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
            digests = {path: _of_bytes(content) for path, content in files.items()}
            (new / _FILES).mkdir(parents=True, exist_ok=True)
            (new / _FACTS).write_text(json.dumps({"facts": facts, "files": digests}))
            for entry in (new, *new.rglob("*")):
                entry.chmod(0o644 if entry.name == _FACTS else 0o755)  # a product may be a program
            return next(filter(None, (_publish(new, place) for place in self._places(digest))))

    def stand_in(self, python: str) -> Entry:
        """Return the entry of a compiler for the CPU in nvcc's place, made once; its fact `name` tells which.

        `python` is the path of an interpreter inside.

        Raises:
            NotObservedError: this machine cannot compile it.
        """
        name = f"cuda_on_cpu-{_stand_in_digest(python)[:20]}"
        if entry := self.find(name):
            return entry
        with tempfile.TemporaryDirectory(prefix="grader-cuda-on-cpu-") as temporary:
            made = Path(temporary, "made")
            try:
                cuda_on_cpu.install(str(made), python)
            except (FileNotFoundError, subprocess.CalledProcessError) as error:
                raise NotObservedError(f"kernels cannot be compiled for the CPU: {error}") from None
            files = (file for file in made.rglob("*") if file.is_file())
            return self.keep(name, {"name": name}, {str(f.relative_to(made)): f.read_bytes() for f in files})

    def _places(self, digest: str) -> Iterator[Path]:
        yield self._folder / digest
        yield from (self._folder / f"{digest}.{number}" for number in count(1))


def _read(place: Path) -> Entry | None:
    """Return the entry that lies in a folder; None if it has changed, or lacks a file."""
    try:
        document = json.loads((place / _FACTS).read_bytes())
        files = place / _FILES
        now = {path: _of_bytes((files / path).read_bytes()) for path in document["files"]}
        if now == document["files"]:
            return Entry(facts=document["facts"], folder=files)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        pass
    return None


def _publish(new: Path, place: Path) -> Entry | None:
    """Give a new entry its name; return what lies there then, or None if that is not right.

    Raises:
        OSError: it cannot be renamed, and nothing else lies there.
    """
    try:
        new.rename(place)
    except OSError:
        if not place.exists():
            raise
    return _read(place)


@cache
def _stand_in_digest(python: str) -> str:
    compiler = subprocess.run(["g++", "--version"], capture_output=True, text=True, check=False).stdout
    return digest_of(folder_digest(Path(cuda_on_cpu.__file__).parent), compiler, python)
