"""Measures what the reference's report of cdp_hw1 says: `measure_cdp_hw1.py FOLDER`, with a GPU and 8 cores.

It runs the course's comparisons over the reference's functions on 1, 2, 4 and 8 cores, as `srun -c` does,
and times the kernels by CUPTI, through torch.profiler. FOLDER gets what they print and `measured.json`.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

ASSIGNMENT = Path(__file__).resolve().parent.parent / "assignments" / "cdp_hw1"
GIVEN = "# Below here nothing is to do.\n"
CORES = (1, 2, 4, 8)
TIMED_MATMUL = """
X = np.random.randn(784, 128)
matmul_transpose_numba(X)
print(f"matmul_transpose_numba: {seconds(matmul_transpose_numba, X):.6f} seconds")
"""


def main() -> None:
    """Measure everything into the folder that the command line names."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    machine = _machine()
    print(json.dumps(machine, indent=1), flush=True)
    kernels = json.loads(_run([sys.executable, __file__, "kernels"], 1))
    print(json.dumps(kernels, indent=1), flush=True)
    printed = {}
    for cores in CORES:
        printed[f"max_functions, {cores}"] = _run([sys.executable, _program("max_functions", folder)], cores)
    printed["matmul_functions, 1"] = _run([sys.executable, _program("matmul_functions", folder)], 1)
    compare = Path(_program("matmul_functions", folder))
    head, _, _ = compare.read_text(encoding="utf-8").partition('\nif __name__ == "__main__"')
    compare.write_text(head + TIMED_MATMUL, encoding="utf-8")
    for cores in CORES:
        printed[f"matmul_transpose_numba, {cores}"] = _run([sys.executable, compare], cores)
    for name, text in printed.items():
        print(f"--- {name}\n{text}", end="", flush=True)
    measured = {"machine": machine, "kernels": kernels, "printed": printed}
    (folder / "measured.json").write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")


def _program(name: str, folder: Path) -> str:
    """Write the reference's functions with the course's comparison below them, and return its path."""
    given = (ASSIGNMENT / "starter" / f"{name}.py").read_text(encoding="utf-8").partition(GIVEN)[2]
    functions = (ASSIGNMENT / "reference" / f"{name}.py").read_text(encoding="utf-8")
    path = folder / f"{name}.py"
    path.write_text(f"import timeit\n\n{functions}\n\n{given}", encoding="utf-8")
    return str(path)


def _run(command: list[str | Path], cores: int) -> str:
    """Return what a command prints on the first cores of this machine."""
    first = set(sorted(os.sched_getaffinity(0))[:cores])
    variables = {**os.environ, "NUMBA_NUM_THREADS": str(cores), "NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS": "0"}
    done = subprocess.run(
        command,
        env=variables,
        preexec_fn=lambda: os.sched_setaffinity(0, first),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=150,
    )
    return done.stdout


def _machine() -> dict[str, str]:
    query = ["nvidia-smi", "--query-gpu=name,driver_version,clocks.max.sm", "--format=csv,noheader"]
    with Path("/proc/cpuinfo").open(encoding="utf-8") as file:
        processor = next(
            (line.partition(":")[2].strip() for line in file if line.startswith("model name")), ""
        )
    return {
        "gpu": subprocess.run(query, stdout=subprocess.PIPE, text=True, check=True).stdout.strip(),
        "processor": processor,
        "cores": str(len(os.sched_getaffinity(0))),
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "numba", "numba-cuda")},
    }


def _kernels() -> dict[str, object]:
    """Return the median and least milliseconds of each kernel and copy of a call, by CUPTI."""
    sys.path.insert(0, str(ASSIGNMENT / "reference"))
    import numpy as np
    import torch
    from matmul_functions import matmul_transpose_gpu
    from max_functions import max_gpu
    from torch.profiler import ProfilerActivity, profile

    torch.cuda.init()
    for shape in ((1, 1), (1, 300), (300, 1), (127, 16), (129, 17), (200, 3), (784, 128), (900, 130)):
        X = np.random.randn(*shape)
        assert np.allclose(matmul_transpose_gpu(X), X @ X.T), shape
    A, B = (np.random.randint(0, 256, (1000, 1000)) for _ in range(2))
    assert np.array_equal(max_gpu(A, B), np.maximum(A, B))
    X = np.random.randn(784, 128)
    taken: dict[str, dict[str, list[float]]] = {}
    for name, call in (
        ("max_gpu", lambda: max_gpu(A, B)),
        ("matmul_transpose_gpu", lambda: matmul_transpose_gpu(X)),
    ):
        for _ in range(5):
            call()
        with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as profiled:
            for _ in range(50):
                call()
            torch.cuda.synchronize()
        of_call = taken.setdefault(name, {})
        for event in profiled.events():
            if event.device_type == torch.autograd.DeviceType.CUDA:
                what = next((k for k in ("max_kernel", "matmul_kernel") if k in event.name), event.name)
                of_call.setdefault(what, []).append(event.time_range.elapsed_us() / 1e3)
    return {
        call: {
            what: {
                "count": len(ms),
                "median_ms": round(statistics.median(ms), 4),
                "least_ms": round(min(ms), 4),
            }
            for what, ms in of_call.items()
        }
        for call, of_call in taken.items()
    }


if __name__ == "__main__":
    if sys.argv[1:] == ["kernels"]:
        print(json.dumps(_kernels()))
    else:
        main()
