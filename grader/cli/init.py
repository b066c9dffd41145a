"""`grader init`: a new course."""

from __future__ import annotations

from pathlib import Path

import click

from grader.cli.echo import echo
from grader.cli.files import PATH
from grader.errors import UsageError


@click.command("init")
@click.argument("folder", default=".", type=PATH)
@click.option("--title", help="The course, as students know it; needed for a new one.")
@click.option(
    "--time-zone", default="UTC", show_default=True, help="The IANA name of the zone dates are shown in."
)
@click.option("--ci", type=click.Choice(["github", "gitlab"]), help="Also a workflow file for this service.")
def command(folder: Path, title: str | None, time_zone: str, ci: str | None) -> None:
    """Begin a course in FOLDER, which is made if need be; otherwise here.

    A file that is there already stays as it is, and a line says so. Where a course is already, --ci adds its
    workflow file.
    """
    from grader.config.course import FILE, zone_objection
    from grader.files import show_path
    from grader.scaffold.course import FOLDERS, course_files, workflow_file
    from grader.scaffold.layout import lay_out

    if ci and (folder / FILE).exists():
        for path in lay_out(folder, workflow_file(ci)):
            echo(f"{path}: written")
        return
    if (folder / FILE).exists():
        raise UsageError(f"{show_path(folder / FILE)}: a course is here already; go on with grader new NAME")
    if title is None:
        raise UsageError("--title: is missing; give the course's name, as students know it")
    if not title.strip() or not title.isprintable():
        raise UsageError("--title: must be a line of text; it is the course's name, as students know it")
    if objection := zone_objection(time_zone):
        raise UsageError(f"--time-zone: {objection}")
    files = course_files(title=title, time_zone=time_zone, ci=ci or "")
    existing = [name for name in files if (folder / name).exists()]
    made = lay_out(folder, {name: text for name, text in files.items() if name not in existing})
    for place in FOLDERS:
        (folder / place).mkdir(parents=True, exist_ok=True)
    for path in made:
        echo(f"{path}: written")
    for name in existing:
        echo(f"{folder / name}: is there already, and stays as it is")
    go = "" if folder.resolve() == Path.cwd() else f"cd {folder} && "
    echo(f"next: {go}grader new NAME, which begins an assignment")
