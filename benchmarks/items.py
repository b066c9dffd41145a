"""What the items of a whole homework take beside the same calls in one fresh process per group.

python benchmarks/items.py [--rounds N] [--json]

Every item that calls functions of the submission and needs no device. Both sides call the same functions as
often, on the same inputs and with as many threads; grader also compares every result, keeps the clock
outside and the program in a sandbox.
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
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from grader.config.course import load_course
from grader.config.evidence_file import read_evidence
from grader.config.rubric import load_rubric
from grader.model.observation import Observation
from grader.model.rubric import Item
from grader.plugins import Plugins

ROOT = Path(__file__).parent.parent
ALICE = ROOT / "submissions" / "alice.tar.gz"
ASSIGNMENT = "cdp_hw1"
FOLDER = ROOT / "assignments" / ASSIGNMENT
LIMIT = 1.5
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def main() -> int:
    """Print both times of each group and the ratio of the sums; 1 if that is over its limit."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    plugins = Plugins(ROOT)
    rubric = load_rubric(
        load_course(ROOT).rubric_for(ASSIGNMENT, None),
        kinds=plugins.checks,
        assignments=plugins.assignment_folders,
    )
    items = [i for i in rubric.items if hasattr(i.options, "of") and not i.devices]
    cores = plugins.assignments[ASSIGNMENT].limits.cores
    rounds = [one_round(items, cores) for _ in range(asked.rounds)]
    found = {
        group: {side: median(seconds[group][side] for seconds in rounds) for side in ("grader", "bare")}
        for group in rounds[0]
    }
    sums = [
        {side: sum(s[side] for s in seconds.values()) for side in ("grader", "bare")} for seconds in rounds
    ]
    ratio = median(both["grader"] / both["bare"] for both in sums)
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    if asked.json:
        print(json.dumps({"machine": machine, "seconds": found, "ratio": ratio, "limit": LIMIT}, indent=2))
    else:
        print(machine)
        for group, seconds in found.items():
            both = f"{seconds['grader'] * 1e3:8.1f} ms {seconds['bare'] * 1e3:8.1f} ms bare"
            print(f"  {group:35} {both} {seconds['grader'] / seconds['bare']:6.2f}")
        print(f"  {'all items / bare processes':35} {ratio:8.2f}   (limit {LIMIT:g})")
    return int(ratio > LIMIT)


def one_round(items: list[Item], cores: int) -> Mapping[str, Mapping[str, float]]:
    """Seconds of each group of items in one run, and of the same calls right after it."""
    with tempfile.TemporaryDirectory() as out:
        asked = [part for item in items for part in ("--item", item.id)]
        grader = str(Path(sys.executable).parent / "grader")
        argv = [grader, "--course", str(ROOT), "run", str(ALICE), *asked, "--out", out]
        subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
        results = Path(out, ASSIGNMENT, "alice")
        evidence = read_evidence(results / "evidence.jsonl")
        if evidence is None:
            raise SystemExit("nothing was observed")
        groups: dict[str, list[Item]] = {}
        for item in items:
            groups.setdefault(item.group or item.id, []).append(item)
        return {
            group: {
                "grader": sum(evidence.observations[item.id].wall_s for item in members),
                "bare": bare_s(
                    [
                        calls_of(item, evidence.observations[item.id], results / "workspace")
                        for item in members
                    ],
                    cores,
                ),
            }
            for group, members in groups.items()
        }


def calls_of(item: Item, seen: Observation, workspace: Path) -> dict[str, Any]:
    """What the check of an item called; a speedup calls four functions a round, and to warm up."""
    options = item.options
    call = {"seed": seen.seed, "family": options.inputs, "draws": 1, "times": getattr(options, "calls", 1)}
    call |= {"functions": [options.of], "folders": [str(workspace)]}
    if "rounds" in seen.quantities:
        measured: Any = seen.quantities
        call["draws"] = 1 + measured["rounds"].value + measured["disturbed_rounds"].value
        call["functions"] = [options.of, options.over]
        call["folders"] = [str(workspace), str(FOLDER / "reference")]
    return call


def bare_s(calls: list[dict[str, Any]], cores: int) -> float:
    """Seconds of a fresh process from its start to its end."""
    plan = json.dumps({"inputs": str(FOLDER / "inputs.py"), "items": calls})
    argv = [sys.executable, str(ROOT / "benchmarks" / "bare_calls.py")]
    environment = os.environ | dict.fromkeys(THREADS, str(min(cores, os.cpu_count() or 1)))
    begun = time.perf_counter()
    subprocess.run(argv, input=plan, text=True, env=environment, check=True)
    return time.perf_counter() - begun


if __name__ == "__main__":
    sys.exit(main())
