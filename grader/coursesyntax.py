"""Syntax of a course's Python files, read without importing them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import ast


def parsed(file: Path) -> ast.Module:
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

    for statement in parsed(file).body:
        match statement:
            case ast.Import(names=imported):
                yield from ((statement.lineno, entry.name) for entry in imported)
            case ast.ImportFrom(module=str() as module, names=imported, level=0):
                yield statement.lineno, module
                yield from ((statement.lineno, f"{module}.{entry.name}") for entry in imported)


def exported_names(file: Path) -> list[str]:
    """Return the names in `__all__` of a Python file, without importing it; none if it has no such list."""
    import ast

    for statement in parsed(file).body:
        match statement:
            case ast.Assign(targets=[ast.Name(id="__all__")], value=ast.List(elts=names)):
                return [str(name.value) for name in names if isinstance(name, ast.Constant)]
    return []


def joined_texts(file: Path) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield line and parts of each text that a Python file writes as several, which Python joins.

    The syntax tree has only what they make. A file that is no Python gives those before its error.
    """
    import ast
    import tokenize

    line = 0
    parts: list[Any] = []
    try:
        with file.open("rb") as source:
            for token in tokenize.tokenize(source.readline):
                if token.type == tokenize.STRING:
                    line = line if parts else token.start[0]
                    prefix = token.string[: token.string.index(token.string[-1])].lower()
                    parts.append(None if "f" in prefix else ast.literal_eval(token.string))
                elif token.type not in (tokenize.NL, tokenize.COMMENT):
                    if len(parts) > 1 and all(isinstance(part, str) for part in parts):
                        yield line, tuple(parts)
                    parts = []
    except (OSError, SyntaxError, ValueError, tokenize.TokenError):
        return


def keyword_line(file: Path, name: str, function: str = "") -> int:
    """Return the line of the first call with an argument of this name; 0 if there is none.

    With `function` it is one in the function of that name, if there is one.
    """
    import ast

    tree = parsed(file)
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

    nodes = [*ast.walk(parsed(file))]
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


def lost_returns(file: Path) -> Iterator[tuple[int, str]]:
    """Yield line and function of each value that a generator function returns and no `yield from` takes."""
    import ast

    tree = parsed(file)
    nodes = [*ast.walk(tree)]
    statements = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    delegated = (node for node in nodes if isinstance(node, ast.YieldFrom) and id(node) not in statements)
    taken = {ast.unparse(node.value.func) for node in delegated if isinstance(node.value, ast.Call)}
    for function in nodes:
        if isinstance(function, ast.FunctionDef) and function.name not in taken:
            inner = [*_nodes_of_body(function)]
            if any(isinstance(node, ast.Yield | ast.YieldFrom) for node in inner):
                for node in inner:
                    if isinstance(node, ast.Return) and not _is_none(node.value):
                        yield node.lineno, function.name


def _nodes_of_body(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield the nodes in the body of a function, without those of functions and classes in it."""
    import ast

    nodes: list[ast.AST] = [*reversed(function.body)]
    while nodes:
        node = nodes.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            nodes += reversed([*ast.iter_child_nodes(node)])


def _is_none(value: ast.expr | None) -> bool:
    """Tell whether a `return` has no value, or `None`."""
    import ast

    return value is None or (isinstance(value, ast.Constant) and value.value is None)
