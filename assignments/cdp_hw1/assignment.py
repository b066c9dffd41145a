"""Homework 1: the building blocks of a neural network, then the same work on a GPU."""

from __future__ import annotations

from grader.api import Assignment, DeferredKind, Limits, hookimpl


@hookimpl
def grader_assignments():
    return [
        Assignment(
            name="cdp_hw1",
            title="Introduction to parallel deep neural networks",
            accepts=(
                "utils.py",
                "max_functions.py",
                "matmul_functions.py",
                "hw1.pdf",
                # The course's own files: students often hand in the whole folder.
                "network.py",
                "main.py",
                "collect.py",
            ),
            preloads={
                "utils": ("numpy", "numpy.random"),
                "max_functions": ("numpy", "numba", "numba.cuda"),
                "matmul_functions": ("numpy", "numba", "numba.cuda"),
            },
            # The reference's longest call is the first one of a compiled function: one to two seconds.
            # Everything in utils.py takes milliseconds.
            limits=Limits(import_wall_s=10.0, call_wall_s=10.0, memory_mb=1024, file_mb=16),
        )
    ]


@hookimpl
def grader_checks():
    return [DeferredKind("trains", f"{__package__}.checks:Trains")]
