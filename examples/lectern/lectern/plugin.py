"""The hooks. Imports stand inside: every command of grader imports this module."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.api import hookimpl

if TYPE_CHECKING:
    from grader.api.check import CheckKind
    from grader.api.engine import Engine
    from grader.api.exporter import Worksheet
    from grader.api.platform import Platform
    from grader.api.report import Report


@hookimpl
def grader_checks() -> list[type[CheckKind]]:
    """Return the check kinds."""
    from lectern.keeps_inputs import KeepsInputs

    return [KeepsInputs]


@hookimpl
def grader_reports() -> list[type[Report]]:
    """Return the report formats."""
    from lectern.summary import Summary

    return [Summary]


@hookimpl
def grader_engines() -> list[type[Engine]]:
    """Return the engines."""
    from lectern.one_by_one import OneByOne

    return [OneByOne]


@hookimpl
def grader_platforms() -> list[type[Platform]]:
    """Return the platforms to post to."""
    from lectern.service import Lectern

    return [Lectern]


@hookimpl
def grader_lms() -> list[type[Worksheet]]:
    """Return the exporters."""
    from lectern.worksheet import LecternSheet

    return [LecternSheet]
