"""One assignment as it is graded: its present rubric, and everything that judges by it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from grader.checks.answer import AnswerKind
from grader.checks.judged import JudgedOptions
from grader.errors import UsageError
from grader.files import show_path
from grader.gradebook.rescore import Judge
from grader.grading.digests import task_digests
from grader.grading.submission import CourseFiles
from grader.model.rubric import MANUAL

if TYPE_CHECKING:
    from pathlib import Path

    from grader.config.course import Course
    from grader.matching.criteria import Criterion
    from grader.model.rubric import Item, Rubric
    from grader.plugins import Plugins


class Desk:
    """The rubric of one assignment, read again when its file changes."""

    def __init__(self, assignment: str, course: Course, plugins: Plugins, rubric: Path) -> None:
        """Read the rubric in a file.

        Raises:
            UsageError: there is no such assignment, or the rubric is of another one.
            CourseError: the rubric is wrong or missing.
        """
        if assignment not in plugins.assignment_folders:
            there_are = ", ".join(plugins.assignment_folders)
            raise UsageError(
                f"{assignment}: there is no such assignment in the course; there are {there_are}"
            )
        self.assignment = assignment
        self.course = course
        self.plugins = plugins
        self._path = rubric
        self._stamp = 0
        self.rubric: Rubric
        self.judge: Judge
        self.items: Mapping[str, Item]
        self.by_hand: frozenset[str]
        """Items whose kind lets a person decide; of others only those that are held wait for one."""
        self.refresh()

    @property
    def title(self) -> str:
        """The assignment's title for people."""
        return self.plugins.assignments[self.assignment].title

    def refresh(self) -> bool:
        """Read the rubric again if its file has changed; return whether it has."""
        try:
            stamp = self._path.stat().st_mtime_ns
        except OSError as error:
            why = error.strerror or error
            raise UsageError(f"{show_path(self._path)}: cannot be read ({why}); put it back") from None
        if stamp == self._stamp:
            return False
        self.files = CourseFiles(self.course, self.plugins)
        rubric = self.files.read_rubric(self._path, self.assignment)
        plugins, course = self.plugins, self.course
        folder = plugins.assignment_folders[self.assignment]
        digests = task_digests(rubric, plugins.assignments[self.assignment], folder)
        extensions = course.extensions_of(self.assignment)
        self.judge = Judge(rubric, plugins.checks, digests, extensions=extensions, zone=course.zone)
        self.rubric = rubric
        self.items = {item.id: item for item in rubric.items}
        self.by_hand = frozenset(item.id for item in rubric.items if plugins.checks[item.check].by_hand)
        self._stamp = stamp
        return True


def always_for_people(item: Item) -> bool:
    """Tell whether a person reads an item of every submission, as questions."""
    return item.check in {MANUAL, AnswerKind.name}


def criteria_of(item: Item) -> tuple[Criterion, ...]:
    """Return the criteria of an item; none if its kind has none."""
    options = item.options
    return options.criteria if isinstance(options, JudgedOptions) else ()


@lru_cache(maxsize=100_000)
def place_in_order(item: str, student: str) -> bytes:
    """Return what to sort by, so that each question has a random order of its own that stays."""
    return hashlib.sha256(f"{item}\0{student}".encode()).digest()
