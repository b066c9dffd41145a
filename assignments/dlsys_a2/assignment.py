"""Homework 2: a graph executor for the GPU, in Python and CUDA C++."""

from __future__ import annotations

from grader.api import Assignment, Build, DeferredKind, Limits, hookimpl


@hookimpl
def grader_assignments():
    return [
        Assignment(
            name="dlsys_a2",
            title="GPU graph executor",
            accepts=(
                "python/dlsys/autodiff.py",
                "src/gpu_op.cu",
                # The course's own files: students hand in the whole folder. Those in given/ take their place.
                "Makefile",
                "python/dlsys/*.py",
                "src/*.cc",
                "src/*.h",
                "tests/*.py",
            ),
            preloads={
                "kernels": ("numpy", "ctypes"),
                "graphs": ("numpy", "ctypes"),
                "graphs_on_gpu": ("numpy", "ctypes"),
                "training": ("numpy", "numpy.random", "ctypes"),
            },
            requires=dict.fromkeys(("graphs", "graphs_on_gpu", "training"), ("python/dlsys/autodiff.py",)),
            build=Build(
                command=("make", "-O", "-j4", "ARCH={arch}"),
                products=("build/lib/libc_runtime_api.so",),
                variable="DLSYS_LIBRARY",
            ),
            # The longest call is an epoch of training on NumPy: a second or two on one core. The first one on
            # a GPU makes its context, half a second, and may load cuBLAS.
            limits=Limits(
                import_wall_s=20.0,
                call_wall_s=60.0,
                memory_mb=4096,
                gpu_memory_mb=16384,
                file_mb=64,
                result_mb=64,
            ),
        )
    ]


@hookimpl
def grader_checks():
    return [DeferredKind("learns", f"{__package__}.checks:Learns")]
