"""Archives made at test time, and the courses that they are handed in to."""

from __future__ import annotations

import io
import tarfile
import warnings
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from grader.errors import SubmissionError
from grader.intake.receive import receive
from grader.model.assignment import Assignment
from grader.model.submission import Submission

Receive = Callable[..., Submission]


def assignment(name: str, *accepts: str) -> Assignment:
    return Assignment(name=name, title=name, accepts=accepts)


@pytest.fixture
def course() -> dict[str, Assignment]:
    return {"hw1": assignment("hw1", "utils.py", "max_functions.py")}


@pytest.fixture
def taken(tmp_path: Path, course: dict[str, Assignment]) -> Receive:
    """Receive into `results/workspace`, for which not even the folder above is there."""

    def take(source: Path, **options: Any) -> Submission:
        options = {"assignments": course, "workspace": tmp_path / "results" / "workspace"} | options
        return receive(source, **options)

    return take


@pytest.fixture
def refusal(tmp_path: Path, taken: Receive) -> Callable[..., str]:
    """The one line that a submission is refused with, nothing having been left behind."""

    def refuse(source: Path, **options: Any) -> str:
        before = sorted(tmp_path.rglob("*"))
        with pytest.raises(SubmissionError) as caught:
            taken(source, **options)
        assert sorted(tmp_path.rglob("*")) == before
        (line,) = caught.value.problems
        assert "\n" not in line
        return line

    return refuse


@pytest.fixture
def tar_of(tmp_path: Path) -> Callable[..., Path]:
    """An archive of names and contents; a `TarInfo` in place of a name is taken as it is."""

    def pack(
        files: Mapping[str, bytes] | Iterable[tuple[str | tarfile.TarInfo, bytes]],
        name: str = "alice.tar.gz",
        mode: str = "w:gz",
        **options: Any,
    ) -> Path:
        path = tmp_path / name
        with tarfile.open(path, mode, **options) as archive:
            for member, data in files.items() if isinstance(files, Mapping) else files:
                info = member if isinstance(member, tarfile.TarInfo) else tarfile.TarInfo(member)
                if info.isreg():
                    info.size = len(data)
                archive.addfile(info, io.BytesIO(data) if info.isreg() else None)
        return path

    return pack


@pytest.fixture
def zip_of(tmp_path: Path) -> Callable[..., Path]:
    """A zip of names, or `ZipInfo`, and contents."""

    def pack(
        files: Mapping[str, bytes] | Iterable[tuple[str | zipfile.ZipInfo, bytes]],
        name: str = "alice.zip",
        method: int = zipfile.ZIP_DEFLATED,
    ) -> Path:
        path = tmp_path / name
        with warnings.catch_warnings(), zipfile.ZipFile(path, "w", method) as archive:
            warnings.filterwarnings("ignore", "Duplicate name")
            for member, data in files.items() if isinstance(files, Mapping) else files:
                archive.writestr(member, data)
        return path

    return pack


@pytest.fixture
def header_with() -> Callable[..., bytes]:
    """The tar header of an empty file, with some of its bytes replaced and the sum made right."""

    def header(at: int, data: bytes, name: str = "utils.py") -> bytes:
        block = bytearray(tarfile.TarInfo(name).tobuf(tarfile.GNU_FORMAT))
        block[at : at + len(data)] = data
        block[148:156] = b" " * 8
        block[148:156] = b"%06o\0 " % sum(block)
        return bytes(block)

    return header
