"""Names of libraries in rules on sources, resolved by importing the library, never a file of the course."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import suppress
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from grader.checks.source import Source, decorators
from grader.config.facts import is_installed
from grader.config.problem import KeyPath, Problem
from grader.model.rubric import Rubric
from grader.selftest.declared import MISSPELT, installed_near, modules_of

_ABSENT = object()
_PACKAGES = frozenset({"site-packages", "dist-packages"})


def library_problems(rubric: Rubric, folder: Path) -> Iterator[Problem]:
    """Yield the names in `source` items that a library of this machine lacks, but for a much alike one.

    One that is like no other may be of another version of the library. A name of a module that is not
    installed, that files of the assignment define, or that lies in the course itself is nobody's mistake,
    and neither is a name without a dot, which may be a student's own.
    """
    of_assignment = modules_of(folder)
    for path, name in _names(rubric):
        top = name.partition(".")[0]
        if not top.isidentifier() or top == name or top in of_assignment:
            continue
        if not is_installed(top):
            if near := installed_near(top):
                yield Problem(path=path, message=f"no module is called {top}; did you mean {near}?")
        elif message := _objection(name):
            yield Problem(path=path, message=message)


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
                near = get_close_matches(part, dir(value), n=1, cutoff=MISSPELT)
                return f"{checked}{_version(value)} has no {part}; did you mean {near[0]}?" if near else ""
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
