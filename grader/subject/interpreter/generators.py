"""Inputs of generators and cached functions: a change of them tells when, and how often, these run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from .elements import ElementArray, storage
from .frames import Frame, Function
from .refusals import NotFollowed

DEPTH = 8
"""How deeply lists of lists are compared."""


class FunctionInputs:
    """Arguments of a function and the names that it reads, with the contents of lists and arrays."""

    def __init__(self, function: Function, frame: Frame) -> None:
        self._frame = frame
        self._given = dict(frame.names)
        nodes = list(ast.walk(function.node))
        self._names = {
            node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        } - self._given.keys()
        if any(isinstance(node, ast.Global | ast.Nonlocal) for node in nodes):
            raise NotFollowed(
                f"has {function.name}, a generator or a cached function, change names of others"
            )
        self._state = self._look()

    @property
    def around(self) -> list[Any]:
        """Something that differs once the names around the function stand for something else."""
        return self._state[len(self._given) :]

    def must_be_as_before(self) -> None:
        """Refuse a program that changes them while a generator of it goes on, or in the generator."""
        if self._look() != self._state:
            raise NotFollowed(
                "changes what a generator, or a cached function, reads, or has it change something"
            )

    def _look(self) -> list[Any]:
        values = list(self._given.values())
        around = self._frame.outer
        for name in sorted(self._names):
            with suppress(NameError):
                values.append(around.load(name) if around else self._frame.module.namespace(name))
        return [_state_of(value, DEPTH) for value in values]


def _state_of(value: Any, depth: int) -> Any:
    """Return something that differs once a value is another one, or holds other values."""
    if isinstance(value, ElementArray):
        return id(value), value.region.stores[id(storage(value.data))]
    if isinstance(value, list | tuple | set | frozenset | dict) and depth:
        parts = (*value.keys(), *value.values()) if isinstance(value, dict) else tuple(value)
        return id(value), [_state_of(part, depth - 1) for part in parts]
    if isinstance(value, Iterator):
        raise NotFollowed("gives a generator, or a cached function, an iterator, which others may go on with")
    return id(value)


def step_by_step(values: list[Any], inputs: FunctionInputs) -> Iterator[Any]:
    """Yield the values of a generator.

    Raises:
        NotFollowed: what it read has changed since.
    """
    for value in values:
        inputs.must_be_as_before()
        yield value
    inputs.must_be_as_before()
