"""Functions that the files of an assignment define, read from their syntax trees without importing them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from inspect import Parameter, Signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.config.accepted import unaccepted
from grader.config.problem import closest, has_more_words, syntax_problem
from grader.coursecode import own_modules
from grader.coursesyntax import located_imports
from grader.files import show_path
from grader.installed import is_installed

if TYPE_CHECKING:
    import ast

    from grader.model.assignment import Assignment


_OTHER_ENDINGS = ("", ".txt", ".PY", ".pyw", ".py3")
"""Endings under which a file of Python is saved by mistake."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignmentFacts:
    """The names that a rubric may use; None where a file that defines some could not be read."""

    functions: frozenset[str] | None
    """`module.function` of the reference, or of the course's own files in `given/`."""
    inputs: frozenset[str] | None
    """Families of `inputs.py`: functions whose first parameter is `rng`."""
    oracles: frozenset[str] | None
    """Public functions of `expected.py`."""
    no_families: Mapping[str, str] = field(default_factory=dict)
    """Other functions of `inputs.py`, each with what makes it a family."""
    problems: tuple[str, ...] = ()
    """Files that are missing or are not Python, as located lines."""
    folder: Path = Path()
    """The folder of the assignment."""

    def misplaced(self, function: str) -> str:
        """Say that a function's file lies in a folder of `given/`, or has another ending; empty if not."""
        module, given = function.partition(".")[0], self.folder / "given"
        if (given / f"{module}.py").is_file():
            return ""
        for path in sorted(path for path in given.rglob("*") if path.is_file()):
            place = f"given/ has {path.relative_to(given)}"
            if path.name == f"{module}.py":
                return f"{place}; move it to the top of given/"
            if (
                path.parent == given
                and path.stem.partition(".")[0] == module
                and path.suffix in _OTHER_ENDINGS
            ):
                return f"{place}; call it {module}.py"
        return ""

    def absent_file(self, function: str) -> str:
        """Say that the assignment has no file for a function, nor one with such a name; empty if it has."""
        module, _, name = function.partition(".")
        paths = [path for part in ("given", "reference") for path in (self.folder / part).rglob("*")]
        files = {path.name.partition(".")[0] for path in paths}
        near = closest(module, {file for file in files if not has_more_words(module, file)})
        functions = [each.partition(".")[2] for each in self.functions or () if each.startswith(f"{near}.")]
        if not name or (near and (near == module or not functions or closest(name, functions))):
            return ""
        return f"given/ has no {module}.py, nor has reference/; write it, or name a function of another file"


def files_imported(folder: Path, assignment: Assignment) -> Mapping[str, tuple[str, ...]]:
    """Return the files of the reference that each file of `given/` imports where it begins, by its module.

    Nobody hands in those that the assignment does not accept: without them every submission fails. What
    a file imports by way of others in `given/` counts, and what stands in a function or a `try` does not.
    """

    def needed_file(module: str) -> str:
        file, top = f"{module.replace('.', '/')}.py", module.partition(".")[0]
        if not (folder / "reference" / file).is_file() or (folder / "given" / file).is_file():
            return ""
        has_other = (folder / "given" / top).is_dir() or is_installed(top)
        return "" if has_other and unaccepted(file, assignment, folder) else file

    needed = {}
    for module, reached in _reached(folder).items():
        if files := tuple(filter(None, map(needed_file, sorted(reached)))):
            needed[module] = files
    return needed


def absent_imports(folder: Path, others: Iterable[str] = ()) -> Mapping[str, str]:
    """Return what files of `given/` and the reference import where they begin and nobody has, with its place.

    Those are names of no file or folder of the assignment, of none of the `others` (paths, such as those of a
    submission or of what a build makes), and of no module that is installed. The place is `file:line` of the
    first import. One in a function or a `try` does not count.
    """
    had = own_modules(folder, others)
    absent: dict[str, str] = {}
    for file in (path for part in ("given", "reference") for path in sorted((folder / part).rglob("*.py"))):
        for line, imported in located_imports(file):
            name = imported.partition(".")[0]
            if name not in had and not is_installed(name):
                absent.setdefault(name, f"{show_path(file)}:{line}")
    return absent


def import_place(folder: Path, name: str) -> str:
    """Return `file:line` of the first import of a module, no part of a package, in the files of `given/`."""
    for file in sorted((folder / "given").glob("*.py")):
        for line, imported in located_imports(file):
            if imported.partition(".")[0] == name:
                return f"{show_path(file)}:{line}"
    return show_path(folder / "given")


def variables_read(folder: Path) -> Mapping[str, Mapping[str, str]]:
    """Return the environment variables without which a file of `given/` cannot be imported, by its module.

    Each has its `file:line`. Those are read as `os.environ["NAME"]` where the file begins, or one that it
    imports; what stands in a function, a `try` or an `if` does not count.
    """
    reads = {file.stem: dict(_located_variables(file)) for file in sorted((folder / "given").glob("*.py"))}
    return {
        module: {name: place for other in reached for name, place in reads.get(other, {}).items()}
        for module, reached in _reached(folder).items()
    }


def _located_variables(file: Path) -> Iterator[tuple[str, str]]:
    import ast

    def walk(node: ast.AST) -> Iterator[ast.AST]:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.Try | ast.If):
            yield node
            for child in ast.iter_child_nodes(node):
                yield from walk(child)

    try:
        statements = _parsed(file)
    except Unparsable:
        return
    for node in (node for statement in statements for node in walk(statement)):
        match node:
            case ast.Subscript(
                value=ast.Attribute(attr="environ") | ast.Name(id="environ"),
                slice=ast.Constant(value=str() as name),
                ctx=ast.Load(),
            ):
                yield name, f"{show_path(file)}:{node.lineno}"


def _reached(folder: Path) -> Mapping[str, frozenset[str]]:
    """Return what each file of `given/` imports, itself or by way of others there, by its module's name."""
    imports = {file.stem: _imports(file) for file in sorted((folder / "given").glob("*.py"))}
    everything = {}
    for module in imports:
        reached, pending = {module}, [module]
        while pending:
            new = [name for name in imports.get(pending.pop(), ()) if name not in reached]
            reached.update(new)
            pending += new
        everything[module] = frozenset(reached)
    return everything


def parameters_of(folder: Path, function: str) -> tuple[str, Signature] | None:
    """Return `file:line` and parameters of a function (`module.name`) of the reference or of `given/`.

    They are read from the syntax. None where it does not tell them: a decorator may change them, and a value
    may be any callable.
    """
    import ast

    module, _, name = function.rpartition(".")
    for place in (folder / "given", folder / "reference"):
        file = place / f"{module}.py"
        if not file.is_file():
            continue
        try:
            statements = list(_parsed(file))
        except Unparsable:
            return None
        for statement in reversed(statements):
            if isinstance(statement, ast.FunctionDef) and statement.name == name:
                if statement.decorator_list:
                    return None
                return f"{show_path(file)}:{statement.lineno}", _signature(statement.args)
        return None
    return None


def _signature(arguments: ast.arguments) -> Signature:
    optional = len(arguments.posonlyargs) + len(arguments.args) - len(arguments.defaults)
    names = [entry.arg for entry in (*arguments.posonlyargs, *arguments.args)]
    kinds: list[Any] = [Parameter.POSITIONAL_ONLY] * len(arguments.posonlyargs)
    kinds += [Parameter.POSITIONAL_OR_KEYWORD] * len(arguments.args)
    parameters = [
        Parameter(name, kind, default=None if index >= optional else Parameter.empty)
        for index, (name, kind) in enumerate(zip(names, kinds, strict=True))
    ]
    if arguments.vararg:
        parameters.append(Parameter(arguments.vararg.arg, Parameter.VAR_POSITIONAL))
    for entry, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        value = Parameter.empty if default is None else None
        parameters.append(Parameter(entry.arg, Parameter.KEYWORD_ONLY, default=value))
    if arguments.kwarg:
        parameters.append(Parameter(arguments.kwarg.arg, Parameter.VAR_KEYWORD))
    return Signature(parameters)


def _imports(file: Path) -> tuple[str, ...]:
    """Return the modules that a file imports at its top; none if it cannot be read."""
    return tuple(name for _, name in located_imports(file))


def reference_imports(file: Path) -> Iterator[int]:
    """Yield the lines at which a file beside `reference/` imports from it; none if it is no Python."""
    import ast

    try:
        nodes = [node for statement in _parsed(file) for node in ast.walk(statement)]
    except Unparsable:
        return
    for node in nodes:
        match node:
            case ast.ImportFrom(module=str() as module, level=0 | 1):
                names = [module]
            case ast.Import(names=imported) | ast.ImportFrom(module=None, level=1, names=imported):
                names = [entry.name for entry in imported]
            case _:
                continue
        if any(name.partition(".")[0] == "reference" for name in names):
            yield node.lineno


class Unparsable(Exception):
    """A file is no Python source; its text is the located line."""


def read_facts(folder: Path) -> AssignmentFacts:
    """Read the facts of an assignment. Never fails: unreadable files are in `problems`."""
    problems: list[str] = []

    def names(files: Iterable[Path], name_of: Callable[[str, str, list[str]], str]) -> frozenset[str] | None:
        functions: set[str] = set()
        before = len(problems)
        for file in files:
            try:
                functions.update(name_of(file.stem, *function) for function in _functions(_parsed(file)))
            except Unparsable as error:
                problems.append(str(error))
        return frozenset(functions - {""}) if len(problems) == before else None

    others: dict[str, str] = {}

    def family(_: str, name: str, parameters: list[str]) -> str:
        if parameters[:1] == ["rng"]:
            return name
        takes = f"{name}({', '.join(parameters)})"
        others[name] = f"{takes} is none, for the first parameter of a family is called rng"
        return ""

    reference = folder / "reference"
    callable_files = [
        *sorted((folder / "given").glob("*.py")),
        # An existing folder may have no functions at its top: then the course's own files call deeper ones.
        *(sorted(reference.glob("*.py")) if reference.is_dir() else [reference]),
    ]
    return AssignmentFacts(
        functions=names(callable_files, lambda module, name, _: f"{module}.{name}"),
        inputs=names([folder / "inputs.py"], family),
        oracles=names([folder / "expected.py"], lambda _, name, __: "" if name.startswith("_") else name),
        no_families=others,
        problems=tuple(problems),
        folder=folder,
    )


def _parsed(file: Path) -> Iterable[ast.stmt]:
    import ast

    try:
        with warnings.catch_warnings():
            # An odd escape in a string is the author's business, and no news for a rubric.
            warnings.simplefilter("ignore")
            return ast.parse(file.read_bytes()).body
    except OSError as error:
        message = (
            f"cannot be read ({error.strerror}); every assignment has inputs.py, expected.py, reference/"
        )
        raise Unparsable(f"{show_path(file)}: {message}") from None
    except SyntaxError as error:
        at = f"{error.lineno or 1}:{error.offset or 1}"
        raise Unparsable(f"{show_path(file)}:{at}: {syntax_problem(error)}") from None
    except (ValueError, RecursionError, MemoryError) as error:  # NUL bytes, absurd nesting
        raise Unparsable(f"{show_path(file)}:1:1: not Python ({error}); correct the file") from None


def _functions(statements: Iterable[ast.stmt]) -> Iterator[tuple[str, list[str]]]:
    """Yield the callables that a module binds, each with its parameters where the syntax tells them.

    A kernel is often `fast = cuda.jit(plain)` and a function may be defined under `if` or `try`.
    """
    import ast

    for statement in statements:
        match statement:
            case ast.FunctionDef(name=name, args=args) | ast.AsyncFunctionDef(name=name, args=args):
                yield name, _parameters(args)
            case ast.Assign(targets=targets, value=value):
                for target in targets:  # fast = slow = plain
                    if isinstance(target, ast.Name):
                        yield from _bound(target.id, value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield from _bound(name, value)
            case ast.ImportFrom(names=imported, level=level) if level:  # of a file beside it
                yield from ((entry.asname or entry.name, []) for entry in imported)
            case ast.If() | ast.Try() | ast.With():
                for block in ("body", "orelse", "finalbody"):
                    yield from _functions(getattr(statement, block, ()))
                for handler in getattr(statement, "handlers", ()):
                    yield from _functions(handler.body)
            case _:
                pass


def _bound(name: str, value: ast.expr) -> Iterator[tuple[str, list[str]]]:
    import ast

    if isinstance(value, ast.Lambda):
        yield name, _parameters(value.args)
    elif isinstance(value, ast.Call | ast.Name | ast.Attribute) and not name.isupper():  # no constant
        yield name, []


def _parameters(arguments: ast.arguments) -> list[str]:
    return [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
