"""How fast a class is graded, beside the same items without a sandbox, one submission after the other.

python benchmarks/class_speed.py [--rounds N] [--large N] [--json]

The seven items of `cdp_hw1_utils` over synthetic submissions. `bare` starts a fresh Python for each
submission, which imports it and calls the same functions on inputs of the same families; `pytest` has a test
for each item; with gradescope-utils installed `gradescope` is its harness. None of these has a sandbox, a
clock or a report. All sides of a round run right after each other on the same machine; ratios are medians
over rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from statistics import median

from bare import SEVEN

ROOT = Path(__file__).parent.parent
COURSE = ROOT / "assignments" / "cdp_hw1"
GRADER = str(Path(sys.executable).parent / "grader")
SMALL = 20
VARIANTS = ("alice", "bob")

TESTS = """
import sys
sys.path[:0] = [{submission!r}, {course!r}, {here!r}]
from copy import deepcopy
import numpy as np
import expected, inputs, utils
from bare import SEVEN, flat

def look(name):
    for case in getattr(inputs, SEVEN[name])(np.random.default_rng(1)):
        got = getattr(utils, name)(*deepcopy(case.args))
        if name != "random_weights":
            assert np.allclose(flat(got), flat(getattr(expected, name)(*case.args)), rtol=1e-4, atol=1e-5)
"""
PYTEST = TESTS + "".join(f"\ndef test_{name}(): look({name!r})\n" for name in SEVEN)
GRADESCOPE = (
    TESTS
    + """
import unittest
from gradescope_utils.autograder_utils.decorators import weight
from gradescope_utils.autograder_utils.json_test_runner import JSONTestRunner

class Seven(unittest.TestCase):
    pass

for name in SEVEN:
    setattr(Seven, "test_" + name, weight(3)(lambda self, name=name: look(name)))
with open({submission!r} + "/results.json", "w") as file:
    JSONTestRunner(stream=file).run(unittest.defaultTestLoader.loadTestsFromTestCase(Seven))
"""
)


def main() -> int:
    """Print seconds and ratios; always 0, for the goals are not limits."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--large", type=int, default=300, help="how many submissions the large class has")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="grader-class-") as folder:
        small, large = (made(Path(folder, str(count)), count) for count in (SMALL, asked.large))
        sides: dict[str, Callable[[], float]] = {
            "grader": lambda: graded_s(small),
            "grader, one core": lambda: graded_s(small, cores=1),
            "bare": lambda: each_s(small, bare),
            "pytest": lambda: each_s(small, pytest),
        }
        if find_spec("gradescope_utils"):
            sides["gradescope"] = lambda: each_s(small, gradescope)
        rounds = [{side: take() for side, take in sides.items()} for _ in range(asked.rounds)]
        large_s, large_one_core_s = graded_s(large), graded_s(large, cores=1)
        peaks = {
            str(count): peak_mib(made(Path(folder, f"peak{count}"), count)) for count in (SMALL, asked.large)
        }
    found = {side: median(seconds[side] for seconds in rounds) for side in rounds[0]}
    ratios = {
        f"grader / {side}": median(seconds["grader"] / seconds[side] for seconds in rounds)
        for side in found
        if side != "grader"
    }
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    report = {
        "machine": machine,
        "submissions": SMALL,
        "seconds": found,
        "ratios": ratios,
        "large": {
            "submissions": asked.large,
            "seconds": large_s,
            "seconds, one core": large_one_core_s,
            "a_minute": 60 * asked.large / large_s,
            "throughput / one core": large_one_core_s / large_s,
            "each / bare": large_s / asked.large / (found["bare"] / SMALL),
        },
        "peak_mib_of_the_host": peaks,
    }
    print(json.dumps(report, indent=2) if asked.json else told(report))
    return 0


def told(report: Mapping[str, object]) -> str:
    """The same for people."""
    lines = [str(report["machine"])]
    for key in ("seconds", "ratios", "large", "peak_mib_of_the_host"):
        values = report[key]
        assert isinstance(values, Mapping)
        lines.append(f"{key}:")
        lines += [f"  {name:28} {value:10.2f}" for name, value in values.items()]
    return "\n".join(lines)


def made(folder: Path, count: int) -> Path:
    """A folder of `count` archives."""
    folder.mkdir()
    for number in range(count):
        source = ROOT / "submissions" / f"{VARIANTS[number % len(VARIANTS)]}.tar.gz"
        shutil.copyfile(source, folder / f"student{number}.tar.gz")
    return folder


def graded_s(archives: Path, cores: int = 0) -> float:
    """Seconds of one `grader run` over all of them, on so many cores, or on all."""
    with tempfile.TemporaryDirectory() as out:
        pinned = ("taskset", "-c", "0") if cores else ()
        argv = [*pinned, GRADER, "--course", str(ROOT), "run", str(archives), "--rubric", "cdp_hw1_utils"]
        begun = time.perf_counter()
        subprocess.run([*argv, "--out", out], check=True, capture_output=True)
        return time.perf_counter() - begun


def peak_mib(archives: Path) -> float:
    """The most memory that the host process had resident, by the kernel's count."""
    code = (
        "import resource, sys\nfrom grader.cli.main import cli\n"
        "cli.main(sys.argv[1:], standalone_mode=False)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    with tempfile.TemporaryDirectory() as out:
        argv = ["--course", str(ROOT), "run", str(archives), "--rubric", "cdp_hw1_utils", "--out", out]
        done = subprocess.run([sys.executable, "-c", code, *argv], check=True, capture_output=True, text=True)
    return int(done.stdout.split()[-1]) / 1024


def each_s(archives: Path, look: Callable[[Path], None]) -> float:
    """Seconds to unpack one after the other and look at it."""
    begun = time.perf_counter()
    for archive in sorted(archives.iterdir()):
        with tempfile.TemporaryDirectory() as folder:
            shutil.unpack_archive(archive, folder, filter="data")
            look(next(Path(folder).rglob("utils.py")).parent)
    return time.perf_counter() - begun


def bare(submission: Path) -> None:
    """A fresh Python that calls the functions."""
    _run(submission, TESTS + "\nfor name in SEVEN:\n    try: look(name)\n    except Exception: pass\n")


def gradescope(submission: Path) -> None:
    """The harness of gradescope-utils."""
    _run(submission, GRADESCOPE)


def pytest(submission: Path) -> None:
    """A test for each item."""
    file = submission / "test_seven.py"
    file.write_text(_text(submission, PYTEST))
    argv = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(submission),
        str(file),
    ]
    subprocess.run(argv, check=False, capture_output=True, cwd=submission)


def _run(submission: Path, code: str) -> None:
    subprocess.run([sys.executable, "-c", _text(submission, code)], check=True, capture_output=True)


def _text(submission: Path, code: str) -> str:
    here = str(Path(__file__).parent)
    return code.format(submission=str(submission), course=str(COURSE), here=here)


if __name__ == "__main__":
    sys.exit(main())
