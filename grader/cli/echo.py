"""What commands print: lines that hold one line each, and JSON, whatever names and texts they quote."""

from __future__ import annotations

import json
from typing import Any

import click

from grader.text import document, one_line


def echo(line: str = "", *, err: bool = False) -> None:
    """Print one line; what a terminal or a reader would take for more than that is spelled out."""
    click.echo(one_line(line), err=err)


def echo_json(value: Any, *, indent: int | None = 2) -> None:
    """Print plain data as JSON in ASCII, its texts safe to show also when a program has read them."""
    click.echo(json.dumps(document(value), indent=indent))
