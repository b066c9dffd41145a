"""Files of a submission as text or pictures, never as what they claim to be."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from grader.config.evidence_file import EVIDENCE, read_evidence
from grader.grading.results import WORKSPACE

if TYPE_CHECKING:
    from grader.review.class_index import GradedEntry

MOST_BYTES = 2_000_000
MOST_LINES = 5_000
LONGEST_LINE = 2_000
_PICTURES = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}
"""By first bytes, what browsers decode as pixels alone; SVG is none of these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFile:
    """One file of a submission."""

    name: str
    kind: Literal["text", "picture", "pages", "unshown"]
    lines: tuple[str, ...] = ()
    cut: bool = False
    """Whether it has more than is shown."""


def workspace_of(results: Path | None, assignment: str, entry: GradedEntry) -> Path | None:
    """Return the folder with the files of exactly this submission; None if they are not there."""
    if results is None:
        return None
    folder = results / assignment / entry.submission.student
    evidence = read_evidence(folder / EVIDENCE) if (folder / EVIDENCE).is_file() else None
    if evidence is not None and evidence.submission.digest != entry.submission.digest:
        return None
    return folder / WORKSPACE if (folder / WORKSPACE).is_dir() else None


def file_of(workspace: Path, entry: GradedEntry, name: str) -> Path | None:
    """Return the path of a file that was handed in; None for any other name, and for links."""
    if name not in entry.submission.files:
        return None
    path = workspace / name
    inside = path.resolve().is_relative_to(workspace.resolve())
    return path if inside and path.is_file() and not path.is_symlink() else None


def shown_file(path: Path, name: str) -> ShownFile:
    """Read a file as text, or say how else it is shown."""
    with path.open("rb") as file:
        content = file.read(MOST_BYTES + 1)
    if picture_type(content):
        return ShownFile(name=name, kind="picture")
    if content.startswith(b"%PDF"):
        return ShownFile(name=name, kind="pages")
    if b"\0" in content[:8000]:
        return ShownFile(name=name, kind="unshown")
    text = content[:MOST_BYTES].decode("utf-8", "replace")
    if name.endswith(".ipynb"):
        text = _notebook(text) or text
    lines = text.splitlines()
    return ShownFile(
        name=name,
        kind="text",
        lines=tuple(line[:LONGEST_LINE] for line in lines[:MOST_LINES]),
        cut=len(content) > MOST_BYTES or len(lines) > MOST_LINES,
    )


def picture_type(content: bytes) -> str:
    """Return the type of a picture by its first bytes; empty if it is none that is shown."""
    return next((kind for start, kind in _PICTURES.items() if content.startswith(start)), "")


def _notebook(text: str) -> str:
    """Return the sources of a notebook's cells; empty if it is none."""
    try:
        cells = json.loads(text)["cells"]
        parts = []
        for number, cell in enumerate(cells, start=1):
            source = cell["source"]
            body = source if isinstance(source, str) else "".join(map(str, source))
            parts.append(f"# [{number}] {cell['cell_type']}\n{body}\n")
        return "\n".join(parts)
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
