"""Which hand-ins the arguments of `grader run` stand for."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.errors import GraderError
from grader.results import passing, sweep

if TYPE_CHECKING:
    from grader.config.course import Course
    from grader.intake.hand_in import HandIn


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What there is to grade."""

    hand_ins: tuple[HandIn, ...]
    several: bool
    """Whether a class was given in one piece."""
    problems: tuple[str, ...]
    """What is no hand-in, or cannot be read: a line each."""


def find_hand_ins(archives: Sequence[Path], out: Path, course: Course, resources: ExitStack) -> Found:
    """The hand-ins that archives, folders and downloads stand for; says which are older attempts.

    What is unpacked for it lies below `out` as long as `resources` are open.

    Raises:
        SubmissionError, NotObservedError: a platform's zip cannot be taken.
        UsageError: `out` cannot be written.
    """
    from grader.intake.attempts import newest
    from grader.intake.download import spread
    from grader.intake.hand_in import group

    sweep(out)
    download = spread(archives, cache(lambda: resources.enter_context(passing(out))))
    hand_ins, older = newest(group(download.hand_ins), course.roster.by_id)
    for line in older:
        click.echo(f"grader: {line}", err=True)
    return Found(hand_ins=hand_ins, several=download.several, problems=download.problems)


def turns(hand_ins: Sequence[HandIn], course: Course) -> list[list[int]]:
    """The places of hand-ins, in as few turns as no student is in twice: two exams would share a folder."""
    from grader.intake.receive import sender_of_hand_in

    roster = course.roster.by_id
    taken: list[set[str]] = []
    found: list[list[int]] = []
    for number, hand_in in enumerate(hand_ins):
        try:
            student = sender_of_hand_in(hand_in, roster).student
        except GraderError:  # whoever grades it says what is wrong
            student = ""
        turn = next((n for n, students in enumerate(taken) if student not in students), len(found))
        if turn == len(found):
            taken.append(set())
            found.append([])
        taken[turn].add(student)
        found[turn].append(number)
    return found
