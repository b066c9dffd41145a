"""Checks of a course that run no submission: its settings, its rubrics, its families and oracles."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from fnmatch import filter as filter_names
from pathlib import Path
from typing import Any

from grader.config.course import FILE, Course
from grader.config.decode import keys_of
from grader.config.engines import engine_problems
from grader.config.facts import read_facts
from grader.config.problem import Problem, Remark, suggestion
from grader.config.rubric import read_rubric
from grader.config.type_words import quoted
from grader.config.yaml_source import read_yaml
from grader.contracts.check import SIMULATED_INPUTS, CheckKind
from grader.errors import CourseError
from grader.files import show_path
from grader.grading.declaration import files_below
from grader.grading.submission import layer_objection
from grader.intake.accept import accepted
from grader.model.assignment import Assignment
from grader.model.options import SubmittedFile, values_of
from grader.model.rubric import MANUAL, Rubric
from grader.packing.sources import not_packed
from grader.packing.submissions import sources_in
from grader.plugins import Plugins
from grader.selftest.declared import static_problems
from grader.selftest.expectations import SOURCES, expectation_problems
from grader.selftest.functions import try_functions
from grader.selftest.source_rules import source_problems, source_remarks
from grader.selftest.tolerances import tolerances_for_bits


def check_course(course: Course, plugins: Plugins) -> Iterator[str]:
    """Yield every problem of a course, each as a line with file, cause and remedy; and remarks (`Remark`).

    Runs the course's own families and oracles, on this machine and outside of any sandbox, and no code of a
    submission or of a reference. A family that imports what this machine lacks is remarked, and not tried.
    """
    yield from _settings(course, plugins)
    yield from static_problems(course, plugins)
    yield from map(Remark, course.roster.misspelt_teams())
    try:
        paths = course.rubrics()
    except CourseError as error:
        yield from error.problems
        return
    rubrics: dict[str, Rubric | None] = {path.stem: None for path in paths}
    wrong: list[Rubric] = []
    for path in paths:
        rubric, problems = _read(path, plugins)
        yield from problems
        if rubric is None:
            continue
        if problems:
            wrong.append(rubric)
        else:
            rubrics[path.stem] = rubric
        yield from _rubric_lines(course, plugins, rubric, path)
    yield from _extensions_of_nothing(course, [rubric for rubric in rubrics.values() if rubric], wrong)
    yield from _criteria_of_nothing(course, plugins, [*(r for r in rubrics.values() if r), *wrong])
    graded = {rubric.assignment for rubric in (*rubrics.values(), *wrong) if rubric}
    for name, folder in plugins.assignment_folders.items():
        if name not in graded and name not in rubrics:
            yield f"{show_path(folder)}: no rubric grades this assignment; write rubrics/{name}.yaml"
    yield from expectation_problems(course, plugins, rubrics)
    for source in sources_in(course.folder / SOURCES):
        yield from map(Remark, not_packed(source))


def check_assignment(course: Course, plugins: Plugins, name: str) -> Iterator[str]:
    """Yield the lines of `check_course` on one assignment: its settings, its declaration, its rubrics.

    What keeps a rubric from being read is left out, and so are remarks on teams and on submissions.
    """
    yield from _settings(course, plugins, name)
    yield from static_problems(course, plugins, name)
    rubrics: dict[bool, list[Rubric]] = {True: [], False: []}
    for path in course.rubrics():
        rubric, problems = _read(path, plugins)
        if rubric is not None and rubric.assignment == name:
            rubrics[not problems].append(rubric)
            yield from () if problems else _rubric_lines(course, plugins, rubric, path)
    yield from _extensions_of_nothing(course, rubrics[True], rubrics[False])
    yield from _criteria_of_nothing(course, plugins, [*rubrics[True], *rubrics[False]], name)


def _read(path: Path, plugins: Plugins) -> tuple[Rubric | None, tuple[str, ...]]:
    """Read a rubric; return it, unless too little of it can be read, and its problems."""
    folders = plugins.assignment_folders
    return read_rubric(path, kinds=plugins.checks, assignments=folders, declared=plugins.assignments)


def _rubric_lines(course: Course, plugins: Plugins, rubric: Rubric, path: Path) -> Iterator[str]:
    """Yield problems and remarks on a rubric: its deadline, functions of the reference, families, oracles."""
    folder = plugins.assignment_folders[rubric.assignment]
    document = read_yaml(path)
    lacking = _reference_lacks(rubric, plugins.assignments[rubric.assignment], folder / "reference")
    offsets = _offset_problems(rubric.due, course.zone)
    yield from document.lines([*offsets, *source_problems(rubric, folder), *lacking])
    remarks = [*_remarks(rubric, plugins.checks, folder), *source_remarks(rubric, folder)]
    yield from map(Remark, document.lines(remarks))
    if not read_facts(folder).problems:
        yield from try_functions(folder, rubric.items, plugins.checks, document)


def _reference_lacks(rubric: Rubric, assignment: Assignment, reference: Path) -> Iterator[Problem]:
    """Yield the documents and sources that items read and the reference lacks, so that it loses their points.

    A reference of which nothing is accepted is told elsewhere, as is what lies there and is not accepted, and
    what a person alone reads it may lack.
    """
    there = files_below(reference)
    files = accepted(there, assignment.accepts)
    for index, item in enumerate(rubric.items if files else ()):
        if item.options is None or not item.points or item.counts == "penalty" or item.check == MANUAL:
            continue
        values = values_of(item.options)
        kind: Any = type(item.options)  # which mypy takes for no key of a cache
        for key in (
            name for name, key in keys_of(kind).items() if key.kind is SubmittedFile and values[name]
        ):
            pattern = values[key]
            if not filter_names(files, pattern) and not filter_names(there, pattern):
                example = re.sub(r"(?<=\w)\.\*$", ".md", pattern)
                what = f"has no {pattern}; write it" if example == pattern else f"has no file for {pattern}"
                advice = "" if example == pattern else f"; write one, such as reference/{example}"
                yield Problem(path=("items", index, key), message=f"reference/ {what}{advice}", once=True)


def _offset_problems(due: datetime | None, zone: tzinfo) -> Iterator[Problem]:
    """Yield a deadline with the offset that the course's clocks have in the other half of the year."""
    if due is None or not due.utcoffset():  # a deadline in UTC is meant so
        return
    local = due.astimezone(zone)
    half_a_year = timedelta(days=182)
    others = {(local + half_a_year).utcoffset(), (local - half_a_year).utcoffset()}
    if due.utcoffset() != local.utcoffset() and due.utcoffset() in others:
        meant = due.replace(tzinfo=zone).isoformat()
        message = f"is {local:%H:%M} in {zone}, whose offset is another one then; write {meant}"
        yield Problem(path=("due",), message=message)


def _remarks(rubric: Rubric, kinds: Mapping[str, CheckKind], folder: Path) -> Iterator[Problem]:
    """Yield remarks of the kinds, on `simulated: earns` without a simulator, and on tolerances for bits."""
    for index, item in enumerate(rubric.items):
        if item.options is not None:
            kind = kinds[item.check]
            for key, message in kind.remarks(item.options, str(folder)):
                yield Problem(path=("items", index, key), message=message)
            # a build tells by itself that it was made for the CPU
            if item.simulated == "earns" and not kind.simulates(item.options) and not kind.builds:
                has_key = hasattr(item.options, SIMULATED_INPUTS)
                way = "give it" if has_key else f"leave it out: {item.check} has no"
                message = f"no simulator stands in for this item; {way} {SIMULATED_INPUTS}"
                yield Problem(path=("items", index, "simulated"), message=message)
            yield from tolerances_for_bits(item.options, ("items", index))


def _settings(course: Course, plugins: Plugins, only: str | None = None) -> Iterator[str]:
    """Yield problems of `course.yaml` that only plugins show; with `only`, those of this assignment."""
    document = read_yaml(course.folder / FILE)
    problems = []
    if message := layer_objection(course.min_isolation, plugins.sandboxes):
        problems.append(Problem(path=("min_isolation",), message=message))
    for platform, options in course.platforms.items():
        for name in options.assignments:
            if name not in plugins.assignments:
                message = f"no assignment is called {quoted(name)}; {suggestion(name, plugins.assignments)}"
                problems.append(Problem(path=(platform, "assignments", name), message=message))
        by_number = {number: name for name, number in reversed(options.assignments.items())}
        for name, number in options.assignments.items():
            if (first := by_number[number]) != name:
                message = f"{number} is that of {first} too, whose grades would be replaced; give its own"
                problems.append(Problem(path=(platform, "assignments", name), message=message))
    kinds = {name: engine.Options for name, engine in plugins.engines.items()}
    if isinstance(document.data, Mapping):  # what is none is told where the course is read
        problems += engine_problems(document.data, kinds)
    yield from document.lines(_about(only, problems))


def _about(assignment: str | None, problems: Iterable[Problem]) -> Iterator[Problem]:
    """Yield the problems whose path names an assignment; all for None."""
    return (problem for problem in problems if assignment in (None, *problem.path))


def _criteria_of_nothing(
    course: Course, plugins: Plugins, rubrics: Sequence[Rubric], only: str | None = None
) -> Iterator[str]:
    """Yield criteria of platforms' own rubrics for no assignment, or for no item of its rubrics.

    With `only`, those of this assignment.
    """
    items: dict[str, set[str]] = {name: set() for name in plugins.assignments}
    for rubric in rubrics:
        items[rubric.assignment] |= {item.id for item in rubric.items}
    problems = []
    for platform, options in course.platforms.items():
        key = plugins.platforms[platform].criteria_key
        for name, criteria in getattr(options, key).items() if key else ():
            if name not in items:
                message = f"no assignment is called {quoted(name)}; {suggestion(name, items)}"
                problems.append(Problem(path=(platform, key, name), message=message))
                continue
            for item in criteria if items[name] else ():
                if item not in items[name]:
                    message = f"no item of {name} is called {quoted(item)}; {suggestion(item, items[name])}"
                    problems.append(Problem(path=(platform, key, name, item), message=message))
    yield from read_yaml(course.folder / FILE).lines(_about(only, problems))


def _extensions_of_nothing(
    course: Course, rubrics: Sequence[Rubric], wrong: Sequence[Rubric]
) -> Iterator[str]:
    """Yield the extensions of assignments that no rubric gives a deadline; one that is wrong may."""
    dated = {rubric.assignment for rubric in (*(r for r in rubrics if r.due), *wrong)}
    without = {rubric.assignment for rubric in rubrics} - dated
    problems = []
    for who, by_assignment in course.extensions.items():
        for name in by_assignment:
            if name in without and not course.nobody(who):  # that is told, and comes first
                message = f"no rubric of {name} has a due, so that nothing is extended; give one there"
                if place := course.extension_places.get(who):
                    yield f"{place}: {message}"
                else:
                    problems.append(Problem(path=("extensions", who, name), message=message))
    yield from read_yaml(course.folder / FILE).lines(problems)
