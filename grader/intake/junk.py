"""Files that are nobody's work: what tools and systems leave behind, build products, archives in archives."""

from __future__ import annotations

_FOLDERS = frozenset(
    {
        "__MACOSX",
        "__pycache__",
        ".git",
        ".hg",
        ".svn",
        ".idea",
        ".vscode",
        ".venv",
        ".ipynb_checkpoints",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
    }
)
_FILES = frozenset({".DS_Store", "Thumbs.db", "desktop.ini", ".gitignore", ".gitattributes"})
BUILD_ENDINGS = (
    ".o",
    ".a",
    ".so",
    ".obj",
    ".lib",
    ".dll",
    ".dylib",
    ".exe",
    ".pyc",
    ".pyo",
    ".pyd",
    ".class",
)
ARCHIVE_ENDINGS = (
    *(".tar", ".tgz", ".tbz2", ".txz", ".gz", ".bz2", ".xz", ".zst"),
    *(".zip", ".7z", ".rar", ".whl", ".egg", ".jar"),
)


def junk_part(path: str) -> str:
    """The part of a path that makes it junk, up to and with it; empty for somebody's work.

    A junk folder is named once, as `hw1/.git/`, however much it holds.
    """
    parts = path.split("/")
    for depth, part in enumerate(parts):
        if part in _FOLDERS:
            return "/".join(parts[: depth + 1]) + "/"
    last = parts[-1]
    if last in _FILES or last.startswith("._") or last.lower().endswith(BUILD_ENDINGS + ARCHIVE_ENDINGS):
        return path
    return ""


def is_litter(name: str) -> bool:
    """Whether a file or folder on top of a class's hand-ins is what tools and systems leave there."""
    return name in _FOLDERS or name in _FILES or name.startswith("._")
