"""Functions that the files of an assignment define, read from their syntax trees without importing them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from grader.config.accepted import unaccepted
from grader.config.problem import show_path

if TYPE_CHECKING:
    import ast

    from grader.model.assignment import Assignment


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


def files_imported(folder: Path, assignment: Assignment) -> Mapping[str, tuple[str, ...]]:
    """Return the submitted files that each file of `given/` imports where it begins, by its module's name.

    Those are the files of the reference that the assignment accepts and that are not in `given/` itself. What
    a file imports by way of others in `given/` counts, and what stands in a function or a `try` does not.
    """
    given = {file.stem: file for file in sorted((folder / "given").glob("*.py"))}
    imports = {module: _imports(file) for module, file in given.items()}

    def submitted(module: str) -> bool:
        file = f"{module.replace('.', '/')}.py"
        in_reference = (folder / "reference" / file).is_file() and not (folder / "given" / file).is_file()
        return in_reference and not unaccepted(file, assignment, folder)

    needed = {}
    for module in given:
        reached, pending = {module}, [module]
        while pending:
            new = [name for name in imports.get(pending.pop(), ()) if name not in reached]
            reached.update(new)
            pending += new
        files = tuple(f"{name.replace('.', '/')}.py" for name in sorted(reached) if submitted(name))
        if files:
            needed[module] = files
    return needed


def _imports(file: Path) -> tuple[str, ...]:
    """Return the modules that a file imports at its top; none if it cannot be read."""
    import ast

    try:
        statements = _parsed(file)
    except Unparsable:
        return ()
    names: list[str] = []
    for statement in statements:
        match statement:
            case ast.Import(names=imported):
                names += [entry.name for entry in imported]
            case ast.ImportFrom(module=str() as module, names=imported, level=0):
                names += [module, *(f"{module}.{entry.name}" for entry in imported)]
    return tuple(names)


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
        raise Unparsable(f"{show_path(file)}:{at}: not Python ({error.msg}); correct the file") from None
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
    elif isinstance(value, ast.Call | ast.Name | ast.Attribute):
        yield name, []


def _parameters(arguments: ast.arguments) -> list[str]:
    return [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
