"""Causes of compilers' complaints: mistakes that many submissions have, and faults of the machine."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.contracts.build import Diagnostic
from grader.harness.answer import OF_OPENMP, WITHOUT_OPENMP
from grader.harness.missing import definition_advice, source_advice
from grader.installed import nearest
from grader.subject.tools.cuda_renames import RENAMED
from grader.subject.tools.diagnostics import COMPILED


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """The cause of a complaint."""

    name: str
    """A word for it, such as `removed_api`."""
    hint: str
    """One sentence on what to do."""


OBJECTS = ("o", "obj", "lo", "d", "a", "so", "ptx", "cubin", "fatbin")
"""Endings of what compilers make, without the dot: nobody hands in such files."""
LACKED_FILE = "missing_file"
"""The diagnosis of a complaint of a file that is not there."""
MISSING_PROGRAM = "missing_program"
"""The diagnosis of a shell's complaint of a program that it does not find."""
_NOT_FOUND = r"([\w./+-]+): (?:command )?not found"
"""A shell's or make's complaint about a program."""
_KNOWN: tuple[tuple[str, str, str | Callable[[str], str]], ...] = (
    (
        "removed_api",
        r'identifier "(cudaThread\w+)" is undefined|\'(cudaThread\w+)\' was not declared',
        lambda name: f"CUDA 13 has no {name}; {RENAMED.get(name, 'cudaDevice…')} does the same",
    ),
    (
        "removed_api",
        r'class "cudaDeviceProp" has no member "(\w+)"',
        "CUDA 13 took {} out of cudaDeviceProp; cudaDeviceGetAttribute tells such things",
    ),
    (
        "removed_api",
        r'identifier "(__(?:shfl(?:_up|_down|_xor)?|any|all|ballot))" is undefined',
        "{0} is gone; {0}_sync takes the mask of the threads that take part",
    ),
    (
        "removed_api",
        r"(texture) is not a template",
        "CUDA 12 took texture references away; read through a texture object, or plainly",
    ),
    (
        "unknown_architecture",
        r"Unsupported gpu architecture '([^']+)'|Value '([^']+)' is not defined for option '?gpu-arch",
        "this nvcc does not compile for {}; leave the architecture to the course",
    ),
    (
        "too_much_shared_memory",
        r"Entry function '(\w+)' uses too much shared data",
        "the arrays that a kernel declares __shared__ may have 48 KiB together",
    ),
    (
        LACKED_FILE,
        rf"No rule to make target '([^']+\.(?:{'|'.join(OBJECTS)}))'",
        "what {} is made from was not handed in, or lies in another folder; names must be exact",
    ),
    (
        LACKED_FILE,
        r"No rule to make target '([^']+)|no (makefile) found",
        "{} was not handed in, or lies in another folder; names must be exact",
    ),
    (
        LACKED_FILE,
        r"^([\w./+-]+): No such file or directory|cannot open source file \"([^\"]+)\"|'(.+)' file not found",
        "{} is neither handed in nor one of the course's files",
    ),
    (
        MISSING_PROGRAM,
        rf"^{_NOT_FOUND}",
        "{} is not installed where this is graded",
    ),
    (
        "encoding",
        r"stray '(\\37[67])' in program|(source file is not valid UTF-8)",
        "the file is stored as UTF-16, or in another encoding than UTF-8; save it as UTF-8",
    ),
    (
        "missing_tab",
        r"(missing separator)",
        "a command in a Makefile begins with a tab, not with spaces; write the tab",
    ),
    (
        "no_main",
        r"undefined reference to '(main)'",
        "the program has no function {}, with which it begins; one of its files must define it (a library is "
        "linked with -shared)",
    ),
    ("no_openmp", rf"undefined reference to '({OF_OPENMP.pattern})'", WITHOUT_OPENMP),
    (
        "undefined_reference",
        r"undefined reference to '(.+?)'",
        '{} is used, and defined nowhere: do name, parameters and extern "C" agree in both places?',
    ),
)

_NO_RULE = re.compile(r"No rule to make target '([^']+)'|no makefile found")
_NO_TARGET = re.compile(r"No rule to make target '((?:[^']*/)?[^'./]+(?:\.so|\.a)?)'(?!,)")
"""make's complaint about a target that no file needs: one of its command, which nobody hands in."""
MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
"""The names by which make finds a Makefile."""
_TOOLKIT_HEADERS = re.compile(
    r"(?:cuda|cuda_runtime|cuda_runtime_api|cuda_fp16|cuda_bf16|cuda_profiler_api|device_launch_parameters|"
    r"cublas|cublas_v2|cublas_api|cublasLt|cublasXt|curand|curand_kernel|cufft|cusparse|cusparse_v2|cusolverDn|"
    r"cusolverSp|cudnn|nccl|nvrtc|nvToolsExt|cooperative_groups|mma|cupti|omp|mpi)\.h|"
    r"(?:thrust|cub|cuda|nvtx3|cooperative_groups|crt)/.+"
)
_RECIPE_BYTES = 2**20
"""A file of the course that is larger is no Makefile or script."""
_MACHINES: tuple[tuple[str, str], ...] = (
    (r"cannot execute '([^']+)'", "the program {} is not installed"),
    (r".*Failed to preprocess host compiler properties", "its nvcc finds no C++ compiler that works"),
    (r"cannot find -l:?([\w.+-]+)", "the library {} is not installed"),
    (_NOT_FOUND, "the program {} is not installed"),
    (r".*unsupported (?:GNU|clang) version", "its C++ compiler is too new for its nvcc"),
    (r".*No space left on device", "building needs more room; give `file_mb` of the assignment's build more"),
)


def diagnose(
    of: Diagnostic,
    files: Collection[str] = (),
    dropped: Collection[str] = (),
    programs: Collection[str] = (),
    course_files: Collection[str] = (),
) -> Diagnosis | None:
    """Return the cause if many submissions have it; None otherwise.

    `files` are what is accepted of the submission, `dropped` what is not: a hint names what was left out.
    `programs` are those that the course names for its build, `course_files` those that it adds.
    """
    for name, pattern, hint in _KNOWN:
        if match := re.search(pattern, of.message):
            what = next(filter(None, match.groups()))
            known = Diagnosis(name=name, hint=hint.format(what) if isinstance(hint, str) else hint(what))
            if target := target_without_rule(of):
                return replace(known, hint=_without_rule(target, of.file, files, dropped))
            if name == LACKED_FILE:
                advice = include_advice(what, of.file, {*files, *course_files}) if of.line else ""
                advice = advice or _of_handed_in(what, of.file, files, dropped)
                return replace(known, hint=advice) if advice else known
            if name == MISSING_PROGRAM and programs:
                return replace(known, hint=f"{known.hint}; there is {', '.join(programs)}")
            is_undefined = name in _UNDEFINED and bool(dropped)
            advice = definition_advice(dropped, of.file, files) if is_undefined else ""
            return replace(known, hint=f"{known.hint.removesuffix('?')}; {advice}") if advice else known
    return None


_UNDEFINED = ("no_main", "undefined_reference")


def target_without_rule(of: Diagnostic) -> str:
    """Return the target that make shall make and has no rule for; empty for another complaint."""
    match = _NO_TARGET.search(of.message)
    return match[1] if match else ""


def _without_rule(target: str, place: str, files: Collection[str], dropped: Collection[str]) -> str:
    """Say why make has no rule for a target: its source was left out, or no Makefile names it."""
    sources = [f"{target.removesuffix('.so').removesuffix('.a')}{suffix}" for suffix in COMPILED]
    left_out = (source_advice(source, place, (), dropped) for source in sources)
    if makefile := next((name for name in MAKEFILES if name in files), ""):
        return next(filter(None, left_out), f"{makefile} has no rule for {target}; write one, with that name")
    return next(filter(None, left_out), f"neither a rule for {target} nor what it is made from was handed in")


def include_advice(name: str, place: str, there: Collection[str]) -> str:
    """Say how a header that is there is included by the file `place`; empty if it is not there."""
    folder = posixpath.dirname(place)
    if posixpath.normpath(posixpath.join(folder, name)) in there:
        return f'it is there: write #include "{name}", with quotation marks'
    base = posixpath.basename(name).casefold()
    if path := next((path for path in sorted(there) if posixpath.basename(path).casefold() == base), ""):
        return f'it is there as {path}: write #include "{posixpath.relpath(path, folder or ".")}"'
    return ""


def _of_handed_in(name: str, place: str, files: Collection[str], dropped: Collection[str]) -> str:
    """Say why a file was handed in and is not there; of an object, that of which it is made."""
    stem, _, ending = name.rpartition(".")
    names = (stem, *(f"{stem}{suffix}" for suffix in COMPILED)) if ending in OBJECTS else (name,)
    advices = (source_advice(each, place, files, dropped) for each in names)
    return next(filter(None, advices), "")


def lacked_by(of: Diagnostic) -> str:
    """Return the file that a complaint misses, as the tool names it; empty for none, and for a Makefile."""
    for name, pattern, _ in _KNOWN:
        if name == LACKED_FILE and (match := re.search(pattern, of.message)):
            return next((file for file in match.groups() if file and file != "makefile"), "")
    return ""


def renames(errors: Iterable[Diagnostic]) -> bool:
    """Whether a header that gives what was removed its new name could help."""
    return any(name in error.message for error in errors for name in RENAMED)


def targets(errors: Iterable[Diagnostic]) -> frozenset[str]:
    """Return the files that make needs and finds nowhere."""
    matches = (_NO_RULE.search(error.message) for error in errors)
    return frozenset(match[1] for match in matches if match and match[1])


def missing_for_make(errors: Iterable[Diagnostic], command: Sequence[str]) -> str:
    """Return which file of the course make finds nowhere, and what to do; empty if it finds all."""
    for error in errors:
        if not (match := _NO_RULE.search(error.message)):
            continue
        if match[1] is None:
            return "given/ has no Makefile that make finds; write given/Makefile"
        if match[1] in command:
            return f"given/ has no Makefile with a rule for {match[1]}; write it"
        why = f"given/ has no {match[1]}, which make needs, nor has reference/"
        return f"{why}; write it, or correct the Makefile"
    return ""


def lacking(errors: Sequence[Diagnostic], architecture: str) -> str:
    """Return what this machine lacks, if that explains the errors; empty if the submission is at fault.

    `architecture` is the one that we asked for.
    """
    for error in errors:
        for pattern, what in _MACHINES:
            if match := re.match(pattern, error.message):
                return what.format(*match.groups())
        diagnosis = diagnose(error)
        if diagnosis is None:
            continue
        if diagnosis.name == "unknown_architecture" and architecture and f"'{architecture}'" in error.message:
            return f"its nvcc does not compile for {architecture}, the GPU's architecture"
    return lacking_header(errors)


def misspelt_program(errors: Iterable[Diagnostic], programs: Collection[str], course_files: Path) -> str:
    """Return where a file of the course calls a program that is not found and is like one of `programs`."""
    missing = next((match[1] for error in errors if (match := re.match(_NOT_FOUND, error.message))), "")
    near = nearest(missing, programs) if missing and missing not in programs else ""
    word = re.compile(rf"(?<![\w.+-]){re.escape(missing)}(?![\w.+-])")
    for file in sorted(course_files.iterdir()) if near else ():
        if file.suffix == ".py" or not file.is_file() or file.stat().st_size > _RECIPE_BYTES:
            continue
        for number, line in enumerate(file.read_text(errors="replace").splitlines(), start=1):
            if word.search(line):
                why = f"calls {missing}, which is no program here and not in programs of assignment.py"
                return f"given/{file.name}:{number}: {why}; did you mean {near}?"
    return ""


def lacking_header(errors: Iterable[Diagnostic]) -> str:
    """Return which header of a toolkit this machine lacks, if that explains the errors."""
    for error in errors:
        missing = re.match(r"([\w./+-]+): No such file", error.message)
        if missing and _TOOLKIT_HEADERS.fullmatch(missing[1]):
            return f"the header {missing[1]} is not installed"
    return ""
