"""Evaluates statements, and notes which of them ran and where an evaluation ended."""

from __future__ import annotations

import ast
import time
from collections.abc import Callable, Mapping, Sequence
from enum import Enum, auto
from typing import Any

import numpy as np

from .attributes import attribute
from .elements import Element, ElementArray
from .exports import exported_names
from .expressions import Expressions, combine_in_place, handlers_of
from .frames import Frame, Function
from .generators import FunctionInputs, step_by_step
from .libraries import Library
from .refusals import NotFollowed, Refused, Unknown, kind_of, shown, unknown_of

_ALIKE = (IndexError, StopIteration, ImportError, ModuleNotFoundError)
"""Errors that are raised here where they are raised elsewhere; of imports `_must_not_fail` takes care."""
CPU_S = 10.0
"""How long one evaluation may compute; small inputs take milliseconds."""


class EnoughError(BaseException):
    """The beginning of an evaluation is over, and nothing was refused in it."""


class Leave(Enum):
    """How a block was left before its end, other than by `return`."""

    BREAK = auto()
    CONTINUE = auto()


class Return:
    """A block was left by `return`."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


Left = Leave | Return | None


class Statements:
    """Evaluates statements in a frame."""

    def __init__(self, load: Callable[[str], Any]) -> None:
        """`load` gives the library, or the file of the submission, that an `import` names."""
        self.expressions = Expressions(self.run_function)
        self.first_call: Callable[[Function], None] = lambda function: None
        """Called for each function before it is evaluated."""
        self.executed: set[tuple[str, int]] = set()
        """File and line of each statement that ran."""
        self.place: tuple[str, int] | None = None
        """Where the evaluation ended that raised."""
        self._load = load
        self._tries = 0
        """In how many `try` statements, one in the other, the evaluation stands."""
        self._ends_s = time.process_time() + CPU_S
        self._kinds = handlers_of(self)

    def begin(self) -> None:
        """Give an evaluation its time."""
        self.place = None
        self._ends_s = time.process_time() + CPU_S

    def run_function(self, function: Function, frame: Frame) -> Any:
        """Evaluate the body of a function; a generator is evaluated to its end."""
        self.first_call(function)
        self._must_have_time()
        region = frame.module.region
        if region.depth and not frame.compiled:
            raise Refused(f"calls {function.name} from compiled code, and numba does not compile it")
        if function.compiled and not region.depth:
            for value in frame.names.values():
                _must_cross(value)
        region.entries += function.compiled and not region.depth
        args = list(frame.names.values())
        region.depth += function.compiled
        try:
            value = self._run_body(function, frame)
        finally:
            region.depth -= function.compiled
        return region.leave(value, args) if function.compiled else value

    def _run_body(self, function: Function, frame: Frame) -> Any:
        if isinstance(function.node, ast.Lambda):
            return self.expressions.evaluate(function.node.body, frame)
        yields = _yields(function.node)
        frame.yielded = [] if yields else None
        inputs = FunctionInputs(function, frame) if yields or function.cached else None
        if inputs and function.cached:
            function.around = function.around or [inputs.around]
            if function.around != [inputs.around]:
                raise NotFollowed(f"changes what {function.name} reads, which gives what it gave before")
        try:
            left = self.run(function.node.body, frame)
        except Exception as error:
            if not yields:
                raise
            raise NotFollowed(f"has the generator {function.name} raise {type(error).__name__}") from None
        if inputs:
            inputs.must_be_as_before()
        if inputs and frame.yielded is not None:
            return step_by_step(frame.yielded, inputs)
        return left.value if isinstance(left, Return) else None

    def run(self, block: Sequence[ast.stmt], frame: Frame) -> Left:
        """Evaluate the statements of a block; how it was left."""
        for statement in block:
            self.executed.add((frame.module.file, statement.lineno))
            try:
                left = self._kinds.get(type(statement), self._refuse)(statement, frame)
            except BaseException:
                if self.place is None:
                    self.place = frame.module.file, statement.lineno
                raise
            if left is not None:
                return left  # type: ignore[no-any-return]
        return None

    def run_import(self, node: ast.stmt, frame: Frame) -> None:
        """Bind what an import statement imports, wherever it stands."""
        tries, self._tries = self._tries, 0
        try:
            self._kinds[type(node)](node, frame)
        finally:
            self._tries = tries

    def _must_have_time(self) -> None:
        if time.process_time() > self._ends_s:
            raise Refused(f"does not end within {CPU_S:g} s on a small input")

    def _refuse(self, node: ast.stmt, frame: Frame) -> Left:
        del frame
        raise NotFollowed(f"uses {kind_of(node)}, which is not followed here")

    def _on_Expr(self, node: ast.Expr, frame: Frame) -> None:
        self.expressions.evaluate(node.value, frame)

    def _on_Pass(self, node: ast.Pass, frame: Frame) -> None:
        del node, frame

    def _on_Return(self, node: ast.Return, frame: Frame) -> Return:
        return Return(None if node.value is None else self.expressions.evaluate(node.value, frame))

    def _on_Break(self, node: ast.Break, frame: Frame) -> Leave:
        del node, frame
        return Leave.BREAK

    def _on_Continue(self, node: ast.Continue, frame: Frame) -> Leave:
        del node, frame
        return Leave.CONTINUE

    def _on_Assign(self, node: ast.Assign, frame: Frame) -> None:
        value = self.expressions.evaluate(node.value, frame)
        for target in node.targets:
            self.expressions.assign(target, value, frame)

    def _on_AnnAssign(self, node: ast.AnnAssign, frame: Frame) -> None:
        if node.value is not None:
            self.expressions.assign(node.target, self.expressions.evaluate(node.value, frame), frame)

    def _on_AugAssign(self, node: ast.AugAssign, frame: Frame) -> None:
        target = node.target
        if isinstance(target, ast.Subscript):
            container = self.expressions.evaluate(target.value, frame)
            index = self.expressions.evaluate(target.slice, frame)
            value = container[index]
            container[index] = combine_in_place(node.op, value, self.expressions.evaluate(node.value, frame))
            return
        before = self.expressions.evaluate(target, frame)
        value = self.expressions.evaluate(node.value, frame)
        self.expressions.assign(target, combine_in_place(node.op, before, value), frame)

    def _on_If(self, node: ast.If, frame: Frame) -> Left:
        return self.run(node.body if self.expressions.evaluate(node.test, frame) else node.orelse, frame)

    def _on_For(self, node: ast.For, frame: Frame) -> Left:
        for value in frame.module.region.order(self.expressions.evaluate(node.iter, frame)):
            self.expressions.assign(node.target, value, frame)
            if (left := self._loop(node, frame)) is not None:
                return left if isinstance(left, Return) else None
        return self.run(node.orelse, frame)

    def _on_While(self, node: ast.While, frame: Frame) -> Left:
        while self.expressions.evaluate(node.test, frame):
            if (left := self._loop(node, frame)) is not None:
                return left if isinstance(left, Return) else None
        return self.run(node.orelse, frame)

    def _loop(self, node: ast.For | ast.While, frame: Frame) -> Left:
        """Evaluate the body of a loop once: how the loop was left, None if it goes on."""
        self._must_have_time()
        left = self.run(node.body, frame)
        return None if left is Leave.CONTINUE else left

    def _on_FunctionDef(self, node: ast.FunctionDef, frame: Frame) -> None:
        value: Any = self.expressions.function(node, frame)
        for decorator in reversed(node.decorator_list):
            value = self.expressions.evaluate(decorator, frame)(value)
        frame.store(node.name, value)

    def _on_Import(self, node: ast.Import, frame: Frame) -> None:
        for alias in node.names:
            top = alias.name.partition(".")[0]
            module = self._load(alias.name if alias.asname else top)
            self._must_be_there(module, alias.name)
            if alias.name != top:
                self._must_be_there(self._load(alias.name), alias.name)
            frame.store(alias.asname or top, module)

    def _must_be_there(self, module: Any, module_name: str, name: str = "") -> None:
        """Refuse an import that succeeds here and may fail elsewhere, where a `try` makes something of it."""
        if self._tries and (isinstance(module, Unknown) or (name and not module.has(name))):
            raise NotFollowed(f"imports {name or module_name}, which may fail")

    def _on_ImportFrom(self, node: ast.ImportFrom, frame: Frame) -> None:
        if node.module == "__future__":
            return
        source = self._load(node.module or "")
        for alias in node.names:
            below = self._load(f"{node.module}.{alias.name}")
            known = isinstance(below, Library) or alias.name == "*"
            self._must_be_there(source, node.module or "", "" if known else alias.name)
            if alias.name == "*":
                for name, value in _members(source, node.module or "").items():
                    frame.store(name, value)
                frame.module.star(source)
            else:
                frame.store(alias.asname or alias.name, self._member(source, node.module or "", alias.name))

    def _member(self, source: Any, module: str, name: str) -> Any:
        member = attribute(source, name)
        if isinstance(member, Unknown) and isinstance(source, Library):  # `from numba import types`: a module
            below = self._load(f"{module}.{name}")
            return below if isinstance(below, Library) else member
        return member

    def _on_Assert(self, node: ast.Assert, frame: Frame) -> None:
        if not self.expressions.evaluate(node.test, frame):
            raise AssertionError("" if node.msg is None else str(self.expressions.evaluate(node.msg, frame)))

    def _on_Raise(self, node: ast.Raise, frame: Frame) -> None:
        if node.exc is None:
            raise NotFollowed("raises again what it caught")
        error = self.expressions.evaluate(node.exc, frame)
        if _is_exception(error):
            error = error()
        if not isinstance(error, Exception):
            raise TypeError("raises what is no exception")
        raise error

    def _on_Try(self, node: ast.Try, frame: Frame) -> Left:
        if frame.names is not frame.module.bindings:
            self._must_fail_alike(node, frame)
        left: Left = None
        failed = True
        try:
            self._tries += 1
            try:
                left = self.run(node.body, frame)
            finally:
                self._tries -= 1
            failed = False
            if left is None:
                left = self.run(node.orelse, frame)
        except RecursionError:
            raise NotFollowed("recurses deeply") from None  # how deep it may go is another matter here
        except Exception as error:
            handlers = node.handlers if failed else ()
            handler = next(
                (candidate for candidate in handlers if self._catches(candidate, error, frame)), None
            )
            if handler is None:
                raise
            self.place = None
            if handler.name:
                frame.store(handler.name, error)
            left = self.run(handler.body, frame)
            if handler.name:
                frame.delete(handler.name)
        finally:
            final = self.run(node.finalbody, frame)
        return final or left

    def _must_fail_alike(self, node: ast.Try, frame: Frame) -> None:
        """Refuse to have errors decide that our arrays raise and NumPy's do not, or the other way round."""
        for handler in node.handlers:
            kinds = () if handler.type is None else self.expressions.evaluate(handler.type, frame)
            kinds = kinds if isinstance(kinds, tuple) else (kinds,)
            if not kinds or not all(kind in _ALIKE for kind in kinds):
                raise NotFollowed("catches errors, and which ones there are may differ here")
        leaves = (ast.Return, ast.Break, ast.Continue)
        if any(isinstance(part, leaves) for statement in node.finalbody for part in ast.walk(statement)):
            raise NotFollowed("leaves a `finally`, whatever error there was")

    def _catches(self, handler: ast.ExceptHandler, error: Exception, frame: Frame) -> bool:
        if handler.type is None:
            return True
        kinds = self.expressions.evaluate(handler.type, frame)
        kinds = kinds if isinstance(kinds, tuple) else (kinds,)
        return any(_is_exception(kind) and isinstance(error, kind) for kind in kinds)

    def _on_Global(self, node: ast.Global, frame: Frame) -> None:
        for name in node.names:
            frame.declare_global(name)

    def _on_Nonlocal(self, node: ast.Nonlocal, frame: Frame) -> None:
        for name in node.names:
            frame.declare_nonlocal(name)

    def _on_Delete(self, node: ast.Delete, frame: Frame) -> None:
        for target in node.targets:
            match target:
                case ast.Name():
                    frame.delete(target.id)
                case ast.Subscript():
                    del self.expressions.evaluate(target.value, frame)[
                        self.expressions.evaluate(target.slice, frame)
                    ]
                case _:
                    raise NotFollowed(f"deletes {shown(target)}")


def _must_cross(value: Any) -> None:
    """Refuse what numba takes for no argument: it would compute outside of compiled code."""
    if type(value) in (list, tuple):
        for part in value:
            _must_cross(part)
    elif isinstance(value, Function):
        if not value.compiled:
            raise Refused(f"gives {value.name} to compiled code, and numba does not compile it")
    elif not isinstance(
        value, ElementArray | Element | int | float | complex | str | type(None) | np.generic
    ):
        raise Refused(
            f"gives compiled code a value of type {type(value).__name__}, which numba does not take"
        )


def _members(source: Any, module: str) -> Mapping[str, Any]:
    """Return what `import *` binds; of Python's own modules that are not followed, by their names alone."""
    if isinstance(source, Unknown) and source.refusal is NotFollowed:
        return {name: unknown_of(module, name) for name in exported_names(module)}
    members: Mapping[str, Any] = source.members()
    return members


def _is_exception(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, Exception)


def _yields(function: ast.FunctionDef) -> bool:
    """Tell whether a function is a generator; what is nested in it does not count."""
    pending: list[ast.AST] = [*function.body]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(node, ast.FunctionDef | ast.Lambda):
            pending += ast.iter_child_nodes(node)
    return False
