"""Installed packages: those that bring plugins, those with similar names, and those that are missing."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from grader.coursecode import PACKAGE, deepest_place, own_modules
from grader.coursesyntax import exported_names, located_imports
from grader.errors import CourseError, GraderError, PackageError
from grader.extras import ANY_PIP, EXTRAS, LIBRARIES, MODULES, install_command
from grader.markers import PROJECT

MISSPELT, MISSPELT_FILE, MISSPELT_NAME = 0.8, 0.75, 0.6
"""The similarity (difflib's ratio) from which on a name is taken for a misspelt one: of an installed module,
of a file of the course, of which there are few, and of what a single file or function has. `nrom` is as like
`norm` as 0.75."""

_PROGRAMS = """
    ar bash c++ cargo cc clang clang++ cmake compute-sanitizer cuobjdump g++ gcc gfortran gmake hipcc icpx icx
    ld make mpic++ mpicc mpicxx mpirun ncu ninja nsys nvc nvc++ nvcc nvdisasm ptxas python3 rustc valgrind
""".split()  # noqa: SIM905 - a list would have each on a line of its own
"""Programs that build and measure: a name that is like one of them, and of no program here, is misspelt."""

_NAME = re.compile(r"cannot import name '(\w+)' from '([\w.]+)'")
"""Python's message; behind it stands where the module's file is."""

_PACKAGES: set[str] = set()
"""The names of those that were found."""


def place_in_plugin(error: BaseException) -> tuple[Path, int, str] | None:
    """Return file, line and function of the deepest frame in an installed plugin; None if there is none."""
    return deepest_place(error, _PACKAGES)


def installed_plugins() -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the entry points in our group, each with what imports it.

    `importlib.metadata` takes 30 ms to import: it is asked only if some distribution mentions the group.
    """
    if not any(map(_mentions_us, sys.path)):
        return
    from importlib.metadata import entry_points

    for entry_point in entry_points(group=PROJECT):
        _PACKAGES.add(entry_point.module.partition(".")[0])
        yield entry_point.name, entry_point.load


def _mentions_us(folder: str) -> bool:
    try:
        with os.scandir(folder) as entries:
            distributions = [e.path for e in entries if e.name.endswith((".dist-info", ".egg-info"))]
    except OSError:
        return False
    return any(f"[{PROJECT}]" in _text(Path(path, "entry_points.txt")) for path in distributions)


def _text(file: Path) -> str:
    try:
        return file.read_text(errors="replace")
    except OSError:
        return ""


def is_installed(module: str) -> bool:
    """Tell whether a module, no part of a package, can be found here."""
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def nearest(name: str, names: Collection[str], similarity: float = MISSPELT) -> str:
    """Return the one of some names that a misspelt one is most like; empty if it is like none."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, sorted(names), n=1, cutoff=similarity)), "")


def installed_near(module: str, course_modules: Collection[str] = ()) -> str:
    """Return the module whose name is misspelt, of `course_modules` or packages; empty if none is like it.

    The modules of grader's own extras count, installed or not.
    """
    packages = {*_packages(), *MODULES, *(package for package in EXTRAS if package.isidentifier())}
    for names, cutoff in (
        (course_modules, MISSPELT_FILE),
        (packages, MISSPELT),
        (sys.stdlib_module_names, MISSPELT),
    ):
        if near := nearest(module, names, cutoff):
            return near
    return ""


def submodule_near(package: str, name: str) -> str:
    """Return the module of a package whose name is misspelt; empty if it has that one, or none is like it."""
    import pkgutil

    spec = find_spec(package)
    folders = (spec.submodule_search_locations if spec else None) or []
    names = [module.name for module in pkgutil.iter_modules([*folders])]
    first = name.partition(".")[0]
    return "" if first in names else nearest(first, names)


def misspelt(module: str, course_modules: Collection[str] = ()) -> str:
    """Return `no module is called …` with the module that is meant; empty if the name is like no other."""
    top, _, inner = module.partition(".")
    if is_installed(top):
        near = submodule_near(top, inner) if inner else ""
        near = f"{top}.{near}" if near else ""
    else:
        near = "" if _is_optional(top) or top in LIBRARIES else installed_near(top, course_modules)
        module = top
    return f"no module is called {module}; did you mean {near}?" if near else ""


def misspelt_programs(names: Collection[str]) -> Iterator[str]:
    """Yield `no program is called …` for each name that is of no program here, with the one that is meant."""
    import shutil

    for name in dict.fromkeys(names):
        if name not in _PROGRAMS and shutil.which(name) is None and (near := nearest(name, _PROGRAMS)):
            yield f"no program is called {name}; did you mean {near}?"


def not_installed(modules: Collection[str]) -> Iterator[str]:
    """Yield a line on modules that extras of grader bring, with the command, and one on all others."""
    optional = [module for module in dict.fromkeys(modules) if _is_optional(module)]
    others = [module for module in dict.fromkeys(modules) if not _is_optional(module)]
    if optional:
        packages = [MODULES.get(module, module) for module in optional]
        yield f"{_are(optional)} not installed here: {install_command(*packages, pip=ANY_PIP)}"
    if others:
        several = len(others) > 1
        advice = (
            "install them, add their files to the course, or correct the names"
            if several
            else "install it, add its file to the course, or correct the name"
        )
        yield f"{_are(others)} not installed here: {advice}"


def missing_error(
    where: str,
    modules: Sequence[str],
    course_modules: Collection[str] = (),
    *,
    file: Path | None = None,
    output: str = "",
) -> CourseError | PackageError | None:
    """Return the error of imports that failed: the course's if a name is misspelt, otherwise the machine's.

    None where that cannot be told: the names are those of files of the course, or of parts of a package.

    Args:
        where: the place that each line begins with.
        modules: what could not be imported, as `ModuleNotFoundError.name` gives it.
        course_modules: names of modules that the course has, or that are handed in.
        file: the file that imports them; its other imports of what is not here are told with them.
        output: what the program printed.
    """
    wrong: dict[str, None] = {}
    absent: dict[str, None] = {}
    others = [name for _, name in located_imports(file)] if file else []
    for name in (*modules, *(other for other in others if not is_installed(other.partition(".")[0]))):
        top, dot, _ = name.partition(".")
        if top in course_modules:
            continue
        if message := misspelt(name, course_modules):
            wrong[message] = None
        elif not dot or not is_installed(top):
            absent[top] = None
    lines = [*wrong, *(["; ".join(not_installed(absent))] if absent else [])]
    kind = CourseError if wrong else PackageError
    return kind(*(f"{where}: {line}" for line in lines), output=output) if lines else None


def error_of_import(error: BaseException, where: str, folder: Path, file: Path) -> GraderError | None:
    """Return the error of an import that failed in a file of an assignment's folder.

    None for other exceptions, and where the module is a file of the course.
    """
    if message := _missing_name(error):
        return CourseError(f"{where}: {message}")
    name = error.name if isinstance(error, ModuleNotFoundError) else None
    return missing_error(where, [name], {PACKAGE, *own_modules(folder)}, file=file) if name else None


def _missing_name(error: BaseException) -> str:
    """Return which name a module lacks and what to write; empty for other errors than of such an import."""
    match = _NAME.match(str(error)) if isinstance(error, ImportError) else None
    if not match:
        return ""
    name, module = match.groups()
    if module.partition(".")[0] == PROJECT:
        modules = _api()
        near = nearest(name, modules)
        advice = f"{PROJECT}.api has the names that a course may import"
        advice = f"write from {modules[near]} import {near}" if near else advice
    else:
        near = nearest(name, vars(sys.modules.get(module, sys)), MISSPELT_NAME)
        advice = f"did you mean {near}?" if near else "correct the name"
    _, _, file = module.removeprefix(f"{PACKAGE}.").partition(".")
    if module.startswith(f"{PACKAGE}."):
        module = f"{file}.py"
        if not file:  # from . import …
            return f"there is no {name}.py beside it; correct the name"
    return f"{module} has no {name}; {advice}"


@cache
def _api() -> dict[str, str]:
    """Return the module of `grader.api` to import each name from; the package itself comes first."""
    folder = Path(__file__).with_name("api")
    modules: dict[str, str] = {}
    for file in sorted(folder.glob("*.py")):  # __init__.py comes first
        module = f"{PROJECT}.api.{file.stem}".removesuffix(".__init__")
        modules = {**dict.fromkeys(exported_names(file), module), **modules}
    return modules


def _is_optional(module: str) -> bool:
    """Tell whether an extra of grader brings a module."""
    return MODULES.get(module, module) in EXTRAS


def _are(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"{names[0]} is"
    return f"{', '.join(names[:-1])} and {names[-1]} are"


@cache
def _packages() -> frozenset[str]:
    """Return the names of all modules that can be imported here and are no part of Python."""
    import pkgutil

    return frozenset(module.name for module in pkgutil.iter_modules()) - sys.stdlib_module_names
