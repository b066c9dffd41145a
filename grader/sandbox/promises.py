"""Promises of sandboxes, by name: tests attack every layer that makes a promise."""

from __future__ import annotations

from enum import StrEnum


class Promise(StrEnum):
    """One action that the sandbox denies to a submission."""

    FEWER_CALLS = "it cannot mount, trace, load into the kernel or make namespaces"
    NO_NETWORK = "it reaches no network"
    HIDES_FILES = "it reads no file but the system's, the interpreter's and its own"
    READ_ONLY_PROC = "it changes nothing in /proc, so that it stays the first to go when memory runs out"
    OWN_PROCESSES = "it sees and reaches no process but its own"
    FRESH_FOLDERS = "it finds nothing in /tmp and /dev/shm that another check left"
    BOUNDED_DISK = "what it writes counts as memory and ends at a limit"


ALL = frozenset(Promise)
