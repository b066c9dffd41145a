"""A submission's files as the interpreter reads them: what their names stand for, and what a call gives."""

from __future__ import annotations

import ast
import builtins
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..python_text import check_text
from .at_import import binds_a_name_of_pythons, may_change_names
from .doubts import Doubts, contents_of
from .elements import MachineNumbers, Region
from .frames import Frame, Function
from .libraries import Decorator, Library, builtin_functions, libraries
from .reached import Reached
from .refusals import NotFollowed, Refused, Unknown, kind_of, shown, unknown_of
from .statements import Statements

_NO_COMPILER = "DISABLE_JIT"
_CONFIGURATION = ("environ", "putenv", "config")
CALL = 200
"""How much of a call a note shows at most."""
_REACHES_OUT = frozenset(
    {
        *("compile", "delattr", "eval", "exec", "globals", "setattr", "vars"),
        *("f_builtins", "f_globals", "f_locals", "gc", "modules"),
        *("intrinsic", "lower_builtin", "overload", "overload_attribute", "overload_method"),
    }
)
"""At the level of a file they may change what its names stand for."""
_OF_FILE = ("__name__", "__file__", "__doc__")
_REACHES_FAR = frozenset(
    {
        *("delattr", "eval", "exec", "globals", "setattr", "vars", "import_module"),
        *("f_builtins", "f_globals", "f_locals", "gc", "modules"),
        *("__builtins__", "__code__", "__dict__", "__globals__", "__import__", "__setattr__"),
    }
)
"""In a function they may do so when whatever calls it does."""


class Module:
    """One file of the submission; what of it cannot be followed is unknown, and refused where it is used."""

    def __init__(self, file: str, program: Program) -> None:
        self.file = file
        self.bindings: dict[str, Any] = {"__name__": file.removesuffix(".py")}
        self.region = program.region
        self._stars: list[str] = []
        self._program = program

    def load(self) -> None:
        """Evaluate the file as far as it can be followed.

        Raises:
            OSError, SyntaxError, ValueError: it cannot be read.
        """
        with open(self.file, "rb") as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            content = file.read()
            check_text(content, self.file)
            tree = ast.parse(content, self.file)
        frame = Frame(self, of_module=True)
        for statement in tree.body:
            self._program.statements.begin()
            for node in _outside_of_functions(statement):
                for name in binds_a_name_of_pythons(bound_names(node)):
                    if not isinstance(statement, ast.ClassDef):
                        self._program.note(self.file, statement.lineno, f"binds {name}")
            before = dict(self.bindings)
            try:
                self._program.statements.run([statement], frame)
                self._doubt(statement, before)
                self._doubt_failures(statement, frame)
            except Refused as refused:
                self._program.doubts.add(frame, statement)
                self._forget(statement, str(refused), type(refused))
            except Exception as error:
                self._program.doubts.add(frame, statement)
                self._forget(statement, f"{type(error).__name__}: {error}", Refused)
        for node in ast.walk(tree):
            self._look_into(node)

    def _doubt(self, statement: ast.stmt, before: Mapping[str, Any]) -> None:
        """Make functions unknown that elsewhere, or another time, may be others.

        What a condition, a loop or an import that fails decides here may be decided otherwise there.
        """
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            return
        certain = isinstance(statement, ast.Import | ast.ImportFrom) or (
            isinstance(statement, ast.Assign | ast.AnnAssign) and self._names_a_function(statement.value)
        )
        for name in {name for node in _outside_of_functions(statement) for name in bound_names(node)}:
            value = self.bindings.get(name)
            if not certain and isinstance(value, Function):
                which = "a `try`" if isinstance(statement, ast.Try) else "a condition, or a number,"
                taken = f"{name}, which {which} may replace by another"
                self.bindings[name] = Unknown(taken, NotFollowed, value)
            elif isinstance(before.get(name), Function) and not isinstance(value, Function):
                self.bindings[name] = Unknown(f"{name}, which was a function before", NotFollowed)

    def _doubt_failures(self, statement: ast.stmt, frame: Frame) -> None:
        """Take note of what runs, or does not, where an import fails: here none does."""
        for node in _outside_of_functions(statement):
            if not isinstance(node, ast.Try):
                continue
            imported = {name for part in ast.walk(node) for name in _imported_names(part)}
            for part in (*node.body, *node.handlers, *node.orelse):
                if part not in node.body:
                    self._program.doubts.add(frame, part)
                for name in {name for inner in _outside_of_functions(part) for name in bound_names(inner)}:
                    value = self.bindings.get(name)
                    if (
                        not isinstance(value, Function | Decorator | Library | Unknown)
                        and name not in imported
                    ):
                        taken = f"{name}, which depends on whether an import fails"
                        self.bindings[name] = Unknown(taken, NotFollowed)

    def _names_a_function(self, value: ast.expr | None) -> bool:
        """Tell whether an expression is a function's name, a lambda, or a decorator called with one."""
        if isinstance(value, ast.Name | ast.Attribute | ast.Lambda) or value is None:
            return True
        if not isinstance(value, ast.Call) or not value.args:
            return False
        if not all(map(self._names_a_function, value.args)):
            return False
        function = value.func
        while isinstance(function, ast.Call):
            function = function.func
        return isinstance(function, ast.Name | ast.Attribute)

    def _look_into(self, node: ast.AST) -> None:
        """Note functions that may change what a name of the file stands for, wherever they are called."""
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            for part in ast.walk(node):
                if isinstance(part, ast.Name | ast.Attribute) and _named(part) in _REACHES_FAR:
                    self._program.note(
                        self.file, part.lineno, f"{_named(part)} may change what a name stands for"
                    )
                elif isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store):
                    if isinstance(self.bindings.get(part.attr), Function):
                        self._program.note(self.file, part.lineno, f"changes {shown(part)}")
                elif isinstance(part, ast.Global):
                    for name in part.names:
                        if isinstance(self.bindings.get(name), Function):
                            self._program.note(self.file, part.lineno, f"may replace {name}")
        for annotation in _annotations(node):
            if any(
                isinstance(part, ast.Call | ast.NamedExpr | ast.comprehension)
                for part in ast.walk(annotation)
            ):
                self._program.note(
                    self.file, annotation.lineno, f"computes an annotation: {shown(annotation)}"
                )

    def _forget(self, statement: ast.stmt, why: str, refusal: type[Refused]) -> None:
        """Make the names that a statement binds unknown; note what may change others."""
        noted = len(self._program.notes)
        is_definition = isinstance(statement, ast.ClassDef | ast.AsyncFunctionDef)
        how = f"{kind_of(statement)}, which cannot be followed here" if is_definition else ""
        how = how or f"which cannot be followed here ({why})"
        for node in _outside_of_functions(statement):
            for name in bound_names(node):
                self.bindings[name] = Unknown(f"{name}, {how}", refusal)
            if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
                changed = shown(node)
                if "environ" not in changed or _NO_COMPILER in changed or not _is_plain(node):
                    self._program.note(self.file, node.lineno, f"changes {changed}")
            elif isinstance(node, ast.Name | ast.Attribute) and _reaches_out(name := _named(node)):
                self._program.note(self.file, node.lineno, f"{name} may change what a name stands for")
            elif isinstance(node, ast.Call) and self._configures(node.func):
                if _NO_COMPILER in ast.unparse(node) or not _is_plain(node):
                    self._program.note(self.file, node.lineno, f"changes {ast.unparse(node)[:CALL]}")
            elif isinstance(node, ast.Call) and isinstance(self._bound_to(node.func), Function):
                self._program.note(
                    self.file, node.lineno, f"cannot be followed where it is imported: {shown(node)}"
                )
        nodes = _outside_of_functions(statement) if len(self._program.notes) == noted else ()
        for what in filter(None, (may_change_names(node, self.bindings) for node in nodes)):
            self._program.note(self.file, statement.lineno, what)
            break

    def _configures(self, function: ast.expr) -> bool:
        """Tell whether a call may change the environment, or what numba takes from it."""
        names = []
        while isinstance(function, ast.Attribute):
            names.append(function.attr)
            function = function.value
        if isinstance(function, ast.Name):
            names += [function.id, getattr(self.bindings.get(function.id), "name", "")]
        return any(word in name for name in names for word in _CONFIGURATION)

    def _bound_to(self, node: ast.expr) -> Any:
        return self.bindings.get(node.id) if isinstance(node, ast.Name) else None

    def namespace(self, name: str) -> Any:
        """Return what a name of the file stands for.

        Raises:
            NameError: for nothing.
        """
        if name in self.bindings:
            return self.bindings[name]
        if name in self._program.builtins:
            return self._program.builtins[name]
        if self._stars:
            return unknown_of(self._stars[-1], name)
        if name in _PYTHON or name.startswith("__"):
            return Unknown(name)
        raise NameError(f"name {name!r} is not defined")

    def members(self) -> dict[str, Any]:
        """Return what `import *` binds.

        Raises:
            NotFollowed: the file itself says what, and not by a list of names.
        """
        names = self.bindings.get("__all__", [name for name in self.bindings if not name.startswith("_")])
        if not isinstance(names, list | tuple) or not all(type(name) is str for name in names):
            raise NotFollowed(f"imports * from {self.file}, whose __all__ cannot be followed")
        return {name: self.namespace(name) for name in names}

    def has(self, name: str) -> bool:
        """Tell whether the file surely has a name."""
        return name in self.bindings

    def star(self, source: Any) -> None:
        """Take note that names may come from there."""
        self._stars.append(getattr(source, "name", "a library"))


def _computed_with(node: ast.AST) -> Iterator[str]:
    """Yield the names whose values are taken in a function, other than to print them."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
        return
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield node.id
    for child in ast.iter_child_nodes(node):
        yield from _computed_with(child)


def _named(node: ast.Name | ast.Attribute) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id


def _reaches_out(name: str) -> bool:
    return name in _REACHES_OUT or (name.startswith("__") and name not in _OF_FILE)


def bound_names(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node binds itself."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.alias(name=name, asname=other):
            yield other or name.partition(".")[0]
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.MatchMapping(rest=str(name)):
            yield name


def _imported_names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        for alias in node.names:
            yield from bound_names(alias)


def _is_plain(node: ast.expr) -> bool:
    """Tell whether the key of a subscript, or the arguments of a call, are constants."""
    if isinstance(node, ast.Call):
        keywords = [keyword.value if keyword.arg else None for keyword in node.keywords]
        return all(isinstance(part, ast.Constant) for part in (*node.args, *keywords))
    return isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)


def _annotations(node: ast.AST) -> Iterator[ast.expr]:
    for annotation in (getattr(node, "annotation", None), getattr(node, "returns", None)):
        if isinstance(annotation, ast.expr):
            yield annotation


def _outside_of_functions(statement: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that run where a file is imported: of functions their decorators and defaults alone."""
    yield statement
    parts: Iterable[ast.AST] = ast.iter_child_nodes(statement)
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        defaults = filter(None, (*statement.args.defaults, *statement.args.kw_defaults))
        parts = (*getattr(statement, "decorator_list", ()), *defaults)
    for child in parts:
        yield from _outside_of_functions(child)


_PYTHON = frozenset(dir(builtins))


class Program:
    """The files of the current folder, with one of their functions to be called."""

    def __init__(self, *, compiled_only: bool, machine: MachineNumbers) -> None:
        """Let elements be touched everywhere, or with `compiled_only` where numba compiles only."""
        self.region = Region(compiled_only=compiled_only, machine=machine)
        self.compiled_only = compiled_only
        self.uncompiled = ""
        """Where the program keeps numba from compiling."""
        self.builtins = builtin_functions()
        self.statements = Statements(self._load)
        self.doubts = Doubts()
        self.notes: list[str] = []
        """Places at the level of a file that a person may look at."""
        self.reached: dict[int, Function] = {}
        """The functions that were called, by the identity of their nodes."""
        self._lasting: dict[int, tuple[str, Any, Any]] = {}
        """What calls find that earlier ones may have changed: where, itself, and what it held."""
        self._libraries = libraries(self.region)
        self._modules: dict[str, Module] = {}

    def module(self, name: str) -> Module:
        """Return a file of the submission, evaluated once."""
        if name not in self._modules:
            module = self._modules[name] = Module(f"{name}.py", self)
            module.load()
        return self._modules[name]

    def note(self, file: str, line: int, what: str) -> None:
        """Take note of something for a person."""
        if _NO_COMPILER in what and self.compiled_only:
            self.uncompiled = f"{file}:{line}: {what}"
        self.notes.append(f"{file}:{line}: {what}")

    def call(self, function: Function, args: list[Any]) -> Any:
        """Call a function of the submission; from here on all that it reaches is looked at.

        Raises:
            Refused: it does what cannot be evaluated an element at a time.
            Exception: it fails.
        """
        self.doubts.settle()
        self.statements.first_call = self._look
        self.statements.begin()
        self.region.depth = self.region.entries = 0
        self.region.importing = False
        return function(*args)

    def _look(self, function: Function) -> None:
        if id(function.node) in self.reached:
            return
        self.reached[id(function.node)] = function
        pending, looked_at = [function], {id(function.node)}
        while pending:
            function = pending.pop()
            catches = self.compiled_only and not function.compiled and not function.frame.compiled
            reached = Reached(function, self.statements.run_import, self.doubts)
            for line, refused in reached.misused(may_catch=not catches):
                self.statements.place = function.frame.module.file, line
                raise refused
            for line, value in reached.containers():
                place = f"{function.frame.module.file}:{line}"
                self._lasting.setdefault(id(value), (place, value, contents_of(value)))
            for other in reached.functions():
                if id(other.node) not in looked_at:
                    looked_at.add(id(other.node))
                    pending.append(other)

    def changes(self) -> Iterator[str]:
        """Yield what calls changed and later calls find: what these do may depend on how many there were."""
        for place, value, contents in self._lasting.values():
            if contents_of(value) != contents:
                yield f"{place}: changes what later calls find"
        nodes = [(function, node) for function in self.reached.values() for node in ast.walk(function.node)]
        loaded = {name for function in self.reached.values() for name in _computed_with(function.node)}
        for function, node in nodes:
            if isinstance(node, ast.Global | ast.Nonlocal) and not loaded.isdisjoint(node.names):
                yield f"{function.frame.module.file}:{node.lineno}: changes what later calls find"

    def _load(self, name: str) -> Any:
        if name in self._libraries:
            return self._libraries[name]
        if name.isidentifier() and os.path.isfile(f"{name}.py"):
            return self.module(name)
        return unknown_of(name)
