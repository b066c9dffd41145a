"""Grade a class on a cluster of this machine while everything breaks, and compare with the engine `local`.

    python benchmarks/cluster_class.py [--engine slurm | ray] [--students N]
                                       [--calm [--utils] [--rounds N] | --gpu-seconds S] FOLDER

The host is killed twice, a node is lost, and the controller of Slurm is started anew, or a worker of Ray is
killed. Grades and evidence must equal those of `local` in items, outcomes and points, and each submission
must have one run. It ends with 1 if they do not. It needs root, and slurm-wlm and munge, or Ray.

With `--calm` nothing breaks, a few submissions are graded first, and the CPU time of each further one is
compared with `local`: that of all processes in a control group, the daemons' included. With `--utils` these
are submissions of the seven functions of `cdp_hw1_utils`, in place of two functions of a line each.

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
import shutil
import signal
import statistics
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

import class_speed  # noqa: E402

from tests import slurm_cluster  # noqa: E402
from tests.cuda import played_gpus  # noqa: E402
from tests.ray_cluster import RayCluster  # noqa: E402

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
    import os
    import time
    from dataclasses import dataclass
    from pathlib import Path

    from grader.api import Assignment, hookimpl
    from grader.api.check import Award, CheckKind, Observation, Outcome, option


    class Sleeps(CheckKind):
        name = "sleeps"

        @dataclass(frozen=True, slots=True, kw_only=True)
        class Options:
            seconds: float = option("How long.")
            folder: str = option("Where it says on which GPU of which task it did, and when.")

        def observe(self, options, context):
            begun = time.time()
            time.sleep(options.seconds)
            gpu = os.environ["GRADER_NODE"], os.environ["CUDA_VISIBLE_DEVICES"]
            file = Path(options.folder, os.urandom(8).hex())
            file.write_text(" ".join(map(str, (*gpu, os.getppid(), begun, time.time()))))
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
UTILS = "cdp_hw1_utils"
GPUS = 12
FEW = 12
IDLE_S = 10.0
SQUARES = ("x * x", "x ** 2", "x + x", "x / 0")


def play_gpus(folder: Path, seconds: float, per_node: int) -> str:
    """Write what plays GPUs and an item that sleeps on one; return the setup of a task."""
    played_gpus.play_gpus(folder / "nvml", name="Fake GPU", count=per_node)
    rubric = json.loads(COURSE["rubrics/tiny.yaml"])
    (folder / "sleeps").mkdir()
    item = {"id": "sleeps", "title": "it sleeps", "points": 1, "check": "sleeps", "seconds": seconds}
    rubric["items"].append(item | {"folder": str(folder / "sleeps"), "devices": {"gpu": 1}})
    rubric["points"] += 1
    COURSE["rubrics/tiny.yaml"] = json.dumps(rubric)
    COURSE["assignments/tiny/assignment.py"] = KIND
    return f"export PYTHONPATH={ROOT}:{folder}/nvml LD_LIBRARY_PATH={folder}/nvml"


def write_utils(folder: Path, students: int) -> None:
    """Put copies of submissions of `cdp_hw1` beside a link to the course."""
    (folder / "course").symlink_to(ROOT)
    (folder / "class").mkdir()
    for number in range(students):
        source = ROOT / "submissions" / f"{class_speed.VARIANTS[number % len(class_speed.VARIANTS)]}.tar.gz"
        shutil.copyfile(source, folder / "class" / f"s{number:05d}.tar.gz")


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


def results_folder(folder: Path, engine: str, submissions: str) -> Path:
    """Return where the results of the class, or of a few submissions of it, are by an engine."""
    return folder / (engine if submissions == "class" else f"{engine}_few")


def command(folder: Path, engine: str, submissions: str = "class") -> list[str]:
    """Return the command that grades the class, or a few submissions of it, by an engine."""
    out = results_folder(folder, engine, submissions)
    rubric = UTILS if (folder / "course").is_symlink() else "tiny"
    return [
        *(sys.executable, "-P", "-m", "grader", "--course", str(folder / "course")),
        *("run", str(folder / submissions), "--out", str(out), "--engine", engine),
        *("--gradebook", str(out.with_suffix(".db")), "--rubric", rubric),
    ]


def results(folder: Path, engine: str) -> dict[str, object]:
    """Return what evidence and scores say of each student, but for times and seeds."""
    students: dict[str, object] = {}
    for place in sorted((folder / engine).glob("*/s*")):
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
    assignment = "cdp_hw1" if (folder / "course").is_symlink() else "tiny"
    export = [
        *(sys.executable, "-P", "-m", "grader", "--course", str(folder / "course"), "export", "csv"),
        *(assignment, "--gradebook", str(folder / f"{engine}.db")),
    ]
    done = subprocess.run(export, env=environment, capture_output=True, text=True, check=True)
    rows = csv.DictReader(done.stdout.splitlines())
    return sorted(str({name: value for name, value in row.items() if name != "Scored at"}) for row in rows)


class SlurmNodes:
    """Three nodes of Slurm with 4 GPUs each."""

    nodes = 3
    faults = ("host", "node", "host", "controller")

    def __init__(self, folder: Path, gpus: int) -> None:
        del gpus  # it has them in any case
        self.cluster = slurm_cluster.Cluster(folder / "slurm_daemons")
        self.environment = self.cluster.environment

    def inside(self, *words: str) -> list[str]:
        """Return a command as it is: daemons listen on loopback."""
        return [*words]

    def cause(self, fault: str) -> None:
        """Break something."""
        if fault == "node":
            self.cluster.lose_node("n2")
        else:
            self.cluster.stop_controller()
            self.cluster.start_controller()

    def left(self) -> list[str]:
        """Return what still waits or runs."""
        return self.cluster.queue()

    def close(self) -> None:
        """Stop the daemons."""
        self.cluster.__exit__(None, None, None)


class RayNodes:
    """Two nodes of Ray with 2 cores each, or with half of the GPUs and as many cores."""

    nodes = 2
    faults = ("host", "node", "host", "worker")

    def __init__(self, folder: Path, gpus: int) -> None:
        del folder
        self.cluster = RayCluster(gpus=gpus, cores=max(2, gpus))
        self.environment = self.cluster.environment
        self.inside = self.cluster.inside

    def cause(self, fault: str) -> None:
        """Break something."""
        if fault == "node":
            self.cluster.kill_node("n2")
        else:
            self.cluster.until("a task runs", lambda: bool(self.cluster.processes("ray::grader-")))
            os.kill(self.cluster.processes("ray::grader-")[0], signal.SIGKILL)

    def left(self) -> list[str]:
        """Return what still runs."""
        self.cluster.until("all has ended", lambda: not self.cluster.processes("-m grader."))
        return []

    def close(self) -> None:
        """Kill everything."""
        self.cluster.close()


ENGINES = {"slurm": SlurmNodes, "ray": RayNodes}
Start = Callable[[], subprocess.Popen[bytes]]


class CpuTime:
    """The CPU time of this process and of all that begin below it from now on, by a control group."""

    def __init__(self) -> None:
        root = Path("/sys/fs/cgroup")
        self._is_v2 = (root / "cgroup.controllers").exists()
        self._place = (root if self._is_v2 else root / "cpuacct") / f"grader_benchmark_{os.getpid()}"
        self._place.mkdir()
        (self._place / "cgroup.procs").write_text(str(os.getpid()))

    def seconds(self) -> float:
        """Return what was used until now."""
        if self._is_v2:
            return int((self._place / "cpu.stat").read_text().split()[1]) / 1e6
        return int((self._place / "cpuacct.usage").read_text()) / 1e9


def show_idle_gpus(sleeps: Path, began: float, ended: float) -> None:
    """Print what GPUs did while they did not work, as shares of the time of all of them."""
    spans: dict[tuple[str, str], list[tuple[float, float, str]]] = {}
    for file in sleeps.iterdir():
        node, gpu, task, begun, over = file.read_text().split()
        spans.setdefault((node, gpu), []).append((float(begun), float(over), task))
    before = within = between = after = 0.0
    tasks = 0
    for of_gpu in spans.values():
        of_gpu.sort()
        before += of_gpu[0][0] - began
        after += ended - of_gpu[-1][1]
        tasks += 1
        for (_, over, task), (begun, _, next_task) in pairwise(of_gpu):
            if task == next_task:
                within += begun - over
            else:
                tasks += 1
                between += begun - over
    shares = {
        "before the first item": before,
        "between items of a task": within,
        "between tasks": between,
        "after the last item": after,
    }
    whole = GPUS * (ended - began)
    idle = ", ".join(f"{name} {100 * seconds / whole:.1f} %" for name, seconds in shares.items())
    print(f"{len(spans)} GPUs, {tasks} tasks; idle {idle}")


def break_things(
    folder: Path, engine: str, share: int, cluster: SlurmNodes | RayNodes, start: Start
) -> subprocess.Popen[bytes]:
    """Break one thing after each `share` of the submissions, and return the host that goes on."""
    began, host = time.monotonic(), start()
    for number, fault in enumerate(cluster.faults, start=1):
        done = 0
        while done < share * number and host.poll() is None:
            time.sleep(0.2)
            done = len(list(folder.glob(f"{engine}/tiny/*/score.json")))
        print(f"{time.monotonic() - began:6.1f} s: {done} graded; now the {fault}", flush=True)
        if fault == "host":
            host.kill()
            host.wait()
            host = start()
        else:
            cluster.cause(fault)
    return host


def compare_cost(
    folder: Path, engine: str, cluster: SlurmNodes | RayNodes, cpu: CpuTime, rounds: int
) -> None:
    """Grade a few submissions and then the class by an engine and by `local`, and print what each cost.

    One task runs at a time, on as many cores as `local` has. More cores than the machine has
    would share its caches.
    """
    environment = os.environ | cluster.environment
    before = cpu.seconds()
    time.sleep(IDLE_S)
    idle = (cpu.seconds() - before) / IDLE_S
    print(f"daemons that have nothing to do take {idle:.3f} cores")
    (folder / "few").mkdir()
    for archive in sorted((folder / "class").iterdir())[:FEW]:
        (folder / "few" / archive.name).symlink_to(archive)
    students = len([*(folder / "class").iterdir()])
    ratios = []
    for number in range(rounds):
        each: dict[str, float] = {}
        for name in (engine, "local") if number % 2 else ("local", engine):
            costs = []
            for submissions in ("few", "class"):
                words = command(folder, name, submissions)
                remove_results(folder, name, submissions)
                before, began = cpu.seconds(), time.monotonic()
                subprocess.run(cluster.inside(*words), env=environment, check=True, capture_output=True)
                wall_s = time.monotonic() - began
                costs.append((wall_s, cpu.seconds() - before - idle * wall_s))
            each[name] = (costs[1][1] - costs[0][1]) / (students - FEW)
            shown = ", ".join(f"{wall_s:.1f} s and {cpu_s:.1f} s of CPU" for wall_s, cpu_s in costs)
            print(f"{name}: {FEW} and {students}: {shown}; each further one {each[name]:.4f} s of CPU")
        ratios.append(each[engine] / each["local"])
        print(f"{ratios[-1]:.2f} of local; load {os.getloadavg()[0]:.1f}", flush=True)
    print(f"median of {rounds}: {statistics.median(ratios):.2f} of local")


def remove_results(folder: Path, engine: str, submissions: str) -> None:
    """Remove the results and the gradebook of an earlier round."""
    out = results_folder(folder, engine, submissions)
    shutil.rmtree(out, ignore_errors=True)
    for file in folder.glob(f"{out.name}.db*"):
        file.unlink()


def main() -> int:
    """Grade twice and compare; return the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--engine", choices=ENGINES, default="slurm")
    parser.add_argument("--students", type=int, default=300)
    parser.add_argument("--calm", action="store_true", help="nothing breaks")
    parser.add_argument("--utils", action="store_true", help="with --calm: submissions of cdp_hw1_utils")
    parser.add_argument("--rounds", type=int, default=3, help="with --calm: how often each engine grades")
    parser.add_argument("--gpu-seconds", type=float, default=0.0, help="how long each is on a GPU")
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    folder: Path = arguments.folder.absolute()
    folder.mkdir(parents=True)
    engine, seconds = arguments.engine, arguments.gpu_seconds
    per_node = GPUS // ENGINES[engine].nodes if seconds else 0
    setup = play_gpus(folder, seconds, per_node) if seconds else f"export PYTHONPATH={ROOT}"
    (write_utils if arguments.utils else write)(folder, arguments.students)
    site = folder / "site.yaml"
    settings = {"setup": setup, "cpu": {"cpus": 2, "time": "10m"}, "gpu": {"cpus": 1}}
    settings |= {"pack": arguments.students, "at_once": 1} if arguments.calm else {"pack": 8}
    site.write_text(json.dumps({"engines": {engine: settings}}))
    os.environ |= {"PYTHONPATH": str(ROOT), "GRADER_SITE": str(site)}
    environment = {**os.environ}
    cpu = CpuTime() if arguments.calm else None  # before the daemons, so that they are in it
    with closing(ENGINES[engine](folder, per_node)) as cluster:
        environment |= cluster.environment
        if cpu:
            compare_cost(folder, engine, cluster, cpu, arguments.rounds)
            return compare(folder, engine, environment, cluster.left())
        began = time.monotonic()
        with (folder / f"{engine}.log").open("w") as log:

            def start() -> subprocess.Popen[bytes]:
                words = cluster.inside(*command(folder, engine))
                return subprocess.Popen(words, env=environment, stdout=log, stderr=log)

            share = arguments.students // 6
            host = start() if seconds else break_things(folder, engine, share, cluster, start)
            code = host.wait()
        cluster_s = time.monotonic() - began
        over_at = time.time()
        left = cluster.left()
    if seconds:
        ideal_s = arguments.students * seconds / GPUS
        share = 100 * ideal_s / cluster_s
        print(f"exit {code}; {cluster_s:.1f} s, 12 GPUs alone {ideal_s:.1f} s: {share:.0f} %")
        show_idle_gpus(folder / "sleeps", over_at - cluster_s, over_at)
        print(f"{len(results(folder, engine))} submissions; load {os.getloadavg()[0]:.1f}; left: {left}")
        return code
    began = time.monotonic()
    subprocess.run(command(folder, "local"), env=environment, check=True, capture_output=True)
    local_s = time.monotonic() - began
    print(f"{engine}: exit {code}, {cluster_s:.1f} s; local: {local_s:.1f} s; load {os.getloadavg()[0]:.1f}")
    return code or compare(folder, engine, environment, left)


def compare(folder: Path, engine: str, environment: dict[str, str], left: list[str]) -> int:
    """Compare what an engine has observed with what `local` has, and return the exit code."""
    here, there = results(folder, "local"), results(folder, engine)
    differing = [student for student in here if here[student] != there.get(student)]
    rows = grades(folder, "local", environment)
    same_grades = rows == grades(folder, engine, environment)
    print(f"{len(there)} of {len(here)} submissions, {len(differing)} differ {differing[:5]}; left: {left}")
    print(f"the gradebooks {'agree' if same_grades else 'differ'} on {len(rows)} rows")
    return int(bool(differing or left or not same_grades))


if __name__ == "__main__":
    sys.exit(main())
