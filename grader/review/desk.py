"""One assignment as it is graded: its present rubric, and everything that judges by it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from grader.checks.answer import AnswerKind
from grader.checks.judged import JudgedOptions
from grader.config.course import FILE, load_course
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
    """The rubric of one assignment and its course with extensions, read again when a file of them changes."""

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
        self._stamps: tuple[int, ...] = ()
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
        """Read rubric and course again if one of their files has changed; return whether one has.

        Raises:
            UsageError: the rubric cannot be read.
            CourseError: the rubric, `course.yaml` or a table that it names is wrong.
        """
        try:
            stamp = self._path.stat().st_mtime_ns
        except OSError as error:
            why = error.strerror or error
            raise UsageError(f"{show_path(self._path)}: cannot be read ({why}); put it back") from None
        before, course_stamps = self.course.tables, self._course_stamps()
        if (stamp, *course_stamps) == self._stamps:
            return False
        if self._stamps and course_stamps != self._stamps[1:]:
            self.course = load_course(self.course.folder, self._platform_keys)
            if self.course.tables != before:
                course_stamps = self._course_stamps()
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
        self._stamps = (stamp, *course_stamps)
        return True

    def _course_stamps(self) -> tuple[int, ...]:
        """Return when `course.yaml` and the tables that it names were changed."""
        return tuple(map(_changed_at, (self.course.folder / FILE, *self.course.tables)))

    def _platform_keys(self, folder: Path) -> Mapping[str, type]:
        """Return the keys of each platform, whose settings `course.yaml` may have."""
        del folder
        return {name: platform.Options for name, platform in self.plugins.platforms.items()}


def _changed_at(path: Path) -> int:
    """Return when a file was changed, in ns; 0 if it is not there."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


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
