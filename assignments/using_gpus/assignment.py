"""Using GPUs: where tensors lie, a mini-batch on two GPUs, and how long one takes."""

from __future__ import annotations

from grader.api import Assignment, DeferredKind, Limits, hookimpl

TORCH = ("numpy", "torch")


@hookimpl
def grader_assignments():
    return [
        Assignment(
            name="using_gpus",
            title="Using GPUs",
            accepts=(
                "devices.py",
                "parallel.py",
                "timing.py",
                # The course's own file: students often hand in the whole folder.
                "networks.py",
            ),
            preloads=dict.fromkeys(("on_devices", "splitting", "harness"), TORCH),
            requires={
                "on_devices": ("devices.py",),
                "splitting": ("parallel.py",),
                "harness": ("timing.py",),
            },
            # A full mini-batch of ResNet-50 takes 8 s on one core, and a harness trains some in a call.
            limits=Limits(
                import_wall_s=60.0,
                call_wall_s=180.0,
                memory_mb=16384,
                file_mb=64,
                gpu_memory_mb=65536,
                cores=1,
            ),
        )
    ]


@hookimpl
def grader_checks():
    return [
        DeferredKind("matches_on_cpu", f"{__package__}.matches_on_cpu:MatchesOnCpu"),
        DeferredKind("threads_used", f"{__package__}.threads_used:ThreadsUsed"),
        DeferredKind("minibatch_times", f"{__package__}.minibatch_times:MinibatchTimes"),
        DeferredKind("holds_kernels", f"{__package__}.holds_kernels:HoldsKernels"),
    ]
