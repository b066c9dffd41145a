"""Statements that work as soon as a file is imported: a loop, or a call of a function of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

FILE_BYTES = 2**20
LINE = 80


def main(files: Sequence[str]) -> dict[str, Any]:
    """Return the first of them in the first file that has one, as "file", "line" and "source"; or nothing.

    A loop comes before a call, because programs that train at the top of a file do so in a loop.
    """
    for kinds in ((ast.For, ast.While), (ast.Expr, ast.Assign)):
        for file in files:
            for node in _statements(_tree(file)):
                if isinstance(node, kinds):
                    with open(file, encoding="utf-8", errors="replace") as lines:
                        source = lines.read(FILE_BYTES).splitlines()[node.lineno - 1].strip()
                    return {"file": file, "line": node.lineno, "source": source[:LINE]}
    return {}


def _tree(file: str) -> ast.Module:
    with open(file, "rb") as source:
        content = source.read(FILE_BYTES)
    try:
        return ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module(body=[], type_ignores=[])


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield loops, and calls of functions that the file defines, which run when it is imported."""
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    waiting = list(reversed(tree.body))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.For | ast.While) or (
            isinstance(node, ast.Expr | ast.Assign) and _calls(node, defined)
        ):
            yield node
        elif isinstance(node, ast.With | ast.Try) or (isinstance(node, ast.If) and not _guards(node)):
            waiting.extend(reversed(node.body))


def _calls(node: ast.Expr | ast.Assign, defined: set[str]) -> bool:
    called = node.value.func if isinstance(node.value, ast.Call) else None
    return isinstance(called, ast.Name) and called.id in defined


def _guards(node: ast.If) -> bool:
    """Tell whether this is `if __name__ == …`."""
    return any(isinstance(name, ast.Name) and name.id == "__name__" for name in ast.walk(node.test))
