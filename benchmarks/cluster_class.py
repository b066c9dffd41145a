"""Grade a class on a Slurm of three nodes on loopback while everything breaks, and compare with one machine.

    python benchmarks/cluster_class.py [--students N] [--calm | --gpu-seconds S] FOLDER

The host is killed twice, a node is lost, and the controller is started anew. Grades and evidence must equal
those of the engine `local` in items, outcomes and points, and each submission must have one run. It ends with
1 if they do not. It needs root, slurm-wlm and munge.

With `--gpu-seconds` every submission has an item that sleeps so long on one of 12 GPUs, which are played by a
module in place of NVML's and a library in place of CUDA's; nothing breaks, and the time is compared with that
of 12 GPUs that do nothing else.
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
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.slurm_cluster import GPUS, NODES, Cluster  # noqa: E402

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
KIND = """
    import time
    from dataclasses import dataclass

    from grader.api import Assignment, hookimpl
    from grader.api.check import Award, CheckKind, Observation, Outcome, option


    class Sleeps(CheckKind):
        name = "sleeps"

        @dataclass(frozen=True, slots=True, kw_only=True)
        class Options:
            seconds: float = option("How long.")

        def observe(self, options, context):
            time.sleep(options.seconds)
            return Observation(item=context.item, outcome=Outcome.OBSERVED, seed=context.seed)

        def award(self, options, observation, related):
            return Award(fraction=1.0, reason="it slept")


    @hookimpl
    def grader_assignments():
        return [Assignment(name="tiny", title="Tiny", accepts=("work.py",), gpu_kinds=("Fake",))]


    @hookimpl
    def grader_checks():
        return [Sleeps]
"""
NVML = """
    import os

    COUNT = 4
    NVML_CLOCK_SM, NVML_CLOCK_MEM, NVML_TEMPERATURE_GPU = 1, 2, 0


    class NVMLError(Exception):
        pass


    def nvmlInit(): pass
    def nvmlDeviceGetCount(): return COUNT
    def nvmlDeviceGetHandleByIndex(index): return index
    def nvmlDeviceGetUUID(handle): return f"GPU-{os.environ.get('GRADER_NODE', 'host')}-{handle}"
    def nvmlDeviceGetName(handle): return "Fake GPU"
    def nvmlDeviceGetComputeRunningProcesses(handle): return []
"""
SQUARES = ("x * x", "x ** 2", "x + x", "x / 0")


def play_gpus(folder: Path, seconds: float) -> str:
    """Write what plays GPUs and an item that sleeps on one; return the setup of a task."""
    (folder / "nvml").mkdir()
    (folder / "nvml" / "pynvml.py").write_text(dedent(NVML))
    driver = ROOT / "tests" / "cuda" / "fake_driver.c"
    library = folder / "nvml" / "libcuda.so.1"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(driver)], check=True)
    rubric = json.loads(COURSE["rubrics/tiny.yaml"])
    item = {"id": "sleeps", "title": "it sleeps", "points": 1, "check": "sleeps", "seconds": seconds}
    rubric["items"].append(item | {"devices": {"gpu": 1}})
    rubric["points"] += 1
    COURSE["rubrics/tiny.yaml"] = json.dumps(rubric)
    COURSE["assignments/tiny/assignment.py"] = KIND
    return f"export PYTHONPATH={ROOT}:{folder}/nvml LD_LIBRARY_PATH={folder}/nvml"


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


def break_things(
    folder: Path,
    share: int,
    cluster: Cluster,
    host: subprocess.Popen[bytes],
    start: Callable[[], subprocess.Popen[bytes]],
) -> subprocess.Popen[bytes]:
    """Break one thing after each `share` of the submissions, and return the host that goes on."""
    began = time.monotonic()
    for number, fault in enumerate(("host", "node", "host", "controller"), start=1):
        done = 0
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
    return host


def main() -> int:
    """Grade twice and compare; return the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--students", type=int, default=300)
    parser.add_argument("--calm", action="store_true", help="nothing breaks")
    parser.add_argument("--gpu-seconds", type=float, default=0.0, help="how long each is on a GPU")
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    folder: Path = arguments.folder.absolute()
    folder.mkdir(parents=True)
    seconds = arguments.gpu_seconds
    setup = play_gpus(folder, seconds) if seconds else f"export PYTHONPATH={ROOT}"
    write(folder, arguments.students)
    site = folder / "site.yaml"
    slurm = {"setup": setup, "cpu": {"cpus": 2, "time": "10m"}, "gpu": {"cpus": 1}, "pack": 8}
    site.write_text(json.dumps({"engines": {"slurm": slurm}}))
    environment = os.environ | {"PYTHONPATH": str(ROOT), "GRADER_SITE": str(site)}
    with Cluster(folder / "slurm_daemons") as cluster:
        environment |= cluster.environment
        began = time.monotonic()
        with (folder / "slurm.log").open("w") as log:

            def start() -> subprocess.Popen[bytes]:
                return subprocess.Popen(command(folder, "slurm"), env=environment, stdout=log, stderr=log)

            host = start()
            if not (arguments.calm or seconds):
                host = break_things(folder, arguments.students // 6, cluster, host, start)
            code = host.wait()
        slurm_s = time.monotonic() - began
        left = cluster.queue()
    if seconds:
        ideal_s = arguments.students * seconds / (GPUS * len(NODES))
        print(f"exit {code}; {slurm_s:.1f} s, 12 GPUs alone {ideal_s:.1f} s: {100 * ideal_s / slurm_s:.0f} %")
        print(f"{len(results(folder, 'slurm'))} submissions; load {os.getloadavg()[0]:.1f}; queue: {left}")
        return code
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
