"""The built-in kinds of checks, through the door that plugins use."""

from __future__ import annotations

from grader.contracts.check import DeferredKind
from grader.markers import hookimpl

KINDS = (
    DeferredKind("matches_reference", "grader.checks.matches_reference:MatchesReference"),
    DeferredKind("properties", "grader.checks.properties:Properties"),
    DeferredKind("kernel_launch", "grader.checks.kernel_launch:KernelLaunch"),
    DeferredKind("speedup", "grader.checks.speedup:Speedup"),
    DeferredKind("scaling", "grader.checks.scaling:Scaling"),
    DeferredKind("placement", "grader.checks.placement:Placement"),
    DeferredKind("cuda_calls", "grader.checks.cuda_calls:CudaCalls"),
    DeferredKind("build", "grader.checks.build:BuildKind"),
    DeferredKind("script", "grader.checks.script:Script"),
    DeferredKind("ranks", "grader.checks.ranks:Ranks"),
    DeferredKind("pytest", "grader.checks.pytest_kind:Pytest"),
    DeferredKind("files", "grader.checks.files:Files"),
    DeferredKind("source", "grader.checks.source:Source"),
    DeferredKind("report", "grader.checks.report:ReportKind"),
    DeferredKind("answer", "grader.checks.answer:AnswerKind"),
    DeferredKind("profile", "grader.checks.profile:ProfileKind"),
    DeferredKind("profile_table", "grader.checks.profile_table:ProfileTableKind"),
    DeferredKind("manual", "grader.checks.manual:Manual"),
)


@hookimpl
def grader_checks() -> tuple[DeferredKind, ...]:
    """Return one kind per file of this folder."""
    return KINDS
