"""What a function says, also where it does not run: functions and methods that do not count."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from .attributes import NAMES, attribute
from .frames import Function
from .libraries import Library
from .refusals import NotFollowed, Refused, Unknown


def named_functions(function: Function) -> Iterator[Function]:
    """The functions of the submission that a function names, whether it calls them or not."""
    nodes, bound = _nodes(function)
    for node in nodes:
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            value = _global(node, function, bound)
            if isinstance(value, Function):
                yield value


def _nodes(function: Function) -> tuple[list[ast.AST], set[str]]:
    """The nodes of a function's body, and the names that are bound in it."""
    bound = {node.arg for node in ast.walk(function.node.args) if isinstance(node, ast.arg)}
    body = function.node.body if isinstance(function.node.body, list) else [function.node.body]
    nodes = [node for statement in body for node in ast.walk(statement)]
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            bound |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.FunctionDef):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
    return nodes, bound


def misused(function: Function, *, may_catch: bool = True) -> Iterator[tuple[int, Refused]]:
    """Lines of a function, and why what they use is sure not to be evaluated an element at a time.

    Without `may_catch` a `try` is among them: around compiled code it hides what does not compile.
    """
    nodes, bound = _nodes(function)
    for node in nodes:
        if isinstance(node, ast.Try) and not may_catch:
            yield node.lineno, NotFollowed("catches errors beside compiled code, which may not compile")
    for node in nodes:  # what a name stands for says more than a method that nobody knows
        if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult):
            yield node.lineno, Refused("multiplies whole arrays by @")
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            value = _global(node, function, bound)
            if isinstance(value, Unknown):
                yield node.lineno, value.refusal(f"uses {value.name}")
    for node in nodes:
        if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load) or node.attr in NAMES:
            continue
        if _global(node, function, bound) is None and not _is_member(node, function, bound):
            yield node.lineno, Refused(f"uses .{node.attr}")


def _global(node: ast.expr, function: Function, bound: set[str]) -> Any:
    """What a name, or a dotted name, of the file stands for; None if it is a value of the function's own."""
    if isinstance(node, ast.Name):
        if node.id in bound:
            return None
        try:
            return function.frame.load(node.id)
        except NameError:
            return None
    if isinstance(node, ast.Attribute):
        value = _global(node.value, function, bound)
        if value is not None:
            try:
                return attribute(value, node.attr)
            except (Refused, NameError):
                return None
    return None


def _is_member(node: ast.Attribute, function: Function, bound: set[str]) -> bool:
    """Whether it is the member of a library that the function imports by itself, which shows when it runs."""
    return isinstance(_global(node.value, function, bound), Library)
