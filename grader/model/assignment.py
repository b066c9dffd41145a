"""The assignment: accepted files, and what they need to run; no points."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

_UNITS = {"s": " of seconds", "mb": " of MiB", "kb": " of KiB", "processes": "", "cores": ""}
"""Units of limits by the last part of their names."""
_LEAST: Mapping[str, float] = {"import_wall_s": 0.1, "call_wall_s": 0.05, "memory_mb": 64}
"""Less than these no program gets by with: Python and numpy alone take 50 MiB and 0.1 s."""
_LEAST_OF_BUILD: Mapping[str, float] = {"wall_s": 0.5, "memory_mb": 128}
"""Nor a build: g++ takes about 100 MiB for a file that includes a header of the standard library."""
_MOST: Mapping[str, float] = {
    **dict.fromkeys(("import_wall_s", "call_wall_s", "wall_s"), 86_400.0),
    "cores": 1024,
    **dict.fromkeys(("memory_mb", "gpu_memory_mb", "file_mb", "result_mb", "product_mb"), 4 * 2**20),
}
"""More than these no machine has (a day, 1024 cores, and 4 TiB): a number in another unit, likely."""
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_SET_ALREADY = frozenset(
    {"CUDA_VISIBLE_DEVICES", "HOME", "LANG", "LD_LIBRARY_PATH", "PATH", "TMPDIR", "USER"}
)
"""Variables that every program has, or that say where it finds its libraries."""
_BETWEEN = re.compile(r"[,;]?\s+")
"""What parts names that are written as one text."""
_BRACED = re.compile(r"(?<!\$)\{\w+\}")
"""A word in braces, unless a shell reads it."""
_OPTIONS = re.compile(r"-\w+(?:\s+-\w+)+")
"""Several options in one text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits beyond which a student's program is ended; each holds per check child.

    Numbers that fit no program are refused: calls of less than 0.05 s, memory below 64 MiB or above 4 TiB.
    """

    import_wall_s: float = 20.0
    """Seconds that importing the student's file may take; counted as those of a call."""
    call_wall_s: float = 10.0
    """Seconds that one call may take, of its own time: what other processes kept it waiting for a core is not
    counted, so that by the clock it may take longer on a busy machine."""
    memory_mb: int = 2048
    """Memory of all its processes together, page tables, sockets and pipes included, inputs and results
    apart, in MiB; also the data of each (RLIMIT_DATA). What modules hold counts, preloaded or not: of 256 MiB
    numpy left 204 for a program's arrays, and torch 78."""
    reserve_mb: int = 0
    """Memory that each process may reserve beyond `memory_mb` without using it, in MiB: sanitizers of C and
    C++ reserve their tables so, up to 40_000_000. With it no allocation fails at `memory_mb`; what is used is
    held against that as before."""
    processes: int = 256
    """Processes at once, threads counted with them (RLIMIT_NPROC)."""
    file_mb: int = 64
    """The largest file that may be written, in MiB; `/tmp` and `/dev/shm` hold four of them each."""
    output_kb: int = 64
    """Printed output to store, head and tail together, in KiB."""
    gpu_memory_mb: int = 16384
    """Memory of its GPUs that may be taken after a call, in MiB."""
    result_mb: int = 64
    """The largest result of one call, in MiB."""
    cores: int = 1
    """Threads that numerical libraries are told to use; what is timed has as many cores for itself."""

    def __post_init__(self) -> None:
        """Refuse what is no positive number, or fits no program.

        Raises:
            ValueError: the field and what is wrong with it.
        """
        _require_amounts(self, _LEAST, "program")


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """The build of a submission under the course's files, to products that its Python side loads."""

    command: tuple[str, ...]
    """The command in the top folder of a copy, such as `make ARCH={arch}`. `{arch}` is the architecture of
    the GPU (`sm_90`); a word that holds it is left out where no GPU is known."""
    products: tuple[str, ...]
    """The files that this makes, relative to the top folder; links are refused."""
    variable: str
    """Names the folder in which programs find the products, each under its own path."""
    programs: tuple[str, ...] = ("make", "nvcc", "g++")
    """Programs that must be installed: if one is missing, the item stays open."""
    wall_s: float = 300.0
    """Seconds that the command may take."""
    memory_mb: int = 8192
    """Memory of all its processes together, files that it writes included, in MiB."""
    file_mb: int = 512
    """The largest file that it may write, in MiB."""
    product_mb: int = 64
    """The products together, in MiB."""

    def __post_init__(self) -> None:
        """Refuse an empty command, products outside of the folder, and limits that are no positive numbers.

        Raises:
            ValueError: the field and what is wrong with it.
        """
        for name in ("command", "products", "programs"):
            _require_names(f"build: {name}", getattr(self, name))
        _require_amounts(self, _LEAST_OF_BUILD, "build")
        if not self.command or not self.products or not self.variable:
            raise ValueError("build: give a command, what it makes, and the variable that names the folder")
        if not _VARIABLE.fullmatch(self.variable) or self.variable in _SET_ALREADY:
            raise ValueError(
                f"build: variable: {self.variable!r} is no name of a variable that is free; "
                "write one of capital letters, digits and _, such as LIBRARY"
            )
        for name, programs in (("command", self.command[:1]), ("programs", self.programs)):
            _require_single_words(name, getattr(self, name), programs)
        for word in self.command:
            if (typed := _BRACED.search(word)) and typed[0] != "{arch}":
                raise ValueError(f"build: command: {word}: only {{arch}} is filled in; write that")
        for path in self.products:
            if path.startswith("/") or ".." in path.split("/"):
                raise ValueError(f"build: products: {path}: must lie below the submission's top folder")


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """One homework, as its `assignment.py` declares it."""

    name: str
    """The name of its folder below `assignments/`."""
    title: str
    """The title for people."""
    accepts: tuple[str, ...]
    """Patterns (`*` and `?`) of files that belong to a submission, relative to its top folder."""
    preloads: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Modules that are imported before a file of the submission, by the name of that file's module."""
    requires: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Files of the submission without which a file of the course cannot work, by the name of its module, such
    as `{"driver": ("utils.py",)}`. Left out, those that it imports where it begins. A file of the submission
    that is called itself need not be named."""
    limits: Limits = field(default_factory=Limits)
    """Limits of a check; see there."""
    build: Build | None = None
    """The build, if the assignment has one; see there."""
    gpu_kinds: tuple[str, ...] = ()
    """Kinds of GPU that it may be measured on, as parts of names, such as `("H200", "H100")`; empty for any.
    What was observed on another kind is observed again."""
    team_at_most: int = 0
    """How many students may hand in together; 0 for any number."""

    def __post_init__(self) -> None:
        """Refuse values of another type, above all a text where a tuple of names belongs.

        Raises:
            ValueError: the field and what is wrong with it.
        """
        if not isinstance(self.name, str) or not self.name:
            raise ValueError(f"name: must be the name of the assignment's folder, got {self.name!r}")
        if not isinstance(self.title, str):
            raise ValueError(f"title: must be a text, got {self.title!r}")  # noqa: TRY004 - the course's
        _require_names("accepts", self.accepts)
        _require_names("gpu_kinds", self.gpu_kinds)
        if not self.accepts:
            raise ValueError('accepts: names no file; give at least one, as in ("work.py",)')
        for name in ("preloads", "requires"):
            value = getattr(self, name)
            if not isinstance(value, Mapping):
                raise ValueError(  # noqa: TRY004 - a value of the course's
                    f'{name}: must be a dict, as in {{"work": ("numpy",)}}, got {value!r}'
                )
            for module, names in value.items():
                _require_names(f"{name}[{module!r}]", names)
        if type(self.team_at_most) is not int or self.team_at_most < 0:
            raise ValueError(f"team_at_most: must be 0 or a number of students, got {self.team_at_most!r}")
        for name, kind in (("limits", Limits), ("build", Build)):
            value = getattr(self, name)
            if not isinstance(value, kind) and not (value is None and kind is Build):
                raise ValueError(f"{name}: must be a {kind.__name__}(…), got {value!r}")


def _require_amounts(of: Limits | Build, least: Mapping[str, float], what: str) -> None:
    """Raise ValueError for a limit that is no positive number, or too little or too much for any `what`.

    0 is right where that is the default.
    """
    where = type(of).__name__.lower()
    for limit in fields(of):
        value = getattr(of, limit.name)
        whole = limit.type == "int"
        if limit.type not in ("int", "float"):
            continue
        if (
            isinstance(value, bool)
            or not isinstance(value, int if whole else int | float)
            or not (value > 0 or value == limit.default == 0)
        ):
            kind, unit = "a whole number" if whole else "a number", _UNITS[limit.name.rpartition("_")[2]]
            raise ValueError(f"{where}: {limit.name}: must be {kind}{unit} above 0, got {value!r}")
        lower, upper = least.get(limit.name, value), _MOST.get(limit.name, value)
        if not lower <= value <= upper:
            side, bound = ("little", lower) if value < lower else ("much", upper)
            message = (
                f"{where}: {limit.name}: {value:,} is too {side} for any {what} (the bound is {bound:,})"
            )
            raise ValueError(f"{message}; mind the unit, which the name ends with")


def _require_single_words(name: str, words: Sequence[str], programs: Sequence[str]) -> None:
    """Raise ValueError for a program of a build, without its path, or options, in one text with others."""
    for word in words:
        parts = word.split()
        is_program = word in programs and "/" not in word
        if len(parts) > 1 and (is_program or _OPTIONS.fullmatch(word)):
            written = tuple(part for other in words for part in (parts if other == word else [other]))
            raise ValueError(f"build: {name}: {word!r} are several words; write {written!r}")


class SingleTextError(ValueError):
    """A text where a tuple of texts belongs."""

    def __init__(self, field: str, text: str) -> None:
        """`text` is the value of the field."""
        self.text = text
        self._mistake = f"{field}: must be a tuple of texts, got the text {text!r}"
        super().__init__(f"{self._mistake}; write {tuple(_BETWEEN.split(text.strip()))!r}")

    def with_parts(self, parts: Sequence[str]) -> str:
        """Return the mistake and what to write, for the texts without a comma between that Python joined."""
        return f"{self._mistake}, for no comma stands between its parts; write {tuple(parts)!r}"


def _require_names(field: str, value: Any) -> None:
    if isinstance(value, str):
        raise SingleTextError(field, value)
    if not isinstance(value, tuple | list) or not all(isinstance(name, str) for name in value):
        raise ValueError(f"{field}: must be a tuple of texts, got {value!r}")
