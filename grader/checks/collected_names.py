"""Names that pytest can collect from a file, read from its syntax tree without importing it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

_DYNAMIC = frozenset({"globals", "vars", "setattr", "exec"})
"""Functions by which a file may give itself tests that its syntax does not show."""
_KEEP_NAMES = frozenset({"pytest", "unittest", "mock", "patch", "staticmethod", "classmethod", "property"})
"""Where decorators are from that leave a test the name of its function."""
_WITHOUT_TESTS = frozenset({"TestCase", "IsolatedAsyncioTestCase", "object"})
"""Classes that bring no tests to those that inherit from them."""


def collected_names(file: Path) -> frozenset[str] | None:
    """Return the names of a file's tests and classes, as `test_f` and `TestG::test_h`, without parameters.

    Other names of the file are among them. None where it may have tests that its syntax does not show: of a
    star import, a class or a decorator from elsewhere, or what is set by a call; and where it is no Python.
    """
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):  # told where the tests are collected
        return None
    classes = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    shown = all(_is_shown(node, classes) for node in ast.walk(tree))
    return frozenset(_names(tree.body, classes)) if shown else None


def _is_shown(node: ast.AST, classes: Mapping[str, ast.ClassDef]) -> bool:
    """Tell whether a part of a file brings it no tests but those that are written there."""
    match node:
        case ast.ImportFrom(names=[ast.alias(name="*")]):
            return False
        case ast.Name(id=name):
            return name not in _DYNAMIC
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return {_first_name(each) for each in node.decorator_list} <= _KEEP_NAMES
        case ast.ClassDef():
            bases = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
            decorators = {_first_name(each) for each in node.decorator_list}
            return decorators <= _KEEP_NAMES and bases <= {*classes, *_WITHOUT_TESTS} - {node.name}
    return True


def _first_name(decorator: ast.expr) -> str:
    """Return `pytest` of `@pytest.mark.parametrize(…)`."""
    return ast.unparse(decorator).partition("(")[0].partition(".")[0]


def _names(statements: Iterable[ast.stmt], classes: Mapping[str, ast.ClassDef]) -> Iterator[str]:
    for statement in statements:
        match statement:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name):
                yield name
                yield from (f"{name}::{inner}" for inner in _inner_names(statement, classes))
            case ast.Import(names=imported) | ast.ImportFrom(names=imported):
                yield from (entry.asname or entry.name for entry in imported)
            case ast.Assign(targets=targets):
                yield from (target.id for target in targets if isinstance(target, ast.Name))
            case _:
                for block in ("body", "orelse", "finalbody", "handlers"):
                    yield from _names(getattr(statement, block, ()), classes)


def _inner_names(node: ast.ClassDef, classes: Mapping[str, ast.ClassDef]) -> Iterator[str]:
    """Yield the names within a class, and within those of the file that it inherits from."""
    yield from _names(node.body, classes)
    for base in node.bases:
        if (parent := classes.get(ast.unparse(base))) and parent.lineno < node.lineno:
            yield from _inner_names(parent, classes)
