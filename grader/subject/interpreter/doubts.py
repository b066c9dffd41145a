"""Objects that code may change which is not followed: nobody knows what they hold when a function runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import numpy as np

from .elements import ElementArray
from .frames import Frame, Function
from .refusals import NotFollowed, Unknown


class Doubts:
    """Lists, dictionaries, sets and arrays in reach of code that is not followed."""

    def __init__(self) -> None:
        self._pending: list[tuple[Frame, ast.AST]] = []
        self._functions: set[int] = set()
        self._objects: dict[int, Any] = {}
        """By identity; the objects are kept, so that no other one gets it."""

    def add(self, frame: Frame, node: ast.AST) -> None:
        """Take note of code that may run, now or later, without being followed."""
        self._pending.append((frame, node))

    def settle(self) -> None:
        """Find what the code reaches; names that it may bind anew become unknown."""
        while self._pending:
            frame, node = self._pending.pop()
            for part in ast.walk(node):
                if isinstance(part, ast.Global | ast.Nonlocal):
                    _forget(part, frame)
                elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
                    try:
                        value = frame.load(part.id)
                    except NameError:  # a name of its own
                        continue
                    self._reach(value)

    def about(self, value: Any) -> bool:
        """Tell whether that code may have changed an object."""
        return _identity(value) in self._objects

    def _reach(self, value: Any) -> None:
        pending = [value]
        while pending:
            value = pending.pop()
            if isinstance(value, Unknown):
                value = value.perhaps
            if isinstance(value, Function):
                if id(value.node) not in self._functions:
                    self._functions.add(id(value.node))
                    pending += value.defaults
                    self.add(value.frame, value.node)
            elif isinstance(value, tuple | frozenset):
                pending += value
            elif isinstance(value, list | dict | set | ElementArray):
                if _identity(value) not in self._objects:
                    self._objects[_identity(value)] = value
                    pending += _parts(value)
            elif hasattr(value, "namespace"):  # another file of the submission
                pending += value.bindings.values()


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.keys()
        yield from value.values()
    elif not isinstance(value, ElementArray):
        yield from value


def contents_of(value: Any) -> Any:
    """Return something that differs once a list, a dictionary, a set or an array was changed."""
    return value.data.tobytes() if isinstance(value, ElementArray) else [id(part) for part in _parts(value)]


def _identity(value: Any) -> int:
    """Return a number for what can change: the same for views of one array, and one for all else."""
    if isinstance(value, ElementArray):
        data = value.data
        while isinstance(data.base, np.ndarray):
            data = data.base
        return id(data)
    return id(value) if isinstance(value, list | dict | set) else 0


def _forget(declaration: ast.Global | ast.Nonlocal, frame: Frame) -> None:
    scope: Frame | None = frame
    names = [frame.module.bindings]
    while scope is not None and isinstance(declaration, ast.Nonlocal):
        names.append(scope.names)
        scope = scope.outer
    for name in declaration.names:
        for bindings in names:
            if name in bindings:
                bindings[name] = Unknown(f"{name}, which code that is not followed may change", NotFollowed)
