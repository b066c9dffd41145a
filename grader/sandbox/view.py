"""What a room shows of the machine: programs, libraries and the interpreter; no home, no secrets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.sandbox.interpreter import interpreter

_ROOTS = tuple(map(Path, ("/bin", "/sbin", "/lib", "/lib32", "/lib64")))
_FILES = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")

HOSTS = "127.0.0.1 localhost grader\n::ffff:127.0.0.1 localhost\n"
"""What a room has as `/etc/hosts`: its processes find each other by name, and no other machine.

The second line is how torch asks for the name of who called it: without it every rank writes a warning.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """Paths, all read-only, all where they are outside as well."""

    folders: tuple[str, ...]
    optional: tuple[str, ...]
    """Shown where they exist."""
    links: Mapping[str, str]
    """The link's path, and what it says."""


def machine() -> View:
    """The view of this machine that every hand-in gets."""
    prefix = interpreter().prefix
    real = [str(root) for root in _ROOTS if root.is_dir() and not root.is_symlink()]
    return View(
        folders=("/usr", *real, *(() if prefix == "/usr" else (prefix,))),
        optional=_FILES,
        links={str(root): str(root.readlink()) for root in _ROOTS if root.is_symlink()},
    )
