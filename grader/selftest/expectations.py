"""The `expected.yaml` of each of the course's own submissions: what it must earn, held against its rubric."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import fsum
from pathlib import Path
from typing import Any, Literal, NewType

from grader.config.course import Course
from grader.config.decode import AllowedNames, DecodeState, keys_of, read_keys
from grader.config.problem import Problem, closest, suggestion
from grader.config.units import Quotient
from grader.config.yaml_source import read_yaml
from grader.errors import CourseError
from grader.model.options import option
from grader.model.rubric import MANUAL, Item, Rubric
from grader.packing.sources import EXPECTED, files_of
from grader.packing.submissions import sources_in, without_expectation
from grader.plugins import Plugins
from grader.scoring.totals import raw_total

SOURCES = "tests/submissions"
"""The folder of the course's own submissions, each with an `expected.yaml`."""
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
    members: tuple[str, ...] = option(
        "The students of a team, who hand in together: the folder must be called as in `ann+ben`; left out, "
        "one student.",
        default=(),
    )
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

    @property
    def rubric_name(self) -> str:
        """The name of the rubric that it is held against; empty if it names none, nor an assignment."""
        return self.rubric or self.assignment or ""


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


def read_expectations(
    files: Sequence[Path], plugins: Plugins, rubrics: Mapping[str, Rubric | None]
) -> list[tuple[str, Expectation]]:
    """Read the files, and return each with the name of its submission.

    `rubrics` holds None for a file that is wrong itself: nothing is compared with it.

    Raises:
        CourseError: with every problem of all of them.
    """
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
    name = expectation.rubric_name
    rubric = rubrics.get(name)
    if rubric is None:
        if name not in rubrics:
            grading = [
                each
                for each, other in rubrics.items()
                if other and other.assignment == expectation.assignment
            ]
            advice = f"write rubric: {' or '.join(grading)}" if grading else "name one with rubric:"
            rename = f"rename {grading[0]}.yaml to {name}.yaml, or " if len(grading) == 1 else ""
            message = f"rubrics/ has no {name}.yaml; {rename}{advice}"
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
