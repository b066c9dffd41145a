"""Evaluates expressions: each construct that may be used is a method, every other one is refused."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from .attributes import attribute
from .elements import Element, ElementArray, plain
from .frames import NO_DEFAULT, Frame, Function
from .libraries import Conversion, Decorator, must_keep_its_order
from .refusals import NotFollowed, Reading, Refused, Unknown, kind_of, shown

_BINARY: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
_IN_PLACE: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.iadd,
    ast.Sub: operator.isub,
    ast.Mult: operator.imul,
    ast.BitAnd: operator.iand,
    ast.BitOr: operator.ior,
    ast.BitXor: operator.ixor,
}
_UNARY: Mapping[type, Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}
_COMPARED: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda value, container: value in container,
    ast.NotIn: lambda value, container: value not in container,
}


_SINGLE = (type(None), bool, type(Ellipsis))
"""The types of values that `is` compares alike everywhere."""


def _must_be_comparable(operation: ast.cmpop, left: Any, right: Any) -> None:
    """Refuse comparisons of what is another object here than where the program runs."""
    if isinstance(operation, ast.Is | ast.IsNot):
        single = type(None) if isinstance(left, Element) or isinstance(right, Element) else _SINGLE
        if not isinstance(left, single) and not isinstance(right, single):
            raise NotFollowed("compares by `is` what may be one object or two")
    elif any(callable(value) and not isinstance(value, Conversion | Unknown) for value in (left, right)):
        raise NotFollowed("compares functions")


def combine(operation: ast.operator, left: Any, right: Any) -> Any:
    """Apply an operator to two values.

    Raises:
        Refused: it is `@`, which multiplies whole arrays.
    """
    function = _BINARY.get(type(operation))
    if function is None:
        raise Refused("multiplies whole arrays by @")
    if isinstance(operation, ast.Mod) and isinstance(left, str):
        return Reading("a text that it put together", NotFollowed)
    return function(left, right)


def combine_in_place(operation: ast.operator, left: Any, right: Any) -> Any:
    """Apply an operator as `+=` does: lists, sets and dictionaries are changed, and no new ones made."""
    if type(left) in (list, set, dict) and (function := _IN_PLACE.get(type(operation))):
        return function(left, right)
    return combine(operation, left, right)


def handlers_of(evaluator: object) -> dict[type, Callable[..., Any]]:
    """Return the methods `_on_…` of an evaluator by the kind of node that each evaluates."""
    names = [name for name in dir(evaluator) if name.startswith("_on_")]
    return {getattr(ast, name.removeprefix("_on_")): getattr(evaluator, name) for name in names}


class Expressions:
    """Evaluates expressions in a frame; `call` evaluates the body of a function."""

    def __init__(self, call: Callable[[Function, Frame], Any]) -> None:
        self._call_body = call
        self.branches: set[int] = set()
        """The nodes that were evaluated of those that a condition decides about."""
        self._kinds = handlers_of(self)

    def evaluate(self, node: ast.expr, frame: Frame) -> Any:
        """Return the value of an expression."""
        kind = self._kinds.get(type(node))
        if kind is None:
            raise NotFollowed(f"uses {kind_of(node)}, which is not followed here: {shown(node)}")
        value = kind(node, frame)
        if isinstance(value, np.ndarray):  # made by a way round our arrays
            raise Refused(f"computes with a whole array: {shown(node)}")
        return value

    def function(self, node: ast.FunctionDef | ast.Lambda, frame: Frame) -> Function:
        """Return the function that a definition gives, without its decorators."""
        only = [
            NO_DEFAULT if default is None else self.evaluate(default, frame)
            for default in node.args.kw_defaults
        ]
        return Function(node, frame, (self._all(node.args.defaults, frame), only), self._call_body)

    def assign(self, target: ast.expr, value: Any, frame: Frame) -> None:
        """Bind a name, store an element, or unpack."""
        match target:
            case ast.Name():
                frame.store(target.id, value)
            case ast.Subscript():
                self.evaluate(target.value, frame)[self.evaluate(target.slice, frame)] = value
            case ast.Tuple() | ast.List():
                self._unpack(target.elts, list(value), frame)
            case _:
                raise NotFollowed(f"sets {shown(target)}")

    def _unpack(self, targets: list[ast.expr], values: list[Any], frame: Frame) -> None:
        star = next((at for at, target in enumerate(targets) if isinstance(target, ast.Starred)), None)
        if star is not None:
            after = len(targets) - star - 1
            values[star : len(values) - after] = [values[star : len(values) - after]]
            targets = [target.value if isinstance(target, ast.Starred) else target for target in targets]
        if len(targets) != len(values):
            raise ValueError(f"{len(values)} values cannot be unpacked to {len(targets)}")
        for target, value in zip(targets, values, strict=True):
            self.assign(target, value, frame)

    def _all(self, nodes: list[ast.expr], frame: Frame) -> list[Any]:
        values: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                values.extend(self.evaluate(node.value, frame))  # += would ask an array to be added to
            else:
                values.append(self.evaluate(node, frame))
        return values

    def _on_Constant(self, node: ast.Constant, frame: Frame) -> Any:
        del frame
        return node.value

    def _on_Name(self, node: ast.Name, frame: Frame) -> Any:
        return frame.load(node.id)

    def _on_Attribute(self, node: ast.Attribute, frame: Frame) -> Any:
        return attribute(self.evaluate(node.value, frame), node.attr)

    def _on_Subscript(self, node: ast.Subscript, frame: Frame) -> Any:
        return self.evaluate(node.value, frame)[self.evaluate(node.slice, frame)]

    def _on_Slice(self, node: ast.Slice, frame: Frame) -> slice:
        return slice(
            *(
                None if end is None else self.evaluate(end, frame)
                for end in (node.lower, node.upper, node.step)
            )
        )

    def _on_BinOp(self, node: ast.BinOp, frame: Frame) -> Any:
        return combine(node.op, self.evaluate(node.left, frame), self.evaluate(node.right, frame))

    def _on_UnaryOp(self, node: ast.UnaryOp, frame: Frame) -> Any:
        return _UNARY[type(node.op)](self.evaluate(node.operand, frame))

    def _on_BoolOp(self, node: ast.BoolOp, frame: Frame) -> Any:
        for operand in node.values:
            self.branches.add(id(operand))
            value = self.evaluate(operand, frame)
            if bool(value) == isinstance(node.op, ast.Or):
                break
        return value

    def _on_Compare(self, node: ast.Compare, frame: Frame) -> Any:
        left = self.evaluate(node.left, frame)
        for operation, comparator in zip(node.ops, node.comparators, strict=True):
            right = self.evaluate(comparator, frame)
            _must_be_comparable(operation, left, right)
            value = _COMPARED[type(operation)](left, right)
            if len(node.ops) > 1 and not value:
                break
            left = right
        return value

    def _on_IfExp(self, node: ast.IfExp, frame: Frame) -> Any:
        branch = node.body if self.evaluate(node.test, frame) else node.orelse
        self.branches.add(id(branch))
        return self.evaluate(branch, frame)

    def _on_NamedExpr(self, node: ast.NamedExpr, frame: Frame) -> Any:
        value = self.evaluate(node.value, frame)
        frame.store_around(node.target.id, value)
        return value

    def _on_Lambda(self, node: ast.Lambda, frame: Frame) -> Function:
        return self.function(node, frame)

    def _on_Call(self, node: ast.Call, frame: Frame) -> Any:
        function = self.evaluate(node.func, frame)
        if isinstance(function, Decorator):
            _must_be_written_out(node)
            return function(*self._functions(node, frame), **self._keywords(node, frame))
        if not callable(function) or isinstance(function, ElementArray):
            raise TypeError(f"{shown(node.func)} cannot be called")
        return function(*self._all(node.args, frame), **self._keywords(node, frame))

    def _functions(self, node: ast.Call, frame: Frame) -> list[Any]:
        """Return the functions among the arguments of a decorator; signatures are numba's alone."""
        values = [
            self.evaluate(argument, frame)
            for argument in node.args
            if isinstance(argument, ast.Name | ast.Lambda | ast.Attribute)
        ]
        return [value for value in values if isinstance(value, Function)]

    def _keywords(self, node: ast.Call, frame: Frame) -> dict[str, Any]:
        keywords: dict[str, Any] = {}
        for keyword in node.keywords:
            value = self.evaluate(keyword.value, frame)
            keywords.update({keyword.arg: value} if keyword.arg else value)
        return keywords

    def _on_List(self, node: ast.List, frame: Frame) -> list[Any]:
        return self._all(node.elts, frame)

    def _on_Tuple(self, node: ast.Tuple, frame: Frame) -> tuple[Any, ...]:
        return tuple(self._all(node.elts, frame))

    def _on_Set(self, node: ast.Set, frame: Frame) -> set[Any]:
        return _in_its_order(self._all(node.elts, frame))

    def _on_Dict(self, node: ast.Dict, frame: Frame) -> dict[Any, Any]:
        entries: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            entries.update(
                self.evaluate(value, frame)
                if key is None
                else {self.evaluate(key, frame): self.evaluate(value, frame)}
            )
        return entries

    def _on_ListComp(self, node: ast.ListComp, frame: Frame) -> list[Any]:
        return list(self._comprehended(node.elt, node.generators, frame))

    def _on_SetComp(self, node: ast.SetComp, frame: Frame) -> set[Any]:
        return _in_its_order(self._comprehended(node.elt, node.generators, frame))

    def _on_GeneratorExp(self, node: ast.GeneratorExp, frame: Frame) -> Iterator[Any]:
        # As in Python what it goes over first is evaluated at once, and everything else later.
        first = frame.module.region.order(self.evaluate(node.generators[0].iter, frame))
        inner = Frame(frame.module, frame, comprehended=True)
        return self._clauses(node.elt, node.generators, inner, iter(first))

    def _on_DictComp(self, node: ast.DictComp, frame: Frame) -> dict[Any, Any]:
        pair = ast.Tuple(elts=[node.key, node.value], ctx=ast.Load())
        return dict(self._comprehended(pair, node.generators, frame))

    def _comprehended(
        self, element: ast.expr, clauses: list[ast.comprehension], frame: Frame
    ) -> Iterator[Any]:
        return self._clauses(element, clauses, Frame(frame.module, frame, comprehended=True))

    def _clauses(
        self,
        element: ast.expr,
        clauses: list[ast.comprehension],
        frame: Frame,
        values: Iterator[Any] | None = None,
    ) -> Iterator[Any]:
        if not clauses:
            yield self.evaluate(element, frame)
            return
        first, *rest = clauses
        if values is None:
            values = iter(frame.module.region.order(self.evaluate(first.iter, frame)))
        for value in values:
            if frame.module.region.depth and not frame.compiled:
                raise Refused("has compiled code go on with a generator of plain Python")
            self.assign(first.target, value, frame)
            if all(self.evaluate(test, frame) for test in first.ifs):
                yield from self._clauses(element, rest, frame)

    def _on_JoinedStr(self, node: ast.JoinedStr, frame: Frame) -> str | Element | Reading:
        parts = [self.evaluate(part, frame) for part in node.values]
        if any(isinstance(part, Reading) for part in parts):
            return Reading("a text that it put together", NotFollowed)
        text = "".join(map(plain, parts))
        return next((Element(text, part.region) for part in parts if isinstance(part, Element)), text)

    def _on_FormattedValue(self, node: ast.FormattedValue, frame: Frame) -> str | Element | Reading:
        value = self.evaluate(node.value, frame)
        specification = "" if node.format_spec is None else self.evaluate(node.format_spec, frame)
        if isinstance(value, Element) and node.conversion in (-1, ord("s")):
            text = format(value if node.conversion == -1 else format(value, ""), plain(specification))
            return Element(text, value.region)
        if type(value) not in (str, int, float, bool, type(None)) or isinstance(specification, Reading):
            return Reading("a text that it put together")  # what is printed of it is no result
        texts: dict[int, Callable[[Any], Any]] = {ord("r"): repr, ord("a"): ascii, ord("s"): str}
        return format(texts.get(node.conversion, _itself)(value), specification)

    def _on_Yield(self, node: ast.Yield, frame: Frame) -> None:
        values = frame.yielded
        if values is not None:
            values.append(None if node.value is None else self.evaluate(node.value, frame))

    def _on_YieldFrom(self, node: ast.YieldFrom, frame: Frame) -> None:
        values = frame.yielded
        if values is not None:
            values.extend(self.evaluate(node.value, frame))


def _in_its_order(values: Iterable[Any]) -> set[Any]:
    made = set(values)
    must_keep_its_order(made)
    return made


def _itself(value: Any) -> Any:
    return value


def _must_be_written_out(decorator: ast.Call) -> None:
    """Refuse a decorator of numba's of which other code may decide whether it compiles."""
    for keyword in decorator.keywords:
        decides = keyword.arg in ("forceobj", "nopython") and not isinstance(keyword.value, ast.Constant)
        if keyword.arg is None or decides:
            raise NotFollowed(f"gives numba options that are not written out: {shown(keyword.value)}")
