"""Measures what the reference's report of cdp_hw1 says, on a machine with a GPU: `measure_cdp_hw1.py FOLDER`.

It times the kernels by CUPTI, through torch.profiler, and runs the course's comparisons over the reference's
functions on 8 cores, then on 4, 2 and 1 beside each other, as `srun -c` does. After each step, what was
measured so far is in `FOLDER/measured.json`. A slow function is timed by a single call.
"""

from __future__ import annotations

import argparse
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
AS_GIVEN = "min(timeit.repeat(lambda: function(*arguments), repeat=3, number=20)) / 20"
ADAPTED = """one_call = timeit.timeit(lambda: function(*arguments), number=1)
    return one_call if one_call > 0.05 else """
SLOW = ("max_functions", "matmul_functions")


def main() -> None:
    """Measure everything into the folder that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cores", default="0-7", help="eight cores, as 8-15")
    parser.add_argument("--skip-kernels", action="store_true")
    options = parser.parse_args()
    folder = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    low, _, high = options.cores.partition("-")
    cores = list(range(int(low), int(high) + 1))
    measured: dict[str, object] = {"machine": _machine()}
    _keep(folder, measured)
    if not options.skip_kernels:
        command = [sys.executable, __file__, "kernels"]
        measured["kernels"] = json.loads(_printed(_start(command, cores[:1]), 100))
        _keep(folder, measured)
    programs = {name: _program(name, folder) for name in SLOW}
    for of_each in ([cores], [cores[:4], cores[4:6], cores[6:7]]):
        for name, program in programs.items():
            command = [sys.executable, "-u", program]
            for count, process in [(len(own), _start(command, own)) for own in of_each]:
                measured[f"{name}, {count} cores"] = _printed(process, 40)
                _keep(folder, measured)


def _keep(folder: Path, measured: dict[str, object]) -> None:
    """Write what was measured so far, and print what is new."""
    name, value = list(measured.items())[-1]
    print(
        f"--- {name}", value if isinstance(value, str) else json.dumps(value, indent=1), sep="\n", flush=True
    )
    (folder / "measured.json").write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")


def _program(name: str, folder: Path) -> str:
    """Write the reference's functions with the course's comparison below them, and return its path."""
    given = (ASSIGNMENT / "starter" / f"{name}.py").read_text(encoding="utf-8").partition(GIVEN)[2]
    assert AS_GIVEN in given
    given = given.replace(f"return {AS_GIVEN}", ADAPTED + AS_GIVEN)
    functions = (ASSIGNMENT / "reference" / f"{name}.py").read_text(encoding="utf-8")
    path = folder / f"{name}.py"
    path.write_text(f"import timeit\n\n{functions}\n\n{given}", encoding="utf-8")
    return str(path)


def _start(command: list[str], cores: list[int]) -> subprocess.Popen[str]:
    """Start a command on some cores alone."""
    count = str(len(cores))
    variables = {**os.environ, "NUMBA_NUM_THREADS": count, "NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS": "0"}
    on = ["taskset", "-c", ",".join(map(str, cores)), *command]
    return subprocess.Popen(on, env=variables, stdout=subprocess.PIPE, text=True)


def _printed(process: subprocess.Popen[str], within_s: float) -> str:
    """Return what a program printed; what it printed so far if it takes too long."""
    try:
        return process.communicate(timeout=within_s)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        return process.communicate()[0] + f"ended after {within_s:g} s\n"


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
    for shape in (
        (1, 1),
        (1, 300),
        (300, 1),
        (127, 16),
        (129, 17),
        (192, 16),
        (200, 3),
        (400, 33),
        (784, 128),
        (900, 130),
    ):
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
