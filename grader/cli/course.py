"""What every command needs first: the course and its plugins."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.errors import UsageError

if TYPE_CHECKING:
    from grader.config.course import Course
    from grader.plugins import Plugins


def open_course(context: click.Context) -> tuple[Course, Plugins]:
    """The course by `--course`, by GRADER_COURSE, or upwards from here, with its plugins."""
    from grader.config.course import find_course
    from grader.plugins import Plugins

    explicit: str | None = context.find_root().obj
    course = find_course(Path(explicit) if explicit else None, os.environ, Path.cwd())
    return course, Plugins(course.folder)


def require_linux() -> None:
    """Hand-ins run in namespaces, with memory files and pidfds: only Linux has them."""
    if sys.platform != "linux":
        raise UsageError(
            f"grader runs hand-ins on Linux only, and this is {sys.platform}; rubric check works here"
        )
