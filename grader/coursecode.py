"""Imports Python files of a course as `grader_course.<assignment>.<file>`, whatever else has their names."""

from __future__ import annotations

import sys
from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path, PurePath
from types import ModuleType

PACKAGE = "grader_course"


def course_module(file: Path) -> ModuleType:
    """Import a file of an assignment's folder as a module; it can import its siblings relatively.

    Exceptions of the file pass through.
    """
    package = f"{PACKAGE}.{file.parent.name}"
    loaded = sys.modules.get(package)
    if loaded is not None and [*loaded.__path__] != [str(file.parent)]:  # that of another course
        for name in [name for name in sys.modules if f"{name}.".startswith(f"{package}.")]:
            del sys.modules[name]
    for name, folder in ((PACKAGE, file.parent.parent), (package, file.parent)):
        if name not in sys.modules:
            sys.modules[name] = ModuleType(name)
            sys.modules[name].__path__ = [str(folder)]
    spec = spec_from_file_location(f"{package}.{file.stem}", file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is not a Python file")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    with writing_no_bytecode():
        spec.loader.exec_module(module)
    return module


@contextmanager
def writing_no_bytecode() -> Iterator[None]:
    """Import without `__pycache__`: a course is read only, also where we could write into it."""
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        yield
    finally:
        sys.dont_write_bytecode = before


def own_modules(folder: Path, others: Iterable[str] = ()) -> set[str]:
    """Return the names that modules of an assignment's folder, or of `others` (paths), may have.

    Those are the names of files and folders up to the first dot: in the folder itself, and anywhere below
    `given/` and the reference.
    """
    below = (path for part in ("given", "reference") for path in (folder / part).rglob("*"))
    paths = [path.relative_to(folder) for path in (*folder.glob("*"), *below)]
    return {part.partition(".")[0] for path in (*paths, *map(PurePath, others)) for part in path.parts}


def missing_file(error: BaseException, folder: Path) -> str:
    """Return what to do about a failed import of a file of an assignment's folder; empty for other errors."""
    name = error.name if isinstance(error, ModuleNotFoundError) and error.name else ""
    package = f"{PACKAGE}.{folder.name}."
    if name.startswith(package):
        return f"there is no {name.removeprefix(package).replace('.', '/')}.py beside it; correct the name"
    if name and (folder / f"{name}.py").is_file():
        return f"{name}.py is beside it; write from .{name} import …"
    return ""


def line_of(error: BaseException, file: str) -> int:
    """Return the deepest line of `file` in the traceback of an exception; 0 if it is not there."""
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def place_in_course(error: BaseException) -> tuple[Path, int, str] | None:
    """Return file, line and function of the deepest frame in code of a course; None if there is none."""
    return deepest_place(error, {PACKAGE})


def deepest_place(error: BaseException, packages: Container[str]) -> tuple[Path, int, str] | None:
    """Return file, line and function of the deepest frame in these packages; None if there is none."""
    place, trace = None, error.__traceback__
    while trace is not None:
        frame = trace.tb_frame
        if str(frame.f_globals.get("__name__", "")).partition(".")[0] in packages:
            place = (Path(frame.f_code.co_filename), trace.tb_lineno, frame.f_code.co_name)
        trace = trace.tb_next
    return place
