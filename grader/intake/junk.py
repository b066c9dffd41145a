"""Junk in submissions: files of tools and operating systems, build products, archives in archives."""

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
    """Return the path up to the part that makes it junk; empty for a student's work.

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
    """Tell whether a name beside the uploads of a class belongs to a tool or operating system."""
    return name in _FOLDERS or name in _FILES or name.startswith("._")
