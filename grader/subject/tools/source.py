"""Lists the names that a function of a Python file uses, also through its helpers; runs none of it."""

from __future__ import annotations

import ast
import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from ..python_text import check_text
from .certain_calls import certain_calls
from .names import ModuleNames

USES = 2000
NAMES = 50
LINE = 200
DEPTH = 20_000
"""Python imports what is nested less than 3,000 deep; here a level takes several calls."""
PYTHON_2 = ("call to 'print'", "call to 'exec'", "multiple exception types must be parenthesized")
"""Messages of Python 3 on the three things that Python 2 programs stumble over first."""


def main(path: str, function: str) -> dict[str, Any]:
    """Return what a rule on the source can be held against.

    `function` is `name` or `Class.name`; empty means the whole file. The answer has `problem` (and `line`) if
    the file is no Python 3, in the words in which its import fails, `names` (of functions, methods and
    classes) if it has no such function, otherwise `uses`, `decorators`, `loops`, `followed`.
    """
    sys.setrecursionlimit(DEPTH)
    with open(path, "rb") as file:
        content = file.read()
    try:
        check_text(content, path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "\d" in a text is no concern of ours
            tree = ast.parse(content)
    except SyntaxError as error:
        return {"problem": of_python_2(error.msg), "line": error.lineno or 0}
    except ValueError as error:
        return {"problem": f"cannot be read as Python ({error})", "line": 0}
    except (RecursionError, MemoryError):
        return {"too_deep": True}
    lines = re.split(r"\r\n|\r|\n", content.decode("utf-8-sig", "replace"))
    try:
        return _look(ModuleNames(tree), tree, function, lines, os.path.dirname(path))
    except RecursionError:
        return {"too_deep": True}


def _look(
    module: ModuleNames, tree: ast.Module, function: str, lines: Sequence[str], folder: str
) -> dict[str, Any]:
    roots: tuple[ast.AST, ...] = (tree,)
    decorators: tuple[ast.expr, ...] = ()
    if function:
        roots, decorators = module.function(function)
        if not roots:
            return {"names": module.callables()[:NAMES]}
    followed, uses = module.follow(roots)
    certain = certain_calls(module, roots)
    return {
        "uses": [
            {
                "name": name,
                "line": line,
                "text": "".join(lines[line - 1 : line]).strip()[:LINE],
                "certain": (line, name) in certain,
            }
            for line, name in sorted(set(uses))[:USES]
        ],
        "decorators": [decorator for node in decorators for decorator in _decorator(module, node, folder)],
        "replaced": module.is_replaced(function),
        "loops": max(map(module.loops, roots)),
        "followed": followed[:NAMES],
    }


def _decorator(module: ModuleNames, node: ast.expr, folder: str) -> Iterator[dict[str, Any]]:
    """Yield a decorator by each name that it may have, or without one if it is the program's own.

    It is `certain` if the name can stand for nothing else, and `open` if some of its keywords are no
    constants. `uses` has the names that it is made with, or `*` if another file beside this one has it.
    """
    keywords: list[ast.keyword] = []
    line = node.lineno
    whole = node
    if isinstance(node, ast.Call):
        keywords, node = node.keywords, node.func
    names = module.scope.names(node)
    made_with = {name for _, name in module.follow([whole])[1]}
    beside = [name for name in names if os.path.isfile(os.path.join(folder, f"{name.partition('.')[0]}.py"))]
    for name in names or ("",):
        yield {
            "name": name,
            "keywords": {k.arg: _written(k.value)[:LINE] for k in keywords if k.arg},
            "line": line,
            "certain": bool(module.scope.certain_name(node)) and not beside,
            "open": not all(k.arg and isinstance(k.value, ast.Constant) for k in keywords),
            "uses": ["*"] if beside else sorted(made_with)[:NAMES],
        }


def _written(node: ast.expr) -> str:
    """Return an expression as Python's text; empty for a number of more digits than Python writes down."""
    try:
        return ast.unparse(node)
    except ValueError:
        return ""


def of_python_2(message: str) -> str:
    """Return a syntax error's message; of a file that was written for Python 2 a sentence with it."""
    if any(hint in message for hint in PYTHON_2):
        return f"is written for Python 2 ({message}); this course runs Python 3"
    return message
