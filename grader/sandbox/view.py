"""Paths of the machine that every sandbox mounts: programs, libraries and the interpreter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.sandbox.interpreter import interpreter

_ROOTS = tuple(map(Path, ("/bin", "/sbin", "/lib", "/lib32", "/lib64")))
_FILES = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")

HOSTS = "127.0.0.1 localhost grader\n::ffff:127.0.0.1 localhost\n"
"""Content of `/etc/hosts` in a sandbox: its own names only.

The second line is how torch asks for the name of who called it: without it every rank writes a warning.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class VisiblePaths:
    """Read-only mounts, each at the same path as outside."""

    folders: tuple[str, ...]
    optional: tuple[str, ...]
    """Shown where they exist."""
    links: Mapping[str, str]
    """Target by path of a symbolic link."""


def machine() -> VisiblePaths:
    """Return the view of this machine that every submission gets."""
    prefix = interpreter().prefix
    real = [str(root) for root in _ROOTS if root.is_dir() and not root.is_symlink()]
    return VisiblePaths(
        folders=("/usr", *real, *(() if prefix == "/usr" else (prefix,))),
        optional=_FILES,
        links={str(root): str(root.readlink()) for root in _ROOTS if root.is_symlink()},
    )
