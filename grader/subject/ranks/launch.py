"""Starts a program of several processes and watches it; reports how each rank ended, or its stack."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ..usage_watch import ToolLimit
from . import torchrun
from .boot import COUNT, FOLDER, LAUNCHER, MAIN, SIGNAL
from .processes import Standstill, lives, others
from .stacks import main_thread, place

LOOK_EVERY_S = 0.1
ANSWER_WITHIN_S = 2.0
"""How long a process may take to write its stack."""
ENDED, LATE, BLOCKED, MISSING = "ended", "late", "blocked", "missing"

_HERE = os.path.dirname(__file__)
_MODULES = {"sitecustomize.py": "boot.py", "grader_ranks.py": "grader_ranks.py"}


def _read_text(name: str) -> str:
    with open(f"{_HERE}/{name}", encoding="utf-8") as file:
        return file.read()


# now: where a program runs our own files are out of sight
_TEXTS = {name: _read_text(source) for name, source in _MODULES.items()}


class RankLauncher:
    """One launch of one program."""

    def __init__(self, order: Mapping[str, Any], folders: Sequence[str]) -> None:
        """`order` is that of `run`; `folders` hold the files, the course's own before the submission's."""
        self._order = order
        self._count: int = order["processes"]
        temporary = tempfile.gettempdir()
        self._root, self._folder = f"{temporary}/run", f"{temporary}/ranks"
        for source in reversed(folders):
            shutil.copytree(source, self._root, dirs_exist_ok=True)
        os.makedirs(f"{self._folder}/inputs")
        os.mkdir(f"{self._folder}/python")
        for name, text in _TEXTS.items():
            with open(f"{self._folder}/python/{name}", "w", encoding="utf-8") as file:
                file.write(text)
        for name, value in order["inputs"].items():
            np.save(f"{self._folder}/inputs/{name}.npy", np.asarray(value), allow_pickle=False)
        os.chdir(self._root)

    def run(self) -> dict[str, Any]:
        """Start it and wait: return `how` it ended, `wall_s`, output of the `launcher`, a record per rank."""
        begun = time.monotonic()
        if not os.path.isfile(self._order["file"]):
            return {"how": MISSING}
        watched = Standstill(self._order["blocked_s"])
        limit = ToolLimit(self._order["within_s"])
        launcher = self._start()
        how, status = self._watch(launcher, watched, limit)
        now = time.monotonic()
        names = [MAIN] if self._order["launcher"] == "spawn" else []
        pids = {name: self._record(name, "process").get("pid", 0) for name in [*names, *self._ranks]}
        alive = [name for name, pid in pids.items() if pid and lives(pid)] if how != ENDED else []
        self._ask({name: pids[name] for name in alive})
        statuses = self._record("", "statuses") | ({MAIN: status} if names else {})
        reports = {
            name: {
                **self._report(name, begun, alive=name in alive),
                "status": statuses.get(name),
                "still_s": watched.still_s(pids[name]),
            }
            for name in pids
        }
        return {
            "how": how,
            "wall_s": now - begun,
            "status": status,
            "launcher": self._printed("launcher.out"),
            "main": reports.pop(MAIN, None),
            "ranks": [reports[name] for name in self._ranks],
        }

    @property
    def _ranks(self) -> list[str]:
        return [str(rank) for rank in range(self._count)]

    def _start(self) -> int:
        """Start the launcher, or the program that is its own; its pid."""
        order = self._order
        sites = [
            path for path in sys.path if path.endswith(("site-packages", "dist-packages")) or _mounted(path)
        ]
        environment = {
            "PYTHONPATH": ":".join([f"{self._folder}/python", *sites]),
            "PYTHONUNBUFFERED": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONNOUSERSITE": "1",
            "PYTHONFAULTHANDLER": "1",
            # there is nothing else, and looking for it takes time
            "GLOO_SOCKET_IFNAME": "lo",
            "NCCL_SOCKET_IFNAME": "lo",
            FOLDER: self._folder,
            LAUNCHER: order["launcher"],
            COUNT: str(self._count),
            **order["environment"],
        }
        program = [f"{self._root}/{order['file']}", *order["arguments"]]
        if order["launcher"] == "torchrun":
            pid = os.fork()
            if pid == 0:
                count = f"--nproc-per-node={self._count}"
                torchrun.run(["--standalone", count, *program], environment, self._folder)
            return pid
        with open(f"{self._folder}/launcher.out", "w") as output:
            self._main = subprocess.Popen(
                [sys.executable, *program],
                env={**os.environ, **environment},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
            return self._main.pid

    def _watch(self, launcher: int, watched: Standstill, limit: ToolLimit) -> tuple[str, int | None]:
        """Wait until it has ended, is late or is blocked; return which, and the launcher's exit status."""
        ignored_pids = [launcher] if self._order["launcher"] == "torchrun" else []
        while True:
            ended, status = os.waitpid(launcher, os.WNOHANG)
            if ended:
                return ENDED, os.waitstatus_to_exitcode(status)
            watched.look(time.monotonic(), others(ignored_pids))
            if watched.blocked():
                return BLOCKED, None
            if limit.is_over():
                return LATE, None
            time.sleep(LOOK_EVERY_S)

    def _ask(self, pids: Mapping[str, int]) -> None:
        """Signal these processes to write their stacks."""
        for pid in pids.values():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, SIGNAL)
        deadline = time.monotonic() + ANSWER_WITHIN_S
        sizes: dict[str, int] = {}
        while time.monotonic() < deadline:
            before, sizes = sizes, {name: self._size(f"{name}.stack") for name in pids}
            if sizes == before and all(sizes.values()):
                return
            time.sleep(LOOK_EVERY_S / 2)

    def _size(self, name: str) -> int:
        with suppress(OSError):
            return os.stat(f"{self._folder}/{name}").st_size
        return 0

    def _report(self, name: str, begun: float, *, alive: bool) -> dict[str, Any]:
        """Return what is known of one process."""
        process, end = self._record(name, "process"), self._record(name, "end")
        at = end.get("at")
        error = end.get("error")
        report: dict[str, Any] = {
            "began": bool(process),
            "alive": alive,
            "ended_s": at - begun if isinstance(at, float) else None,
            "own_status": end.get("status"),
            "error": None,
            "stands": None,
            "stack": "",
            "output": self._printed(f"{name}.out"),
            "complaints": self._printed(f"{name}.err"),
            "values": self._values(f"{name}.values"),
        }
        if isinstance(error, dict):
            report["error"] = {
                "type": str(error.get("type")),
                "text": str(error.get("text")),
                "stands": place(error.get("frames", ()), self._root),
            }
        if alive:
            report["stack"] = self._printed(f"{name}.stack").replace(f"{self._root}/", "")
            frames = main_thread(self._printed(f"{name}.stack"), process.get("thread", 0))
            report["stands"] = place(frames, self._root)
        return report

    def _record(self, name: str, what: str) -> dict[str, Any]:
        with suppress(OSError, ValueError), open(f"{self._folder}/{name}{'.' * bool(name)}{what}") as file:
            record = json.loads(file.read(2**20))
            if isinstance(record, dict):
                return record
        return {}

    def _printed(self, name: str) -> str:
        """Return head and tail of a file."""
        half = max(1, self._order["output_bytes"] // 2)
        try:
            with open(f"{self._folder}/{name}", "rb") as file:
                head = file.read(2 * half)
                size = os.fstat(file.fileno()).st_size
                if size <= 2 * half:
                    return head.decode(errors="replace")
                file.seek(size - half)
                gap = f"\n… {size - 2 * half} bytes left out …\n".encode()
                return (head[:half] + gap + file.read(half)).decode(errors="replace")
        except OSError:
            return ""

    def _values(self, name: str) -> dict[str, Any]:
        """Return what a rank has reported, without what cannot be read."""
        values: dict[str, Any] = {}
        with suppress(OSError):
            for file in sorted(os.listdir(f"{self._folder}/{name}")):
                if file.endswith(".npy"):
                    with suppress(OSError, ValueError, EOFError):
                        path = f"{self._folder}/{name}/{file}"
                        values[file.removesuffix(".npy")] = np.load(path, allow_pickle=False)
        return values


def _mounted(path: str) -> bool:
    return path.startswith("/python/")
