"""Loads the course and its plugins for commands; `grader course` checks them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, tzinfo
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.cli.echo import AS_JSON, echo, tell_line, tell_problems
from grader.cli.groups import CommandGroup
from grader.engines import LOCAL
from grader.errors import CourseError, ExitCode, UsageError

if TYPE_CHECKING:
    from grader.config.course import Course
    from grader.model.roster import Roster
    from grader.plugins import Plugins

ENGINE = click.option("--engine", default=LOCAL, show_default=True, metavar="NAME", help="Where workers run.")
"""The option of every command that observes."""


@click.group("course", cls=CommandGroup)
def command() -> None:
    """Check the course: settings, rubrics, families of inputs, oracles, what its submissions must earn."""


@command.command("check")
@AS_JSON
@click.pass_context
def check(context: click.Context, as_json: bool) -> ExitCode:
    """Show every mistake of the course that no submission is needed to find, with file and line.

    The first assignment.py that cannot be loaded is told alone. A package that is not installed here is
    remarked: another machine may have it.

    Runs the course's own inputs.py and expected.py, outside of any sandbox, and imports the libraries that
    its rules on sources name.
    """
    from grader.config.course import read_course
    from grader.selftest.course import check_course

    folder = _folder(context)
    course, problems = read_course(folder, partial(_platforms, context))
    plugins = plugins_of(context, course.folder)
    lines = tuple(dict.fromkeys((*problems, *check_course(course, plugins))))
    problems = without_remarks(lines)
    if not problems and not as_json:
        echo(f"{course.title}: fine; what each reference earns, grader verify says")
    return tell_problems(problems, as_json=as_json)


def without_remarks(lines: Iterable[str]) -> tuple[str, ...]:
    """Tell the remarks among lines on a course, and return the others."""
    from grader.config.problem import Remark

    problems = []
    for line in lines:
        if isinstance(line, Remark):
            tell_line(line)
        else:
            problems.append(line)
    return tuple(problems)


def find(context: click.Context) -> Course:
    """Find the course by `--course`, by GRADER_COURSE, or upwards from the working directory."""
    from grader.config.course import load_course

    return load_course(_folder(context), partial(_platforms, context))


def _folder(context: click.Context) -> Path:
    from grader.config.course import find_folder

    return find_folder(context.find_root().obj, os.environ, Path.cwd())


def _platforms(context: click.Context, folder: Path) -> Mapping[str, type]:
    """Return the keys of each platform that plugins of a course's folder bring, by its name."""
    loaded = plugins_of(context, folder).platforms
    return {name: platform.Options for name, platform in loaded.items()}


def find_any(context: click.Context) -> Course | None:
    """Find the course; None if none is named and the working directory is in none."""
    from grader.config.course import VARIABLE

    try:
        return find(context)
    except UsageError:
        if context.find_root().obj or os.environ.get(VARIABLE):
            raise
        return None


def zone_of(context: click.Context) -> tzinfo:
    """Return the course's time zone; UTC outside of any course, and where its files are wrong."""
    with suppress(CourseError):
        if course := find_any(context):
            return course.zone
    return UTC


def roster_of(context: click.Context) -> Roster:
    """Return the roster of the course; an empty one outside of any course."""
    from grader.model.roster import Roster

    course = find_any(context)
    return course.roster if course else Roster()


def open_course(context: click.Context) -> tuple[Course, Plugins]:
    """Find the course and load its plugins."""
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


def remark_extensions(course: Course) -> None:
    """Warn of extensions for nobody on the roster: the students who were meant are late."""
    for line in course.extensions_for_nobody():
        tell_line(line)


def options_of(engine: str, course: Course | None, plugins: Plugins) -> Any:
    """Return the settings of an engine; those of the site alone outside of any course.

    Raises:
        UsageError: there is no such engine, or the site's file is wrong.
        CourseError: `course.yaml` is wrong.
    """
    from grader.config.engines import engine_options
    from grader.grading.sessions import engine_called

    kinds = {name: kind.Options for name, kind in plugins.engines.items()}
    return engine_options(course.folder if course else None, engine_called(engine, plugins).name, kinds)


def require_linux() -> None:
    """Refuse other systems: namespaces, memfds and pidfds exist only on Linux."""
    if sys.platform != "linux":
        raise UsageError(
            f"grader runs submissions on Linux only, and this is {sys.platform}; rubric check works here"
        )
