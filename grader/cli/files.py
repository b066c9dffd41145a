"""Paths on the command line, and the files that commands leave: each appears whole or not at all."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import click

from grader.errors import UsageError
from grader.files import obstacle, replacing, write_whole


class PathType(click.Path):
    """A path of which at least the parent can be read; each command checks by itself what is there."""

    def __init__(self, *, look: bool = True, **keys: Any) -> None:
        """Create the type; without `look` errors are reported when the path is opened."""
        super().__init__(path_type=Path, readable=False, **keys)
        self._look = look

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Make it a Path.

        Raises:
            UsageError: it is empty, which would be the working directory, or no path at all.
        """
        option = (
            param.opts[-1] if isinstance(param, click.Option) else getattr(param, "human_readable_name", "")
        )
        if not str(value):
            raise UsageError(f"{option}: is empty; name a file or a folder")
        where = f"{option} {value}" if isinstance(param, click.Option) else str(value)
        try:
            if self._look:
                str(value).encode()  # it goes into files of ours, as text
            os.stat(value)  # noqa: PTH116 - it may be no path
        except ValueError as error:  # a NUL, or bytes that are no UTF-8
            raise UsageError(f"{where}: is no path that can be used ({error}); take another name") from None
        except OSError as error:
            if self._look and not isinstance(error, FileNotFoundError):
                raise obstacle(where, error, "looked at") from None
        return super().convert(value, param, ctx)


class FolderType(PathType):
    """A folder that exists."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Make it a Path.

        Raises:
            UsageError: there is no such folder.
        """
        folder = super().convert(value, param, ctx)
        where = f"{param.opts[-1]} {value}" if isinstance(param, click.Option) else str(value)
        self.require(Path(folder), where)
        return folder

    @staticmethod
    def require(folder: Path, where: str) -> None:
        """Check the folder, which is named `where` in an error."""
        if not folder.is_dir():
            raise UsageError(f"{where}: there is no such folder; name another")


class ResultsType(FolderType):
    """A folder that `grader run` has written results into."""

    @staticmethod
    def require(folder: Path, where: str) -> None:
        """Check that there are results."""
        from grader.grading.results import require_results

        require_results(folder, where)


class RecordedType(ResultsType):
    """The same, or an empty folder: the owner of a database makes its tables before anything is graded."""

    @staticmethod
    def require(folder: Path, where: str) -> None:
        """Check that there are results, or nothing at all."""
        if not folder.is_dir() or any(folder.iterdir()):
            ResultsType.require(folder, where)


PATH = PathType()
FOLDER = FolderType()
RESULTS_FOLDER = ResultsType()
RECORDED_FOLDER = RecordedType()
ONE_OF_MANY = PathType(look=False)


@contextmanager
def written(out: Path | None, encoding: str = "utf-8", *, option: str = "--out") -> Iterator[TextIO]:
    """Open the output of an option: its file, or standard output for none and for `-`.

    Raises:
        UsageError: it cannot be written.
        NotObservedError: there is no room for it.
    """
    if out is None or str(out) == "-":
        sys.stdout.reconfigure(encoding="utf-8", newline="")  # type: ignore[union-attr]  # click leaves it
        yield sys.stdout
        return
    try:
        with replacing(out) as beside, beside.open("w", encoding=encoding, newline="") as file:
            yield file
    except OSError as error:
        raise obstacle(f"{option} {out}", error) from None


def write(file: Path, text: str) -> None:
    """Write a file, and create the folders above it.

    Raises:
        UsageError: it cannot be written.
        NotObservedError: there is no room for it.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, text)
    except OSError as error:
        raise obstacle(file, error) from None


def remove(file: Path) -> None:
    """Remove a file, if it exists.

    Raises:
        UsageError: it cannot be removed.
    """
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        raise obstacle(file, error, "removed") from None
