"""Grade on the GPUs of this machine by a Slurm of one node that is started for it.

    python scripts/slurm_on_gpus.py [--debs FOLDER] [--out FOLDER] [NAME…]

NAMEs are those of `grader verify`. It needs root. FOLDER holds the packages of Debian that make Slurm
(`slurm-wlm`, `slurmctld`, `slurmd`, `slurm-client`, `slurm-wlm-basic-plugins`, `munge`, `libmunge2`,
`libhwloc15`, `liblua5.1-0`), which are unpacked where it is missing. It ends with 1 if a submission does not
earn what it must, or a run had no GPU that was granted to it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.slurm_cluster import Cluster, missing  # noqa: E402

NAMES = ("using_gpus/reference", "gpu_square_block", "gpu_slow")


def main() -> int:
    """Return the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--debs", type=Path, default=ROOT / ".debs")
    parser.add_argument("--out", type=Path, default=Path(os.environ.get("OUT", "/tmp/slurm_on_gpus")))
    parser.add_argument("names", nargs="*", default=NAMES)
    arguments = parser.parse_args()
    if missing():
        for package in sorted(arguments.debs.glob("*.deb")):
            subprocess.run(["dpkg", "-x", package, "/"], check=True)
        subprocess.run(["ldconfig"], check=True)
    if lacking := missing():
        print(lacking)
        return 1
    out: Path = arguments.out.absolute()
    out.mkdir(parents=True, exist_ok=True)
    daemons = out / "daemons"
    shutil.rmtree(daemons, ignore_errors=True)
    devices = sorted(str(file) for file in Path("/dev").iterdir() if re.fullmatch(r"nvidia\d+", file.name))
    variables = ("PYTHONPATH", "PATH", "LD_LIBRARY_PATH", "GRADER_LEASES", "GRADER_CACHE")
    paths = {name: os.environ[name] for name in variables if name in os.environ}
    paths["PYTHONPATH"] = f"{ROOT}:{paths.get('PYTHONPATH', '')}".rstrip(":")
    setup = "\n".join(f"export {name}='{value}'" for name, value in paths.items())
    site = out / "site.yaml"
    slurm = {
        "folder": str(out / "orders"),
        "setup": setup,
        "cpu": {"cpus": 2},
        "gpu": {"cpus": min(4, os.cpu_count() or 1)},
    }
    site.write_text(json.dumps({"engines": {"slurm": slurm}}))
    grader = [sys.executable, "-P", "-m", "grader", "--course", str(ROOT)]
    with Cluster(daemons, kind="real", devices=devices, cores=os.cpu_count() or 8) as cluster:
        environment = os.environ | cluster.environment | paths | {"GRADER_SITE": str(site)}
        codes = [
            subprocess.run([*grader, "doctor", "--engine", "slurm"], env=environment, check=False).returncode
        ]
        verify = [*grader, "verify", "--engine", "slurm", "--out", str(out / "results"), *arguments.names]
        codes.append(subprocess.run(verify, env=environment, check=False).returncode)
        print(
            *cluster.call("squeue", "--states=all", "--noheader", "--format=%j %K %T %b %C").splitlines(),
            sep="\n",
        )
    wrong = 0
    for file in sorted((out / "results").glob("**/evidence.jsonl")):
        for line in map(json.loads, file.read_text().splitlines()):
            if line["record"] == "run" and "gpus" in line["run"]["environment"]:
                names = [gpu["uuid"] for gpu in line["run"]["environment"]["gpus"]]
                print(f"{file.parent.name}: {len(names)} GPUs: {', '.join(names)}")
                wrong += not names
    print(f"{len(devices)} GPUs here; doctor and verify ended with {codes}")
    return int(any(codes) or bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
