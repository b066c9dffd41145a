"""Imports Python files of a course as `grader_course.<assignment>.<file>`, whatever else has their names."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path, PurePath
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ast

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


def _parsed(file: Path) -> ast.Module:
    """Return the syntax tree of a file, an empty one if it is no Python."""
    import ast

    try:
        with warnings.catch_warnings():  # an odd escape in a string is the author's business
            warnings.simplefilter("ignore")
            return ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module(body=[], type_ignores=[])


def located_imports(file: Path) -> Iterator[tuple[int, str]]:
    """Yield line and name of each module that a file imports where it begins; none of one that is no Python.

    `from a import b` gives `a` and `a.b`; what stands in a function or a `try` does not count.
    """
    import ast

    for statement in _parsed(file).body:
        match statement:
            case ast.Import(names=imported):
                yield from ((statement.lineno, entry.name) for entry in imported)
            case ast.ImportFrom(module=str() as module, names=imported, level=0):
                yield statement.lineno, module
                yield from ((statement.lineno, f"{module}.{entry.name}") for entry in imported)


def exported_names(file: Path) -> list[str]:
    """Return the names in `__all__` of a Python file, without importing it; none if it has no such list."""
    import ast

    for statement in _parsed(file).body:
        match statement:
            case ast.Assign(targets=[ast.Name(id="__all__")], value=ast.List(elts=names)):
                return [str(name.value) for name in names if isinstance(name, ast.Constant)]
    return []


def keyword_line(file: Path, name: str, function: str = "") -> int:
    """Return the line of the first call with an argument of this name; 0 if there is none.

    With `function` it is one in the function of that name, if there is one.
    """
    import ast

    tree = _parsed(file)
    inner = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == function]
    for place in (*inner, tree):
        calls = (node for node in ast.walk(place) if isinstance(node, ast.Call))
        lines = [keyword.lineno for call in calls for keyword in call.keywords if keyword.arg == name]
        if lines:
            return min(lines)
    return 0


def lost_cases(file: Path) -> Iterator[int]:
    """Yield the lines at which `case` of `grader.api` is called as a statement, so that its case is lost."""
    import ast

    nodes = [*ast.walk(_parsed(file))]
    names = set()
    for node in nodes:
        match node:
            case ast.ImportFrom(module="grader.api", names=imported):
                names |= {entry.asname or entry.name for entry in imported if entry.name == "case"}
            case ast.ImportFrom(module="grader", names=imported):
                names |= {f"{entry.asname or 'api'}.case" for entry in imported if entry.name == "api"}
            case ast.Import(names=imported):
                names |= {f"{e.asname or e.name}.case" for e in imported if e.name == "grader.api"}
    statements = (node.value for node in nodes if isinstance(node, ast.Expr))
    calls = (value for value in statements if isinstance(value, ast.Call))
    yield from sorted(call.lineno for call in calls if ast.unparse(call.func) in names)


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
