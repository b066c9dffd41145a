"""Pages of PDF files as pictures, made by a program alone in a sandbox: a document can be evil."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from grader.sandbox.view import machine

WITHIN_S = 25.0
MOST_PAGES = 60
MOST_BYTES = 20_000_000
PROGRAM = Path(__file__).with_name("render_page.py")
_NOBODY = "65534"


class PagePictures:
    """Pictures of pages, remembered while the server runs; none without bubblewrap."""

    def __init__(self) -> None:
        self._remembered = lru_cache(maxsize=256)(_render)

    def count(self, path: Path) -> int:
        """Return how many pages of a document are shown; 0 if it cannot be opened, or not safely here."""
        text = self._remembered(path, path.stat().st_mtime_ns, "")
        return min(int(text), MOST_PAGES) if text.isdigit() else 0

    def page(self, path: Path, number: int) -> bytes:
        """Return one page as a PNG; empty if it cannot be rendered."""
        if not 1 <= number <= MOST_PAGES:
            return b""
        content = self._remembered(path, path.stat().st_mtime_ns, str(number))
        return content if content.startswith(b"\x89PNG\r\n\x1a\n") else b""


def _render(path: Path, stamp: int, argument: str) -> bytes:
    """Run the program with a document as its input and nothing else in reach."""
    del stamp  # part of the key: the file of today is another document
    bwrap = shutil.which("bwrap")
    if bwrap is None or path.stat().st_size > MOST_BYTES:
        return b""
    program = [sys.executable, "-I", str(PROGRAM), *filter(None, [argument])]
    try:
        with path.open("rb") as document:
            ended = subprocess.run(
                [bwrap, *_wall(), "--", *program],
                stdin=document,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=WITHIN_S,
                env={},
                check=False,
            )
    except (OSError, subprocess.TimeoutExpired):
        return b""
    return ended.stdout if ended.returncode == 0 and len(ended.stdout) <= MOST_BYTES else b""


def _wall() -> Iterator[str]:
    """Yield arguments of bubblewrap: no network, no other process, nothing but the interpreter to read."""
    yield from ("--unshare-all", "--unshare-user", "--uid", _NOBODY, "--gid", _NOBODY, "--cap-drop", "ALL")
    yield from ("--die-with-parent", "--new-session", "--clearenv")
    yield from ("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp")  # noqa: S108 - inside the sandbox
    view = machine()
    for folder in view.folders:
        yield from ("--ro-bind", folder, folder)
    for link, target in view.links.items():
        yield from ("--symlink", target, link)
    for file in view.optional:
        yield from ("--ro-bind-try", file, file)
    spec = find_spec("pypdfium2")
    packages = (
        Path(spec.origin).parent.parent if spec and spec.origin else Path(sysconfig.get_path("purelib"))
    )
    folders = {sys.prefix, sys.base_prefix, str(packages)}
    for folder in sorted(folders):
        yield from ("--ro-bind", folder, folder)
    yield from ("--ro-bind", str(PROGRAM), str(PROGRAM))
