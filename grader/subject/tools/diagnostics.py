"""Diagnostics of compilers, linkers and make, and ptxas statistics of kernels, read line by line."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from typing import Any

DIAGNOSTICS = 200
KERNELS = 200
TEXT = 400
COMPILED = (".c", ".cc", ".cpp", ".cxx", ".cu")
"""Endings of files of which a compiler makes objects."""
SOURCES = (*COMPILED, ".cuh", ".h", ".hh", ".hpp", ".inl")
"""Endings of all files of C, C++ and CUDA."""

TELLING = re.compile(
    rb"[Ee]rror|[Ww]arning|fatal|\*\*\*|not found|cannot find|cannot open|No such file|Permission denied|"
    rb"undefined reference|multiple definition|ptxas info|bytes stack frame"
)
"""A line without any of these has nothing to tell."""

_PROGRAMS = r"nvcc|ptxas|nvlink|fatbinary|cicc|cudafe\+\+|cc1|cc1plus|gcc|g\+\+|cc|c\+\+|clang|clang\+\+|ld"
_FORMS = tuple(
    map(
        re.compile,
        (
            # nvcc's own front end
            r"(?P<file>[^():]+)\((?P<line>\d+)\): (?:catastrophic |internal )?(?P<severity>error|warning)"
            r"(?: #[\w-]+)?: (?P<message>.+)",
            # gcc, clang, and what follows them
            r"(?P<file>[^:\s][^:]*):(?P<line>\d+):(?:(?P<column>\d+):)? (?:fatal )?"
            r"(?P<severity>error|warning): (?P<message>.+)",
            # the assembler, of a file that the compiler made
            r"(?:\{standard input\}|/tmp/cc\w+\.s)(?::\d+)?: (?P<severity>Error|Warning): (?P<message>.+)",
            # programs that name no place
            rf"(?:\S*/)?(?:{_PROGRAMS}) ?:? +(?:fatal )?(?P<severity>fatal|error|warning) *: (?P<message>.+)",
            r"ptxas \S+, line \d+; (?P<severity>error|warning) *: (?P<message>.+)",
            r"(?:\S*/)?ld(?:\.\w+)?: (?P<message>cannot (?:find|open output file) .+)",
            # make, and the shell that it starts
            r"g?make(?:\[\d+\])?: \*\*\* (?!Waiting for unfinished jobs)(?P<message>[^\[].+)",
            r"(?P<file>[^:\s]+):(?P<line>\d+): \*\*\* (?P<message>.+)",
            r"g?make(?:\[\d+\])?: (?P<program>\S+): (?:No such file or directory|Permission denied)",
            r"\S*sh: (?:line )?\d+: (?P<message>\S+: (?:command )?not found)",
            r"\S*sh: (?:line )?\d+: (?:cannot open )?(?P<lacked>\S+): No such file.*",
        ),
    )
)
_OF_LINKERS = ("undefined reference to ", "multiple definition of ")
_PLACE = re.compile(r"([^:\s()]+):(?:(\d+)|\([^)]*\)):?$")
_OF_NVCC = re.compile(r"^(?:.*/)?tmpxft_\w+-\d+_(\w+)\.(?:cudafe\d*\.\w+|o)$")
"""A file that nvcc makes of a .cu file."""
_TEMPORARY = re.compile(r".*/cc\w{6}(?:\.ltrans\d+)?(?:\.ltrans)?\.o")
"""An object under a name that gcc draws anew in each run."""
_FIRST_DEFINED = re.compile(
    r"; (?P<object>\S+\.o)(?: \(symbol from plugin\))?:(?:(?P<file>[^\s:()]+):)?(?:(?P<line>\d+)|\([^)]*\)): "
    r"first defined here$"
)
"""The end of a linker's message, with the other definition."""
_QUOTES = str.maketrans("`\u2018\u2019", "'" * 3)
"""Whichever a program prefers, we write one kind."""

_ENTRY = re.compile(r"ptxas info *: Compiling entry function '(\S+)' for '(\w+)'")
_PROPERTIES = re.compile(r"ptxas info *: Function properties for (\S+)")
_STACK = re.compile(r" *(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"ptxas info *: Used (\d+) registers")
_SHARED = re.compile(r"(\d+) bytes smem")


class Reader:
    """Reads what a build in `folder` prints.

    `diagnostics` are {"file" (relative to the folder), "line", "column" (0 for unknown), "severity" (`error`
    or `warning`), "message"}, each once; `counts` has how many there are of each severity, also beyond those
    that are kept. `kernels` are {"kernel" (mangled), "architecture", "registers", "stack_bytes",
    "spill_bytes" (stores and loads together), "shared_bytes" (static)}. A linker's message on two definitions
    says which of the two files is one of `course_files`, whose paths are relative to the folder.
    """

    def __init__(self, folder: str, course_files: Collection[str] = ()) -> None:
        self.diagnostics: list[dict[str, Any]] = []
        self.counts = {"error": 0, "warning": 0}
        self.kernels: list[dict[str, Any]] = []
        self._folder = folder
        self._course_files = course_files
        self._reported: set[tuple[Any, ...]] = set()
        self._properties_of = ""

    def read(self, line: str) -> bool:
        """Consume a line; True if it holds only ptxas statistics, which need not be shown."""
        if line.startswith(("ptxas info", " ")) and self._kernel(line):
            return True
        if fields := _match(line):
            self._complain(fields)
        return False

    def _complain(self, fields: Mapping[str, str | None]) -> None:
        present = {key: value[:TEXT] for key, value in fields.items() if value}
        diagnostic: dict[str, Any] = {
            "file": self._relative(present.get("file", "")),
            "line": int(present.get("line", 0)),
            "column": int(present.get("column", 0)),
            "severity": "warning" if present.get("severity", "").lower() == "warning" else "error",
            "message": present["message"].translate(_QUOTES).replace(f"{self._folder}/", "").strip(),
        }
        if other := _FIRST_DEFINED.search(diagnostic["message"]):
            message = diagnostic["message"][: other.start()]
            diagnostic["message"] = f"{message}; {self._other_definition(diagnostic['file'], other)}"
        key = tuple(diagnostic.values())
        # a header is compiled into many objects, a kernel for many architectures
        if key not in self._reported:
            self.counts[diagnostic["severity"]] += 1
            if len(self._reported) < DIAGNOSTICS:
                self._reported.add(key)
                self.diagnostics.append(diagnostic)

    def _other_definition(self, file: str, other: re.Match[str]) -> str:
        """Name the file of the other definition, and which of the two is the course's."""
        first = self._relative(other["file"] or other["object"])
        if not first:
            return "another file defines it as well"
        place = f"{first}:{other['line']}" if other["line"] else first
        course = "".join(f" ({each} is the course's)" for each in (file, first) if each in self._course_files)
        return f"{place}: first defined here{course}"

    def _relative(self, path: str) -> str:
        """Return a path as the submission names it, and none for a temporary object; others stay whole."""
        if _TEMPORARY.fullmatch(path):
            return ""
        path = _OF_NVCC.sub(r"\1.cu", path)
        whole = os.path.normpath(os.path.join(self._folder, path)) if path else ""
        return whole.removeprefix(f"{self._folder}/")

    def _kernel(self, line: str) -> bool:
        last = self.kernels[-1] if self.kernels else {}
        if entry := _ENTRY.match(line):
            if len(self.kernels) < KERNELS:
                kernel = {"kernel": entry[1][:TEXT], "architecture": entry[2]}
                zero = dict.fromkeys(("registers", "stack_bytes", "spill_bytes", "shared_bytes"), 0)
                self.kernels.append({**kernel, **zero})
        elif properties := _PROPERTIES.match(line):
            self._properties_of = properties[1][:TEXT]
        elif stack := _STACK.match(line):
            if self._properties_of == last.get("kernel"):  # and not those of a function that it calls
                last["stack_bytes"] = int(stack[1])
                last["spill_bytes"] = int(stack[2]) + int(stack[3])
        elif used := _USED.match(line):
            if last:
                shared = _SHARED.search(line)
                last["registers"] = int(used[1])
                last["shared_bytes"] = int(shared[1]) if shared else 0
        else:
            return line.startswith("ptxas info")
        return True


def _match(line: str) -> dict[str, str | None] | None:
    for form in _FORMS:
        if match := form.match(line):
            fields = match.groupdict()
            if program := fields.get("program"):  # in the words of a shell
                return {"message": f"{program}: not found"}
            if lacked := fields.get("lacked"):  # in the words of a compiler
                return {"message": f"{lacked}: No such file or directory"}
            return None if fields["message"].startswith("ld returned") else fields
    for words in _OF_LINKERS:
        before, matched_words, after = line.partition(words)
        if matched_words and before.endswith(" "):
            place = _PLACE.search(before.rstrip())
            file, number = (place[1], place[2]) if place else ("", None)
            return {"file": file, "line": number, "message": f"{words}{after}"}
    return None
