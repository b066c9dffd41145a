"""The course's own mutation test: references must earn everything, hand-ins exactly what they say."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from math import isclose
from pathlib import Path

from grader.config.codec import digest
from grader.config.course import Course
from grader.config.problem import show_path
from grader.contracts import CheckKind
from grader.cuda.gpus import gpus
from grader.errors import CourseError, ExitCode, GraderError, NotObservedError, SubmissionError, worst
from grader.grading.grade import Grading
from grader.grading.results import is_used
from grader.grading.score import EXIT_CODES, Graded
from grader.grading.sessions import LOCAL, open_session
from grader.grading.submission import CourseFiles, Request
from grader.model.observation import Observation, Outcome
from grader.model.rubric import Item, Rubric
from grader.model.score import Line, Standing
from grader.plugins import Plugins
from grader.scoring.score import passed
from grader.trials import ARCHIVES, Points, Trial

SLACK = 1e-6
"""A third may be written with six digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """One thing that is not as it must be."""

    item: str = ""
    """Empty if it concerns the hand-in as a whole."""
    text: str
    exit_code: ExitCode = ExitCode.COURSE

    def __str__(self) -> str:
        return f"{self.item} {self.text}".lstrip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What became of one trial."""

    trial: Trial
    deviations: tuple[Deviation, ...] = ()
    points: float | None = None
    """The raw total; None if it was not graded."""
    lines: tuple[Line, ...] = ()
    """Of its scorecard."""
    mistaken: frozenset[str] = frozenset()
    """Items that were not earned by an answer: a program that only crashes puts no check to the test."""
    waiting: frozenset[str] = frozenset()
    """Items that need a device that is not here, or a person."""
    wall_s: float = 0.0
    """What its items took together."""

    @property
    def exit_code(self) -> ExitCode:
        """GRADED if all is as it must be."""
        return worst(deviation.exit_code for deviation in self.deviations)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gaps:
    """What hand-ins leave untested, each as `rubric: item`."""

    never_mistaken: tuple[str, ...]
    """No hand-in gets these wrong: the check may be dead."""
    never_earned: tuple[str, ...]
    """No hand-in gets these right: the check may be impossible to pass."""


def verify(
    course: Course,
    plugins: Plugins,
    trials: Sequence[Trial],
    out: Path,
    ended: Callable[[], None] = lambda: None,
    engine: str = LOCAL,
) -> Iterator[Verdict]:
    """Grade each trial anew, with its results below `out`, and say what is not as it must be.

    They are graded side by side, and come in their order; `ended` is called for each when it has ended, which
    may be long before. However grading ends, it ends in a verdict; only bugs of ours come through.
    """
    early: dict[int, Verdict] = {}
    number = 0
    for at, verdict in _verdicts(course, plugins, trials, out, engine):
        early[at] = verdict
        ended()
        while number in early:
            yield early.pop(number)
            number += 1


def _verdicts(
    course: Course, plugins: Plugins, trials: Sequence[Trial], out: Path, engine: str
) -> Iterator[tuple[int, Verdict]]:
    """The verdicts as they come, each with the place of its trial."""
    there = {number: trial for number, trial in enumerate(trials) if trial.archive.exists()}
    for number, trial in enumerate(trials):
        if number not in there:
            error = CourseError(f"{show_path(trial.archive)}: is not there; {trial.build}")
            yield number, Verdict(trial=trial, deviations=tuple(_not_graded(trial, error)))
    anew = is_used(out)
    at_once, count = min(len(os.sched_getaffinity(0)), max(1, len(there))), len(gpus())
    with open_session(plugins, engine, out=out, at_once=at_once, gpus=count) as session:
        for least in sorted({trial.isolation for trial in there.values()}):
            alike = [number for number, trial in there.items() if trial.isolation == least]
            files = CourseFiles(_strict(course, plugins, least), plugins)
            grading = Grading(files, session, several=True, gpus=count)
            with closing(grading.grade([_request(there[one], out, fresh=anew) for one in alike])) as results:
                for place, result in results:
                    yield alike[place], _verdict(there[alike[place]], result, plugins.checks)


def _request(trial: Trial, out: Path, *, fresh: bool) -> Request:
    items = trial.rubric.items if trial.rubric else ()
    return Request(
        archive=trial.archive,
        out=out / (trial.name if trial.reference else ARCHIVES),
        student="reference" if trial.reference else None,
        assignment=trial.assignment,
        rubric=trial.rubric.name if trial.rubric else None,
        items=tuple(item.id for item in items if item.id not in trial.leaves_out),
        fresh=fresh,
        submitted_at=trial.submitted_at,
    )


def _verdict(trial: Trial, result: Graded | Exception, kinds: Mapping[str, CheckKind]) -> Verdict:
    if isinstance(result, GraderError):
        return Verdict(trial=trial, deviations=tuple(_not_graded(trial, result)))
    if isinstance(result, Exception):
        raise result
    return _graded(trial, result, kinds)


def gaps(verdicts: Iterable[Verdict]) -> Gaps:
    """What the hand-ins among these leave untested, of all that can be decided here.

    Two rubrics of an assignment often have the same check with the same options: to put one to the test is
    to test both.
    """
    settled: dict[str, str] = {}
    waiting: set[str] = set()
    mistaken: set[str] = set()
    earned: set[str] = set()
    for verdict in verdicts:
        rubric = verdict.trial.rubric
        if rubric is None:
            continue
        waiting.update(f"{rubric.name}: {item}" for item in verdict.waiting)
        if verdict.trial.reference:
            continue
        checks = {item.id: _check(rubric, item) for item in rubric.items}
        mistaken.update(checks[item] for item in verdict.mistaken)
        for line in verdict.lines:
            if line.standing is not Standing.PROVISIONAL:
                settled[f"{rubric.name}: {line.item}"] = checks[line.item]
                if line.fraction == 1:
                    earned.add(checks[line.item])
    decided = {name: check for name, check in settled.items() if name not in waiting}
    return Gaps(
        never_mistaken=tuple(name for name, check in decided.items() if check not in mistaken),
        never_earned=tuple(name for name, check in decided.items() if check not in earned),
    )


def _check(rubric: Rubric, item: Item) -> str:
    """The same for items that look at the same things and judge them alike."""
    return digest({"assignment": rubric.assignment, "check": item.check, "options": item.options})


def _strict(course: Course, plugins: Plugins, least: str) -> Course:
    """The course, if need be with a stronger demand than its own."""
    strength = {sandbox.name: sandbox.strength for sandbox in plugins.sandboxes}
    if strength.get(least, -1) <= strength.get(course.min_isolation, -1):
        return course
    return replace(course, min_isolation=least)


def _not_graded(trial: Trial, error: GraderError) -> Iterator[Deviation]:
    if not isinstance(error, SubmissionError):
        observed = not isinstance(error, NotObservedError)
        code = ExitCode.COURSE if observed else ExitCode.NOT_OBSERVED
        yield from (Deviation(text=problem, exit_code=code) for problem in error.problems)
    elif not trial.refused:
        yield Deviation(text=f"is refused: {error}")
    elif trial.refused not in str(error):
        yield Deviation(text=f"is refused, but the line does not say {trial.refused!r}: {error}")


def _graded(trial: Trial, graded: Graded, kinds: Mapping[str, CheckKind]) -> Verdict:
    seen = graded.evidence.observations
    return Verdict(
        trial=trial,
        deviations=tuple(_deviations(trial, graded, kinds)),
        points=graded.scorecard.points.raw,
        lines=graded.scorecard.lines,
        mistaken=frozenset(
            line.item
            for line in graded.scorecard.lines
            if line.fraction != 1 and _answered(seen.get(line.item)) and not _waits(seen.get(line.item))
        ),
        waiting=frozenset(line.item for line in graded.scorecard.lines if _waits(seen.get(line.item))),
        wall_s=sum(observation.wall_s for observation in seen.values()),
    )


def _deviations(trial: Trial, graded: Graded, kinds: Mapping[str, CheckKind]) -> Iterator[Deviation]:
    card, seen = graded.scorecard, graded.evidence.observations
    if graded.trouble:
        yield Deviation(text=graded.trouble, exit_code=ExitCode.NOT_OBSERVED)
    if trial.refused:
        yield Deviation(text=f"is accepted, expected to be refused: {trial.refused}")
        return
    alike = True
    for line in card.lines:
        expected = trial.earns[line.item]
        pending = line.standing is Standing.PROVISIONAL
        if (expected == "pending") if pending else _same(line.points, expected):
            continue
        if pending and trial.reference and _may_wait(trial.rubric, line.item, seen, kinds):
            continue
        alike = False
        earned = "is pending" if pending else f"earned {line.points:.12g}"
        wanted = expected if isinstance(expected, str) else f"{expected:.12g}"
        yield Deviation(
            item=line.item,
            text=f"{earned}, expected {wanted}: {line.reason}",
            exit_code=_blame(seen.get(line.item)) if pending else ExitCode.COURSE,
        )
    if alike and trial.total is not None and not _same(card.points.raw, trial.total):
        yield Deviation(text=f"total is {card.points.raw:.12g}, expected {trial.total:.12g}")
    marked = tuple(total.student for total in card.totals)
    if marked != trial.members and (trial.members or len(marked) > 1):
        wanted = ", ".join(trial.members) or "one student"
        yield Deviation(text=f"marks {', '.join(marked)}, expected {wanted}")
    left = card.totals[0].adjusted
    if trial.after_lateness is not None and not _same(left, trial.after_lateness):
        yield Deviation(text=f"lateness leaves {left:.12g}, expected {trial.after_lateness:.12g}")


def _waits(observation: Observation | None) -> bool:
    """Whether nothing is wrong with an open item: this machine lacks a device, or a person has to look."""
    return observation is not None and (
        observation.simulated or (observation.outcome is Outcome.NOT_OBSERVED and observation.fault is None)
    )


def _may_wait(
    rubric: Rubric | None,
    name: str,
    seen: Mapping[str, Observation],
    kinds: Mapping[str, CheckKind],
) -> bool:
    """Whether a reference may have this item open: it waits, and what a simulator shows of it is right."""
    observation = seen.get(name)
    if rubric is None or observation is None or not _waits(observation):
        return False
    item = next(item for item in rubric.items if item.id == name)
    return not observation.simulated or passed(item, observation, kinds, seen)


def _same(points: float, expected: Points) -> bool:
    return not isinstance(expected, str) and isclose(points, expected, abs_tol=SLACK)


def _answered(observation: Observation | None) -> bool:
    """Whether the program gave an answer that a check could judge."""
    if observation is None or observation.outcome is not Outcome.OBSERVED:
        return False
    return not observation.cases or any(case.outcome is Outcome.OBSERVED for case in observation.cases)


def _blame(observation: Observation | None) -> ExitCode:
    """Whose fault it is that an item is open which must not be."""
    fault = observation.fault if observation is not None else None
    return EXIT_CODES[fault] if fault is not None else ExitCode.NOT_OBSERVED
