"""Which hand-ins the arguments of `grader run` stand for."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from grader.errors import UsageError

if TYPE_CHECKING:
    from grader.config.course import Course
    from grader.grading.submission import Request
    from grader.intake.hand_in import HandIn


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What there is to grade."""

    hand_ins: tuple[HandIn, ...]
    """Of several attempts the newest."""
    older: tuple[tuple[HandIn, ...], ...]
    """For each of them the earlier attempts, the later first."""
    several: bool
    """Whether a class was given in one piece."""
    problems: tuple[str, ...]
    """What is no hand-in, or cannot be read: a line each."""


def find_hand_ins(archives: Sequence[Path], out: Path, course: Course, resources: ExitStack) -> Found:
    """The hand-ins that archives, folders and downloads stand for.

    What is unpacked for it lies below `out` as long as `resources` are open.

    Raises:
        SubmissionError, NotObservedError: a platform's zip cannot be taken.
        UsageError: `out` cannot be written.
    """
    from grader.grading.results import passing, sweep
    from grader.intake.attempts import attempts_of
    from grader.intake.download import spread
    from grader.intake.hand_in import group

    sweep(out)
    download = spread(archives, cache(lambda: resources.enter_context(passing(out))))
    attempts = attempts_of(group(download.hand_ins), course.roster.by_id)
    return Found(
        hand_ins=tuple(one.newest for one in attempts),
        older=tuple(one.older for one in attempts),
        several=download.several,
        problems=download.problems,
    )


def timed(requests: Sequence[Request], file: Path, course: Course) -> list[Request]:
    """The requests, each with the time that a list says of its student, team or id, if it says any.

    Raises:
        UsageError: the list cannot be read, or a time was given beside it.
    """
    from grader.config.times import read_times
    from grader.grading.attempts import sender_named_by

    if any(request.submitted_at for request in requests):
        raise UsageError("--times: says when each was handed in; leave out --submitted-at")
    found = read_times(file, course.zone)
    ids = {one.student: (one.canvas_id, one.moodle_id) for one in course.roster.students}
    known: list[Request] = []
    for request in requests:
        sender = sender_named_by(request.archive, course.roster.by_id)
        names = (sender.student, *sender.members) if sender else ()
        more = chain(*(ids.get(name, ()) for name in names))
        given = (sender.lms_id or "",) if sender else ()
        known.append(replace(request, submitted_at=found.of(filter(None, (*names, *more, *given)))))
    return known
