"""Landlock: a process closes the file system to itself, but for the folders it names."""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
from collections.abc import Iterable

from . import linux

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
"""The same numbers on every architecture."""
_VERSION = 1
_PATH_BENEATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_MAKE_CHAR, _MAKE_BLOCK = 1 << 6, 1 << 11
_TRUNCATE, _IOCTL_DEV = 1 << 14, 1 << 15
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_HANDLED = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
"""What a kernel can refuse, from which version of the interface on."""
_SCOPES_FROM = 6
_ABSTRACT_SOCKETS, _SIGNALS = 1, 2


def abi() -> int:
    """Return the version of the interface that this kernel offers; 0 for none."""
    try:
        return linux.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION, name="landlock")
    except OSError as error:
        if error.errno in {errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM}:
            return 0
        raise


def restrict(*, read: Iterable[str], write: Iterable[str]) -> None:
    """Leave this process, and all it starts, these paths and what lies below; missing ones are skipped.

    What may be written may be read. Where the kernel can, processes outside get no signals from here.

    Raises:
        OSError: the kernel has no Landlock, or new privileges are still possible.
    """
    version = abi()
    handled = max(rights for since, rights in _HANDLED.items() if since <= max(version, 1))
    scoped = _ABSTRACT_SOCKETS | _SIGNALS if version >= _SCOPES_FROM else 0
    attributes = struct.pack("=QQQ", handled, 0, scoped)[: 24 if scoped else 8]
    ruleset = linux.syscall(
        _CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0, name="landlock_create_ruleset"
    )
    try:
        for path in read:
            _allow(ruleset, path, _READ)
        for path in write:
            _allow(ruleset, path, handled & ~(_MAKE_CHAR | _MAKE_BLOCK))
        linux.syscall(_RESTRICT_SELF, ruleset, 0, name="landlock_restrict_self")
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, PermissionError):
        return
    try:
        if not stat.S_ISDIR(os.fstat(beneath).st_mode):
            rights &= _OF_FILES
        rule = struct.pack("=Qi", rights, beneath)
        linux.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0, name=f"landlock_add_rule {path}")
    finally:
        os.close(beneath)
