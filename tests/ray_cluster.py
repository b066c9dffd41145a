"""A Ray of two nodes beside a head without room, in a network namespace; everything of it is in one folder.

It needs root, `unshare` and `nsenter` of util-linux, and Ray. Nodes are raylets of this machine.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

NODES = ("n1", "n2")
CORES = 2
HEAD = "127.0.0.1:6390"
STORE_BYTES = 80_000_000
WITHIN_S = 120.0
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1


def missing() -> str:
    """Say what is not there to start one; empty if all is."""
    if os.geteuid() != 0:
        return "a cluster in a network namespace is started by root"
    if programs := [name for name in ("unshare", "nsenter") if not shutil.which(name)]:
        return f"{', '.join(programs)} not installed (apt install util-linux)"
    return "" if find_spec("ray") else "Ray is not installed (the extra `ray`)"


class RayCluster:
    """Its processes, until it is closed: all those in its namespace."""

    def __init__(
        self, python_path: str = "", kinds: Sequence[str] = (), gpus: int = 0, cores: int = CORES
    ) -> None:
        """Start a head and nodes; with `kinds`, each node has so many GPUs of one of these."""
        self.folder = Path(tempfile.mkdtemp(prefix="ray-"))  # its sockets' names must be short
        self.gpus, self.cores = gpus, cores
        self.temporary = self.folder / "tmp"
        """The folder for temporary files on its nodes."""
        self.temporary.mkdir()
        self.environment = {
            "RAY_ADDRESS": HEAD,
            "RAY_AUTH_MODE": "disabled",
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_health_check_period_ms": "500",
            "RAY_health_check_timeout_ms": "2000",
            "RAY_health_check_failure_threshold": "3",
        }
        self._python_path = python_path
        self._kinds = dict(zip(NODES, kinds, strict=True)) if kinds else {}
        holder = f"import sys; sys.path.insert(0, {str(Path(__file__).parent.parent)!r}); "
        holder += "from tests.ray_cluster import hold; hold()"
        self._holder = subprocess.Popen(
            ["unshare", "--net", sys.executable, "-P", "-c", holder], stdout=subprocess.PIPE
        )
        assert self._holder.stdout
        assert self._holder.stdout.readline() == b"up\n"
        try:
            self._start("--head", "--port=6390", "--include-dashboard=false", "--num-cpus=0", name="head")
            for node in NODES:
                self.start_node(node)
        except BaseException:
            self.close()
            raise

    def inside(self, *command: str) -> list[str]:
        """Return the command that runs another one in the cluster's network."""
        return ["nsenter", f"--net=/proc/{self._holder.pid}/ns/net", "--", *command]

    def start_node(self, name: str) -> None:
        """Start a node, also again after `kill_node`, with GPUs of the same kind."""
        kind = self._kinds.get(name)
        resources = {f"accelerator_type:{kind}": 1} if kind else {}
        self._start(
            *(f"--address={HEAD}", f"--num-cpus={self.cores}", f"--num-gpus={self.gpus}"),
            f"--resources={json.dumps(resources)}",
            name=name,
        )

    def _start(self, *arguments: str, name: str) -> None:
        temporary = [f"--temp-dir={self.folder}"] if "--head" in arguments else []
        done = subprocess.run(
            self.inside(
                *(sys.executable, "-P", "-m", "ray.scripts.scripts", "start", *arguments, *temporary),
                *("--node-ip-address=127.0.0.1", f"--node-name={name}", "--disable-usage-stats"),
                f"--object-store-memory={STORE_BYTES}",
            ),
            env={
                name: value
                for name, value in (os.environ | self.environment).items()
                if name not in {"RAY_ADDRESS", "PYTHONPATH"}
            }
            | {"TMPDIR": str(self.temporary)}
            | ({"PYTHONPATH": self._python_path} if self._python_path else {}),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=WITHIN_S,
            check=False,
        )
        assert done.returncode == 0, done.stdout.decode()

    def processes(self, *words: str) -> list[int]:
        """Return the processes in the cluster's network whose command has all of these words."""
        network = os.stat(f"/proc/{self._holder.pid}/ns/net").st_ino  # noqa: PTH116 - not a file
        numbers = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and int(entry.name) != self._holder.pid:
                with suppress(OSError):
                    command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                    if (entry / "ns" / "net").stat().st_ino == network and all(w in command for w in words):
                        numbers.append(int(entry.name))
        return numbers

    def alive(self) -> set[str]:
        """Return the names of the nodes whose raylets run."""
        return {node for node in NODES if self.processes("raylet/raylet", f"--node-name={node}")}

    def kill_node(self, name: str) -> None:
        """Kill what a node consists of: its raylet, whose workers end with it."""
        (raylet,) = self.processes("raylet/raylet", f"--node-name={name}")
        os.kill(raylet, signal.SIGKILL)

    def kill_head(self) -> None:
        """Kill the process that knows of nodes and actors."""
        for number in self.processes("gcs/gcs_server"):
            os.kill(number, signal.SIGKILL)

    def until(self, what: str, is_so: Callable[[], bool]) -> None:
        """Wait until something is so."""
        ends = time.monotonic() + WITHIN_S
        while not is_so():
            assert time.monotonic() < ends, f"not within {WITHIN_S:g} s: {what}"
            time.sleep(0.05)

    def close(self) -> None:
        """Kill all processes in the namespace, and remove the folder."""
        while numbers := self.processes():
            for number in numbers:
                with suppress(ProcessLookupError):
                    os.kill(number, signal.SIGKILL)
            time.sleep(0.05)
        self._holder.kill()
        self._holder.communicate()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> RayCluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def hold() -> None:
    """Bring up the loopback device, say so, and keep the namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sh14x", b"lo", 0)
        (flags,) = struct.unpack("16xh14x", fcntl.ioctl(control, SIOCGIFFLAGS, request))
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | IFF_UP))
    sys.stdout.write("up\n")
    sys.stdout.flush()
    signal.pause()
