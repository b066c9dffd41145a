"""Errors that a person can fix, and their exit codes."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from grader.text import one_line


class ExitCode(IntEnum):
    """Exit codes of `grader`; several archives end with the worst, in the order of `SEVERITY`."""

    GRADED = 0
    USAGE = 2
    BUG = 3
    COURSE = 4
    NOT_OBSERVED = 5
    NOT_ACCEPTED = 6


SEVERITY = (
    ExitCode.BUG,
    ExitCode.USAGE,
    ExitCode.COURSE,
    ExitCode.NOT_OBSERVED,
    ExitCode.NOT_ACCEPTED,
    ExitCode.GRADED,
)


def worst(codes: Iterable[ExitCode]) -> ExitCode:
    """Return the code that a run over several archives ends with; GRADED for none."""
    return min(codes, key=SEVERITY.index, default=ExitCode.GRADED)


class GraderError(Exception):
    """Something a person can fix: shown as one line per problem, without a traceback.

    Each line says where, what is wrong and what to do; each is made safe to show, whatever it quotes.
    """

    exit_code = ExitCode.BUG

    def __init__(self, *problems: str, output: str = "") -> None:
        """`output` is what the failed program printed, for staff to read beside the problem."""
        self.problems = tuple(map(one_line, problems))
        self.output = output
        super().__init__("\n".join(self.problems))


class UsageError(GraderError):
    """The command was called with wrong arguments."""

    exit_code = ExitCode.USAGE


class NamelessError(UsageError):
    """The name of an upload does not say who sent it; `--student` does, or another name."""


class CourseError(GraderError):
    """Files of the course (rubric, course.yaml, assignment, plugin) are wrong: for course staff."""

    exit_code = ExitCode.COURSE


class ReferenceFailedError(CourseError):
    """The reference failed in a measurement: the course's fault, unless it works without the submission."""


class UnimportableError(CourseError):
    """A file of the course imports a module that is not found: the machine's fault if it is not installed."""

    def __init__(self, where: str, module: str, problem: str) -> None:
        """`where` is the place of the import, `problem` the line if it is the course's fault."""
        super().__init__(f"{where}: {problem}")
        self.where = where
        self.module = module


class UnjudgedError(CourseError):
    """An oracle failed on what a submission chose: the submission's doing if it can judge the reference."""


class NotObservedError(GraderError):
    """The machine or the grader could not observe: for whoever runs the grader, never a zero."""

    exit_code = ExitCode.NOT_OBSERVED


class PackageError(NotObservedError):
    """A package that the course imports is not installed here, or cannot be imported."""


class NeedsGpuError(NotObservedError):
    """A file asks for a GPU when it is imported, and its item has none: it is observed again where one is."""


class OutdatedError(NotObservedError):
    """Evidence of a run that began before the one whose grade is current; it is in the history alone."""

    def __init__(self, *problems: str, same_files: bool = False) -> None:
        """`same_files` tells whether the run whose grade is current is of the same files."""
        self.same_files = same_files
        super().__init__(*problems)


class NotRecordedError(NotObservedError):
    """The gradebook could not take a grade; the submission is graded, and its results are written."""


class RootError(NotObservedError):
    """The machine has no user but root for a student's program."""


class SubmissionError(GraderError):
    """The submission was not accepted: for the student."""

    exit_code = ExitCode.NOT_ACCEPTED
