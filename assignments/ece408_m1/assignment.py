"""Milestone 1: profile a network on the GPU, and report what takes its time."""

from __future__ import annotations

from grader.api import Assignment, DeferredKind, Limits, hookimpl


@hookimpl
def grader_assignments():
    return [
        Assignment(
            name="ece408_m1",
            title="Milestone 1: a profile report",
            accepts=("report.md", "report.txt", "report.pdf", "report.docx", "report.ipynb"),
            team_at_most=3,
            preloads={"profiled": ("numpy", "torch")},
            # Nothing of a submission runs. Our own profile draws 10,000 pictures on the CPU, some seconds;
            # a process that uses a GPU needs some GB of the host's memory.
            limits=Limits(
                import_wall_s=60.0, call_wall_s=120.0, memory_mb=16384, gpu_memory_mb=65536, cores=2
            ),
        )
    ]


@hookimpl
def grader_checks():
    return [DeferredKind("printed_run", f"{__package__}.printed_run:PrintedRun")]
