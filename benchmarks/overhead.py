"""What grading costs beside the bare calls: ratios, all from one run on one machine.

python benchmarks/overhead.py [--rounds N] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parent.parent
ALICE = ROOT / "submissions" / "alice.tar.gz"
LIMITS = {
    "grader run / bare script": 5.0,
    "grader --help / bare interpreter": 8.0,
    "sandbox and wire, a check / bare script": 0.075,
    "host process, MiB": 120.0,
}
"""The third was 10 ms where the bare script took 0.12 to 0.15 s: milliseconds alone measure the machine,
which takes twice as long for both in some hours."""
CHECKS = 40


def main() -> int:
    """Print the ratios; 1 if one of them is over its limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    seconds = {**alternating(asked.rounds), "a check": check_s()}
    found = {
        "grader run / bare script": seconds["grader run"] / seconds["bare script"],
        "grader --help / bare interpreter": seconds["grader --help"] / seconds["bare interpreter"],
        "sandbox and wire, a check / bare script": seconds["a check"] / seconds["bare script"],
        "host process, MiB": host_mib(),
    }
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    if asked.json:
        print(
            json.dumps({"machine": machine, "seconds": seconds, "found": found, "limits": LIMITS}, indent=2)
        )
    else:
        print(machine)
        for name, value in seconds.items():
            print(f"  {name:40} {value * 1e3:8.1f} ms")
        for name, value in found.items():
            print(f"  {name:40} {value:8.3f}   (limit {LIMITS[name]:g})")
    return int(any(value > LIMITS[name] for name, value in found.items()))


def alternating(rounds: int) -> Mapping[str, float]:
    """Median seconds of each command, one of each a round, the first round thrown away."""
    grader = str(Path(sys.executable).parent / "grader")
    with tempfile.TemporaryDirectory() as out:
        commands: dict[str, Callable[[int], list[str]]] = {
            "bare interpreter": lambda _: [sys.executable, "-c", "pass"],
            "bare script": lambda _: [sys.executable, str(ROOT / "benchmarks" / "bare.py")],
            "grader --help": lambda _: [grader, "--help"],
            "grader run": lambda n: [grader, "run", str(ALICE), *UTILS, "--out", f"{out}/{n}"],
        }
        samples: dict[str, list[float]] = {name: [] for name in commands}
        for number in range(rounds + 1):
            for name, argv in commands.items():
                begun = time.perf_counter()
                subprocess.run(argv(number), cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
                if number:
                    samples[name].append(time.perf_counter() - begun)
    return {name: median(times) for name, times in samples.items()}


UTILS = ("--rubric", "cdp_hw1_utils")


def check_s() -> float:
    """Median seconds that one check takes after another, with one empty import and one empty call each."""
    from grader.contracts.call import InputCase
    from grader.contracts.context import SUBMISSION
    from grader.harness.process_pool import ProcessPool, ProcessSpec
    from grader.harness.server_spec import ServerSpec
    from grader.harness.servers import Servers
    from grader.model.assignment import Limits
    from grader.sandbox.bubblewrap import BubblewrapSandbox
    from grader.sandbox.interpreter import interpreter

    limits = Limits()
    case = InputCase(name="nothing", args=())
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        Path(folder, "work.py").write_text("def nothing(): pass\n")
        servers = Servers(
            (BubblewrapSandbox(),),
            python=interpreter().executable,
            site=interpreter().site,
            workspaces={SUBMISSION: Path(folder)},
            limits=limits,
        )
        children = ProcessPool(servers, limits)
        setup = ServerSpec(preloads=("numpy", "numpy.random"))
        order = ProcessSpec(whose=SUBMISSION, module="work", setup=setup)
        times = []
        with closing(servers), closing(children):
            for _ in range(CHECKS + 1):
                begun = time.perf_counter()
                with children.subject(order) as subject:
                    subject.call("nothing", case)
                times.append(time.perf_counter() - begun)
    return median(times[1:])  # the first one waits for the server


def host_mib() -> float:
    """Peak resident memory of the host process of one run, in MiB."""
    code = (
        "import resource, sys; from grader.cli.main import main\n"
        "try: main()\n"
        "finally: sys.stderr.write(str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss))"
    )
    with tempfile.TemporaryDirectory() as out:
        argv = [sys.executable, "-c", code, "run", str(ALICE), *UTILS, "--out", out]
        done = subprocess.run(argv, cwd=ROOT, check=True, capture_output=True, text=True)
    return int(done.stderr.split()[-1]) / 1024


if __name__ == "__main__":
    sys.exit(main())
