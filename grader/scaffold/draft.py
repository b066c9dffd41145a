"""Drafts a rubric from the functions that an existing assignment defines."""

from __future__ import annotations

from pathlib import Path

from grader.config.facts import read_facts
from grader.config.problem import suggestion
from grader.errors import CourseError, UsageError
from grader.files import show_path


def rubric_draft(folder: Path, function: str | None = None) -> str:
    """Draft a rubric with an item for each function of the reference that has an oracle, or for this one.

    The inputs are the family that is called like the function, otherwise the first one.

    Raises:
        CourseError: the assignment's files cannot be read, or have nothing that could be an item.
        UsageError: there is no such function.
    """
    facts = read_facts(folder)
    if facts.problems or facts.functions is None or facts.inputs is None or facts.oracles is None:
        raise CourseError(*facts.problems)
    if function is not None and function not in facts.functions:
        advice = suggestion(function, facts.functions)
        raise UsageError(f"--function {function}: the reference has no such function; {advice}")
    functions = [function] if function else sorted(facts.functions)
    checked = [name for name in functions if name.partition(".")[2] in facts.oracles]
    if not checked:
        raise CourseError(
            f"{show_path(folder / 'expected.py')}: has no oracle for "
            f"{', '.join(functions) or 'any function'}; "
            "write a function there of the same name"
        )
    if not facts.inputs:
        raise CourseError(
            f"{show_path(folder / 'inputs.py')}: has no family; write a function whose first parameter is rng"
        )
    head = f"schema: 1\nassignment: {folder.name}\npoints: {len(checked)}  # the sum of the items\nitems:\n"
    return head + "\n".join(_item(name, facts.inputs) for name in checked)


def _item(name: str, families: frozenset[str]) -> str:
    called = name.partition(".")[2]
    inputs = called if called in families else min(families)
    return (
        f"  - id: {name.lower()}\n"
        f"    title: {called} is right  # one sentence that a student reads\n"
        "    points: 1\n"
        "    check: matches_reference\n"
        f"    of: {name}\n"
        f"    inputs: {inputs}  # a family of inputs.py\n"
    )
