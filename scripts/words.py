"""Check the words of `grader/`: names that say what a value holds, unique classes, docstrings with a subject.

    python scripts/words.py [FOLDER]

prints a line for each package that breaks a rule, with the places, and ends with 1; see the house rules in
CONTRIBUTING.md. `BASELINE` allows what a package still has of each; a number there may only be lowered.
"""

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

GRADER = Path(__file__).resolve().parent.parent / "grader"
VAGUE = frozenset(
    [
        "asked",
        "found",
        "given",
        "held",
        "kept",
        "known",
        "one",
        "own",
        "said",
        "seen",
        "there",
        "told",
        "wanted",
    ]
)
"""Participles and pronouns: as names they say how a value was come by, and not what it holds."""
NO_SUBJECT = frozenset({"That", "Those", "What", "Who", "Whoever"})
"""First words of a docstring that describes something without naming it."""
SHARE_OF_NAMES = 0.005
NESTED = frozenset({"Options"})
"""Class names that every check kind nests, and that may therefore be bound more than once."""


class Allowed(NamedTuple):
    """How many vague names and how many docstrings without a subject a package may still have."""

    names: int
    docstrings: int


BASELINE: dict[str, Allowed] = {
    "cli": Allowed(names=9, docstrings=2),
}
BASELINE_CLASSES = frozenset(
    [
        "Array",
        "Build",
        "Devices",
        "Ended",
        "Exchange",
        "Launch",
        "Launched",
        "Local",
        "Measured",
        "Module",
        "Order",
        "Placement",
        "Rank",
        "Ratio",
        "Report",
        "Request",
        "Results",
        "Rule",
        "Shared",
        "Source",
        "View",
        "Watched",
    ]
)
"""Class names that may still be bound more than once."""


class Words(NamedTuple):
    """Words of one package: how many names it binds, and the places that break a rule."""

    names: list[str]
    vague: list[str]
    docstrings: list[str]


def bound(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node binds: variables, arguments, attributes, functions, classes, imports."""
    if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
        yield node.id if isinstance(node, ast.Name) else node.attr
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.alias):
        yield node.asname or node.name


def without_subject(node: ast.AST) -> bool:
    """Tell whether the docstring of a module, class or function begins with a pronoun."""
    if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    words = (ast.get_docstring(node) or "").split(maxsplit=1)
    return bool(words) and words[0] in NO_SUBJECT


def read(folder: Path) -> tuple[dict[str, Words], dict[str, list[str]]]:
    """Collect the words of each package below a folder, and the places of each class name."""
    packages: dict[str, Words] = defaultdict(lambda: Words([], [], []))
    classes: dict[str, list[str]] = defaultdict(list)
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).parts
        words = packages[parts[0] if len(parts) > 1 else "grader"]
        for node in ast.walk(ast.parse(path.read_bytes())):
            place = f"{path.relative_to(folder)}:{getattr(node, 'lineno', 1)}"
            for name in bound(node):
                words.names.append(name)
                if name.strip("_") in VAGUE:
                    words.vague.append(f"{place} {name}")
            if without_subject(node):
                words.docstrings.append(place)
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and node.name not in NESTED:
                classes[node.name].append(place)
    return packages, classes


def problems(folder: Path) -> Iterator[str]:
    """Yield one line for each rule that a package or a class name breaks."""
    packages, classes = read(folder)
    for package, words in sorted(packages.items()):
        allowed = BASELINE.get(package, Allowed(int(SHARE_OF_NAMES * len(words.names)), 0))
        for places, at_most, fault in (
            (words.vague, allowed.names, "names that do not say what a value holds"),
            (words.docstrings, allowed.docstrings, "docstrings that begin with a pronoun"),
        ):
            if len(places) > at_most:
                lines = "".join(f"\n  {place}" for place in places)
                yield f"{package}: {len(places)} {fault}, at most {at_most} may be there:{lines}"
    for name, places in sorted(classes.items()):
        if len(places) > 1 and name not in BASELINE_CLASSES:
            yield f"class {name} is defined {len(places)} times, rename all but one: {', '.join(places)}"


def main(folder: Path = GRADER) -> int:
    """Print the problems of a folder and return the exit code."""
    lines = list(problems(folder))
    sys.stdout.writelines(f"{line}\n" for line in lines)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(*(Path(argument).resolve() for argument in sys.argv[1:])))
