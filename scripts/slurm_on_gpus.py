"""Grade a small class on the GPUs of this machine by a Slurm of one node that is started for it.

    python scripts/slurm_on_gpus.py [--debs FOLDER] [--out FOLDER] [--played N] [NAME…]

Four submissions ask for one GPU each, and one for two if there are two. Their programs double numbers on
every GPU that they see. It ends with 1 unless each worker had exactly the GPUs that Slurm had granted to its
task, and each program as many. NAMEs are those of `grader verify`, which are graded afterwards.

It needs root. Where Slurm is not installed, it is unpacked from FOLDER, which holds packages of Debian 12:
slurmctld, slurmd, slurm-client, slurm-wlm-basic-plugins, munge, libmunge2, libhwloc15, and of libraries what
the machine may lack: liblz4-1, libreadline8, libnuma1, libjson-c5, libyaml-0-2, libaudit1, libcap-ng0.

With `--played N` NVML and CUDA are played, as on a machine without a GPU: then programs earn nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from grader.cuda.gpus import gpus  # noqa: E402
from tests.cuda.played_gpus import play_gpus  # noqa: E402
from tests.slurm_cluster import Cluster, missing  # noqa: E402

STUDENTS = {"one_gpu": ("ann", "bob", "cy", "dee"), "two_gpus": ("eve",)}
COUNTS = {"one_gpu": 1, "two_gpus": 2}
CORES = 4
"""Of each task, so that each GPU can have one."""
ASSIGNMENT = """
from grader.api import Assignment, hookimpl

@hookimpl
def grader_assignments():
    return [
        Assignment(
            name="{name}",
            title="On every GPU",
            accepts=("{name}.py",),
            preloads={{"{name}": ("numpy", "numba", "numba.cuda")}},
            gpu_kinds=({kinds}),
        )
    ]
"""
INPUTS = """
from grader.api import case

def numbers(rng):
    for name, size in (("small", 100), ("large", 100_000)):
        yield case(name, rng.random(size))
"""
EXPECTED = """
import numpy as np

def double(numbers):
    return np.stack([numbers + numbers] * {count})
"""
PROGRAM = """
import numpy as np
from numba import cuda


@cuda.jit
def double_kernel(numbers, result):
    place = cuda.grid(1)
    if place < result.size:
        result[place] = 2.0 * numbers[place]


def double(numbers):
    rows = []
    for gpu in cuda.gpus:
        with gpu:
            result = cuda.device_array(numbers.shape, numbers.dtype)
            double_kernel[-(-numbers.size // 128), 128](cuda.to_device(numbers), result)
            rows.append(result.copy_to_host())
    return np.stack(rows)
"""


def unpack(folder: Path) -> None:
    """Give this machine what packages hold below /usr and /lib, but nothing in place of a file that is there.

    Unpacked into / their folder /lib could take the place of a link. What the packages' scripts would link
    (update-alternatives) is linked here.
    """
    with TemporaryDirectory() as staging:
        for package in sorted(folder.glob("*.deb")):
            subprocess.run(["dpkg", "-x", package, staging], check=True)
        for below, target in (("usr", Path("/usr")), ("lib", Path("/usr/lib"))):
            source = Path(staging) / below
            for file in sorted(source.rglob("*")):
                place = target / file.relative_to(source)
                if file.is_dir():
                    place.mkdir(exist_ok=True)
                elif not (place.exists() or place.is_symlink()):
                    shutil.copy2(file, place, follow_symlinks=False)
    for name in ("slurmctld", "slurmd", "slurmstepd"):
        link, program = Path("/usr/sbin", name), Path("/usr/sbin", f"{name}-wlm")
        if program.exists() and not link.exists():
            link.symlink_to(program)
    subprocess.run(["ldconfig"], check=True)


def write_class(folder: Path, names: Sequence[str], kinds: Sequence[str]) -> list[str]:
    """Write a course of these assignments and the submissions to them, and return the folders of these."""
    submissions = []
    for name in names:
        count = COUNTS[name]
        rubric = {
            "schema": 1,
            "assignment": name,
            "points": 1,
            "items": [
                {
                    "id": "double",
                    "title": "it doubles on every GPU",
                    "points": 1,
                    "check": "matches_reference",
                    "of": f"{name}.double",
                    "inputs": "numbers",
                    "devices": {"gpu": count},
                }
            ],
        }
        shown = "".join(f"{kind!r}, " for kind in kinds)
        files = {
            "course.yaml": "title: A class on GPUs\n",
            f"assignments/{name}/assignment.py": ASSIGNMENT.format(name=name, kinds=shown),
            f"assignments/{name}/inputs.py": INPUTS,
            f"assignments/{name}/expected.py": EXPECTED.format(count=count),
            f"assignments/{name}/reference/{name}.py": PROGRAM,
            f"rubrics/{name}.yaml": json.dumps(rubric),
        }
        for file, text in files.items():
            path = folder / "course" / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        for student in STUDENTS[name]:
            place = folder / "class" / student
            place.mkdir(parents=True)
            (place / f"{name}.py").write_text(f"# {student}\n{PROGRAM}")
            submissions.append(str(place))
    return submissions


def granted_uuids(file: Path, uuids: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the GPUs that Slurm granted to each task, by the numbers that it gave."""
    lines = file.read_text().splitlines() if file.exists() else []
    return [tuple(uuids[int(number)] for number in line.split(",")) for line in lines if line]


def compare(results: Path, granted: Sequence[tuple[str, ...]], *, earns: bool) -> bool:
    """Print the GPUs of each run beside those granted; tell whether all is right, and points are earned."""
    right, runs = True, list[tuple[str, ...]]()
    for file in sorted(results.glob("*/*/evidence.jsonl")):
        card = json.loads((file.parent / "score.json").read_text())
        points = sum(item["points"] for item in card["items"])
        right &= points == 1 or not earns
        for line in map(json.loads, file.read_text().splitlines()):
            if line["record"] == "run":
                names = tuple(gpu["uuid"] for gpu in line["run"]["environment"].get("gpus", ()))
                count = COUNTS[file.parent.parent.name]
                runs.append(names)
                right &= len(names) == count
                print(
                    f"{file.parent.name}: asked for {count}, its worker saw {len(names)} "
                    f"({', '.join(names)}); {points:g} of 1 points"
                )
    same = Counter(map(frozenset, runs)) == Counter(map(frozenset, granted))
    print(f"Slurm granted, task by task: {[len(names) for names in granted]}; the same GPUs: {same}")
    return right and same and bool(runs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Devices:
    """GPUs of this machine, in the order in which NVML and CUDA count them."""

    uuids: Sequence[str]
    nodes: Sequence[str]
    """Their files."""
    kinds: Sequence[str]
    """Words of their names, such as H100."""
    variables: Mapping[str, str]
    """What a task exports besides."""


def real_devices() -> Devices:
    """Return the GPUs that the driver has."""
    kinds = {gpu.name.removeprefix("NVIDIA ").split()[0] for gpu in gpus()}
    return Devices(
        uuids=[gpu.uuid for gpu in gpus()],
        nodes=[gpu.node for gpu in gpus()],
        kinds=sorted(kinds),
        variables={},
    )


def played_devices(folder: Path, count: int) -> Devices:
    """Return GPUs that are played by a module for NVML and a library for CUDA."""
    played = play_gpus(folder, name="NVIDIA H100 80GB HBM3", count=count)
    return Devices(
        uuids=[f"GPU-n1-{number}" for number in range(count)],
        nodes=["/dev/null"] * count,
        kinds=["H100"],
        variables={"PYTHONPATH": str(played), "LD_LIBRARY_PATH": str(played)},
    )


def exported(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of a task: those of this process that programs need, and others before them."""
    names = ("PYTHONPATH", "PATH", "LD_LIBRARY_PATH", "GRADER_LEASES", "GRADER_CACHE")
    values = {name: os.environ[name] for name in names if name in os.environ}
    values["PYTHONPATH"] = f"{ROOT}:{values.get('PYTHONPATH', '')}".rstrip(":")
    return values | {name: f"{value}:{values.get(name, '')}".rstrip(":") for name, value in variables.items()}


def main() -> int:
    """Return the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--debs", type=Path, default=ROOT / ".debs")
    parser.add_argument("--out", type=Path, default=Path(os.environ.get("OUT", "/tmp"), "slurm_on_gpus"))
    parser.add_argument("--played", type=int, default=0, metavar="N")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    began = time.monotonic()
    if missing():
        unpack(arguments.debs)
    if lacking := missing():
        print(lacking)
        return 1
    out: Path = arguments.out.absolute()
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    devices = played_devices(out / "played", arguments.played) if arguments.played else real_devices()
    if not devices.nodes:
        print("no GPU here")
        return 1
    # the numbers of devices in a container need not begin with 0, as those do that NVML and CUDA give
    links = [out / f"nvidia{number}" for number in range(len(devices.nodes))]
    for link, node in zip(links, devices.nodes, strict=True):
        link.symlink_to(node)
    granted, variables = out / "granted", exported(devices.variables)
    exports = [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]
    settings = {
        "folder": str(out / "orders"),
        "setup": "\n".join([*exports, f'echo "$CUDA_VISIBLE_DEVICES" >>{granted}']),
        "cpu": {"cpus": 2},
        "gpu": {"cpus": CORES, "kinds": dict.fromkeys(devices.kinds, "gpu:real")},
        "pack": 1,
    }
    site = out / "site.yaml"
    site.write_text(json.dumps({"engines": {"slurm": settings}}))
    names = [name for name, count in COUNTS.items() if count <= len(links)]
    submissions = write_class(out, names, devices.kinds)
    cores = max(CORES * len(links), os.cpu_count() or 1)
    with Cluster(out / "daemons", kind="real", devices=[*map(str, links)], cores=cores) as cluster:
        environment = os.environ | cluster.environment | variables | {"GRADER_SITE": str(site)}

        def grader(course: Path, command: str, *words: str) -> int:
            line = [sys.executable, "-P", "-m", "grader", "--course", str(course), command]
            code = subprocess.run(
                [*line, "--engine", "slurm", *words], env=environment, check=False
            ).returncode
            print(f"[{time.monotonic() - began:.0f} s] {command} ended with {code}", flush=True)
            return code

        doctor = grader(out / "course", "doctor")
        granted.unlink(missing_ok=True)
        codes = [grader(out / "course", "run", "--out", str(out / "results"), *submissions)]
        print(cluster.call("squeue", "--states=all", "--noheader", "--format=%j %K %T %b %C").rstrip())
        right = compare(out / "results", granted_uuids(granted, devices.uuids), earns=not arguments.played)
        if arguments.names:
            codes.append(grader(ROOT, "verify", "--out", str(out / "verified"), *arguments.names))
    right &= not any(codes)
    word = "RIGHT" if right else "WRONG"
    print(f"{word}: {len(links)} GPUs {devices.kinds}; commands ended with {codes}, doctor with {doctor}")
    return int(not right)


if __name__ == "__main__":
    sys.exit(main())
