"""Functions and methods that a function names and may not use, also where it does not run."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

from .attributes import NAMES, attribute
from .doubts import Doubts
from .elements import ElementArray
from .frames import Frame, Function
from .refusals import NotFollowed, Refused, Unknown

DEPTH = 8
"""How deeply functions may lie in lists of lists."""


class Reached:
    """Library functions, methods, operators and functions that a function names."""

    def __init__(
        self, function: Function, run_import: Callable[[ast.stmt, Frame], None], doubts: Doubts
    ) -> None:
        """`run_import` binds in a frame what an import statement imports."""
        self._function = function
        self._doubts = doubts
        body = function.node.body if isinstance(function.node.body, list) else [function.node.body]
        self._nodes = [node for statement in body for node in ast.walk(statement)]
        self._bound = {node.arg for node in ast.walk(function.node.args) if isinstance(node, ast.arg)}
        """Names of values that only a call shows."""
        self._imports = Frame(function.frame.module, function.frame)
        for node in self._nodes:
            if isinstance(node, ast.Import | ast.ImportFrom):
                with suppress(Refused, Exception):  # it shows when it runs
                    run_import(node, self._imports)
            elif name := _bound_name(node):
                self._bound.add(name)

    def functions(self) -> Iterator[Function]:
        """Yield the functions of the submission that it names, or has in a list, called or not."""
        for _, value in self._values():
            if isinstance(value, Function):
                yield value

    def containers(self) -> Iterator[tuple[int, Any]]:
        """Yield the lists, dictionaries, sets and arrays that it names and that calls leave behind."""
        for line, value in self._values():
            if isinstance(value, list | dict | set | ElementArray):
                yield line, value

    def misused(self, *, may_catch: bool) -> Iterator[tuple[int, Refused]]:
        """Yield the lines that are not evaluated an element at a time, and why.

        Without `may_catch` a `try` is among them: around compiled code it hides what does not compile.
        """
        for node in self._nodes:
            if isinstance(node, ast.Try) and not may_catch:
                yield node.lineno, NotFollowed("catches errors beside compiled code, which may not compile")
            elif isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult):
                yield node.lineno, Refused("multiplies whole arrays by @")
        # first the values of names: a message on one says more than a message on its method
        for line, value in self._values():
            if isinstance(value, Unknown):
                yield line, value.refusal(f"uses {value.name}")
            elif isinstance(value, Iterator):
                yield line, NotFollowed("goes on with an iterator that other calls go on with as well")
            elif self._doubts.about(value):
                yield line, NotFollowed("goes on with what code changes, or may change, that is not followed")
        for node in self._loads():
            if isinstance(node, ast.Attribute) and node.attr not in NAMES and self._value(node) is None:
                yield node.lineno, Refused(f"uses .{node.attr}")

    def _values(self) -> Iterator[tuple[int, Any]]:
        """Yield line and value of each name and default, and of what these hold in lists and the like."""
        for node in self._loads():
            yield from ((node.lineno, value) for value in _parts(self._value(node)))
        for defaults in self._function.defaults:
            yield from ((self._function.node.lineno, value) for value in _parts(defaults))

    def _loads(self) -> Iterator[ast.Name | ast.Attribute]:
        for node in self._nodes:
            if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
                yield node

    def _value(self, node: ast.expr) -> Any:
        """Return what a name, or a dotted name, stands for; None if only a call shows it."""
        with suppress(Refused, NameError):
            if isinstance(node, ast.Name) and node.id not in self._bound:
                value = self._imports.load(node.id)
                return _NOTHING if value is None else value
            if isinstance(node, ast.Attribute) and (value := self._value(node.value)) is not None:
                member = attribute(value, node.attr)
                return _NOTHING if member is None else member
        return None


def _parts(value: Any, depth: int = DEPTH) -> Iterator[Any]:
    """Yield a value, or what it holds: a number that small inputs lack can take a function out of a list."""
    if isinstance(value, partial):
        value = value.func, value.args, value.keywords
    if isinstance(value, dict):
        yield value
        value = *value.keys(), *value.values()
    yield value
    if depth and isinstance(value, list | tuple | set | frozenset):
        for part in {id(part): part for part in value}.values():
            yield from _parts(part, depth - 1)


_NOTHING = object()
"""Stands for a value that is None."""


def _bound_name(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id if isinstance(node.ctx, ast.Store) else ""
    if isinstance(node, ast.FunctionDef):
        return node.name
    return node.arg if isinstance(node, ast.arg) else ""
