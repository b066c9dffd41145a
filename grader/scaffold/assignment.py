"""A new assignment, file by file: a small one that works, with submissions of its own."""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import packages_distributions

from grader.errors import UsageError
from grader.extras import LIBRARIES
from grader.scaffold.course import quoted
from grader.scaffold.layout import TEMPLATES, filled

POINTS = 10
TAKEN = frozenset({"np", "case"})
"""Names that the files themselves use."""
_ENDINGS = frozenset({"py", "c", "cc", "cpp", "cu", "cuh", "h", "hpp"})
"""Endings of files, which are given by mistake in place of a function."""
SAMPLES: Mapping[str, tuple[str, str, int]] = {
    "right": ("submissions/right.py.template", "Right, element by element.", POINTS),
    "wrong": ("submissions/wrong.py.template", "Adds first and multiplies then.", 0),
}
"""Template, description and points of each sample submission."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignmentNames:
    """Names of the parts of a new assignment."""

    assignment: str
    module: str
    function: str


def names(assignment: str, function: str | None = None) -> AssignmentNames:
    """Return the names of a new assignment; `function` is `module.function`, by default `NAME.saxpy`.

    Raises:
        UsageError: one of them cannot be the name of a file, a module or a function.
    """
    if keyword.iskeyword(assignment):
        raise UsageError(
            f"{assignment}: is a word of Python, which no module can be called; choose another name, such as "
            f"{assignment}_work"
        )
    if not re.fullmatch("[a-z][a-z0-9_]*", assignment):
        raise UsageError(
            f"{assignment}: use lower-case letters, digits and _ in the name of an assignment, "
            "beginning with a letter; such as vectors"
        )
    module, dot, called = (function or f"{assignment}.saxpy").partition(".")
    if not dot or not all(name.isidentifier() and name.isascii() for name in (module, called)):
        raise UsageError(f"--function {function}: must be module.function; such as vectors.saxpy")
    if called in _ENDINGS:
        raise UsageError(
            f"--function {function}: names a file; give module.function such as {module}.saxpy, and for "
            "C++ and CUDA C++ the driver that calls it, as docs/how-to/compile.md shows"
        )
    for name in (module, called):
        if keyword.iskeyword(name):
            raise UsageError(f"--function {function}: {name} is a word of Python; name another")
        if name in TAKEN or name.startswith("_"):
            raise UsageError(f"--function {function}: nothing can be called {name} here; name another")
    if module in {*sys.stdlib_module_names, *LIBRARIES, *packages_distributions()}:
        advice = f"choose another, unless you give the function: --function {assignment}_work.{called}"
        advice = advice if function is None else "name another module"
        raise UsageError(f"{module}.py would hide Python's module {module}; {advice}")
    return AssignmentNames(assignment=assignment, module=module, function=called)


def assignment_files(named: AssignmentNames) -> dict[str, str]:
    """Render the files of a new assignment, by path below the course's folder."""
    heading = named.assignment.replace("_", " ").capitalize()
    values = {
        "name": named.assignment,
        "module": named.module,
        "function": named.function,
        "heading": heading,
        "title": quoted(heading),
        "item": f"{named.module}.{named.function}".lower(),
    }
    home, code = f"assignments/{named.assignment}", f"{named.module}.py"
    laid = {
        f"{home}/assignment.py": "assignment/assignment.py.template",
        f"{home}/inputs.py": "assignment/inputs.py.template",
        f"{home}/expected.py": "assignment/expected.py.template",
        f"{home}/handout.md": "assignment/handout.md.template",
        f"{home}/reference/{code}": "assignment/reference.py.template",
        f"{home}/starter/{code}": "assignment/starter.py.template",
        f"rubrics/{named.assignment}.yaml": "assignment/rubric.yaml.template",
    }
    files = {path: filled(template, **values) for path, template in laid.items()}
    for kind, (template, about, points) in SAMPLES.items():
        folder = f"tests/submissions/{named.assignment}_{kind}"
        expectation = {"about": about, "points": str(points)}
        files[f"{folder}/expected.yaml"] = filled(
            "submissions/expected.yaml.template", **values, **expectation
        )
        files[f"{folder}/files/{code}"] = filled(template, **values)
    return files


def example_lines() -> tuple[str, ...]:
    """Return the lines of a new assignment's page that describe the example's function alone."""
    page = (TEMPLATES / "assignment/handout.md.template").read_text(encoding="utf-8")
    return tuple(line for line in page.splitlines() if line.startswith("* "))
