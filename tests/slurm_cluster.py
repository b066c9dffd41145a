"""A Slurm of three nodes on loopback, with four fake GPUs each; everything of it is in one folder.

    python -m tests.slurm_cluster FOLDER     starts one, prints how to use it, and stops it at Ctrl-C

It needs root, and the packages `slurm-wlm` and `munge` of Debian.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

NODES = ("n1", "n2", "n3")
GPUS = 4
CORES = 4
WITHIN_S = 60.0
_NULL = 1, 3
"""The numbers of /dev/null: Slurm takes character devices only."""

CONF = """
ClusterName=loopback
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
CommunicationParameters=NoAddrCache,NoInAddrAny,NoCtldInAddrAny
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=sched_min_interval=0,requeue_delay=5
GresTypes=gpu
ReturnToService=2
SlurmctldTimeout=30
SlurmdTimeout=30
InactiveLimit=0
MinJobAge={min_job_age}
KillWait=5
MaxArraySize={max_array}
SlurmdParameters=config_overrides
NodeName=n[1-{nodes}] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{first}-{last}] CPUs={cores} Boards=1 \
SocketsPerBoard=1 CoresPerSocket={cores} ThreadsPerCore=1 RealMemory=4000 Gres=gpu:{kind}:{gpus} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=60 State=UP
"""


def missing() -> str:
    """Say what is not there to start one; empty if all is."""
    if os.geteuid() != 0:
        return "a cluster on loopback is started by root"
    programs = [name for name in ("munged", "slurmctld", "slurmd", "sbatch") if not shutil.which(name)]
    return f"{', '.join(programs)} not installed (apt install slurm-wlm munge)" if programs else ""


class Cluster:
    """Its daemons, until it is closed."""

    def __init__(
        self,
        folder: Path,
        *,
        kind: str = "fake",
        devices: Sequence[str] = (),
        cores: int = CORES,
        max_array: int = 1001,
        min_job_age: int = 300,
        more: str = "",
    ) -> None:
        """Start it; with `devices`, the files of real GPUs, it has one node with these.

        `more` is more lines of slurm.conf, such as partitions.
        """
        self.nodes = NODES[:1] if devices else NODES
        self.folder = folder
        self.conf = folder / "slurm.conf"
        self.environment = {"SLURM_CONF": str(self.conf)}
        self._daemons: dict[str, subprocess.Popen[bytes]] = {}
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("state", "spool", "dev", *(f"spool/{node}" for node in self.nodes)):
            (folder / name).mkdir()
        for number in range(0 if devices else GPUS):
            os.mknod(folder / "dev" / f"nvidia{number}", 0o666 | 0o020000, os.makedev(*_NULL))
        key = folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        ports = _free_ports(2 + len(self.nodes))
        self.conf.write_text(
            more
            + CONF.format(
                folder=folder,
                ports=ports,
                host=socket.gethostname().partition(".")[0],
                first=ports[2],
                last=ports[-1],
                nodes=len(self.nodes),
                cores=cores,
                gpus=len(devices) or GPUS,
                kind=kind,
                max_array=max_array,
                min_job_age=min_job_age,
            )
        )
        # nothing is confined; slurmd would look which cgroups there are, and a container may have none
        (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
        (folder / "gres.conf").write_text(
            f"AutoDetect=off\nNodeName=n[1-{len(self.nodes)}] Name=gpu Type={kind} "
            f"File={','.join(devices) or f'{folder}/dev/nvidia[0-{GPUS - 1}]'}\n"
        )
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    def _start(self) -> None:
        folder, munge = self.folder, self.folder / "munge"
        self._begin(
            "munged",
            *("munged", "--foreground", "--force", f"--socket={munge}.socket", f"--key-file={munge}.key"),
            *(f"--pid-file={munge}.pid", f"--seed-file={munge}.seed", f"--log-file={munge}.log"),
        )
        self._until("munged is there", (folder / "munge.socket").exists)
        self.start_controller()
        for node in self.nodes:
            self.start_node(node)
        self._until("its nodes are idle", lambda: self.states() == dict.fromkeys(self.nodes, "idle"))

    def close(self) -> None:
        """End all jobs, then the daemons."""
        if "slurmctld" in self._daemons:
            with suppress(subprocess.CalledProcessError, subprocess.TimeoutExpired):
                self.cancel_all()
        for daemon in reversed(self._daemons.values()):
            daemon.terminate()
        for daemon in self._daemons.values():
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def call(self, *command: str) -> str:
        """Run one of Slurm's commands, and return what it prints."""
        return subprocess.run(
            command,
            env=os.environ | self.environment,
            check=True,
            capture_output=True,
            text=True,
            timeout=60,
        ).stdout

    def states(self) -> Mapping[str, str]:
        """Return the states of the nodes."""
        try:
            lines = self.call("sinfo", "--noheader", "--Node", "--format=%N %T").splitlines()
        except subprocess.CalledProcessError:
            return {}
        return dict(line.split() for line in lines)

    def queue(self) -> list[str]:
        """Return the jobs that wait or run: name, task, state, node, reason."""
        return self.call("squeue", "--noheader", "--array", "--format=%j %K %T %N %r").splitlines()

    def cancel_all(self) -> None:
        """Cancel every job, and wait until none is left."""
        self.call("scancel", "--user=root")
        self._until("all jobs are gone", lambda: not self.queue())

    def start_controller(self) -> None:
        """Start slurmctld, also again after `stop_controller`."""
        self._begin("slurmctld", "slurmctld", "-D", "-f", str(self.conf))
        self._until("the controller answers", lambda: len(self.states()) == len(self.nodes))

    def stop_controller(self) -> None:
        """Stop it in order: one that is killed forgets what it has not saved yet, and drains nodes."""
        controller = self._daemons.pop("slurmctld")
        controller.terminate()
        controller.wait()

    def start_node(self, node: str) -> None:
        """Start the daemon of a node, also again after `lose_node`."""
        self._begin(f"slurmd {node}", "slurmd", "-D", "-N", node, "-f", str(self.conf))

    def lose_node(self, node: str) -> None:
        """Kill its daemon and have it down; what it started goes on running, as where a network fails."""
        self._kill(f"slurmd {node}")
        self.call("scontrol", "update", f"nodename={node}", "state=down", "reason=lost")

    def begin_now(self) -> None:
        """Have jobs that were put back begin, which otherwise wait for two minutes."""
        self._until("a job was put back", lambda: any("BeginTime" in line for line in self.queue()))
        for job in self.call("squeue", "--noheader", "--array", "--states=PENDING", "--format=%A").split():
            self.call("scontrol", "update", f"jobid={job}", "starttime=now")

    def revive_node(self, node: str) -> None:
        """Have a lost node back."""
        self.start_node(node)
        self.call("scontrol", "update", f"nodename={node}", "state=resume")
        self._until(f"{node} is idle", lambda: self.states().get(node) == "idle")

    def _begin(self, name: str, *command: str) -> None:
        log = (self.folder / f"{name.replace(' ', '.')}.out").open("ab")
        with log:
            self._daemons[name] = subprocess.Popen(
                command, env=os.environ | self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def _kill(self, name: str) -> None:
        daemon = self._daemons.pop(name)
        daemon.kill()
        daemon.wait()

    def _until(self, what: str, is_so: Callable[[], bool]) -> None:
        ends = time.monotonic() + WITHIN_S
        while not is_so():
            assert time.monotonic() < ends, f"not within {WITHIN_S:g} s: {what}; see {self.folder}"
            time.sleep(0.1)


def _free_ports(count: int) -> list[int]:
    """Find consecutive ports that nobody listens to."""
    while True:
        with ExitStack() as sockets:
            first = sockets.enter_context(socket.socket())
            first.bind(("127.0.0.1", 0))
            port = first.getsockname()[1]
            with suppress(OSError, OverflowError):
                for number in range(1, count):
                    sockets.enter_context(socket.socket()).bind(("127.0.0.1", port + number))
                return list(range(port, port + count))


def main() -> None:
    """Start one, and stop it at Ctrl-C or SIGTERM."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with Cluster(Path(sys.argv[1]).absolute()) as cluster, suppress(KeyboardInterrupt):
        sys.stdout.write(f"export SLURM_CONF={cluster.conf}\n")
        sys.stdout.flush()
        signal.pause()


if __name__ == "__main__":
    main()
