"""Functions of the submission, the names that they see, and how arguments are bound to parameters."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Protocol

from .elements import ElementArray, Region
from .refusals import NotFollowed, Unknown


class Names(Protocol):
    """Names of a file, in which a frame looks behind those of its functions."""

    file: str
    region: Region

    def namespace(self, name: str) -> Any:
        """Return what a name of the file stands for."""
        ...

    def star(self, source: Any) -> None:
        """Take note that names may come from a library by `import *`."""
        ...

    @property
    def bindings(self) -> dict[str, Any]:
        """The names themselves."""
        ...


class Frame:
    """The names of one call of a function, or of a file."""

    __slots__ = ("compiled", "comprehended", "elsewhere", "local", "module", "names", "outer", "yielded")

    def __init__(
        self,
        module: Names,
        outer: Frame | None = None,
        *,
        of_module: bool = False,
        comprehended: bool = False,
    ) -> None:
        """`comprehended` frames are those of comprehensions: `:=` binds around them."""
        self.module = module
        self.comprehended = comprehended
        self.outer = outer
        self.compiled: bool = outer is not None and outer.compiled
        """Whether it is that of a function that numba compiles, or of one that stands in such a function."""
        self.names: dict[str, Any] = module.bindings if of_module else {}
        self.local: frozenset[str] = frozenset()
        """The names that a function binds somewhere: before it does, they stand for nothing."""
        self.yielded: list[Any] | None = None
        """What a generator gave so far; None in other functions."""
        self.elsewhere: dict[str, dict[str, Any]] = {}
        """Where names live that `global` or `nonlocal` declares."""

    def load(self, name: str) -> Any:
        """Return what a name stands for.

        Raises:
            NameError: for nothing.
        """
        frame: Frame | None = self
        while frame is not None:
            if name in frame.elsewhere:
                return frame.elsewhere[name][name]
            if name in frame.names:
                return frame.names[name]
            if name in frame.local:
                raise UnboundLocalError(f"name {name!r} is used before it is bound")
            frame = frame.outer
        return self.module.namespace(name)

    def store(self, name: str, value: Any) -> None:
        """Bind a name."""
        self.elsewhere.get(name, self.names)[name] = value

    def store_around(self, name: str, value: Any) -> None:
        """Bind a name in the function, or the file, that a comprehension stands in."""
        frame = self
        while frame.comprehended and frame.outer is not None:
            frame = frame.outer
        frame.store(name, value)

    def delete(self, name: str) -> None:
        """Forget a name."""
        del self.elsewhere.get(name, self.names)[name]

    def declare_global(self, name: str) -> None:
        """Bind a name in the file, as `global` does."""
        self.elsewhere[name] = self.module.bindings

    def declare_nonlocal(self, name: str) -> None:
        """Bind a name in the function around this one, as `nonlocal` does."""
        frame = self.outer
        while frame is not None and name not in frame.names and name not in frame.local:
            frame = frame.outer
        self.elsewhere[name] = frame.names if frame is not None else self.module.bindings


class Function:
    """A function or lambda of the submission; called as any other."""

    __slots__ = ("_evaluate", "_local", "around", "cached", "compiled", "defaults", "frame", "name", "node")

    def __init__(
        self,
        node: ast.FunctionDef | ast.Lambda,
        frame: Frame,
        defaults: tuple[list[Any], list[Any]],
        evaluate: Callable[[Function, Frame], Any],
        *,
        compiled: bool = False,
    ) -> None:
        """`defaults` are those of positional and of keyword-only parameters; `evaluate` runs the body."""
        self.node = node
        self.name = getattr(node, "name", "a lambda")
        self.frame = frame
        self.defaults = defaults
        self.compiled = compiled
        self.around: Any = None
        """What it read around it when it was called first; of a function that is `cached`."""
        self.cached = False
        """Whether it gives again what it gave for the same arguments."""
        self._evaluate = evaluate
        self._local = local_names(node)

    def compiled_twin(self) -> Function:
        """Return the same, as a function that numba compiles."""
        return Function(self.node, self.frame, self.defaults, self._evaluate, compiled=True)

    def python_twin(self) -> Function:
        """Return the same, as a function that is not compiled."""
        return Function(self.node, self.frame, self.defaults, self._evaluate)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Evaluate the body with these arguments."""
        frame = Frame(self.frame.module, self.frame)
        frame.compiled |= self.compiled
        frame.local = self._local
        self._bind(frame.names, list(args), keywords)
        value = self._evaluate(self, frame)
        if self.cached and isinstance(value, list | dict | set | ElementArray):
            raise NotFollowed(f"keeps what {self.name} gives from call to call")
        return value

    def __getitem__(self, index: Any) -> Any:
        """Return an unknown value for a configured launch: kernels are not followed."""
        return Unknown(f"{self.name}[…]")

    def _bind(self, names: dict[str, Any], args: list[Any], keywords: dict[str, Any]) -> None:
        parameters = self.node.args
        places = [parameter.arg for parameter in (*parameters.posonlyargs, *parameters.args)]
        positional, only = self.defaults
        names.update(zip(places[len(places) - len(positional) :], positional, strict=True))
        names.update(
            (parameter.arg, value)
            for parameter, value in zip(parameters.kwonlyargs, only, strict=True)
            if value is not _NONE
        )
        names.update(zip(places, args, strict=False))
        if parameters.vararg:
            names[parameters.vararg.arg] = tuple(args[len(places) :])
        elif len(args) > len(places):
            raise TypeError(f"{self.name}() takes {len(places)} arguments, {len(args)} were given")
        more: dict[str, Any] = {}
        allowed = {*places, *(parameter.arg for parameter in parameters.kwonlyargs)}
        by_name = allowed - {parameter.arg for parameter in parameters.posonlyargs}
        for name, value in keywords.items():
            (names if name in by_name else more)[name] = value
        if parameters.kwarg:
            names[parameters.kwarg.arg] = more
        elif more:
            raise TypeError(f"{self.name}() got an unexpected argument {next(iter(more))}")
        if missing := allowed - names.keys():
            raise TypeError(f"{self.name}() misses the argument {min(missing)}")


def local_names(node: ast.FunctionDef | ast.Lambda) -> frozenset[str]:
    """Return the names that a function binds itself, also in comprehensions by `:=`."""
    if isinstance(node, ast.Lambda):
        return frozenset()
    names: set[str] = set()
    elsewhere: set[str] = set()
    pending: list[ast.AST] = [*node.body]
    while pending:
        part = pending.pop()
        match part:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.ExceptHandler(name=str(name)):
                names.add(name)
            case ast.alias(name=name, asname=other) if name != "*":
                names.add(other or name.partition(".")[0])
            case ast.Global(names=declared) | ast.Nonlocal(names=declared):
                elsewhere.update(declared)
        if isinstance(part, ast.FunctionDef | ast.ClassDef):
            names.add(part.name)
            pending += part.decorator_list
        elif isinstance(part, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            # its targets are its own
            pending += (inner for inner in ast.walk(part) if isinstance(inner, ast.NamedExpr))
        elif not isinstance(part, ast.Lambda):
            pending += ast.iter_child_nodes(part)
    return frozenset(names - elsewhere)


_NONE = object()
NO_DEFAULT = _NONE
"""Stands for the default of a keyword-only parameter that has none."""
