"""Output of commands: single lines and JSON, safe for any names and texts that they quote."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from grader.errors import CourseError, ExitCode, UsageError
from grader.text import document, one_line


def echo(line: str = "", *, err: bool = False) -> None:
    """Print one line, with control and invisible characters escaped."""
    click.echo(one_line(line), err=err)


def tell_line(line: str) -> None:
    """Print one line of ours on the error output."""
    echo(f"grader: {line}", err=True)


def echo_json(value: Any, *, indent: int | None = 2) -> None:
    """Print plain data as JSON in ASCII, its texts safe to show after decoding."""
    click.echo(json.dumps(document(value), indent=indent))


AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
"""The option of commands that programs may listen to."""
SUMS_AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
"""The same of commands that write files."""


def need_file(out: Path | None, *, as_json: bool, option: str = "--out") -> None:
    """Check that standard output is free for JSON.

    Raises:
        UsageError: the file itself would be written there.
    """
    if as_json and (out is None or str(out) == "-"):
        raise UsageError(f"--json: the file itself goes to standard output; name another by {option} FILE")


def tell_problems(problems: Sequence[str], *, as_json: bool) -> ExitCode:
    """Print problems of a course as JSON and return the exit code, or raise them if there are any.

    Raises:
        CourseError: with all of them, unless `as_json`.
    """
    if as_json:
        echo_json({"problems": problems})
    elif problems:
        raise CourseError(*problems)
    return ExitCode.COURSE if problems else ExitCode.GRADED
