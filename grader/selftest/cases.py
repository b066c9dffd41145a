"""Cases of a course's self-test: its own submissions and references, each with what it must earn."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from fnmatch import fnmatchcase
from math import fsum
from pathlib import Path
from typing import Any, Literal, NewType

from grader.config.course import Course
from grader.config.decode import AllowedNames, DecodeState, keys_of, read_keys
from grader.config.problem import Problem, closest, suggestion
from grader.config.rubric import load_rubric
from grader.config.units import Quotient
from grader.config.yaml_source import read_yaml
from grader.errors import CourseError, UsageError
from grader.files import show_path
from grader.model.options import option
from grader.model.rubric import MANUAL, Item, Rubric
from grader.packing.sources import EXPECTED, files_of
from grader.packing.submissions import sources_in, without_expectation
from grader.plugins import Plugins
from grader.scoring.totals import raw_total

SOURCES = "tests/submissions"
"""The folder of the course's own submissions, each with an `expected.yaml`."""
ARCHIVES = "submissions"
_ROUNDED = 0.005
"""The most by which points with two decimals, as a scorecard prints them, differ from what is earned."""

Points = float | Quotient | Literal["pending"]
"""As a scorecard prints them, 2.67, or exactly, 8/3."""
AssignmentName = NewType("AssignmentName", str)
RubricName = NewType("RubricName", str)
SandboxName = NewType("SandboxName", str)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """Keys of the `expected.yaml` of a submission: its points, or that it is refused."""

    about: str = option("One sentence: what is right or wrong with it.")
    assignment: AssignmentName | None = option(
        "Needed, unless it is `refused`: then the files say which.", default=None
    )
    rubric: RubricName | None = option("Left out, the one named like the assignment.", default=None)
    earns: Mapping[str, Points] = option(
        "Points of every item of the rubric, or `pending`; needed, unless it is `refused`.",
        default_factory=dict,
    )
    total: float | Quotient | None = option(
        "What it earns altogether, before any late rule; needed, unless it is `refused`.", default=None
    )
    on_gpu: Mapping[str, Points] = option(
        "The points of those items that earn something else on a machine with the GPUs that they ask for.",
        default_factory=dict,
    )
    total_on_gpu: float | Quotient | None = option(
        "The total on a machine with the GPUs of all of them; left out, the same.", default=None
    )
    leaves_out: tuple[str, ...] = option(
        "Items that `grader verify` does not observe here: those that take minutes, and that other "
        "submissions put to the test. They are `pending`, or 0 where an item that they need earns nothing.",
        default=(),
    )
    members: tuple[str, ...] = option("The students of a team; left out, one student.", default=())
    submitted_at: datetime | None = option("When it was handed in; left out, no late rule.", default=None)
    after_lateness: float | Quotient | None = option("What the late rule leaves of the total.", default=None)
    after_lateness_on_gpu: float | Quotient | None = option(
        "What it leaves on such a machine; left out, the same.", default=None
    )
    refused: str = option("Part of the line with which it is not accepted.", default="")
    quick: bool = option("Whether `--quick` takes it.", default=False)
    archive: Literal["tar.gz", "zip"] = option("How it is packed.", default="tar.gz")
    base: str = option("The submission over whose files its own are laid.", default="")
    isolation: SandboxName | None = option("The weakest sandbox that it may be run in.", default=None)

    def __post_init__(self) -> None:
        if self.refused and (self.earns or self.total is not None):
            raise ValueError("what is refused earns nothing; take out refused, or earns and total")
        has_key = {"assignment": self.assignment, "earns": self.earns, "total": self.total is not None}
        lacking = [key for key, is_given in has_key.items() if not is_given]
        if lacking and not self.refused:
            raise ValueError(
                f"lacks {', '.join(lacking)}; add what it earns, or refused for what is not accepted"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfTestCase:
    """A submission, or a reference graded as one, with its expected result."""

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
    reference: bool = False
    build: str = ""
    """Advice if the archive is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Selection of cases; all by default."""

    patterns: tuple[str, ...] = ()
    """Patterns of names of submissions, and of references (`RUBRIC/reference`)."""
    quick: bool = False
    assignment: str | None = None
    reference: Path | None = None
    """A folder that replaces the reference of `assignment`, as the only case."""
    gpus: int = 0
    """The number of GPUs of this machine, which changes what some submissions earn."""


def cases_of(course: Course, plugins: Plugins, selection: Selection) -> tuple[SelfTestCase, ...]:
    """Return the selected cases: references first, then submissions, both by name; none of an empty course.

    Raises:
        CourseError: a rubric or an `expected.yaml` is wrong, with every problem of all of them; or an
            assignment has no rubric.
        UsageError: the selection names something that is not there.
    """
    folders, assignment = plugins.assignment_folders, selection.assignment
    if assignment is not None and assignment not in folders:
        advice = suggestion(assignment, folders)
        raise UsageError(f"--assignment {assignment}: there is none of that name; {advice}")
    if selection.reference is not None and (assignment is None or selection.patterns or selection.quick):
        raise UsageError("--reference: goes with --assignment NAME, and with nothing else that selects")
    sources = {file.parent.name: file for file in sorted(course.folder.glob(f"{SOURCES}/*/expected.yaml"))}
    rubrics = _rubrics(course, plugins)
    if not (folders or sources or rubrics or selection.patterns):
        return ()
    grading = [rubric for rubric in rubrics.values() if assignment in (None, rubric.assignment)]
    assignments = folders if assignment is None else (assignment,)
    ungraded = {*assignments} - {rubric.assignment for rubric in grading}
    if ungraded or not folders:
        problems = [f"assignment {name}: no rubric grades it; write one" for name in sorted(ungraded)]
        raise CourseError(*problems or (f"{show_path(course.folder)}: has no assignments to verify",))
    if selection.reference is not None:
        return tuple(reference_case(selection.reference, rubric) for rubric in grading)
    references = [reference_case(folders[rubric.assignment] / "reference", rubric) for rubric in grading]
    names = [*(case.name for case in references), *sources]
    chosen = [name for name in names if _matches(name, selection.patterns)]
    if not chosen:
        names_tried = " ".join(selection.patterns)
        advice = suggestion(names_tried, names)
        if names_tried in folders:
            advice = f"all of the assignment's are taken by --assignment {names_tried}"
        raise UsageError(f"{names_tried}: there is no submission of that name; {advice}")
    files = [sources[name] for name in chosen if name in sources]
    submissions = [
        _case(name, expectation, course, rubrics, selection.gpus)
        for name, expectation in _expectations(files, course, plugins, rubrics)
    ]
    cases = tuple(
        case
        for case in (*references, *submissions)
        if case.name in chosen
        and (case.quick or not selection.quick)
        and assignment in (None, case.assignment)
    )
    if not cases:
        raise UsageError(f"{' '.join(chosen)}: left out by --quick or --assignment; leave that out instead")
    return cases


def expectation_problems(
    course: Course, plugins: Plugins, rubrics: Mapping[str, Rubric | None]
) -> Iterator[str]:
    """Yield every problem of the course's own submissions: of their `expected.yaml`, or of their files.

    `rubrics` holds None for a file that is wrong itself: nothing is compared with it.
    """
    for name in without_expectation(course.folder / SOURCES):
        yield f"{SOURCES}/{name}: has no {EXPECTED}; say there what it must earn"
    allowed = _allowed(plugins, rubrics)
    for folder in sources_in(course.folder / SOURCES):
        yield from _read(folder / EXPECTED, allowed, rubrics)[1]
        try:
            files_of(folder)
        except CourseError as error:
            yield from error.problems


def reference_case(folder: Path, rubric: Rubric) -> SelfTestCase:
    """Return the case of a reference, which must earn all that can be decided on this machine."""
    return SelfTestCase(
        name=f"{rubric.name}/{folder.resolve().name}",
        about=f"The reference of {rubric.assignment} earns everything.",
        archive=folder,
        assignment=rubric.assignment,
        rubric=rubric,
        earns={item.id: 0.0 if item.counts == "penalty" else item.points for item in rubric.items},
        reference=True,
        build="put the files there that earn everything",
    )


def _rubrics(course: Course, plugins: Plugins) -> dict[str, Rubric]:
    rubrics: dict[str, Rubric] = {}
    problems: list[str] = []
    for path in course.rubrics():
        try:
            rubrics[path.stem] = load_rubric(
                path,
                kinds=plugins.checks,
                assignments=plugins.assignment_folders,
                declared=plugins.assignments,
            )
        except CourseError as error:
            problems += error.problems
    if problems:
        raise CourseError(*problems)
    return rubrics


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)


def _expectations(
    files: Sequence[Path], course: Course, plugins: Plugins, rubrics: Mapping[str, Rubric]
) -> list[tuple[str, Expectation]]:
    allowed = _allowed(plugins, rubrics)
    read: list[tuple[str, Expectation]] = []
    problems: list[str] = []
    for file in files:
        expectation, problems_of_file = _read(file, allowed, rubrics)
        problems += problems_of_file
        if expectation is not None:
            read.append((file.parent.name, expectation))
    if problems:
        raise CourseError(*problems)
    return read


def _allowed(plugins: Plugins, rubrics: Iterable[str]) -> dict[Any, AllowedNames]:
    return {
        AssignmentName: AllowedNames(what="assignment", names=frozenset(plugins.assignment_folders)),
        RubricName: AllowedNames(what="rubric", names=frozenset(rubrics)),
        SandboxName: AllowedNames(what="sandbox", names=frozenset(s.name for s in plugins.sandboxes)),
    }


def _read(
    file: Path, allowed: Mapping[Any, AllowedNames], rubrics: Mapping[str, Rubric | None]
) -> tuple[Expectation | None, tuple[str, ...]]:
    """Read a file; return its expectation, or every problem of it as a line."""
    document = read_yaml(file)
    reading = DecodeState(allowed=allowed, problems=[*document.problems])
    expectation = None
    if document.data is not None or not document.problems:
        keys = keys_of(Expectation)
        values = read_keys(keys, document.data, (), reading)
        # An unknown key may be meant for one that is lacking.
        named = (str(problem.path[0]) for problem in reading.problems if problem.path)
        wrong = frozenset(name if name in keys else closest(name, keys) for name in named)
        placeholders = {"about": "", **({"total": 0.0} if "total" in wrong else {})}
        try:
            if not wrong & {"assignment", "rubric", "earns", "refused"}:
                expectation = Expectation(**{**placeholders, **values})
        except ValueError as error:  # of its __post_init__
            reading.refused((), error)
        if expectation is not None and not expectation.refused:
            reading.problems.extend(_objections(expectation, rubrics, wrong))
    return (None if reading.problems else expectation), document.lines(reading.problems)


def _objections(
    expectation: Expectation, rubrics: Mapping[str, Rubric | None], wrong: Container[str | None]
) -> Iterator[Problem]:
    """Check an expectation against its rubric, but for the keys that are wrong."""
    name = _rubric_name(expectation)
    rubric = rubrics.get(name)
    if rubric is None:
        if name not in rubrics:
            message = "has no rubric of its own name; name one with rubric:"
            yield Problem(path=("assignment",), message=message)
        return
    if rubric.assignment != expectation.assignment:
        yield Problem(path=("rubric",), message=f"grades {rubric.assignment}; name one of the assignment")
        return
    yield from _points_objections(expectation, rubric)
    whole = expectation.earns.keys() == {item.id for item in rubric.items}
    if whole and expectation.total is not None and "total" not in wrong:
        total = _total(rubric, expectation.earns)
        if abs(total - expectation.total) > _ROUNDED * len(rubric.items):
            message = f"must be the sum of earns, {total:.12g}, got {expectation.total:.12g}"
            yield Problem(path=("total",), message=message)


def _points_objections(expectation: Expectation, rubric: Rubric) -> Iterator[Problem]:
    """Check the items of an expectation, and what they earn."""
    items = {item.id: item for item in rubric.items}
    for key, earned in (("earns", expectation.earns), ("on_gpu", expectation.on_gpu)):
        for name, points in earned.items():
            if name not in items:
                yield Problem(path=(key, name), message=_unknown(name, rubric))
            elif name in expectation.leaves_out and points not in ("pending", 0):
                message = "is left out; write pending, or 0 where an item that it needs earns nothing"
                yield Problem(path=(key, name), message=message)
            elif message := _out_of_range(items[name], points) or _by_hand(items[name], points):
                yield Problem(path=(key, name), message=message)
    for number, name in enumerate(expectation.leaves_out):
        if name not in items:
            yield Problem(path=("leaves_out", number), message=_unknown(name, rubric))
    for name in items:
        if name not in expectation.earns:
            yield Problem(path=("earns", name), message="missing; give its points, or pending")


def _out_of_range(item: Item, points: Points) -> str:
    """Return a message if no submission can earn so many points with an item."""
    least, most = (-item.points, 0.0) if item.counts == "penalty" else (0.0, item.points)
    if isinstance(points, str) or least - _ROUNDED <= points <= most + _ROUNDED:
        return ""
    return f"must be from {least:g} to {most:g}, as the rubric has it, got {points:.12g}"


def _by_hand(item: Item, points: Points) -> str:
    """Return a message if an item that only a person judges is to earn points of itself."""
    if item.check != MANUAL or points == "pending" or (item.needs and points == 0):
        return ""
    return "a person gives its points; write pending" + (
        ", or 0 where an item that it needs earns nothing" if item.needs else ""
    )


def _total(rubric: Rubric, earns: Mapping[str, Points]) -> float:
    """Return the total of a submission that earns these points; what is pending has none."""
    points = {name: 0.0 if isinstance(earned, str) else earned for name, earned in earns.items()}
    penalty = fsum(points[item.id] for item in rubric.items if item.counts == "penalty")
    return raw_total(rubric, fsum(points.values()) - penalty, penalty)


def _unknown(name: str, rubric: Rubric) -> str:
    ids = [item.id for item in rubric.items]
    return f"no item of rubric {rubric.name} has this id; {suggestion(name, ids)}"


def _case(
    name: str, expectation: Expectation, course: Course, rubrics: Mapping[str, Rubric], gpus: int
) -> SelfTestCase:
    rubric = None if expectation.refused else rubrics[_rubric_name(expectation)]
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


def _rubric_name(expectation: Expectation) -> str:
    return expectation.rubric or expectation.assignment or ""
