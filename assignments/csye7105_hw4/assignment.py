"""Homework 4: the power of a matrix on two GPUs, and a network split over four."""

from __future__ import annotations

from grader.api import Assignment, DeferredKind, Limits, hookimpl

TORCH = ("numpy", "torch")


@hookimpl
def grader_assignments():
    return [
        Assignment(
            name="csye7105_hw4",
            title="Parallel computing on several GPUs",
            accepts=(
                "answers.md",
                "answers.txt",
                "answers.pdf",
                "answers.docx",
                "answers.ipynb",
                "matrix_power.py",
                "pt_modelparallelism.py",
                # The course's own file: students often hand in the whole folder.
                "resnet.py",
            ),
            preloads=dict.fromkeys(
                ("matrix_power", "pt_modelparallelism", "powers", "split", "program"), TORCH
            ),
            requires={
                "powers": ("matrix_power.py",),
                "program": ("matrix_power.py",),
                "split": ("pt_modelparallelism.py",),
            },
            # A program draws two matrices of 10,000 rows on one core of the CPU, some seconds, and multiplies
            # them up to 20 times for each printed time, 40 ms each on an H200. Every process that uses a GPU
            # needs some hundred MiB of the host for each, and a matrix has 400 MB (800 in double precision).
            limits=Limits(
                import_wall_s=60.0,
                call_wall_s=120.0,
                memory_mb=16384,
                file_mb=64,
                gpu_memory_mb=65536,
                cores=2,
            ),
        )
    ]


@hookimpl
def grader_checks():
    return [
        DeferredKind("written_for", f"{__package__}.written_for:WrittenFor"),
        DeferredKind("known_mistakes", f"{__package__}.known_mistakes:KnownMistakes"),
        DeferredKind("device_speedup", f"{__package__}.device_speedup:DeviceSpeedup"),
        DeferredKind("printed_times", f"{__package__}.printed_times:PrintedTimes"),
    ]
