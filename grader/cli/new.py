"""`grader new`: a new assignment that works, and is to be changed."""

from __future__ import annotations

import click

from grader.cli.course import find, open_course
from grader.cli.echo import echo
from grader.errors import UsageError


@click.command("new")
@click.argument("name")
@click.option(
    "--function", metavar="MODULE.FUNCTION", help="What students write; NAME.saxpy if it is not given."
)
@click.option(
    "--rubric-only", is_flag=True, help="Only rubrics/NAME.yaml, a draft for an assignment that is there."
)
@click.pass_context
def command(context: click.Context, name: str, function: str | None, rubric_only: bool) -> None:
    """Begin the assignment NAME: a small one that passes `grader verify` at once.

    A function, its inputs, oracle, reference and starter, a rubric, and two submissions with what each must
    earn, packed. Every file says what to change. Nothing that is there is overwritten.

    With --rubric-only the draft has an item for each function of the reference that expected.py has an
    oracle for, or for that of --function alone.
    """
    if rubric_only:
        _rubric(context, name, function)
    else:
        _assignment(context, name, function)


def _assignment(context: click.Context, name: str, function: str | None) -> None:
    from grader.cli.pack import pack
    from grader.files import show_path
    from grader.scaffold.assignment import SAMPLES, assignment_files, names
    from grader.scaffold.layout import lay_out

    named = names(name, function)
    course = find(context)
    if course.assignment_folder(name).exists():
        folder = show_path(course.assignment_folder(name))
        raise UsageError(f"{folder}: is there already; choose another name, or give --rubric-only")
    for path in lay_out(course.folder, assignment_files(named)):
        echo(f"{show_path(path)}: written")
    pack(course.folder, tuple(f"{name}_{kind}" for kind in SAMPLES))
    echo(f"next: grader verify --assignment {name}; then change the files, and verify again")


def _rubric(context: click.Context, name: str, function: str | None) -> None:
    from grader.config.problem import suggestion
    from grader.files import show_path
    from grader.scaffold.draft import rubric_draft
    from grader.scaffold.layout import lay_out

    course, plugins = open_course(context)
    folder = plugins.assignment_folders.get(name)
    if folder is None:
        advice = suggestion(name, plugins.assignment_folders)
        raise UsageError(f"{name}: there is no assignment of that name; {advice}")
    (path,) = lay_out(course.folder, {f"rubrics/{name}.yaml": rubric_draft(folder, function)})
    echo(f"{show_path(path)}: written")
    echo("next: say in titles, points and hints what you mean, then grader rubric check")
