"""Grades the cases of a self-test and reports every deviation from what they must earn."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, replace
from math import isclose
from pathlib import Path
from typing import Any

from grader.config.codec import digest
from grader.config.course import Course
from grader.contracts.check import CheckKind
from grader.contracts.engine import Session
from grader.cuda.gpus import gpus
from grader.engines import LOCAL
from grader.errors import CourseError, ExitCode, GraderError, NotObservedError, SubmissionError, worst
from grader.files import show_path
from grader.grading.grade import Grading
from grader.grading.results import is_used
from grader.grading.score import EXIT_CODES, Graded
from grader.grading.sessions import open_session
from grader.grading.submission import CourseFiles, Request
from grader.model import magnitude
from grader.model.observation import Observation, Outcome
from grader.model.rubric import Item, Rubric
from grader.model.score import Line, Standing
from grader.plugins import Plugins
from grader.scoring.judge import passed, waits_for_person
from grader.selftest.cases import ARCHIVES, Role, SelfTestCase
from grader.selftest.expectations import Points

SLACK = 1e-6
"""Tolerance of points, so that a third may be written with six digits."""
EARNS_EVERYTHING = (
    "earns everything as it is handed out; take the solution out of starter/, or make the checks tell them "
    "apart"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """One difference between a result and its expectation."""

    item: str = ""
    """Empty if it concerns the submission as a whole."""
    text: str
    exit_code: ExitCode = ExitCode.COURSE

    def __str__(self) -> str:
        return f"{self.item} {self.text}".lstrip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The result of one case."""

    case: SelfTestCase
    deviations: tuple[Deviation, ...] = ()
    points: float | None = None
    """The raw total; None if it was not graded."""
    lines: tuple[Line, ...] = ()
    """The lines of its scorecard."""
    mistaken: frozenset[str] = frozenset()
    """Items that a wrong answer lost: a program that only crashes does not test a check."""
    waiting: frozenset[str] = frozenset()
    """Items that wait for a missing device, or a person."""
    for_person: frozenset[str] = frozenset()
    """Items that were observed, and wait for a person's points."""
    wall_s: float = 0.0
    """Seconds of all its observations."""

    @property
    def exit_code(self) -> ExitCode:
        """GRADED without deviations, otherwise the worst of their codes."""
        return worst(deviation.exit_code for deviation in self.deviations)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gaps:
    """Items that submissions leave untested, each as `rubric: item`."""

    never_mistaken: tuple[str, ...]
    """Items that no submission gets wrong: the check may be unable to fail."""
    never_earned: tuple[str, ...]
    """Items that no submission gets right: the check may be impossible to pass."""
    reference_earns: frozenset[str] = frozenset()
    """Items that the reference gets right, also those that no submission does."""


def verify(
    course: Course,
    plugins: Plugins,
    cases: Sequence[SelfTestCase],
    out: Path,
    ended: Callable[[], None] = lambda: None,
    engine: str = LOCAL,
    options: Any = None,
) -> Iterator[Verdict]:
    """Grade each case anew, with its results below `out`, and yield its verdict.

    Cases run in parallel, and verdicts come in their order; `ended` is called for each when it has ended,
    which may be long before. Errors of grading become verdicts; only bugs of ours pass through. `options` are
    the engine's.
    """
    early: dict[int, Verdict] = {}
    number = 0
    at_once = min(len(os.sched_getaffinity(0)), max(1, len(cases)))
    workers = open_session(plugins, engine, out=out, at_once=at_once, gpus=len(gpus()), options=options)
    for at, verdict in _verdicts(course, plugins, cases, out, workers):
        early[at] = verdict
        ended()
        while number in early:
            yield early.pop(number)
            number += 1


def _verdicts(
    course: Course,
    plugins: Plugins,
    cases: Sequence[SelfTestCase],
    out: Path,
    workers: AbstractContextManager[Session],
) -> Iterator[tuple[int, Verdict]]:
    """Yield the verdicts in order of completion, each with the index of its case."""
    packed = {number: case for number, case in enumerate(cases) if case.archive.exists()}
    for number, case in enumerate(cases):
        if number not in packed:
            error = CourseError(f"{show_path(case.archive)}: is not there; {case.build}")
            yield number, Verdict(case=case, deviations=tuple(_not_graded(case, error)))
    anew = is_used(out)
    with workers as session:
        for least in sorted({case.isolation for case in packed.values()}):
            alike = [number for number, case in packed.items() if case.isolation == least]
            files = CourseFiles(_strict(course, plugins, least), plugins)
            grading = Grading(files, session, alone=False)
            with closing(
                grading.grade([_request(packed[number], out, fresh=anew) for number in alike])
            ) as results:
                for place, result in results:
                    yield alike[place], _verdict(packed[alike[place]], result, plugins.checks)


def _request(case: SelfTestCase, out: Path, *, fresh: bool) -> Request:
    items = case.rubric.items if case.rubric else ()
    return Request(
        archive=case.archive,
        out=out / (ARCHIVES if case.role is Role.SUBMISSION else case.name),
        student=None if case.role is Role.SUBMISSION else str(case.role),
        assignment=case.assignment,
        rubric=case.rubric.name if case.rubric else None,
        items=tuple(item.id for item in items if item.id not in case.leaves_out),
        without=case.leaves_out,
        fresh=fresh,
        submitted_at=case.submitted_at,
    )


def _verdict(case: SelfTestCase, result: Graded | Exception, kinds: Mapping[str, CheckKind]) -> Verdict:
    if isinstance(result, GraderError):
        return Verdict(case=case, deviations=tuple(_not_graded(case, result)))
    if isinstance(result, Exception):
        raise result
    return _graded(case, result, kinds)


def gaps(verdicts: Iterable[Verdict]) -> Gaps:
    """Return the items that the submissions leave untested, of those that can be decided on this machine.

    Two rubrics of an assignment often have the same check with the same options: to put one to the test is
    to test both.
    """
    settled: dict[str, str] = {}
    waiting: set[str] = set()
    for_person: set[str] = set()
    mistaken: set[str] = set()
    earned: set[str] = set()
    reference_earns: set[str] = set()
    for verdict in verdicts:
        rubric = verdict.case.rubric
        if rubric is None or verdict.case.role is Role.STARTER:
            continue
        waiting.update(f"{rubric.name}: {item}" for item in verdict.waiting)
        for_person.update(f"{rubric.name}: {item}" for item in verdict.for_person)
        if verdict.case.role is Role.REFERENCE:
            right = (line.item for line in verdict.lines if line.fraction == 1)
            reference_earns.update(f"{rubric.name}: {item}" for item in right)
            continue
        checks = {item.id: _check(rubric, item) for item in rubric.items}
        mistaken.update(checks[item] for item in verdict.mistaken)
        for line in verdict.lines:
            if line.standing is Standing.PROVISIONAL:  # what it would have shown decides
                expected = verdict.case.earns.get(line.item)
                if expected not in {0, "pending"}:
                    earned.add(checks[line.item])
                if isinstance(expected, (int, float)) and not _same(line.possible, expected):
                    mistaken.add(checks[line.item])
            else:
                settled[f"{rubric.name}: {line.item}"] = checks[line.item]
                if line.fraction == 1:
                    earned.add(checks[line.item])
    decided = {name: check for name, check in settled.items() if name not in waiting}
    return Gaps(
        never_mistaken=tuple(name for name, check in decided.items() if check not in mistaken),
        never_earned=tuple(
            name for name, check in decided.items() if check not in earned and name not in for_person
        ),
        reference_earns=frozenset(reference_earns),
    )


def _check(rubric: Rubric, item: Item) -> str:
    """Return a key that is equal for items with the same check and the same options."""
    return digest({"assignment": rubric.assignment, "check": item.check, "options": item.options})


def _strict(course: Course, plugins: Plugins, least: str) -> Course:
    """Return the course with the stronger of its own and this minimal isolation."""
    strength = {sandbox.name: sandbox.strength for sandbox in plugins.sandboxes}
    if strength.get(least, -1) <= strength.get(course.min_isolation, -1):
        return course
    return replace(course, min_isolation=least)


def _not_graded(case: SelfTestCase, error: GraderError) -> Iterator[Deviation]:
    if not isinstance(error, SubmissionError):
        observed = not isinstance(error, NotObservedError)
        code = ExitCode.COURSE if observed else ExitCode.NOT_OBSERVED
        yield from (Deviation(text=problem, exit_code=code) for problem in error.problems)
    elif case.role is Role.STARTER:  # students add what is handed in
        return
    elif not case.refused:
        yield Deviation(text=f"is refused: {error}")
    elif case.refused not in str(error):
        yield Deviation(text=f"is refused, but the line does not say {case.refused!r}: {error}")


def _graded(case: SelfTestCase, graded: Graded, kinds: Mapping[str, CheckKind]) -> Verdict:
    observations = graded.evidence.observations
    return Verdict(
        case=case,
        deviations=tuple(_deviations(case, graded, kinds)),
        points=graded.scorecard.points.raw,
        lines=graded.scorecard.lines,
        mistaken=frozenset(
            line.item
            for line in graded.scorecard.lines
            if line.fraction != 1
            and _answered(observations.get(line.item))
            and not _waits(observations.get(line.item))
        ),
        waiting=frozenset(
            line.item for line in graded.scorecard.lines if _waits(observations.get(line.item))
        ),
        for_person=_for_person(case.rubric, observations, kinds),
        wall_s=sum(observation.wall_s for observation in observations.values()),
    )


def _deviations(case: SelfTestCase, graded: Graded, kinds: Mapping[str, CheckKind]) -> Iterator[Deviation]:
    card, observations = graded.scorecard, graded.evidence.observations
    if graded.trouble:
        yield Deviation(text=graded.trouble, exit_code=ExitCode.NOT_OBSERVED)
    for mistake in graded.mistakes:
        yield Deviation(text=mistake)
    if case.refused:
        yield Deviation(text=f"is accepted, expected to be refused: {case.refused}")
        return
    if case.role is Role.STARTER:
        yield from _starter_deviations(graded)
        return
    alike = True
    for line in card.lines:
        expected = case.earns[line.item]
        pending = line.standing is Standing.PROVISIONAL
        if (expected == "pending") if pending else _same(line.points, expected):
            continue
        if pending and case.role is Role.REFERENCE and _may_wait(case.rubric, line.item, observations, kinds):
            continue
        alike = False
        earned = "is pending" if pending else f"earned {line.points:.12g}"
        should = expected if isinstance(expected, str) else f"{expected:.12g}"
        yield Deviation(
            item=line.item,
            text=f"{earned}, expected {should}: {line.reason}",
            exit_code=_blame(observations.get(line.item)) if pending else ExitCode.COURSE,
        )
    if alike and case.total is not None and not _same(card.points.raw, case.total):
        yield Deviation(text=f"total is {card.points.raw:.12g}, expected {case.total:.12g}")
    students = tuple(total.student for total in card.totals)
    if students != case.members and (case.members or len(students) > 1):
        should = ", ".join(case.members) or "one student"
        # the archive is called as the folder, and its name says who hands in
        advice = f"call its folder {'+'.join(case.members)}" if case.members else "name them in members"
        yield Deviation(text=f"grades {', '.join(students)}, expected {should}; {advice}")
    left = card.totals[0].adjusted
    if case.after_lateness is not None and not _same(left, case.after_lateness):
        yield Deviation(text=f"lateness leaves {left:.12g}, expected {case.after_lateness:.12g}")


def _starter_deviations(graded: Graded) -> Iterator[Deviation]:
    """Yield what was not observed of a starter although it could be here, and that it earns everything."""
    card, observations = graded.scorecard, graded.evidence.observations
    for line in card.lines:
        observation = observations.get(line.item)
        if observation is not None and observation.fault is not None:
            text = f"is pending: {line.reason}"
            yield Deviation(item=line.item, text=text, exit_code=_blame(observation))
    if card.points.possible and card.points.raw >= card.points.possible - SLACK:
        yield Deviation(text=EARNS_EVERYTHING)


def _waits(observation: Observation | None) -> bool:
    """Tell whether an open item only waits for a device that this machine lacks, or for a person."""
    return observation is not None and (
        observation.simulated or (observation.outcome is Outcome.NOT_OBSERVED and observation.fault is None)
    )


def _for_person(
    rubric: Rubric | None, observations: Mapping[str, Observation], kinds: Mapping[str, CheckKind]
) -> frozenset[str]:
    """Return the items that were observed, and wait for a person's points."""
    items = rubric.items if rubric else ()
    return frozenset(item.id for item in items if waits_for_person(item, observations, kinds))


def _may_wait(
    rubric: Rubric | None,
    name: str,
    observations: Mapping[str, Observation],
    kinds: Mapping[str, CheckKind],
) -> bool:
    """Tell whether a reference may have this item open.

    It waits for a person, or for a device, and its simulation, if any, passed; or what it uses waits.
    """
    observation = observations.get(name)
    if rubric is None or observation is None:
        return False
    item = next(item for item in rubric.items if item.id == name)
    if not _waits(observation):
        uses_waiting = any(_waits(observations.get(used)) for used in item.uses)
        return uses_waiting or waits_for_person(item, observations, kinds)
    return not observation.simulated or passed(item, observation, kinds, observations)


def _same(points: float, expected: Points) -> bool:
    """Compare exactly, or with what a scorecard prints of the points, which has two decimals."""
    if isinstance(expected, str):
        return False
    return isclose(points, expected, abs_tol=SLACK) or float(magnitude.number(points)) == expected


def _answered(observation: Observation | None) -> bool:
    """Tell whether the check could judge a result, or that nothing could be built or imported."""
    if observation is None or observation.outcome in (Outcome.NOT_BUILT, Outcome.CRASHED):
        return observation is not None
    if observation.outcome is not Outcome.OBSERVED:
        return False
    return not observation.cases or any(case.outcome is Outcome.OBSERVED for case in observation.cases)


def _blame(observation: Observation | None) -> ExitCode:
    """Return the exit code for an item that should be decided but is open, by its fault."""
    fault = observation.fault if observation is not None else None
    return EXIT_CODES[fault] if fault is not None else ExitCode.NOT_OBSERVED
