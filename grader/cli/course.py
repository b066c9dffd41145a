"""The course of a command, and its plugins."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.errors import UsageError

if TYPE_CHECKING:
    from grader.config.course import Course
    from grader.config.roster import Roster
    from grader.plugins import Plugins

ENGINE = click.option(
    "--engine", default="local", show_default=True, metavar="NAME", help="Where workers run."
)
"""What every command has that observes."""


def find(context: click.Context) -> Course:
    """The course by `--course`, by GRADER_COURSE, or upwards from here."""
    from grader.config.course import find_course

    def platforms(folder: Path) -> Mapping[str, type]:
        loaded = plugins_of(context, folder).platforms
        return {name: platform.Options for name, platform in loaded.items()}

    explicit: Path | None = context.find_root().obj
    return find_course(explicit, os.environ, Path.cwd(), platforms)


def find_any(context: click.Context) -> Course | None:
    """The same course; None where nobody named one and we are in none."""
    from grader.config.course import VARIABLE

    try:
        return find(context)
    except UsageError:
        if context.find_root().obj or os.environ.get(VARIABLE):
            raise
        return None


def roster_of(context: click.Context) -> Roster:
    """The students of the course; none where we are in no course."""
    from grader.config.roster import Roster

    course = find_any(context)
    return course.roster if course else Roster()


def open_course(context: click.Context) -> tuple[Course, Plugins]:
    """The same course with its plugins."""
    course = find(context)
    return course, plugins_of(context, course.folder)


def plugins_of(context: click.Context, folder: Path | None) -> Plugins:
    """Return the plugins with those of a course's folder, loaded once for a command."""
    from grader.plugins import Plugins

    key = f"{__name__}:{folder}"
    if key not in context.meta:
        context.meta[key] = Plugins(folder)
    plugins: Plugins = context.meta[key]
    return plugins


def require_linux() -> None:
    """Hand-ins run in namespaces, with memory files and pidfds: only Linux has them."""
    if sys.platform != "linux":
        raise UsageError(
            f"grader runs hand-ins on Linux only, and this is {sys.platform}; rubric check works here"
        )
