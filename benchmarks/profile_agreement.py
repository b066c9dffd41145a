"""Holds `grader profile` against torch.profiler, and nsys where that is, on three programs; needs a GPU.

    python benchmarks/profile_agreement.py [--out FOLDER] [--times 3]

Each program is profiled by all in turn, so that all see the same machine. Totals are medians; the exit code
is 1 if one of grader's is more than 1 % away from torch.profiler's. `--out` gets the profiles of the course's
script as text, JSON and a page, and what its scripts print on CPU and GPU.
"""

from __future__ import annotations

import argparse
import json
import os
import runpy
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
GIVEN = ROOT / "assignments/ece408_m1/given"
PROGRAMS = (
    GIVEN / "m1.2.py",
    ROOT / "benchmarks/profiled/numba_sums.py",
    ROOT / "benchmarks/profiled/matmul.py",
)
WITHIN = 0.01
MICRO = 1e-6
WALL_S = 170


def by_grader(command: list[str]) -> dict[str, float]:
    """Profile with `grader profile --json`."""
    run = subprocess.run(
        [sys.executable, "-m", "grader", "profile", "--json", *command],
        capture_output=True,
        check=False,
        text=True,
        timeout=WALL_S,
    )
    if run.returncode:
        raise SystemExit(f"grader profile {command}: exit {run.returncode}\n{run.stderr[-2000:]}")
    profile = json.loads(run.stdout)
    return totals(profile["kernels"], profile["copies"]) | {"wall_s": profile["wall_s"]}


def by_torch(program: str) -> dict[str, float]:
    """Profile with torch.profiler, in a process of its own."""
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        subprocess.run(
            [sys.executable, __file__, "--torch", program, out.name],
            check=True,
            stdout=subprocess.DEVNULL,
            timeout=WALL_S,
        )
        return json.loads(Path(out.name).read_text())


def inside_torch_profiler(program: str, out: str) -> None:
    """Run a program under torch.profiler and write its totals."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    sys.argv = [program]
    sys.path.insert(0, str(Path(program).parent))
    with profile(activities=[ProfilerActivity.CUDA]) as recorded:
        runpy.run_path(program, run_name="__main__")
        torch.cuda.synchronize()
    trace = f"{out}.trace"
    recorded.export_chrome_trace(trace)
    events = json.loads(Path(trace).read_text())["traceEvents"]
    Path(trace).unlink()
    kernels = [{"seconds": e["dur"] * MICRO, "count": 1} for e in events if e.get("cat") == "kernel"]
    copies = [
        {"seconds": e["dur"] * MICRO, "count": 1}
        for e in events
        if e.get("cat") in ("gpu_memcpy", "gpu_memset")
    ]
    Path(out).write_text(json.dumps(totals(kernels, copies)))


def by_nsys(program: str) -> dict[str, float] | None:
    """Profile with nsys; None where it is not installed."""
    if shutil.which("nsys") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        report = f"{folder}/report"
        subprocess.run(
            ["nsys", "profile", "-t", "cuda", "-o", report, sys.executable, program],
            check=True,
            capture_output=True,
        )
        rows = {"cuda_gpu_kern_sum": [], "cuda_gpu_mem_time_sum": []}
        for name, out in rows.items():
            stats = ["nsys", "stats", "-q", "-r", name, "-f", "json", f"{report}.nsys-rep"]
            text = subprocess.run(stats, check=True, capture_output=True, text=True).stdout
            for row in json.loads(text[text.index("[") :]):
                count = row.get("Instances", row.get("Count", 0))
                out.append({"seconds": row["Total Time (ns)"] * 1e-9, "count": count})
    return totals(*rows.values())


def totals(kernels: list[dict], copies: list[dict]) -> dict[str, float]:
    """Return seconds and counts of kernels and copies."""
    return {
        "kernels_s": sum(row["seconds"] for row in kernels),
        "kernels": sum(row["count"] for row in kernels),
        "copies_s": sum(row["seconds"] for row in copies),
        "copies": sum(row["count"] for row in copies),
    }


def middle(runs: list[dict[str, float]]) -> dict[str, float]:
    """Return the median of each total."""
    return {key: median(run[key] for run in runs) for key in runs[0]}


def agreement(times: int) -> bool:
    """Print the totals of each program by each profiler; tell whether all kernels agree."""
    agree = True
    for program in PROGRAMS:
        ours, torchs, nsyses = [], [], []
        for _ in range(times):
            ours.append(by_grader([str(program)]))
            torchs.append(by_torch(str(program)))
            if (nsys := by_nsys(str(program))) is not None:
                nsyses.append(nsys)
        print(f"{program.name}:", flush=True)
        for name, runs in (("grader", ours), ("torch.profiler", torchs), ("nsys", nsyses)):
            if runs:
                m = middle(runs)
                every = " ".join(f"{run['kernels_s'] * 1e3:.3f}" for run in runs)
                print(
                    f"  {name:15} kernels {m['kernels_s'] * 1e3:10.4f} ms in {m['kernels']:5.0f} ({every}), "
                    f"copies {m['copies_s'] * 1e3:9.4f} ms in {m['copies']:4.0f}",
                    flush=True,
                )
        ratio = middle(ours)["kernels_s"] / middle(torchs)["kernels_s"]
        print(f"  kernels, grader over torch.profiler: {ratio:.4f}", flush=True)
        agree &= abs(ratio - 1) <= WITHIN
    return agree


def reference_figures(out: Path) -> None:
    """Write what the course's scripts print, how long they take, and their profile."""
    for name in ("m1.1.py", "m1.2.py"):
        command = [sys.executable, str(GIVEN / name)]
        timer = shutil.which("time")
        begin = time.perf_counter()
        run = subprocess.run(
            [timer, *command] if timer else command,
            capture_output=True,
            check=False,
            text=True,
            timeout=WALL_S,
        )
        spent = os.times()
        busy = f"{spent.children_user:.2f} user {spent.children_system:.2f} system"
        text = f"{run.stdout}{run.stderr}wall {time.perf_counter() - begin:.2f} s, children so far {busy}\n"
        (out / f"{name}.txt").write_text(text)
        print(name, text[-600:], flush=True)
    script = str(GIVEN / "m1.2.py")
    for flags, name in (([], "profile.txt"), (["--json"], "profile.json")):
        run = subprocess.run(
            [sys.executable, "-m", "grader", "profile", *flags, "--html", str(out / "profile.html"), script],
            capture_output=True,
            check=False,
            text=True,
            timeout=WALL_S,
        )
        (out / name).write_text(run.stdout)
        if not flags:
            print(run.stdout[:3500], run.stderr[-500:], flush=True)


def programs(out: Path) -> None:
    """Profile the same script as a program, into which the driver loads our library."""
    command = [sys.executable, str(GIVEN / "m1.2.py")]
    run = subprocess.run(
        [sys.executable, "-m", "grader", "profile", "--json", "--", *command],
        capture_output=True,
        check=False,
        text=True,
        timeout=WALL_S,
    )
    (out / "program.json").write_text(run.stdout)
    if run.returncode:
        print("as a program:", run.returncode, run.stderr[-800:], flush=True)
        return
    profile = json.loads(run.stdout)
    print(
        "as a program:",
        totals(profile["kernels"], profile["copies"]),
        "calls",
        sum(r["count"] for r in profile["api"]),
    )


def main() -> int:
    """Compare, and write what the reference needs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--torch", nargs=2, metavar=("PROGRAM", "OUT"))
    options = parser.parse_args()
    if options.torch:
        inside_torch_profiler(*options.torch)
        return 0
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        reference_figures(options.out)
        programs(options.out)
    return 0 if agreement(options.times) else 1


if __name__ == "__main__":
    sys.exit(main())
