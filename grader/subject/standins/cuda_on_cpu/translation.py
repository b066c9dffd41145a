"""CUDA C++ as C++ that g++ compiles against our headers, line by line where it was."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from .launches import with_launches
from .shared import with_shared
from .tokens import Token, previous_index, text_of, tokens_of

_PROLOGUE = '#define __CUDACC__ 1\n#include <cuda_runtime.h>\n#line 1 "{name}"\n'
_INCLUDE = re.compile(r'^([ \t]*#[ \t]*include[ \t]*)(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)
_FOREIGN = re.compile(r"<<<|\b__shared__\b|\b__noinline__\b")
"""Syntax that no definition of a macro makes valid C++."""


def translate(source: str, name: str) -> str:
    """Return C++17 for a file of CUDA C++; `name` is what compilers and reports call it.

    Nothing is an error here: what cannot be understood is left for the compiler to complain about.
    """
    return _PROLOGUE.format(name=name.replace("\\", "\\\\").replace('"', '\\"')) + _translated(source)


def _translated(source: str, *, in_function: bool = False) -> str:
    tokens = [
        Token("directive", _defined(token.text)) if token.kind == "directive" else token
        for token in tokens_of(source)
    ]
    tokens = with_shared(with_launches(tokens), in_function=in_function)
    for i, token in enumerate(tokens):
        # in __attribute__((…)) it is the compiler's own
        if token.text == "__noinline__" and tokens[previous_index(tokens, i - 1)].text not in {"(", ","}:
            tokens[i] = Token("name", "__attribute__((noinline))")
    return text_of(tokens)


def _defined(directive: str) -> str:
    """Translate a directive: what a macro stands for may be a launch."""
    head = re.match(r"[ \t]*#[ \t]*define\b", directive)
    if head is None or not _FOREIGN.search(directive):
        return directive
    return head.group() + _translated(directive[head.end() :], in_function=True)


class Tree:
    """Files of CUDA C++ and what they include, translated into a folder as far as g++ needs it."""

    def __init__(self, folder: str, include_dirs: Sequence[str]) -> None:
        self._folder = folder
        self._include_dirs = tuple(include_dirs)
        self._files: dict[str, str] = {}

    def source(self, path: str) -> str:
        """Write the C++ file for a .cu file. Raises OSError if that cannot be read."""
        return self._write(path, _read(path), ".cc")

    def _header(self, path: str) -> str:
        """Return the file to include instead of `path`, or `path` itself if it serves as it is."""
        real_path = os.path.realpath(path)
        if real_path not in self._files:
            self._files[real_path] = path  # for headers that include each other
            content = _read(path)
            if _FOREIGN.search(content) or self._redirected(content, path) != content:
                self._files[real_path] = self._write(path, content, ".h")
        return self._files[real_path]

    def _write(self, path: str, content: str, suffix: str) -> str:
        number = len(os.listdir(self._folder))
        written = os.path.join(self._folder, f"{number}_{os.path.basename(path)}{suffix}")
        with open(written, "x", encoding="utf-8", errors="surrogateescape"):
            pass  # so that the next one has another number
        text = translate(self._redirected(content, path), path)
        if suffix == ".h":
            text = "#pragma once\n" + text if "#pragma once" in content else text
        with open(written, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
        return written

    def _redirected(self, content: str, path: str) -> str:
        """Return the content with translated files in the place of those it includes."""
        beside = os.path.dirname(path) or "."

        def redirect(match: re.Match[str]) -> str:
            quoted, angled = match[2], match[3]
            folders = (*([beside] if quoted else []), *self._include_dirs)
            for folder in folders:
                candidate = os.path.join(folder, quoted or angled)
                if os.path.isfile(candidate):
                    header = self._header(candidate)
                    return match.group() if header == candidate else f'{match[1]}"{header}"'
            return match.group()

        return _INCLUDE.sub(redirect, content)


def _read(path: str) -> str:
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
        return file.read().replace("\r\n", "\n")
