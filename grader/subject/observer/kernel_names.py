"""The name of a kernel in its source, out of the compiler's mangled symbol."""

from __future__ import annotations

import re

_PREFIX = re.compile(r"^_Z(?:N[KVr]*)?")
_LENGTH = re.compile(r"\d+")
_TAG = re.compile(r"B\d+")
_OF_ALL_KERNELS = frozenset({"Kernel", "Kernel2", "device_kernel"})
"""What CUTLASS calls every kernel; the first argument of the template tells them apart."""
_ARGUMENT = re.compile(r"I(?:N[KVr]*)?(?=\d)")
_FIRST = re.compile(r"<\s*([\w:]+)")


def kernel_name(symbol: str) -> str:
    """Return `max_kernel` of `_ZN6cudapy13max_functions10max_kernelB2v1B…E5ArrayIxLi2E…`.

    Itanium's mangling: a name is its length and its letters, nested ones stand in a row between N and E, and
    a `B` before one makes it a tag (numba tells versions of a function apart by them). Of what is
    not mangled, or not any more, the same part is taken.
    """
    prefix = _PREFIX.match(symbol)
    if prefix is None:
        whole = symbol.removeprefix("void ").replace("(anonymous namespace)::", "")
        name = re.split(r"[<(\[]", whole)[0].rpartition("::")[2] or symbol
        argument = _FIRST.search(whole) if name in _OF_ALL_KERNELS else None
        return argument[1].rpartition("::")[2] if argument else name
    at, nested, name = prefix.end(), "N" in prefix.group(), ""
    while at < len(symbol):
        tag = _TAG.match(symbol, at)
        length = _LENGTH.match(symbol, at + 1 if tag else at)
        if length is None:
            break
        begin, at = length.end(), length.end() + int(length.group())
        if tag is None:
            name = symbol[begin:at]
            if not nested and not symbol.startswith("B", at):
                break
    if name in _OF_ALL_KERNELS and (argument := _ARGUMENT.match(symbol, at)):
        nested = "N" in argument.group()
        return kernel_name(f"_Z{'N' if nested else ''}{symbol[argument.end() :]}")
    return name or symbol
