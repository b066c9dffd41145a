"""Homework 4: the power of a matrix on two GPUs, and a network split over four."""

from __future__ import annotations

from grader.api import Assignment, Limits, hookimpl

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
            requires={"powers": ("matrix_power.py",), "split": ("pt_modelparallelism.py",)},
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
    from .device_speedup import DeviceSpeedup
    from .known_mistakes import KnownMistakes
    from .printed_times import PrintedTimes
    from .written_for import WrittenFor

    return [WrittenFor, KnownMistakes, DeviceSpeedup, PrintedTimes]
