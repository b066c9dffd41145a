"""Calls of students' functions by a function of a course's driver, read from its syntax tree."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from grader.files import holds_file

if TYPE_CHECKING:
    import ast


MOST_CALLS = 3
"""Functions of the student's that are named of one that calls them."""


def names_of_calls(driver: Path, function: str, files: Collection[str]) -> str:
    """Say which functions of the student's files a function of the driver calls; empty for none."""
    modules = {file.removesuffix(".py").replace("/", ".") for file in files if file.endswith(".py")}
    used = calls_of_students(driver, function, modules)
    names = ", ".join(f"{name}()" for name in used[:MOST_CALLS])
    return f"; {function}() is the course's, and calls your {names}" if used else ""


def calls_of_students(driver: Path, function: str, modules: Collection[str]) -> tuple[str, ...]:
    """Return `module.name` of what a function of the driver uses of these modules, in order and once each.

    Functions and classes of the driver that it names count with it. A file that cannot be read gives nothing.
    """
    import ast

    try:
        tree = ast.parse(driver.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return ()
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    defined = {node.name: node for node in tree.body if isinstance(node, kinds)}
    names = dict(_imported(tree))
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
    return tuple(used)


def students_files(course_files: Path, module: str, files: Collection[str]) -> tuple[str, ...]:
    """Return the submission's files that a module of the course imports, also by others of the course's."""
    import ast

    imported: dict[str, None] = {}
    pending = [f"{module.replace('.', '/')}.py"]
    for file in pending:
        try:
            tree = ast.parse((course_files / file).read_bytes())
        except (OSError, SyntaxError, ValueError):
            continue
        for name in _modules(tree):
            path = f"{name.replace('.', '/')}.py"
            if holds_file(course_files, path):
                pending.extend({path}.difference(pending))
            elif path in files:
                imported[path] = None
    return tuple(imported)


def functions_in(assignment: Path, module: str) -> frozenset[str]:
    """Return the functions and classes of a module of the reference or the course, by its file's syntax."""
    import ast

    functions: set[str] = set()
    for folder in ("reference", "given"):
        file = assignment / folder / f"{module.replace('.', '/')}.py"
        with suppress(OSError, SyntaxError, ValueError):
            tree = ast.parse(file.read_bytes())
            kinds = ast.FunctionDef | ast.ClassDef
            functions |= {node.name for node in tree.body if isinstance(node, kinds)}
    return frozenset(functions)


def _modules(tree: ast.Module) -> Iterator[str]:
    """Yield the names of modules, and of what may be one, that a file imports."""
    import ast

    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
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
