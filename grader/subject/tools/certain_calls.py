"""The library functions that a function certainly calls, whatever its arguments are."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from .names import ModuleNames, Scope, Use

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_LATER = (
    ast.Lambda,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Yield,
    ast.YieldFrom,
    ast.Await,
)
_ENDING = frozenset({"sys.exit", "exit", "quit", "os._exit", "os.abort"})
Part: TypeAlias = Iterable[ast.AST | None]


def certain_calls(module: ModuleNames, roots: Iterable[ast.AST]) -> set[Use]:
    """Return line and full name of each call of a library's function made whatever the arguments are.

    What stands under a condition, behind a `return` under one, in a `try` or a `suppress`, behind what ends
    the program, or in a function that is only defined or that a decorator of the file's own replaces, may not
    run; a name that is bound twice may stand for something else: these are not among them. Loops and
    comprehensions are taken to have something to go through.
    """
    return set(_Calls(module).of(roots))


class _Calls:
    def __init__(self, module: ModuleNames) -> None:
        self._module = module
        self._entered: set[ast.AST] = set()

    def of(self, roots: Iterable[ast.AST]) -> Iterator[Use]:
        roots = tuple(roots)
        if len(roots) == 1:
            yield from self._enter(roots[0])

    def _enter(self, node: ast.AST) -> Iterator[Use]:
        """Yield the calls of a function's body, or of a file."""
        if node in self._entered or not isinstance(node, ast.FunctionDef | ast.Module):
            return
        self._entered.add(node)
        if not all(map(self._is_known, getattr(node, "decorator_list", ()))):
            return
        scope = self._module.inside(node, self._module.scope)
        if not any(isinstance(part, ast.Yield | ast.YieldFrom) for part in _own_nodes(node)):
            yield from self._block(node.body, scope)

    def _block(self, block: list[ast.stmt], scope: Scope) -> Iterator[Use]:
        for statement in block:
            yield from self._part(statement, scope)
            if _may_leave(statement) or self._ends_program(statement, scope):
                return

    def _part(self, node: ast.AST, scope: Scope) -> Iterator[Use]:
        if isinstance(node, _LATER):
            return
        if isinstance(node, ast.For | ast.With):
            for head in (
                [node.iter] if isinstance(node, ast.For) else [item.context_expr for item in node.items]
            ):
                yield from self._part(head, scope)
            if isinstance(node, ast.For) or not self._suppresses(node, scope):
                yield from self._block(node.body, scope)
            return
        for part in _always(node):
            if part is not None:
                yield from self._part(part, scope)
        if isinstance(node, ast.Call):
            yield from self._call(node, scope)

    def _is_known(self, decorator: ast.expr) -> bool:
        """Tell whether a decorator is a library's, which calls the function that it gets."""
        function = decorator.func if isinstance(decorator, ast.Call) else decorator
        return bool(self._module.scope.certain_name(function))

    def _suppresses(self, node: ast.With, scope: Scope) -> bool:
        """Tell whether an error may end a block, and what follows it runs all the same."""
        heads = (item.context_expr for item in node.items)
        calls = (head.func for head in heads if isinstance(head, ast.Call))
        return any("contextlib.suppress" in scope.names(function) for function in calls)

    def _ends_program(self, statement: ast.stmt, scope: Scope) -> bool:
        """Tell whether a statement is a call, or an endless loop, behind which nothing runs."""
        match statement:
            case ast.Expr(value=ast.Call(func=function)):
                return bool(_ENDING.intersection(scope.names(function)))
            case ast.While(test=ast.Constant(value=value)):
                return bool(value) and not any(isinstance(part, ast.Break) for part in _own_nodes(statement))
        return False

    def _call(self, node: ast.Call, scope: Scope) -> Iterator[Use]:
        function = node.func
        if isinstance(function, ast.Name) and not scope.shadows(function.id):
            definitions = self._module.definitions.get(function.id, [])
            if len(definitions) == 1:
                yield from self._enter(definitions[0])
        if name := scope.certain_name(function):
            yield function.end_lineno or function.lineno, name


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what stands in a function or a file, without the insides of functions that it defines."""
    pending = list(ast.iter_child_nodes(node))
    while pending:
        part = pending.pop()
        yield part
        if not isinstance(part, _FUNCTIONS):
            pending += ast.iter_child_nodes(part)


def _may_leave(statement: ast.AST, *, in_loop: bool = False) -> bool:
    """Tell whether what follows a statement in its block may not run.

    A `break` leaves the loop it stands in alone, and a `return` the function alone.
    """
    if isinstance(statement, _FUNCTIONS):
        return False
    if isinstance(statement, ast.Return | ast.Raise):
        return True
    if isinstance(statement, ast.Break | ast.Continue):
        return not in_loop
    parts = [
        part
        for part in ast.iter_child_nodes(statement)
        if isinstance(part, ast.stmt | ast.ExceptHandler | ast.match_case)
    ]
    own = statement.body if isinstance(statement, _LOOPS) else []
    return any(_may_leave(part, in_loop=in_loop or part in own) for part in parts)


def _always(node: ast.AST) -> Part:
    """Return the parts of a node that run whenever it does."""
    parts: Part = ast.iter_child_nodes(node)
    match node:
        case ast.If() | ast.IfExp() | ast.While():
            parts = [node.test]
        case ast.Try() | ast.TryStar():
            parts = node.finalbody
        case ast.Assert():
            parts = [node.test]
        case ast.BoolOp():
            parts = node.values[:1]
        case ast.Match():
            parts = [node.subject]
        case ast.Compare():
            parts = [node.left, node.comparators[0]]
        case ast.GeneratorExp():
            parts = [node.generators[0].iter]
        case ast.ListComp() | ast.SetComp() | ast.DictComp() if any(clause.ifs for clause in node.generators):
            parts = [node.generators[0].iter]
    return parts
