"""Explanations of failed calls and imports: the student's line, and what the program lacked there."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from grader.contracts.call import Call
from grader.errors import NotObservedError
from grader.files import holds_file
from grader.harness.answer import EXACT_NAME
from grader.harness.device_errors import asks_for_gpu
from grader.harness.driver_calls import (
    asks_for_file,
    asks_for_module,
    asks_for_name,
    calls_of_students,
    functions_in,
    statement_at,
    students_files,
)
from grader.harness.missing import (
    file_advice,
    lacked_file,
    lacked_module,
    lacked_module_file,
    lacked_name,
    module_advice,
    require_accepted,
    undefined,
)
from grader.harness.tracebacks import course_line, students_place
from grader.model.job import Job
from grader.model.observation import Outcome
from grader.subject.tools.diagnostics import COMPILED

WITHOUT_A_LINE = frozenset({Outcome.TIMED_OUT, Outcome.CRASHED, Outcome.OUT_OF_MEMORY})
"""Ends that may come without a line of the student's."""
_LACKS_NAME = re.compile(
    r"AttributeError: module '([\w.]{1,80})' has|ImportError: cannot import .* from '([\w.]{1,80})'"
)
_OTHER_ARGUMENTS = re.compile(r"\bTypeError: (?:\w+\.)*(\w+)\(\) (?:missing|takes|got) ")
_NO_FUNCTION = "there is no function "
MOST_CALLS = 3
"""Functions of the student's that are named of one that calls them."""
MOST_FILES = 3
"""Files of the submission that are named of those which one of the course imports."""
EMPTY_AT_MOST = 4096
"""Bytes of a file in which a first word stands, if it has any."""
_WALLS = (
    (re.compile(r"\bEOFError: EOF when reading a line\b"), "nobody types anything where it is graded"),
    (re.compile(r"\bBdbQuit\b"), "a breakpoint was left in it, and nobody debugs it where it is graded"),
    (
        re.compile(r"\bTorch not compiled with CUDA|\bFound no NVIDIA driver"),
        "there is no GPU where it is graded",
    ),
    (re.compile(r"\bRead-only file system\b"), "only below /tmp may it write"),
    (
        re.compile(r"\bname resolution\b|\bName or service not known\b|\[Errno 101\] Network is unr"),
        "there is no network where it is graded",
    ),
)
"""What a program meets where it is graded, and nowhere else, with a sentence on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanations:
    """Explains what failed in the submission of a job."""

    job: Job
    tool: Callable[..., Call]
    """Runs one of our tools over the submission's files; see `ItemContext.tool_once`."""
    withheld: bool = False
    """Whether the item gets none of the machine's GPUs."""

    def explained(self, module: str, function: str, call: Call) -> Call:
        """Return a call that failed, or an import if there is no function, with what explains it in its note.

        What the course's code asks for, and the submission lacks, is the whole note: the same in all items.

        Raises:
            CourseError: the course's code imports a file that only the reference has, and nobody hands in.
        """
        if course_line(self._given, call.traceback) and (lacks := self._asked_in_vain(call)):
            return lacks
        note = call.note if function else self._of_students_file(module, call)
        return replace(call, note=f"{note}{self.of(module, function, call)}")

    def _asked_in_vain(self, call: Call) -> Call | None:
        """Return a call that names what the course's code lacks; None if it lacks nothing.

        The program's process wrote down the traceback and the note, and may have forged both. They are
        believed where the text of the course's files asks for the same, and the submission has no such file.

        Raises:
            CourseError: nobody can hand in what it lacks.
        """
        files = self.job.submission.files
        if module := lacked_module(call.note):
            if not asks_for_module(self._given, module):
                return None
            file = lacked_module_file(call.note)
            if file not in files and holds_file(Path(self.job.assignment_folder, "reference"), file):
                require_accepted(file, self.job.accepts)
        file = lacked_file(call.note, self.job.accepts, patterns=True)
        is_there = not file or file in files or holds_file(self._given, file)
        if not is_there and (module or asks_for_file(self._given, file)):
            return replace(call, note=f"{file} was not handed in", missing_file=file)
        module, name = lacked_name(call.note)
        if name and asks_for_name(self._given, module, name) and (why := self._undefined(module, name)):
            return replace(call, note=why, missing_name=f"{module}.{name}")
        return None

    def _undefined(self, module: str, name: str) -> str:
        """Say that a file of the submission defines no such name; empty if it may, or is no such file."""
        file = f"{module.replace('.', '/')}.py"
        if file not in self.job.submission.files or holds_file(self._given, file):
            return ""
        if self._is_empty(file):
            return f"{file} is empty"
        with suppress(NotObservedError):
            call = self.tool("source", file, name)
            if call.outcome is Outcome.OBSERVED and name not in (names := call.value.get("names", [name])):
                asked_for = functions_in(Path(self.job.assignment_folder), module)
                return undefined(file, name, [n for n in names if "." not in n and n not in asked_for])
        return ""

    def _of_students_file(self, module: str, imported: Call) -> str:
        """Return the note on a failed import, where the course's file was imported by that of the student's.

        A program that ended without a traceback may have done so in any of those that it imports.
        """
        file = f"{module.replace('.', '/')}.py"
        importing = f"importing {file}: "
        if not imported.note.startswith(importing) or not holds_file(self._given, file):
            return imported.note
        files = (self._imported_by(module) or self._compiled_for(module))[:MOST_FILES]
        if files and imported.traceback:
            verb = "imports" if all(each.endswith(".py") for each in files) else "needs"
            return f"{imported.note}; {file} is the course's, and {verb} your {', '.join(files)}"
        if not files:
            return imported.note
        note = f"importing {' or '.join(files)}: {imported.note.removeprefix(importing)}"
        are_libraries = imported.outcome in WITHOUT_A_LINE and not any(f.endswith(".py") for f in files)
        return f"{note}; {file} loads it, which initializes its static variables" if are_libraries else note

    def _imported_by(self, module: str) -> tuple[str, ...]:
        """Return the submission's files that a module of the course imports, or else needs."""
        files = self.job.submission.files
        needed = (file for file in self.job.requires.get(module, ()) if file in files)
        return students_files(self._given, module, files) or tuple(needed)

    def _compiled_for(self, module: str) -> tuple[str, ...]:
        """Return the sources of the library that a file of the course finds by the variable of the build."""
        with suppress(OSError):
            text = (self._given / f"{module}.py").read_text(errors="replace")
            if self.job.build and self.job.build.variable in text:
                return tuple(file for file in self.job.submission.files if file.endswith(COMPILED))
        return ()

    def of(self, module: str, function: str, call: Call) -> str:
        """Say where in the student's files a call failed, and why; without a function, an import."""
        why = module_advice(call.note, self.job.submission, self.job.accepts) or (
            self._of_call(module, function, call) if function else self._of_import(module, call)
        )
        why = why or self._of_input(module, call)
        return f"{self.line(call)}{why or (self._of_course(module, function, call) if function else '')}"

    def line(self, call: Call) -> str:
        """Return ` (utils.py:31, in helper())` of an exception whose note does not say it yet."""
        place = students_place(call.traceback, self.job.submission.files, self._given)
        is_named = place and re.search(rf"{re.escape(place.partition(',')[0])}\b", call.note)
        return f" ({place})" if place and not is_named else ""

    @property
    def _given(self) -> Path:
        return Path(self.job.assignment_folder, "given")

    def _of_input(self, module: str, call: Call) -> str:
        """Explain what a program lacks: a file, a line that nobody types, a name in an empty file."""
        for pattern, why in _WALLS:
            if pattern.search(call.note):
                return f"; {why}"
        lacks = _LACKS_NAME.search(call.note)
        named = (lacks[1] or lacks[2]) if lacks else module if _NO_FUNCTION in call.note else ""
        if named and self._is_empty(f"{named.replace('.', '/')}.py"):
            return f"; {named.replace('.', '/')}.py is empty"
        return file_advice(call.note, self.job.submission)

    def _is_empty(self, file: str) -> bool:
        """Tell whether a file of the submission holds nothing but space."""
        if file not in self.job.submission.files:
            return False
        with suppress(OSError), Path(self.job.workspace, file).open("rb") as content:
            return not content.read(EMPTY_AT_MOST).strip()
        return False

    def _of_call(self, module: str, function: str, call: Call) -> str:
        """Name the student's functions that a driver's function calls, where no traceback does."""
        if call.traceback or call.outcome not in WITHOUT_A_LINE:
            return ""
        return self._calls_in_driver(module, function)

    def _calls_in_driver(self, module: str, function: str) -> str:
        """Name the student's functions that a driver's function calls; empty for none."""
        used = self._called_by_driver(module, function)
        names = ", ".join(f"{name}()" for name in used[:MOST_CALLS])
        return f"; {function}() is the course's, and calls your {names}" if used else ""

    def _called_by_driver(self, module: str, function: str) -> tuple[str, ...]:
        """Return the student's functions that a driver's function calls."""
        driver = self._given / f"{module.replace('.', '/')}.py"
        files = (PurePosixPath(file) for file in self.job.submission.files)
        modules = {".".join(file.with_suffix("").parts) for file in files if file.suffix == ".py"}
        variable = self.job.build.variable if self.job.build else ""
        return calls_of_students(driver, function, modules, variable)

    def _of_course(self, module: str, function: str, call: Call) -> str:
        """Name the driver's line at which a call failed that has no line of the student's, and what it calls.

        The frames are the program's word: which line is shown depends on them, and nothing else does.
        """
        raised_at = course_line(self._given, call.traceback)
        if (
            raised_at is None
            or EXACT_NAME in call.note
            or students_place(call.traceback, self.job.submission.files, self._given)
        ):
            return ""
        file, line = raised_at
        calls = self._calls_in_driver(module, function)
        statement = "" if "AssertionError" in call.note else statement_at(self._given / file, line)
        place = f"given/{file}:{line}: {statement}" if statement else ""
        if theirs := self._wrong_arguments(module, function, call.note):
            return f"; that is your {theirs}(), as the course calls it{place and f': {place}'}"
        if calls:
            return f"{calls}; {place}" if place else calls
        return f"; {self._whose(function)}: {place}" if place else ""

    def _whose(self, function: str) -> str:
        """Say that a function is the course's, or a program, with the student's files that its text names."""
        if not holds_file(self._given, function):
            return f"{function}() is the course's"
        text = (self._given / function).read_text(errors="replace")
        files = self.job.submission.files
        read = [file for file in files if re.search(rf"['\"/]{re.escape(file)}\b", text)][:MOST_FILES]
        return f"{function} is the course's" + (f", and names your {', '.join(read)}" if read else "")

    def _wrong_arguments(self, module: str, function: str, note: str) -> str:
        """Return the student's function that a driver's function called with other arguments than it takes.

        It may be called as that of the driver, which is named in front.
        """
        called = _OTHER_ARGUMENTS.search(note)
        if called is None:
            return ""
        used = self._called_by_driver(module, function)
        return next((name for name in used if name.rpartition(".")[2] == called[1]), "")

    def _of_import(self, module: str, imported: Call) -> str:
        """Explain a failed import by work that takes too long, or by a GPU that it does not get; or not."""
        if imported.outcome is not Outcome.TIMED_OUT:
            if self.withheld and asks_for_gpu(imported.note):
                return "; this item is timed without a GPU: ask for one in the functions that need it"
            return ""
        needed = self._imported_by(module) or (f"{module}.py",)
        python = [file for file in self.job.submission.files if file.endswith(".py")]
        with suppress(NotObservedError):
            call = self.tool("at_import", tuple(sorted(python, key=lambda file: file not in needed)))
            if call.outcome is Outcome.OBSERVED and call.value:
                line: dict[str, Any] = call.value
                return (
                    f"; {line['file']}:{line['line']} runs when the file is imported ({line['source']}): "
                    'put it, and what belongs to it, below if __name__ == "__main__":'
                )
        return ""
