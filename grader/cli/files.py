"""Files that commands leave: each appears whole or not at all."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from grader.errors import UsageError


@contextmanager
def written(out: Path | None, encoding: str = "utf-8") -> Iterator[TextIO]:
    """Where to write what `--out` asks for: that file, or standard output.

    Raises:
        UsageError: it cannot be written.
    """
    if out is None:
        sys.stdout.reconfigure(encoding="utf-8", newline="")  # type: ignore[union-attr]  # click leaves it
        yield sys.stdout
        return
    beside = _beside(out)
    try:
        with beside.open("w", encoding=encoding, newline="") as file:
            yield file
        beside.replace(out)
    except OSError as error:
        raise UsageError(f"--out {out}: cannot be written ({error.strerror}); name another file") from None
    finally:
        beside.unlink(missing_ok=True)


def write(file: Path, text: str) -> None:
    """Put a file there, and the folders above it.

    Raises:
        UsageError: it cannot be written.
    """
    beside = _beside(file)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text(text, encoding="utf-8")
        beside.replace(file)
    except OSError as error:
        raise UsageError(f"{file}: cannot be written ({error.strerror}); check the folder") from None
    finally:
        beside.unlink(missing_ok=True)


def remove(file: Path) -> None:
    """Have a file not be there.

    Raises:
        UsageError: it is, and stays.
    """
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"{file}: cannot be removed ({error.strerror}); check the folder") from None


def _beside(file: Path) -> Path:
    return file.with_name(f".{file.name}.{os.getpid()}")
