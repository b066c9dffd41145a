"""What the fuzzers share: a case, what it must not do, and damage to bytes of any kind."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


class Finding(Exception):
    """What a case must not do, in a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What is thrown at: how a case is made, and what is done with it."""

    make: Callable[[random.Random], tuple[str, bytes]]
    """The name and the bytes of a file."""
    probe: Callable[[Path], str]
    """Use a file, which lies in a folder of its own; the word to count the case by. Raises Finding."""


def check_line(line: str) -> None:
    """Whether a person can be shown this: one line, in letters, without a word of Python.

    Raises:
        Finding: it cannot.
    """
    try:
        line.encode()
    except UnicodeEncodeError:
        raise Finding(f"a line that cannot be written: {line!r}") from None
    if len(line.splitlines()) != 1 or any(unicodedata.category(letter) == "Cc" for letter in line):
        raise Finding(f"more than one line, or control characters: {line!r}")
    if "Traceback" in line or " object at 0x" in line:
        raise Finding(f"a line about Python: {line!r}")


def remove(path: Path) -> None:
    """Take away a file, or a folder with what is in it; links are not followed."""
    if path.is_dir() and not path.is_symlink():
        for below in path.iterdir():
            remove(below)
        path.rmdir()
    else:
        path.unlink()


def _flip(data: bytearray, rng: random.Random, _: bytes) -> None:
    for _again in range(rng.choice((1, 1, 2, 8))):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _overwrite(data: bytearray, rng: random.Random, _: bytes) -> None:
    at, length = rng.randrange(len(data)), rng.choice((1, 2, 4, 8, 512))
    data[at : at + length] = rng.choice((bytes(length), b"\xff" * length, rng.randbytes(length)))


def _cut_end(data: bytearray, rng: random.Random, _: bytes) -> None:
    del data[rng.randrange(len(data)) :]


def _cut_out(data: bytearray, rng: random.Random, _: bytes) -> None:
    at = rng.randrange(len(data))
    del data[at : at + rng.choice((1, 4, 512, 1024))]


def _double(data: bytearray, rng: random.Random, _: bytes) -> None:
    start = rng.randrange(len(data))
    data[start:start] = data[start : start + rng.choice((1, 16, 512, 5120))]


def _splice(data: bytearray, rng: random.Random, other: bytes) -> None:
    data[rng.randrange(len(data)) :] = other[rng.randrange(len(other) + 1) :]


def _append(data: bytearray, rng: random.Random, other: bytes) -> None:
    data += rng.choice((other, rng.randbytes(100), bytes(1000), bytes(data)))


BYTES = (_flip, _flip, _overwrite, _overwrite, _cut_end, _cut_out, _double, _splice, _append)


def mutated(data: bytes, rng: random.Random, other: bytes = b"") -> bytes:
    """The bytes after one change or a few; `other` is something of the kind to splice with."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        if changed:
            rng.choice(BYTES)(changed, rng, other)
    return bytes(changed)
