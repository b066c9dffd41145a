"""The built-in kinds of checks, through the door that guests use."""

from __future__ import annotations

from grader.contracts.check import CheckKind
from grader.markers import hookimpl


@hookimpl
def grader_checks() -> list[type[CheckKind]]:
    """One kind per file of this folder."""
    from grader.checks.answer import AnswerKind
    from grader.checks.build import BuildKind
    from grader.checks.cuda_calls import CudaCalls
    from grader.checks.files import Files
    from grader.checks.kernel_launch import KernelLaunch
    from grader.checks.manual import Manual
    from grader.checks.matches_reference import MatchesReference
    from grader.checks.placement import Placement
    from grader.checks.properties import Properties
    from grader.checks.pytest_kind import Pytest
    from grader.checks.ranks import Ranks
    from grader.checks.report import ReportKind
    from grader.checks.scaling import Scaling
    from grader.checks.script import Script
    from grader.checks.source import Source
    from grader.checks.speedup import Speedup

    return [
        MatchesReference,
        Properties,
        KernelLaunch,
        Speedup,
        Scaling,
        Placement,
        CudaCalls,
        BuildKind,
        Script,
        Ranks,
        Pytest,
        Files,
        Source,
        ReportKind,
        AnswerKind,
        Manual,
    ]
