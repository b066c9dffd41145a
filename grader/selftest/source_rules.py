"""Rules of `source` items that fit nothing in the reference, which is parsed, or in an imported library."""

from __future__ import annotations

import ast
import builtins
import warnings
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from grader.checks.source import Source, decorators
from grader.config.problem import KeyPath, Problem, suggestion
from grader.files import show_path
from grader.installed import is_installed, misspelt, nearest
from grader.model.rubric import Rubric
from grader.selftest.declared import modules_of
from grader.subject.tools.names import ModuleNames

ALIASES = {"np": "numpy", "cp": "cupy", "F": "torch.nn.functional", "nn": "torch.nn"}
"""Names by which nearly every program imports these modules."""
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_ABSENT = object()
_PACKAGES = frozenset({"site-packages", "dist-packages"})


def source_problems(rubric: Rubric, folder: Path) -> Iterator[Problem]:
    """Yield what makes rules of `source` items fit nothing, each with what to write."""
    yield from _library_problems(rubric, folder)
    for index, options, tree, file in _references(rubric, folder):
        if options.function and (message := _function_objection(options.function, tree)):
            yield Problem(path=("items", index, "function"), message=f"{show_path(file)} {message}")


def source_remarks(rubric: Rubric, folder: Path) -> Iterator[Problem]:
    """Yield `source` items that decide of a whole file where the reference calls nothing at its import."""
    for index, options, tree, file in _references(rubric, folder):
        defined = {node.name for node in ast.walk(tree) if isinstance(node, _DEFINITIONS)}
        rules = options.decides and options.forbid and not options.function
        if rules and defined and not _calls(tree, defined):
            why = (
                f"without function only what runs when {file.name} is imported is decided, and it calls none"
            )
            message = f"{why} of its own functions then; all else is shown to a person"
            yield Problem(path=("items", index, "decides"), message=message)


def _references(rubric: Rubric, folder: Path) -> Iterator[tuple[int, Source.Options, ast.Module, Path]]:
    """Yield the index and options of each `source` item whose file of the reference can be parsed."""
    for index, item in enumerate(rubric.items):
        file = folder / "reference" / getattr(item.options, "file", "")
        if isinstance(item.options, Source.Options) and (tree := _tree(file)):
            yield index, item.options, tree, file


def _tree(file: Path) -> ast.Module | None:
    try:
        return ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):  # told where the reference is run
        return None


def _function_objection(name: str, tree: ast.Module) -> str:
    """Return why a file has no function or method of this name, by the look-up of the tool `source`."""
    try:
        module = ModuleNames(tree)
    except RecursionError:  # the tool allows for deeper trees
        return ""
    if module.function(name)[0]:
        return ""
    callables = module.callables()
    if name in callables:
        methods = [other for other in callables if other.startswith(f"{name}.")]
        plain = next((method for method in methods if not method.endswith("__")), "")
        advice = f"name one of its methods, as {plain or methods[0]}" if methods else "take function out"
        return f"has {name} as a class; {advice}"
    method = name.rpartition(".")[2]
    alike = [other for other in callables if other.rpartition(".")[2] == method]
    if len(alike) > 1 and "." not in name:
        return f"has no {name} outside of its classes; name one of {', '.join(alike)}"
    return f"has no {name}; {suggestion(name, callables) if len(alike) != 1 else f'did you mean {alike[0]}?'}"


def _calls(tree: ast.Module, defined: set[str]) -> bool:
    """Tell whether a file calls a function of its own whenever it is imported."""
    statements = (part for part in tree.body if not isinstance(part, (*_DEFINITIONS, ast.If)))
    calls = (node for part in statements for node in ast.walk(part) if isinstance(node, ast.Call))
    return any(isinstance(call.func, ast.Name) and call.func.id in defined for call in calls)


def _library_problems(rubric: Rubric, folder: Path) -> Iterator[Problem]:
    """Yield the names that a library of this machine lacks, but for a much alike one; aliases; bare modules.

    One that is like no other may be of another version of the library. A name of a module that is not
    installed, that files of the assignment define, or that lies in the course itself is nobody's mistake,
    and neither is a name without a dot, which may be a student's own.
    """
    of_assignment = modules_of(folder)
    named = [*_names(rubric)]
    whole = {(*path[:-1], name) for path, name in named}
    for path, name in named:
        top, dot, rest = name.partition(".")
        if not top.isidentifier() or top in of_assignment:
            continue
        if "require_decorator" not in path and (*path[:-1], f"{name}.*") not in whole and _is_module(name):
            message = f"{name} is a module, and covers none of its functions; write {name}.*"
            yield Problem(path=path, message=message)
            continue
        if not dot:
            continue
        if not is_installed(top) and (module := {**ALIASES, **_aliases(folder / "reference")}.get(top)):
            message = f"{top} is short for {module}, and names are looked up in full; write {module}.{rest}"
            yield Problem(path=path, message=message)
            continue
        if not is_installed(top):
            if message := misspelt(top):
                yield Problem(path=path, message=message)
        elif message := _objection(name):
            yield Problem(path=path, message=message)


def _aliases(folder: Path) -> dict[str, str]:
    """Return {alias: module} of what files of a folder import by another name."""
    aliases: dict[str, str] = {}
    for file in sorted(folder.rglob("*.py")):
        for node in ast.walk(_tree(file) or ast.Module(body=[], type_ignores=[])):
            if isinstance(node, ast.Import):
                aliases |= {name.asname: name.name for name in node.names if name.asname}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                aliases |= {name.asname or name.name: f"{node.module}.{name.name}" for name in node.names}
    return aliases


@cache
def _is_module(name: str) -> bool:
    """Tell whether a full name is that of a module of Python, or of a package that is installed."""
    parts = name.split(".")
    if not all(part.isidentifier() for part in parts) or not is_installed(parts[0]):
        return False
    if len(parts) == 1:
        return not hasattr(builtins, name)
    if not _has_module(name):
        return False
    parent = _imported(".".join(parts[:-1]))  # as datetime.datetime, which is a class
    value = _attribute(parent, parts[-1]) if parent else None
    return isinstance(value, ModuleType) or value is None or value is _ABSENT


def _names(rubric: Rubric) -> Iterator[tuple[KeyPath, str]]:
    for index, item in enumerate(rubric.items):
        options = item.options
        if not isinstance(options, Source.Options):
            continue
        for key, names in (("forbid", options.forbid), ("allow", options.allow)):
            yield from ((("items", index, key, number), name) for number, name in enumerate(names))
        for number, text in enumerate(options.require_decorator):
            yield from ((("items", index, "require_decorator", number), name) for name, _ in decorators(text))


@cache
def _objection(name: str) -> str:
    """Return which part of a dotted name is misspelt, and what its library has instead; empty if none is."""
    top, *parts = name.split(".")
    checked = top
    value: object = _imported(top)
    for part in parts:
        if value is None or any(character in part for character in "*?["):
            return ""
        inner = _attribute(value, part)
        if inner is _ABSENT:
            inner = _imported(f"{checked}.{part}") if isinstance(value, ModuleType) else None
            if inner is None and not _has_module(f"{checked}.{part}"):
                near = nearest(part, dir(value))
                return f"{checked}{_version(value)} has no {part}; did you mean {near}?" if near else ""
        value, checked = inner, f"{checked}.{part}"
    return ""


def _attribute(value: object, name: str) -> object:
    """Return an attribute; None if asking for it fails, for then nothing is known of it."""
    with suppress(Exception), warnings.catch_warnings():  # whatever a library raises
        warnings.simplefilter("ignore")  # of names that are about to go
        return getattr(value, name, _ABSENT)
    return None


def _imported(module: str) -> ModuleType | None:
    """Return a module of Python or of a package; None for others, and where it cannot be imported."""
    with suppress(Exception), warnings.catch_warnings():  # whatever a library raises
        warnings.simplefilter("ignore")
        spec = find_spec(module)
        if spec and not _of_the_course(spec.origin):
            return import_module(module)
    return None


def _of_the_course(origin: str | None) -> bool:
    """Tell whether a file lies where the command runs, and not in an environment there."""
    path = Path(origin or "")
    return path.is_absolute() and path.is_relative_to(Path.cwd()) and not _PACKAGES.intersection(path.parts)


def _has_module(name: str) -> bool:
    """Tell whether a module is there, even if it cannot be imported."""
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _version(value: object) -> str:
    version = getattr(value, "__version__", "")
    return f" {version}" if isinstance(version, str) and version else ""
