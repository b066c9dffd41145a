"""Cases of a course's self-test: its references, starters and own submissions, with what each must earn."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path

from grader.config.course import Course
from grader.config.problem import require_named, suggestion
from grader.config.rubric import read_rubric
from grader.config.units import Quotient
from grader.config.yaml_source import read_yaml
from grader.errors import CourseError, UsageError
from grader.files import holds_files, show_path
from grader.model.rubric import Rubric
from grader.packing.handouts import STARTER
from grader.plugins import Plugins
from grader.selftest.expectations import SOURCES, Expectation, Points, read_expectations

ARCHIVES = "submissions"
"""The folder of their archives."""


class Role(StrEnum):
    """The role of a case in the course, which decides what it must earn."""

    REFERENCE = "reference"
    """The solution; it must earn everything."""
    STARTER = "starter"
    """What students begin with; it must not earn everything, and should earn nothing."""
    SUBMISSION = "submission"
    """One of the course's own; it must earn what its `expected.yaml` says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfTestCase:
    """A submission, or a reference or starter graded as one, with its expected result."""

    name: str
    about: str
    archive: Path
    assignment: str | None
    rubric: Rubric | None = None
    """None if it must be refused."""
    earns: Mapping[str, Points] = field(default_factory=dict)
    total: float | None = None
    """None if only the items matter."""
    leaves_out: frozenset[str] = frozenset()
    """Items that are not observed."""
    members: tuple[str, ...] = ()
    """The students of a team, who are graded together; empty for one student."""
    submitted_at: datetime | None = None
    after_lateness: float | Quotient | None = None
    """The total after the late rule; None if it does not matter."""
    refused: str = ""
    quick: bool = True
    isolation: str = ""
    """The weakest sandbox for it; empty for any that the course allows."""
    role: Role = Role.SUBMISSION
    build: str = ""
    """Advice if the archive is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Selection of cases; all by default."""

    patterns: tuple[str, ...] = ()
    """Patterns of names of submissions, references (`RUBRIC/reference`) and starters (`RUBRIC/starter`)."""
    quick: bool = False
    assignment: str | None = None
    reference: Path | None = None
    """A folder that replaces the reference of `assignment`, as the only case."""
    gpus: int = 0
    """The number of GPUs of this machine, which changes what some submissions earn."""


def cases_of(course: Course, plugins: Plugins, selection: Selection) -> tuple[SelfTestCase, ...]:
    """Return the selected cases: references, starters, submissions, each by name; none of an empty course.

    Raises:
        CourseError: a rubric or an `expected.yaml` of the selected cases is wrong, with every problem of
            all of them; or an assignment has no rubric.
        UsageError: the selection names something that is not there.
    """
    folders, assignment = plugins.assignment_folders, selection.assignment
    if assignment is not None:
        require_named("--assignment", assignment, folders)
    if selection.reference is not None and (assignment is None or selection.patterns or selection.quick):
        raise UsageError("--reference: goes with --assignment NAME, and with nothing else that selects")
    sources = {file.parent.name: file for file in sorted(course.folder.glob(f"{SOURCES}/*/expected.yaml"))}
    rubrics, wrong = _rubrics(course, plugins)
    if not (folders or sources or rubrics or wrong or selection.patterns):
        return ()
    may_grade = {
        name: rubric
        for name, rubric in wrong.items()
        if assignment in (None, rubric.assignment or assignment)
    }
    if not selection.patterns:
        _refuse(may_grade.values())
    grading = [rubric for rubric in rubrics.values() if assignment in (None, rubric.assignment)]
    assignments = folders if assignment is None else (assignment,)
    ungraded = {*assignments} - {rubric.assignment for rubric in grading}
    ungraded -= {rubric.assignment for rubric in wrong.values()}
    if ungraded or not folders:
        problems = [f"assignment {name}: no rubric grades it; write one" for name in sorted(ungraded)]
        raise CourseError(*problems or (f"{show_path(course.folder)}: has no assignments to verify",))
    if selection.reference is not None:
        return tuple(reference_case(selection.reference, rubric) for rubric in grading)
    references = [reference_case(folders[rubric.assignment] / "reference", rubric) for rubric in grading]
    homes = {rubric.name: folders[rubric.assignment] / STARTER for rubric in grading}
    starters = [
        starter_case(homes[rubric.name], rubric) for rubric in grading if holds_files(homes[rubric.name])
    ]
    graded_by_wrong = [f"{name}/{case}" for name in wrong for case in ("reference", STARTER)]
    names = [*(case.name for case in (*references, *starters)), *sources, *graded_by_wrong]
    chosen = [name for name in names if _matches(name, selection.patterns)]
    if not chosen:
        names_tried = " ".join(selection.patterns)
        advice = suggestion(names_tried, names)
        if names_tried in folders:
            advice = f"all of the assignment's are taken by --assignment {names_tried}"
        raise UsageError(f"{names_tried}: there is no submission of that name; {advice}")
    files = [sources[name] for name in chosen if name in sources]
    files = [file for file in files if assignment in (None, _assignment_of(file, folders) or assignment)]
    expectations = read_expectations(files, plugins, {**rubrics, **dict.fromkeys(wrong)})
    needed = {expectation.rubric_name for _, expectation in expectations}
    needed |= {name for name in may_grade if {f"{name}/reference", f"{name}/{STARTER}"} & {*chosen}}
    _refuse(rubric for name, rubric in wrong.items() if name in needed)
    submissions = [
        _case(name, expectation, course, rubrics, selection.gpus) for name, expectation in expectations
    ]
    cases = tuple(
        case
        for case in (*references, *starters, *submissions)
        if case.name in chosen
        and (case.quick or not selection.quick)
        and assignment in (None, case.assignment)
    )
    if not cases:
        raise UsageError(f"{' '.join(chosen)}: left out by --quick or --assignment; leave that out instead")
    return cases


def reference_case(folder: Path, rubric: Rubric) -> SelfTestCase:
    """Return the case of a reference, which must earn all that can be decided on this machine."""
    return SelfTestCase(
        name=f"{rubric.name}/{folder.resolve().name}",
        about=f"The reference of {rubric.assignment} earns everything.",
        archive=folder,
        assignment=rubric.assignment,
        rubric=rubric,
        earns={item.id: 0.0 if item.counts == "penalty" else item.points for item in rubric.items},
        role=Role.REFERENCE,
        build="put the files there that earn everything",
    )


def starter_case(folder: Path, rubric: Rubric) -> SelfTestCase:
    """Return the case of a starter, handed in as students get it."""
    return SelfTestCase(
        name=f"{rubric.name}/{STARTER}",
        about=f"The starter of {rubric.assignment} as it is handed out.",
        archive=folder,
        assignment=rubric.assignment,
        rubric=rubric,
        quick=False,
        role=Role.STARTER,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _WrongRubric:
    """A rubric with mistakes."""

    assignment: str
    """The assignment that it says it grades, or that of its name; empty if neither is there."""
    problems: tuple[str, ...]


def _rubrics(course: Course, plugins: Plugins) -> tuple[dict[str, Rubric], dict[str, _WrongRubric]]:
    """Return the rubrics that can be graded by, and the others, by name."""
    rubrics: dict[str, Rubric] = {}
    wrong: dict[str, _WrongRubric] = {}
    folders = plugins.assignment_folders
    for path in course.rubrics():
        rubric, problems = read_rubric(
            path, kinds=plugins.checks, assignments=folders, declared=plugins.assignments
        )
        if rubric is not None and not problems:
            rubrics[path.stem] = rubric
            continue
        by_name = path.stem if path.stem in folders else ""
        wrong[path.stem] = _WrongRubric(
            assignment=rubric.assignment if rubric else by_name, problems=problems
        )
    return rubrics, wrong


def _refuse(wrong: Iterable[_WrongRubric]) -> None:
    """Raise the problems of rubrics, if there are any."""
    if problems := [problem for rubric in wrong for problem in rubric.problems]:
        raise CourseError(*problems)


def _assignment_of(file: Path, folders: Container[str]) -> str:
    """Return the assignment that an `expected.yaml` names; empty if it names none that is there."""
    data = read_yaml(file).data
    name = data.get("assignment") if isinstance(data, Mapping) else None
    return name if isinstance(name, str) and name in folders else ""


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)


def _case(
    name: str, expectation: Expectation, course: Course, rubrics: Mapping[str, Rubric], gpus: int
) -> SelfTestCase:
    rubric = None if expectation.refused else rubrics[expectation.rubric_name]
    gpus_of = {item.id: item.devices.get("gpu", 1) for item in rubric.items} if rubric else {}
    on_gpu = {item: points for item, points in expectation.on_gpu.items() if gpus_of[item] <= gpus}
    total, after = expectation.total, expectation.after_lateness
    if on_gpu:
        whole = len(on_gpu) == len(expectation.on_gpu)
        total = _on_gpu_or(total, expectation.total_on_gpu) if whole else None
        after = _on_gpu_or(after, expectation.after_lateness_on_gpu) if whole else None
    return SelfTestCase(
        name=name,
        about=expectation.about,
        archive=course.folder / ARCHIVES / f"{name}.{expectation.archive}",
        assignment=expectation.assignment,
        rubric=rubric,
        earns={**expectation.earns, **on_gpu},
        total=total,
        leaves_out=frozenset(expectation.leaves_out),
        members=tuple(sorted(expectation.members)),
        submitted_at=expectation.submitted_at,
        after_lateness=after,
        refused=expectation.refused,
        quick=expectation.quick,
        isolation=expectation.isolation or "",
        build="run grader pack",
    )


def _on_gpu_or(usual: float | None, on_gpu: float | None) -> float | None:
    return usual if on_gpu is None else on_gpu
