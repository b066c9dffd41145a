"""Syntax of a course's driver: calls of students' functions, and what the course asks for."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from grader.coursesyntax import parsed
from grader.files import holds_file

if TYPE_CHECKING:
    import ast


LOADERS = frozenset({"CDLL", "PyDLL", "LoadLibrary", "load_library"})
"""Names in ctypes and numpy by which libraries are loaded."""
LONGEST_STATEMENT = 120
"""Characters of a statement of the course that are shown."""


def statement_at(file: Path, line: int) -> str:
    """Return the statement at a line of the course as one line of source; empty for none.

    It is empty as well for one that raises an exception, which has words of its own, or asserts a condition.
    Constants are left out: one of them may be what is expected.
    """
    import ast

    nodes = (node for node in ast.walk(parsed(file)) if isinstance(node, ast.stmt))
    around = [node for node in nodes if node.lineno <= line <= (node.end_lineno or node.lineno)]
    statement = min(around, key=lambda node: (node.end_lineno or node.lineno) - node.lineno, default=None)
    if statement is None or any(isinstance(n, ast.Raise | ast.Assert) for n in around):
        return ""
    for node in ast.walk(statement):
        if isinstance(node, ast.JoinedStr):
            node.values = []
        elif isinstance(node, ast.Constant) and not isinstance(node.value, bool | None):
            node.value = ...
    source = ast.unparse(statement).partition("\n")[0]
    return source if len(source) <= LONGEST_STATEMENT else f"{source[:LONGEST_STATEMENT]}…"


def calls_of_students(
    driver: Path, function: str, modules: Collection[str], variable: str = ""
) -> tuple[str, ...]:
    """Return `module.name` of what a function of the driver uses of these modules, in order and once each.

    Of the libraries that the driver loads from the folder in an environment `variable` it is the bare name.
    Functions and classes of the driver that it names count with it. A file that cannot be read gives nothing.
    """
    import ast

    tree = parsed(driver)
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    defined = {node.name: node for node in tree.body if isinstance(node, kinds)}
    names = dict(imported_names(tree))
    libraries = _libraries(tree, variable) if variable else frozenset()
    pending, reached = [function], {function}
    used: dict[str, None] = {}
    while pending:
        node = defined.get(pending.pop(0))
        for dotted in _dotted(node) if node else ():
            root, _, rest = dotted.partition(".")
            if root in defined and root not in reached:
                reached.add(root)
                pending.append(root)
            whole = ".".join(filter(None, (names.get(root, ""), rest)))
            if root in names and any(whole.startswith(f"{module}.") for module in modules):
                used[whole] = None
            elif root in libraries and rest:
                used[rest.partition(".")[0]] = None
    return tuple(used)


def _libraries(tree: ast.Module, variable: str) -> frozenset[str]:
    """Return the names in a file that stand for libraries in the folder that an environment variable has.

    The folder may have a name of its own, as in `FOLDER = os.environ["BUILT"]`.
    """
    import ast

    of_folder, libraries = set[str](), set[str]()
    for statement in ast.walk(tree):
        if not isinstance(statement, ast.Assign):
            continue
        parts = [*ast.walk(statement.value)]
        names = {part.id for part in parts if isinstance(part, ast.Name)}
        if not names & of_folder and variable not in _texts(statement):
            continue
        called = names | {part.attr for part in parts if isinstance(part, ast.Attribute)}
        targets = {target.id for target in statement.targets if isinstance(target, ast.Name)}
        of_folder |= targets
        libraries |= targets if called & LOADERS else set()
    return frozenset(libraries)


def students_files(course_files: Path, module: str, files: Collection[str]) -> tuple[str, ...]:
    """Return the submission's files that a module of the course imports, also by others of the course's."""
    imported: dict[str, None] = {}
    pending = [f"{module.replace('.', '/')}.py"]
    for file in pending:
        for name in _modules(parsed(course_files / file)):
            path = f"{name.replace('.', '/')}.py"
            if holds_file(course_files, path):
                pending.extend({path}.difference(pending))
            elif path in files:
                imported[path] = None
    return tuple(imported)


def functions_in(assignment: Path, module: str) -> frozenset[str]:
    """Return the functions and classes of a module of the reference or the course, by its file's syntax."""
    file = f"{module.replace('.', '/')}.py"
    return _defined(assignment / "reference" / file) | _defined(assignment / "given" / file)


def driver_with(course_files: Path, function: str) -> str:
    """Return the module of the course's files that defines a function of this name; empty if none does."""
    files = sorted(course_files.glob("*.py"))
    return next((file.stem for file in files if function in _defined(file)), "")


def _defined(file: Path) -> frozenset[str]:
    import ast

    kinds = ast.FunctionDef | ast.ClassDef
    return frozenset(node.name for node in parsed(file).body if isinstance(node, kinds))


def asks_for_module(course_files: Path, module: str) -> bool:
    """Tell whether a file of the course imports a module or what is in it, or has its name in quotes."""
    named = (f"{name}." for tree in _trees(course_files) for name in (*_modules(tree), *_texts(tree)))
    return any(name.startswith(f"{module}.") for name in named)


def asks_for_name(course_files: Path, module: str, name: str) -> bool:
    """Tell whether a file of the course uses a name of a module, or has it in quotation marks beside it."""
    asked = f"{module}.{name}"
    for tree in _trees(course_files):
        names = dict(imported_names(tree))
        if asked in names.values() or (module in {*names.values(), *_texts(tree)} and name in _texts(tree)):
            return True
        for root, _, rest in (dotted.partition(".") for dotted in _dotted(tree)):
            if root in names and f"{names[root]}.{rest}.".startswith(f"{asked}."):
                return True
    return False


def asks_for_file(course_files: Path, file: str) -> bool:
    """Tell whether a file of the course has a file's name in quotation marks, if only without its ending."""
    stem = PurePosixPath(file).stem
    return any(stem in text for tree in _trees(course_files) for text in _texts(tree))


def _texts(tree: ast.AST) -> Iterator[str]:
    """Yield the texts in quotation marks."""
    import ast

    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _trees(course_files: Path) -> Iterator[ast.Module]:
    """Yield the syntax trees of the course's Python files."""
    yield from map(parsed, sorted(course_files.rglob("*.py")))


def _modules(tree: ast.Module) -> Iterator[str]:
    """Yield the names of modules, and of what may be one, that a file imports."""
    import ast

    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imported_names(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield every name that an import binds, with what it stands for."""
    import ast

    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.partition(".")[0]
                yield (alias.asname, alias.name) if alias.asname else (first, first)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def _dotted(node: ast.AST) -> Iterator[str]:
    """Yield the names and the chains of attributes below a node, from above to below."""
    import ast

    for child in ast.iter_child_nodes(node):
        parts: list[str] = []
        chain = child
        while isinstance(chain, ast.Attribute):
            parts.insert(0, chain.attr)
            chain = chain.value
        if isinstance(chain, ast.Name):
            yield ".".join((chain.id, *parts))
        else:
            yield from _dotted(child)
