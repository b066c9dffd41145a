"""Creates a workspace atomically: with all of its files, or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from grader.errors import NotObservedError


@contextmanager
def staging(workspace: Path) -> Iterator[Path]:
    """Provide a temporary folder beside the workspace; on failure the workspace is removed as well.

    Raises:
        NotObservedError: a file could not be written or read.
    """
    made: list[Path] = []
    try:
        for folder in reversed([workspace.parent, *workspace.parent.parents]):
            if not folder.exists():
                folder.mkdir(exist_ok=True)
                made.append(folder)
        beside = workspace.parent / f".receiving-{os.urandom(8).hex()}"
        beside.mkdir(mode=0o700)
        try:
            yield beside
        finally:
            _remove(beside)
    except BaseException as error:
        # Others may work below the same folders by now: then these stay.
        with suppress(OSError):
            for folder in reversed(made):
                folder.rmdir()
        if isinstance(error, OSError):
            why = error.strerror or error
            raise NotObservedError(
                f"{workspace}: cannot be filled ({why}); make room or choose another place"
            ) from None
        raise


def lay_out(staged: Mapping[str, Path], beside: Path, workspace: Path) -> None:
    """Build the workspace in the staging folder from files in it, by path, and move it into place."""
    tree = beside / "workspace"
    _make_folder(tree)
    for path, file in staged.items():
        folder = tree
        for part in path.split("/")[:-1]:
            folder /= part
            if not folder.exists():
                _make_folder(folder)
        file.rename(tree / path)
    tree.rename(workspace)


def _make_folder(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o755)


def _remove(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir():
            _remove(path)
        else:
            path.unlink()
    folder.rmdir()
