"""Resolves names of a Python file through imports and aliases; shadowed names are left alone."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator
from typing import TypeAlias

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Use: TypeAlias = tuple[int, str]
"""A line and the dotted name used there; `.name` is an attribute of some value, `@` the operator."""

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_NO_CODE = frozenset({"decorator_list", "annotation", "returns", "type_params"})
_CANDIDATES = 8
_BUILTINS = frozenset(dir(builtins))
"""No `import *` that anybody writes takes their place: NumPy's own leaves `max` and `sum` alone."""
_BINDING: dict[type, str] = {
    ast.arg: "arg",
    ast.FunctionDef: "name",
    ast.AsyncFunctionDef: "name",
    ast.ClassDef: "name",
    ast.ExceptHandler: "name",
    ast.MatchAs: "name",
    ast.MatchStar: "name",
    ast.MatchMapping: "rest",
}
"""The field in which a node holds the name that it binds."""


class Scope:
    """Names bound in a file, or in one of its functions with everything nested in it."""

    def __init__(self, node: ast.AST, outer: Scope | None = None, owner: str = "") -> None:
        self.owner = owner
        """The class that `self` is of."""
        self._outer = outer
        self._stars: list[str] = []
        self._aliases: dict[str, set[str]] = {}
        nodes = list(_statements(node)) if outer is None else list(ast.walk(node))[1:]
        self._local = {name for child in nodes for name in _bound(child)}
        for child in nodes:
            self._import(child)
        for child in nodes:
            for name, value in _assigned(child):
                self._alias(name, self.names(value))

    def names(self, node: ast.expr) -> tuple[str, ...]:
        """Return the dotted names that an expression may stand for; none for a value of the program's own."""
        if isinstance(node, ast.Attribute):
            return tuple(f"{base}.{node.attr}" for base in self.names(node.value))
        return tuple(sorted(self.resolve(node.id))) if isinstance(node, ast.Name) else ()

    def certain_name(self, node: ast.expr) -> str:
        """Return the dotted name that an expression stands for; empty if it may stand for another."""
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        names = self.names(node)
        if len(names) != 1 or not isinstance(root, ast.Name) or self._binds_again(root.id):
            return ""
        return names[0]

    def _binds_again(self, name: str) -> bool:
        """Tell whether a name is bound by anything but imports."""
        if name in self._local:
            return True
        return name not in self._aliases and self._outer is not None and self._outer._binds_again(name)  # noqa: SLF001

    def shadows(self, name: str) -> bool:
        """Tell whether a name means something else here than in the rest of the file."""
        return self._outer is not None and (name in self._local or name in self._aliases)

    def resolve(self, name: str) -> set[str]:
        """Return the dotted names that a name may stand for."""
        if name in self._aliases:
            return self._aliases[name]
        if name in self._local:
            return set()
        outside = {name} if self._outer is None else self._outer.resolve(name)
        if not outside or name in _BUILTINS:
            return outside
        return {*outside, *(f"{module}.{name}" for module in self._stars)}

    def _import(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                self._alias(alias.asname or top, [alias.name if alias.asname else top])
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            for alias in node.names:
                if alias.name == "*":
                    self._stars.append(module)
                else:
                    self._alias(alias.asname or alias.name, [f"{module}.{alias.name}"])

    def _alias(self, name: str, stands_for: Iterable[str]) -> None:
        if candidates := set(stands_for):
            self._aliases[name] = set(sorted(self._aliases.get(name, set()) | candidates)[:_CANDIDATES])


class ModuleNames:
    """A file: what it defines, and what of that a piece of code reaches."""

    def __init__(self, tree: ast.Module) -> None:
        self.scope = Scope(tree)
        self.definitions: dict[str, list[ast.AST]] = {}
        """Definitions of each name of the file: functions, classes, methods, assigned expressions."""
        self._owners: dict[ast.AST, str] = {}
        self._scopes: dict[ast.AST, Scope] = {}
        self._depths: dict[ast.AST, int] = {}
        self._bindings: dict[str, int] = {}
        for node in _statements(tree):
            for name in _bound(node):
                self._bindings[name] = self._bindings.get(name, 0) + 1
            if isinstance(node, Function | ast.ClassDef):
                self.definitions.setdefault(node.name, []).append(node)
            for name, value in _assigned(node):
                self.definitions.setdefault(name, []).append(value)
            if isinstance(node, ast.ClassDef):
                for method in node.body:
                    if isinstance(method, Function):
                        self._owners[method] = node.name
                        self.definitions.setdefault(f"{node.name}.{method.name}", []).append(method)

    def callables(self) -> list[str]:
        """Return the names of all functions, methods and classes, sorted."""
        kinds = Function | ast.ClassDef
        return sorted(name for name, nodes in self.definitions.items() if isinstance(nodes[-1], kinds))

    def function(self, name: str) -> tuple[tuple[ast.AST, ...], tuple[ast.expr, ...]]:
        """Return the definitions of a function and their decorators, also as `name = decorator(function)`."""
        roots: list[ast.AST] = []
        decorators: list[ast.expr] = []
        for node in self.definitions.get(name, ()):
            if isinstance(node, Function):
                decorators += node.decorator_list
            elif isinstance(node, ast.Call) and any(map(self._names_own, node.args)):
                decorators.append(node if node.keywords else node.func)
            elif not isinstance(node, ast.Lambda | ast.Name | ast.Attribute | ast.Call):
                continue
            roots.append(node)
        return tuple(roots), tuple(decorators)

    def is_replaced(self, name: str) -> bool:
        """Tell whether a function is defined more than once, or its name is given to something else."""
        roots, _ = self.function(name)
        functions = [root for root in roots if isinstance(root, Function)]
        others = [root for root in roots if not isinstance(root, Function | ast.Call)]
        is_bound_again = self._bindings.get(name, 0) > len(roots) or bool(self.scope.resolve(name) - {name})
        return len(functions) > 1 or bool(others) or is_bound_again

    def follow(self, roots: Iterable[ast.AST]) -> tuple[list[str], list[Use]]:
        """Return the names of this file that some code reaches, and everything that is used on the way."""
        uses: list[Use] = []
        followed: set[str] = set()
        pending = list(roots)
        visited = set(pending)
        while pending:
            for node, scope in self._walk(pending.pop(), self.scope):
                uses += _uses(node, scope)
                for name in self._names_here(node, scope):
                    reached = [n for n in self.definitions[name] if n not in visited]
                    visited.update(reached)
                    pending += reached
                    followed |= {name} if any(isinstance(n, Function) for n in reached) else set()
        return sorted(followed), uses

    def loops(self, root: ast.AST) -> int:
        """Return how deep loops are nested, those of helpers called in them and comprehensions included."""
        if root not in self._depths:
            self._depths[root] = 0  # a function that calls itself adds nothing
            self._depths[root] = self._depth(root, self.scope)
        return self._depths[root]

    def _depth(self, node: ast.AST, scope: Scope) -> int:
        scope = self.inside(node, scope)
        inside = [self._depth(child, scope) for child in _children(node)]
        inside += [self.loops(n) for name in self._names_here(node, scope) for n in self.definitions[name]]
        clauses = len(getattr(node, "generators", ()))
        return max(inside, default=0) + (clauses or isinstance(node, _LOOPS))

    def _walk(self, node: ast.AST, scope: Scope) -> Iterator[tuple[ast.AST, Scope]]:
        """Yield everything that runs, each node with the scope in which it does."""
        scope = self.inside(node, scope)
        yield node, scope
        # `np.linalg.norm` is one name, not three
        if not (isinstance(node, ast.Attribute) and scope.names(node)):
            for child in _children(node):
                yield from self._walk(child, scope)

    def inside(self, node: ast.AST, scope: Scope) -> Scope:
        """Return the scope in which a node's parts stand."""
        if scope is not self.scope or not isinstance(node, Function | ast.Lambda):
            return scope
        if node not in self._scopes:
            self._scopes[node] = Scope(node, self.scope, self._owners.get(node, ""))
        return self._scopes[node]

    def _names_here(self, node: ast.AST, scope: Scope) -> Iterator[str]:
        """Yield the name of this file that a node refers to: a function, or a method of the same class."""
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            if node.id in self.definitions and not scope.shadows(node.id):
                yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = scope.owner if node.value.id in {"self", "cls"} else node.value.id
            if f"{owner}.{node.attr}" in self.definitions:
                yield f"{owner}.{node.attr}"

    def _names_own(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id in self.definitions


def _uses(node: ast.AST, scope: Scope) -> Iterator[Use]:
    if isinstance(node, ast.Attribute):
        for name in scope.names(node) or (f".{node.attr}",):
            yield node.end_lineno or node.lineno, name
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        for name in scope.names(node):
            yield node.lineno, name
    elif isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult):
        yield node.lineno, "@"


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that run when a node does: no annotations, and no decorators."""
    for name, value in ast.iter_fields(node):
        if name not in _NO_CODE:
            for child in value if isinstance(value, list) else (value,):
                if isinstance(child, ast.AST):
                    yield child


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements and expressions of a file that stand in no function and no class."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, Function | ast.ClassDef | ast.Lambda):
            yield from _statements(child)


def _bound(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif name := getattr(node, _BINDING.get(type(node), ""), None):
        yield name


def _assigned(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names that an assignment gives to single expressions."""
    if not isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr) or node.value is None:
        return
    for target in node.targets if isinstance(node, ast.Assign) else (node.target,):
        if isinstance(target, ast.Name):
            yield target.id, node.value
        elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = zip(target.elts, node.value.elts, strict=False)
            yield from ((t.id, v) for t, v in pairs if isinstance(t, ast.Name))
