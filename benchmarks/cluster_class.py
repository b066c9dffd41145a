"""Grade a class on a Slurm of three nodes on loopback while everything breaks, and compare with one machine.

    python benchmarks/cluster_class.py [--students N] [--calm] FOLDER

The host is killed twice, a node is lost, and the controller is started anew. Grades and evidence must equal
those of the engine `local` in items, outcomes and points, and each submission must have one run. It ends with
1 if they do not. It needs root, slurm-wlm and munge.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.slurm_cluster import Cluster  # noqa: E402

COURSE = {
    "course.yaml": "title: A class on a cluster\n",
    "assignments/tiny/assignment.py": """
        from grader.api import Assignment, hookimpl

        @hookimpl
        def grader_assignments():
            return [Assignment(name="tiny", title="Tiny", accepts=("work.py",))]
    """,
    "assignments/tiny/inputs.py": """
        from grader.api import case

        def numbers(rng):
            for name in ("first", "second", "third"):
                yield case(name, int(rng.integers(3, 100)))
    """,
    "assignments/tiny/expected.py": """
        def double(x): return x + x
        def square(x): return x**2
    """,
    "assignments/tiny/reference/work.py": "def double(x): return 2 * x\ndef square(x): return x * x\n",
    "rubrics/tiny.yaml": json.dumps(
        {
            "schema": 1,
            "assignment": "tiny",
            "points": 4,
            "items": [
                {
                    "id": name,
                    "title": name,
                    "points": 2,
                    "check": "matches_reference",
                    "of": f"work.{name}",
                    "inputs": "numbers",
                }
                for name in ("double", "square")
            ],
        }
    ),
}
SQUARES = ("x * x", "x ** 2", "x + x", "x / 0")


def write(folder: Path, students: int) -> None:
    """Write a course and its submissions, of which half are right."""
    for name, text in COURSE.items():
        path = folder / "course" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
    (folder / "class").mkdir()
    for number in range(students):
        square = SQUARES[number % 4]
        content = f"def double(x): return 2 * x  # {number}\ndef square(x): return {square}\n".encode()
        member = tarfile.TarInfo("work.py")
        member.size = len(content)
        with tarfile.open(folder / "class" / f"s{number:05d}.tar.gz", "w:gz") as archive:
            archive.addfile(member, io.BytesIO(content))


def command(folder: Path, engine: str) -> list[str]:
    """Return the command that grades the class by an engine."""
    out = folder / engine
    return [
        *(sys.executable, "-P", "-m", "grader", "--course", str(folder / "course")),
        *("run", str(folder / "class"), "--out", str(out), "--engine", engine),
        *("--gradebook", str(folder / f"{engine}.db")),
    ]


def results(folder: Path, engine: str) -> dict[str, object]:
    """Return what evidence and scores say of each student, but for times and seeds."""
    students: dict[str, object] = {}
    for place in sorted((folder / engine / "tiny").iterdir()):
        lines = [json.loads(line) for line in (place / "evidence.jsonl").read_text().splitlines()]
        observed = [line["observation"] for line in lines if line["record"] == "observation"]
        card = json.loads((place / "score.json").read_text())
        students[place.name] = (
            sorted((one["item"], one["outcome"], one["digest"]) for one in observed),
            [(item["id"], item["points"]) for item in card["items"]],
            sum(line["record"] == "run" for line in lines),
        )
    return students


def grades(folder: Path, engine: str, environment: dict[str, str]) -> list[str]:
    """Return the table of the gradebook, but for the times at which scores were made."""
    export = [
        *(sys.executable, "-P", "-m", "grader", "--course", str(folder / "course"), "export", "csv"),
        *("tiny", "--gradebook", str(folder / f"{engine}.db")),
    ]
    done = subprocess.run(export, env=environment, capture_output=True, text=True, check=True)
    rows = csv.DictReader(done.stdout.splitlines())
    return sorted(str({name: value for name, value in row.items() if name != "Scored at"}) for row in rows)


def main() -> int:
    """Grade twice and compare; return the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--students", type=int, default=300)
    parser.add_argument("--calm", action="store_true", help="nothing breaks")
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    folder: Path = arguments.folder.absolute()
    folder.mkdir(parents=True)
    write(folder, arguments.students)
    site = folder / "site.yaml"
    setup = f"export PYTHONPATH={ROOT}"
    slurm = {"setup": setup, "cpu": {"cpus": 2, "time": "10m"}, "pack": 8}
    site.write_text(json.dumps({"engines": {"slurm": slurm}}))
    environment = os.environ | {"PYTHONPATH": str(ROOT), "GRADER_SITE": str(site)}
    with Cluster(folder / "slurm_daemons") as cluster:
        environment |= cluster.environment
        began = time.monotonic()
        with (folder / "slurm.log").open("w") as log:

            def start() -> subprocess.Popen[bytes]:
                return subprocess.Popen(command(folder, "slurm"), env=environment, stdout=log, stderr=log)

            host = start()
            if not arguments.calm:
                share = arguments.students // 6
                for number, fault in enumerate(("host", "node", "host", "controller"), start=1):
                    done = len(list((folder / "slurm" / "tiny").glob("*/score.json"))) if number > 1 else 0
                    while done < share * number and host.poll() is None:
                        time.sleep(0.2)
                        done = len(list(folder.glob("slurm/tiny/*/score.json")))
                    print(f"{time.monotonic() - began:6.1f} s: {done} graded; now the {fault}", flush=True)
                    if fault == "host":
                        host.kill()
                        host.wait()
                        host = start()
                    elif fault == "node":
                        cluster.lose_node("n2")
                    else:
                        cluster.stop_controller()
                        cluster.start_controller()
            code = host.wait()
        slurm_s = time.monotonic() - began
        left = cluster.queue()
    began = time.monotonic()
    subprocess.run(command(folder, "local"), env=environment, check=True, capture_output=True)
    local_s = time.monotonic() - began
    here, there = results(folder, "local"), results(folder, "slurm")
    differing = [student for student in here if here[student] != there.get(student)]
    rows = grades(folder, "local", environment)
    same_grades = rows == grades(folder, "slurm", environment)
    print(f"slurm: exit {code}, {slurm_s:.1f} s; local: {local_s:.1f} s; load {os.getloadavg()[0]:.1f}")
    print(f"{len(there)} of {len(here)} submissions, {len(differing)} differ {differing[:5]}; queue: {left}")
    print(f"the gradebooks {'agree' if same_grades else 'differ'} on {len(rows)} rows")
    return int(bool(code or differing or left or not same_grades))


if __name__ == "__main__":
    sys.exit(main())
