"""Products of an assignment's build, of a submission and of the reference: each built once."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from grader.contracts.build import Built, Diagnostic
from grader.contracts.call import Call
from grader.contracts.context import REFERENCE, SUBMISSION
from grader.errors import CourseError, GraderError, NotObservedError
from grader.filenames import matcher
from grader.files import files_below, holds_file, holds_files
from grader.harness.built import ENDED_WELL, read_built, take_answer
from grader.harness.diagnoses import (
    diagnose,
    lacking,
    lacking_header,
    missing_for_make,
    misspelt_program,
    renames,
    targets,
)
from grader.harness.process_pool import ProcessPool
from grader.harness.server_spec import of_tool
from grader.harness.store import Store, digest_of, folder_digest
from grader.harness.tool import run_tool
from grader.harness.toolchain import Toolchain, toolchain
from grader.model.assignment import Build, Limits
from grader.model.observation import Outcome
from grader.subject import tools

TOOL, INCLUDES = "build", "includes"
HEADERS = (".cuh", ".h", ".hh", ".hpp", ".hxx", ".inc", ".inl")
STAND_IN = "/cuda_on_cpu"
"""Where a compiler for the CPU is shown that answers to nvcc's name."""
_NOT_STARTED = re.compile(r"\b(?:status|Error) 12[67]\b")
HAND_OVER_S = 15.0
"""Copying the files before, and the products after."""


class Builds:
    """Builds what is asked for when it is asked for the first time.

    What was built lies in a cache under the digest of all that decides what comes out: files, command,
    compilers, architecture. Where a program could write there, with no wall around it, nothing is kept.
    """

    def __init__(
        self,
        build: Build,
        children: ProcessPool,
        limits: Limits,
        cache: Path,
        *,
        accepts: Collection[str] = (),
        files: Collection[str] = (),
        dropped: Collection[str] = (),
    ) -> None:
        """`limits` are those of the assignment, which `accepts` these files; a build has more room.

        `files` are what is accepted of the submission, `dropped` what is not.
        """
        self._build = build
        self._accepts = accepts
        self._files, self._dropped = files, dropped
        self._children = children
        self._cache = cache
        self._temporary: Path | None = None
        """Our folder where the cache is not to be used."""
        self._made: dict[tuple[str, str, bool], Built] = {}
        self._limits = replace(
            limits,
            memory_mb=build.memory_mb,
            file_mb=build.file_mb,
            result_mb=build.product_mb + 4,  # what was printed goes with them
        )

    def close(self) -> None:
        """Take away what is not kept."""
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)

    def of(self, whose: str, *, architecture: str = "", simulated: bool = False) -> Built:
        """Return the build of a program for this architecture (`sm_90`; empty for the compiler's default).

        With `simulated` its kernels are compiled for the CPU. A submission that cannot be built is held
        against the reference: where that cannot be built in the same place either, it is not at fault.

        Raises:
            NotObservedError: this machine lacks a program, a library or a header that the course needs.
            CourseError: the reference cannot be built, or make cannot read a Makefile of the course.
        """
        key = whose, architecture, simulated
        if key not in self._made:
            self._made[key] = self._of(*key)
        return self._made[key]

    def _of(self, whose: str, architecture: str, simulated: bool, *, anew: bool = False) -> Built:
        built = replace(
            self._built(whose, architecture, simulated, anew), architecture=architecture, simulated=simulated
        )
        if built.outcome is Outcome.OBSERVED:
            return built
        if whose != REFERENCE and self._has_reference:
            self._require_reference(built, architecture, simulated)
            return self._with_owner(built)
        folder = self._children.servers.course_files
        if folder and (mistake := misspelt_program(built.errors, self._build.programs, folder)):
            raise CourseError(mistake)
        if why := lacking(built.errors, architecture):
            raise NotObservedError(f"building needs what this machine has not: {why} ({built.errors[0]})")
        if mistake := self._of_makefile(built):
            diagnosis = diagnose(built.errors[0])
            advice = diagnosis.hint if diagnosis else "correct the file"
            raise CourseError(f"given/{mistake}; {advice}")
        if whose == REFERENCE:
            raise self._reference_failed(built)
        return built

    def _require_reference(self, built: Built, architecture: str, simulated: bool) -> None:
        """Build the reference in the same place; see `of`.

        A compiler that complains of a line of the submission works. After anything else the reference is
        built anew: an earlier one tells of another day. No reference tells of a toolkit's header that it
        does not include; of one of the course's, it is made to.
        """
        key = REFERENCE, architecture, simulated
        submitted = self._children.servers.folder(SUBMISSION)
        if any(error.line and holds_file(submitted, error.file) for error in built.errors):
            self.of(REFERENCE, architecture=architecture, simulated=simulated)
        else:
            self._made[key] = self._of(*key, anew=True)
        if why := lacking_header(built.errors):
            raise NotObservedError(f"building needs what this machine has not: {why} ({built.errors[0]})")
        self._require_targets(built, architecture, simulated)
        self._require_headers(built, architecture, simulated)

    def _with_owner(self, built: Built) -> Built:
        """Return a failed build whose note says so where its first error is in a file of the course.

        The reference is built with that file: what does not fit it is the submission's.
        """
        file, folder = built.errors[0].file if built.errors else "", self._children.servers.course_files
        sentence = f"{file} is the course's"
        if not file or folder is None or not holds_file(folder, file) or sentence in built.note:
            return built
        return replace(built, note=f"{built.note}; {sentence}")

    def _require_targets(self, built: Built, architecture: str, simulated: bool) -> None:
        """Build the reference without what make needs, where it alone has that and nobody hands it in.

        What make says of a submission may be the submission's own text, as in the name of a `#line`.

        Raises:
            CourseError: it cannot be built without them either.
        """
        given = self._children.servers.course_files
        for file in sorted(targets(built.errors)):
            is_course_file = given is not None and holds_file(given, file)
            if is_course_file or not self._accepts or not holds_file(self._reference, file):
                continue
            if matcher(self._accepts)(file):
                continue
            command, chain = self._command(architecture), self._toolchain(simulated)
            call = self._run(REFERENCE, command, chain, built.compatibility, without=(file,))
            if file in targets(read_built(take_answer(call)[0], self._build, call).errors):
                why = f"given/ has no {file}, which make needs, and nobody is asked to hand it in"
                raise CourseError(f"{why}; put it there, or name it in accepts of assignment.py")

    def _require_headers(self, built: Built, architecture: str, simulated: bool) -> None:
        """Build the reference with what the submission includes, if a header of the course was complained of.

        Nothing else of the submission is there. What is wrong with the same line then is the course's,
        unless the reference includes that header itself, which shows how it is right.
        """
        places = {(error.file, error.line) for error in self._in_headers(built)}
        if not places:
            return
        with self._children.program(of_tool(INCLUDES)) as child:
            includes = run_tool(child, INCLUDES, (child.course_files or "",))

        def tried(before: Mapping[str, str]) -> Built:
            command, chain = self._command(architecture), self._toolchain(simulated)
            call = self._run(REFERENCE, command, chain, built.compatibility, before)
            return read_built(take_answer(call)[0], self._build, call)

        if includes.outcome is not Outcome.OBSERVED:  # files that nobody can read
            return
        for error in self._in_headers(tried(includes.value)):
            if (error.file, error.line) in places:
                without = tried({error.file: "#error is included\n"})
                if without.outcome is Outcome.OBSERVED:
                    line = f"given/{error}; the reference cannot be built with this header either"
                    raise CourseError(f"{line}; correct it, or include there what it needs")
                return

    def _in_headers(self, built: Built) -> list[Diagnostic]:
        """Return the errors in headers of `given/`."""
        folder = self._children.servers.course_files
        if folder is None:
            return []
        errors = (error for error in built.errors if error.line and error.file.endswith(HEADERS))
        return [error for error in errors if holds_file(folder, error.file)]

    def _reference_failed(self, built: Built) -> GraderError:
        """Return the error of a reference that cannot be built: the machine's, or the course's with a place.

        A shell ends with 127 for a program that it does not find, and with 126 for one that it cannot start.
        """
        if not built.errors and _NOT_STARTED.search(built.output):
            return NotObservedError(
                f"the reference cannot be built here either: {built.note}; install what its build starts",
                output=built.output,
            )
        folders = (("given", self._children.servers.course_files), (REFERENCE, self._reference))
        for error in built.errors:
            for name, folder in folders:
                if error.line and folder is not None and holds_file(folder, error.file):
                    line = f"{name}/{error}; the reference cannot be built, and so nobody's build is judged"
                    return CourseError(f"{line}; correct the file", output=built.output)
        if why := missing_for_make(built.errors, self._build.command):
            return CourseError(why, output=built.output)
        is_located = any(error.line for error in built.errors)
        places = "or given/" if is_located else "given/, or command in assignment.py"
        if ENDED_WELL in built.note:
            places = "given/ or products in assignment.py"
        if built.outcome is not Outcome.NOT_BUILT:  # it met a limit
            places = "given/, or memory_mb or wall_s of the build in assignment.py"
        return CourseError(
            f"reference: cannot be built: {built.note}; correct it, {places}", output=built.output
        )

    @property
    def _reference(self) -> Path:
        return self._children.servers.folder(REFERENCE)

    @cached_property
    def _has_reference(self) -> bool:
        return holds_files(self._reference)

    def _built(self, whose: str, architecture: str, simulated: bool, anew: bool) -> Built:
        """Build as it is or, where that could help, with the header of old names."""
        chain = self._toolchain(simulated)
        command = self._command(architecture)

        def make(*, compatibility: bool) -> Built:
            return self._from_store(whose, command, chain, simulated, compatibility, anew)

        built = make(compatibility=False)
        if built.outcome is Outcome.NOT_BUILT and renames(built.errors):
            again = make(compatibility=True)
            if again.folder:
                return replace(again, diagnostics=built.diagnostics)
            if lacking(again.errors, architecture):
                return again
        return built

    def _command(self, architecture: str) -> list[str]:
        """Return the command for this architecture."""
        return [
            word.replace("{arch}", architecture)
            for word in self._build.command
            if architecture or "{arch}" not in word
        ]

    def _of_makefile(self, built: Built) -> str:
        """Return make's complaint about a file of `given/` that it cannot read: nothing was compiled then."""
        folder = self._children.servers.course_files
        if folder is None or len(built.errors) != 1:
            return ""
        (error,) = built.errors
        unreadable = error.line and error.message.endswith("Stop.") and holds_file(folder, error.file)
        return str(error).removesuffix("Stop.").rstrip(" .") if unreadable else ""

    def _from_store(
        self,
        whose: str,
        command: list[str],
        chain: Toolchain,
        simulated: bool,
        compatibility: bool,
        anew: bool,
    ) -> Built:
        servers = self._children.servers
        digest = digest_of(
            folder_digest(servers.folder(whose)),
            folder_digest(servers.course_files) if servers.course_files else "",
            folder_digest(Path(tools.__file__).parent),
            [command, self._build.products, dict(chain.versions), simulated, compatibility],
            "products are executable",  # those of a cache before were not
        )
        store = Store(self._folder())
        entry = None if anew else store.find(digest)
        if entry is None:
            call = self._run(whose, command, chain, compatibility)
            answer, products = take_answer(call)
            if set(products) != set(self._build.products):
                files, dropped = (self._files, self._dropped) if whose == SUBMISSION else ((), ())
                beside = files_below(servers.course_files) if servers.course_files else ()
                return read_built(
                    answer, self._build, call, files=files, dropped=dropped, course_files=beside
                )
            entry = store.keep(digest, {**answer, "wall_s": call.wall_s}, products)
        return replace(
            read_built(entry.facts, self._build),
            folder=str(entry.folder),
            mounts=() if simulated else chain.mounts,
            versions=chain.versions,
            compatibility=compatibility,
        )

    def _run(
        self,
        whose: str,
        command: list[str],
        chain: Toolchain,
        compatibility: bool,
        before: Mapping[str, str] | None = None,
        without: Sequence[str] = (),
    ) -> Call:
        """Run the command, with texts `before` files, and `without` others."""
        setup = replace(of_tool(TOOL), mounts=chain.mounts, environment=chain.environment)
        with self._children.program(setup, whose, self._limits) as child:
            order = {
                "given": child.course_files or "",
                "command": command,
                "products": list(self._build.products),
                "within_s": self._build.wall_s,
                "output_bytes": self._limits.output_kb * 1024,
                "product_bytes": self._build.product_mb * 2**20,
                "compatibility": compatibility,
                "before": dict(before or {}),
                "without": list(without),
            }
            return run_tool(child, TOOL, (order,), self._build.wall_s + HAND_OVER_S)

    def _folder(self) -> Path:
        """Where products are kept."""
        if self._children.servers.lends_devices and self._usable:
            return self._cache
        if self._temporary is None:
            self._temporary = Path(tempfile.mkdtemp(prefix="grader-built-"))
            self._temporary.chmod(0o755)
        return self._temporary

    @cached_property
    def _usable(self) -> bool:
        """Whether the cache can be written."""
        with suppress(OSError):
            self._cache.mkdir(parents=True, exist_ok=True)
            return os.access(self._cache, os.W_OK | os.X_OK)
        return False

    def _toolchain(self, simulated: bool) -> Toolchain:
        programs = self._build.programs
        if not simulated:
            return toolchain(programs)
        host = toolchain(tuple(dict.fromkeys((*(name for name in programs if name != "nvcc"), "g++"))))
        entry = Store(self._folder()).stand_in(self._children.servers.python)
        chain = host.behind(str(entry.folder), STAND_IN)
        named = f"a stand-in for the CPU, {entry.facts['name']}"
        return replace(chain, versions={**host.versions, "nvcc": named})
