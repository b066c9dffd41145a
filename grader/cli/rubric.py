"""`grader rubric`: validation and JSON Schema of rubrics."""

from __future__ import annotations

from pathlib import Path

import click

from grader.cli.course import open_course, without_remarks
from grader.cli.echo import AS_JSON, echo, echo_json, tell_problems
from grader.cli.files import ONE_OF_MANY
from grader.cli.groups import CommandGroup
from grader.errors import ExitCode, UsageError


@click.group("rubric", cls=CommandGroup)
def command() -> None:
    """Check rubrics, and print the schema that editors complete them with."""


@command.command("check")
@click.argument("files", nargs=-1, type=ONE_OF_MANY)
@AS_JSON
@click.pass_context
def check(context: click.Context, files: tuple[Path, ...], as_json: bool) -> ExitCode:
    """Show every problem of FILES (otherwise of all rubrics of the course), each with its line and column.

    A rubric of the course may be given by its name.

    Without FILES also those of extensions and of each assignment.py. No code of inputs.py and expected.py
    runs: grader course check runs it.
    """
    from grader.config.course import suffix_objection
    from grader.config.problem import suggestion
    from grader.config.rubric import check_rubric
    from grader.files import is_file
    from grader.selftest.declared import static_problems

    course, plugins = open_course(context)

    def named(file: Path) -> Path:
        if file.exists():
            return file
        path = course.rubric_path(str(file))
        if is_file(path):
            return path
        names = [each.stem for each in course.rubrics()]
        raise UsageError(f"{file}: there is no such name or file; {suggestion(str(file), names)}")

    problems = [] if files else [*without_remarks(static_problems(course, plugins))]
    for file in map(named, files) if files else course.rubrics():
        lines = [suffix_objection(file)] if file.suffix == ".yml" else []
        lines += check_rubric(
            file, kinds=plugins.checks, assignments=plugins.assignment_folders, declared=plugins.assignments
        )
        problems += lines
        if not lines and not as_json:
            echo(f"{file}: fine")
    return tell_problems(problems, as_json=as_json)


@command.command("schema")
@click.pass_context
def schema(context: click.Context) -> None:
    """Print a JSON Schema of rubrics, with the check kinds that are loaded here."""
    from grader.config.schema import rubric_schema

    _, plugins = open_course(context)
    echo_json(rubric_schema(plugins.checks))
