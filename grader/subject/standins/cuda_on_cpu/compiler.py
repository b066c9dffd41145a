"""Stands in for nvcc and g++: translates CUDA C++, compiles with checks, and links our runtime for CUDA's."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from .nvcc import Unsupported, as_gxx
from .translation import Tree

HERE = os.path.dirname(os.path.abspath(__file__))
RUNTIME = os.path.join(HERE, "runtime.o")
UNCHECKED = "--unchecked"
"""An option of our own: leave the checks of memory out."""

_VERSION = """nvcc: NVIDIA (R) Cuda compiler driver
Cuda compilation tools, release 13.0, V13.0.0 (a stand-in that compiles kernels for the CPU)"""

_WRAPPED = ("memcpy", "memmove", "memset", "malloc", "free", "__assert_fail")
"""Functions of the C library that are checked as well; the runtime itself calls the plain ones."""
_CHECKS = (
    # Calls before every load and every store, which the runtime answers: no sanitizer's own library is
    # needed, and none of the shadow memory for which a limit of memory leaves no room.
    "-fsanitize=thread",
    "-fsanitize=bounds,alignment",
)
_ALWAYS = ("-fPIC", "-gdwarf-4", f"-I{HERE}/include")
"""Of older debugging information addr2line tells the names of files that were translated."""
_LINKED = (RUNTIME, *(f"-Wl,--wrap={name}" for name in _WRAPPED), "-ldl", "-lpthread")

_CUDA_LIBRARIES = re.compile(
    r"-l:?(?:lib)?(?:cuda|cudart|cudart_static|cudadevrt|cublas|cublasLt|cublas_static|culibos|nvToolsExt)\b.*"
)
_CUDA_FILES = re.compile(
    r"(?:.*/)?lib(?:cuda|cudart|cudart_static|cudadevrt|cublas|cublasLt|culibos)\.(?:a|so).*"
)
_SOURCES = (".cu", ".cc", ".cpp", ".cxx", ".c++", ".C", ".c")
_OLD_STANDARD = re.compile(r"-std=(?:c|gnu)\+\+(?:98|03|0x|11|1y|14)")
_DEPENDENCIES = {"-MD", "-MMD", "-MP", "-MG"}
_DEPENDENCY_FILES = {"-MF", "-MT", "-MQ"}
_VALUES = {"-D", "-U", "-include", "-isystem", "-iquote", "-idirafter", "-u", "-z", "-T"} | _DEPENDENCY_FILES
_STEPS = {"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only"}


@dataclass(slots=True, kw_only=True)
class Work:
    """Work that a command line of a compiler describes."""

    step: str = ""
    """The option that ends it early; empty if it goes on to link."""
    output: str = ""
    language: str = ""
    checked: bool = True
    sources: list[str] = field(default_factory=list)
    include_dirs: list[str] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    dependencies: list[str] = field(default_factory=list)
    """Options that write rules for make."""
    linked: list[str] = field(default_factory=list)
    """Files and libraries in their order, sources among them."""

    @classmethod
    def of(cls, arguments: Sequence[str]) -> Work:
        """Sort the arguments of g++; those for CUDA's own libraries are left out."""
        work = cls()
        rest = iter(arguments)
        for argument in rest:
            if argument in _STEPS:
                work.step = argument
            elif argument == UNCHECKED:
                work.checked = False
            elif argument.startswith("-fsanitize"):
                continue  # two of them cannot be had together
            elif (option := argument[:2]) in {"-o", "-x", "-I", "-L", "-l"}:
                work._take(option, argument[2:] or next(rest, ""))
            elif argument in _DEPENDENCIES or argument[:3] in _DEPENDENCY_FILES:
                work.dependencies += _with_value(argument, rest)
            elif argument.startswith(("-Wl,", "-Xlinker")):
                work.linked += [argument] if argument != "-Xlinker" else [argument, next(rest, "")]
            elif argument.startswith("-"):
                work.flags += [_OLD_STANDARD.sub("-std=c++17", word) for word in _with_value(argument, rest)]
            elif not _CUDA_FILES.fullmatch(argument):
                work._add(argument)
        return work

    def _take(self, option: str, value: str) -> None:
        if option == "-o":
            self.output = value
        elif option == "-x":
            self.language = "" if value == "none" else value
        elif option == "-I":
            self.include_dirs.append(value)
            self.flags.append(f"-I{value}")
        elif not _CUDA_LIBRARIES.fullmatch(option + value):
            self.linked.append(option + value)

    def _add(self, path: str) -> None:
        if path.endswith(_SOURCES) or self.language:
            self.sources.append(path)
        self.linked.append(path)

    def is_cuda(self, source: str) -> bool:
        """Tell whether it has to be translated."""
        return self.language == "cu" or source.endswith(".cu")


def _with_value(argument: str, rest: Iterator[str]) -> list[str]:
    return [argument, next(rest, "")] if argument in _VALUES else [argument]


def build_runtime(gxx: str, folder: str) -> None:
    """Compile the runtime of the package in `folder`, once for all programs. Raises CalledProcessError."""
    built = os.path.join(folder, "runtime.o")
    source = os.path.join(folder, "runtime", "all.cc")
    flags = ("-std=c++17", "-O2", "-fPIC", "-fno-semantic-interposition", "-U_FORTIFY_SOURCE")
    subprocess.run((gxx, *flags, f"-I{folder}/include", "-c", source, "-o", built), check=True)
    # by these names the linker knows the plain ones when others are to call ours
    plain = [f"--redefine-sym={name}=__real_{name}" for name in _WRAPPED]
    subprocess.run(("objcopy", *plain, built), check=True)


def main(arguments: Sequence[str]) -> int:
    """Run as `arguments[0]`, nvcc or a g++, with the options behind it; return the exit status."""
    program, *options = arguments
    gxx = _real(program if program != "nvcc" else "g++")
    if gxx is None:
        return _complain(program, "no C++ compiler is on PATH behind this one; install g++")
    try:
        if program == "nvcc":
            if {"--version", "-V"} & set(options):
                sys.stdout.write(_VERSION + "\n")
                return 0
            if {"-dlink", "--device-link"} & set(options):
                return _run(
                    (gxx, "-x", "c++", "-c", os.devnull, "-o", Work.of(as_gxx(options)).output or "a_dlink.o")
                )
            options = as_gxx(options)
        work = Work.of(options)
        if not work.linked:  # a question such as --version
            return _run((gxx, *options))
        with tempfile.TemporaryDirectory(prefix="cuda_on_cpu_") as folder:
            return _work(gxx, work, folder)
    except (Unsupported, OSError) as error:
        return _complain(program, str(error))


def _work(gxx: str, work: Work, folder: str) -> int:
    tree = Tree(folder, work.include_dirs)
    objects: dict[str, str] = {}
    for number, source in enumerate(work.sources):
        objects[source] = made = os.path.join(folder, f"object{number}.o")
        if work.step == "-c":
            made = work.output or os.path.splitext(os.path.basename(source))[0] + ".o"
        if status := _run(_compilation(gxx, work, tree, source, made)):
            return status
    if work.step:
        return 0
    files = [objects.get(file, file) for file in work.linked]
    return _run((gxx, *work.flags, *files, *_LINKED, "-o", work.output or "a.out"))


def _compilation(gxx: str, work: Work, tree: Tree, source: str, made: str) -> list[str]:
    cuda = work.is_cuda(source)
    text_only = work.step in {"-E", "-S", "-M", "-MM", "-fsyntax-only"}
    # ours come first: a folder of CUDA's own headers may be among those that are asked for
    options = [*_ALWAYS, "-O1", f"-fdebug-prefix-map={os.getcwd()}=", *work.flags]
    if not any(flag.startswith("-std=") for flag in options):
        options.append("-std=c++17")
    if work.checked:
        options += _CHECKS
    if cuda:
        options = [flag for flag in options if not flag.startswith("-Werror")]
        options += ["-Wno-unused-variable", "-iquote", os.path.dirname(source) or "."]
    else:
        options += work.dependencies
    if work.step in {"-M", "-MM"} or not cuda:
        options += ["-x", "c++" if cuda or not work.language else work.language, source]
    else:
        options += ["-x", "c++", tree.source(source)]
    if text_only:
        return [gxx, *options, work.step, *(["-o", work.output] if work.output else [])]
    return [gxx, *options, "-c", "-o", made]


def _real(name: str) -> str | None:
    """Return the path of the compiler of that name that is not this one."""
    ours = os.path.realpath(os.path.join(HERE, os.pardir, os.pardir))
    folders = [
        each
        for each in os.environ.get("PATH", os.defpath).split(os.pathsep)
        if os.path.realpath(each) != ours
    ]
    return shutil.which(name, path=os.pathsep.join(folders))


def _run(command: Sequence[str]) -> int:
    return subprocess.run(command, check=False).returncode


def _complain(program: str, what: str) -> int:
    sys.stderr.write(f"{program}: {what}\n")
    return 1
