"""The outcome of building a submission, with what compilers and linker complained of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from grader.model.observation import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """One complaint."""

    message: str
    severity: str = "error"
    """`error` or `warning`."""
    file: str = ""
    """Relative to the submission; what lies outside of it has its full path."""
    line: int = 0
    column: int = 0
    """0 for unknown, as with the line."""
    source: str = ""
    """The line of source."""

    @property
    def place(self) -> str:
        """`src/gpu_op.cu:12:5`; empty for none."""
        return ":".join(filter(None, (self.file, *(str(n) for n in (self.line, self.column) if n))))

    def __str__(self) -> str:
        """`src/gpu_op.cu:12:5: identifier "x" is undefined`."""
        return f"{self.place}: {self.message}" if self.place else self.message


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """The outcome of a build, its diagnostics, and where the products lie."""

    outcome: Outcome
    """`observed` if all products are there."""
    note: str = ""
    """Why they are not: one sentence, with the place where the compiler stumbled first."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """Complaints of compilers and linker; of the build without the header, if it needed one."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """How many errors and warnings there were, those included that are not kept."""
    kernels: tuple[Mapping[str, Any], ...] = ()
    """Registers, stack, spills and static shared memory of each; see `grader.subject.tools.diagnostics`."""
    python_2: tuple[Mapping[str, Any], ...] = ()
    """Files of the submission that were written for Python 2: `file`, `line`, `message`."""
    silenced: tuple[str, ...] = ()
    """Places of the submission, `file:line`, at which it has a compiler leave warnings out."""
    replaced: tuple[str, ...] = ()
    """Files that were handed in, and that the course's own of other content took the place of."""
    course_files: tuple[str, ...] = ()
    """Files of the course that lay beside what was handed in; noted where it was not built."""
    output: str = ""
    """Printed text, head and tail."""
    wall_s: float = 0.0
    """How long it took when it was built."""
    sizes: Mapping[str, int] = field(default_factory=dict)
    """Bytes of each product."""
    architecture: str = ""
    """For which; empty for the compiler's default."""
    simulated: bool = False
    """Whether its kernels run on the CPU."""
    compatibility: bool = False
    """Whether it took a header that gives back names which CUDA no longer has."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """The `--version` line of each program, by name."""
    variable: str = ""
    folder: str = ""
    """Where the products lie, outside; empty if there are none."""
    mounts: tuple[tuple[str, str], ...] = ()
    """Further folders for programs that load the products: the path inside and the one outside."""

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """Complaints that are errors."""
        return tuple(entry for entry in self.diagnostics if entry.severity == "error")
