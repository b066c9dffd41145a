"""`grader profile`: kernels, API calls and copies of a program of one's own, with shares of the time."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.course import require_linux
from grader.cli.echo import AS_JSON, echo, echo_json
from grader.cli.files import PATH, write
from grader.model.magnitude import counted, seconds, size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.model.profile import Profile, ProfileTable

MOST_ROWS, LONGEST_NAME = 30, 120
"""Rows of a table, and characters of a name, that are printed; the page and JSON have all."""
STDERR = 2
UNRECORDED = " Processes that it started are not recorded: grader profile -- python {}"


@click.command("profile", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@AS_JSON
@click.option("--html", type=PATH, metavar="FILE", help="Write a page with bars.")
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED)
def command(as_json: bool, html: Path | None, program: tuple[str, ...]) -> int:
    """Run a program on the GPU and say which kernels, API calls and copies took how much of the time.

    PROGRAM is a Python script with its arguments, or after `--` any other program. It runs as it is, without
    a sandbox: profile only what you would run yourself. Shares are those of all kernels, of all copies, and
    of all calls; copies are no kernels. Exits as the program does.
    """
    require_linux()
    from grader.cuda.profile import profile

    sys.stdout.flush()
    measured, status = profile(program, stdout=STDERR if as_json else None)
    if as_json:
        from grader.model.profile import tables_of

        tables = [
            {
                "title": table.title,
                "seconds": table.seconds,
                "count": table.count,
                "rows": [
                    {**asdict(row), "share": share, "running_sum": running}
                    for row, share, running in table.shares()
                ],
            }
            for table in tables_of(measured)
        ]
        echo_json({**asdict(measured), "tables": tables})
    else:
        for line in lines_of(measured):
            echo(line)
    if html is not None:
        from grader.reports.profile_page import profile_page

        write(html, profile_page(measured))
    return status


def lines_of(profile: Profile) -> Iterator[str]:
    """Yield the tables as text."""
    from grader.model.profile import tables_of

    versions = "".join(f", {name} {version}" for name, version in profile.versions.items())
    yield f"Profile of {profile.program}: {seconds(profile.wall_s)}{versions}"
    if profile.problem:
        yield f"It may not be complete: {profile.problem}"
    tables = tables_of(profile)
    if not profile.kernels:
        yield "It ran no kernel on any GPU." + (
            "" if profile.children else UNRECORDED.format(profile.program)
        )
    for table in tables:
        yield ""
        yield from _table(table)


def _table(table: ProfileTable) -> Iterator[str]:
    yield f"{table.title}: {seconds(table.seconds)} in {counted(table.count, table.noun)}"
    rows = table.shares()
    copied = any(row.bytes for row in table.rows)
    yield f"  {'share':>7}  {'running sum':>11}  {'time':>8}  {'times':>7}  " + (
        f"{'size':>8}  name" if copied else "name"
    )
    for row, share, running in rows[:MOST_ROWS]:
        name = row.name if len(row.name) <= LONGEST_NAME else f"{row.name[: LONGEST_NAME - 1]}…"
        figures = f"  {share:>7.2%}  {running:>11.2%}  {seconds(row.seconds):>8}  {row.count:>7}  "
        yield figures + (f"{size(row.bytes):>8}  {name}" if copied else name)
    if len(rows) > MOST_ROWS:
        yield f"  and {len(rows) - MOST_ROWS} more"
