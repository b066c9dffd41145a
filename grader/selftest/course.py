"""Checks of a course that run no submission: its settings, its rubrics, its families and oracles."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import fields
from pathlib import Path
from typing import Any

from grader.config.course import FILE, Course
from grader.config.decode import keys_of
from grader.config.engines import engine_problems
from grader.config.problem import Problem, show_path, suggestion
from grader.config.rubric import load_rubric
from grader.config.yaml_source import read_yaml
from grader.errors import CourseError
from grader.grading.submission import layer_objection
from grader.harness.course_functions import EXPECTED, CourseFunctions
from grader.model.options import InputsName
from grader.model.rubric import Item
from grader.plugins import Plugins

SEED = "0" * 32
"""Of the families that are tried: a mistake shows with every seed, or needs a test of its own."""


def check_course(course: Course, plugins: Plugins) -> Iterator[str]:
    """Yield every problem of a course, each as a line with file, cause and remedy.

    Runs the course's own families and oracles, on this machine and outside of any sandbox, and no code of a
    submission or of a reference.
    """
    yield from _settings(course, plugins)
    try:
        paths = course.rubrics()
    except CourseError as error:
        yield from error.problems
        paths = ()
    graded = set()
    for path in paths:
        try:
            rubric = load_rubric(path, kinds=plugins.checks, assignments=plugins.assignment_folders)
        except CourseError as error:
            yield from error.problems
            continue
        graded.add(rubric.assignment)
        yield from try_oracles(plugins.assignment_folders[rubric.assignment], rubric.items)
    for name, folder in plugins.assignment_folders.items():
        if paths and name not in graded and not any(path.stem == name for path in paths):
            yield f"{show_path(folder)}: no rubric grades this assignment; write rubrics/{name}.yaml"


def _settings(course: Course, plugins: Plugins) -> Iterator[str]:
    """Yield problems of `course.yaml` that only plugins, roster and assignments together show."""
    document = read_yaml(course.folder / FILE)
    problems = []
    if message := layer_objection(course.min_isolation, plugins.sandboxes):
        problems.append(Problem(path=("min_isolation",), message=message))
    names = {name for entry in course.roster.students for name in (entry.student, entry.team) if name}
    for who in course.extensions if names else ():
        if who not in names:
            message = f"nobody on the roster is called so; {suggestion(who, names)}"
            problems.append(Problem(path=("extensions", who), message=message))
    kinds = {name: engine.Options for name, engine in plugins.engines.items()}
    problems += engine_problems(document.data, kinds)
    yield from document.lines(problems)


def try_oracles(folder: Path, items: tuple[Item, ...]) -> Iterator[str]:
    """Yield problems of the families and oracles that the items of a rubric name, each pair tried once."""
    functions = CourseFunctions(folder)
    tried = set()
    for item in items:
        names = _functions_of(item)
        if names is None or names in tried:
            continue
        tried.add(names)
        family, oracle = names
        try:
            problems = tuple(_try_oracle(functions, family, oracle))
        except CourseError as error:
            problems = error.problems
        for problem in problems:
            yield problem.removeprefix(f"{Path.cwd()}/")


def _functions_of(item: Item) -> tuple[str, str] | None:
    """Return the family and the oracle of an item whose oracle takes the family's arguments."""
    keys: Any = type(item.options)
    families = [name for name, key in keys_of(keys).items() if key.kind is InputsName]
    like = next((key for key in fields(item.options) if key.metadata.get("like")), None)
    family = getattr(item.options, families[0]) if families else ""
    if like is None or not family:
        return None
    function: str = getattr(item.options, like.metadata["like"]).rpartition(".")[2]
    return family, getattr(item.options, like.name) or function


def _try_oracle(functions: CourseFunctions, family: str, oracle: str) -> Iterator[str]:
    answer = functions.expected(oracle)
    place = functions.place(EXPECTED, inspect.unwrap(answer))
    for case in functions.draw(family, SEED, 0):
        try:
            inspect.signature(answer).bind(*case.args, **case.kwargs)
        except TypeError as error:
            yield f"{place}: {oracle}: cannot take case {case.name!r} of {family} in inputs.py ({error})"
            return
        result = answer(*deepcopy(case.args), **deepcopy(case.kwargs))
        if result is None:
            yield f"{place}: {oracle}: returns None for case {case.name!r} of {family}; is a return missing?"
            return
        if _has_nan(result) and not any(map(_has_nan, (*case.args, *case.kwargs.values()))):
            yield f"{place}: {oracle}: gives nan for case {case.name!r} of {family}, which holds none"
            return


def _has_nan(value: Any) -> bool:
    import numpy as np

    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fc" and bool(np.isnan(value).any())
    if isinstance(value, float):
        return math.isnan(value)
    if isinstance(value, list | tuple):
        return any(map(_has_nan, value))
    return isinstance(value, Mapping) and any(map(_has_nan, value.values()))
