"""Runs in every Python process of a program of several, before its own code, and is called `sitecustomize`.

It finds out which rank the process is, sends its output to a file of its own, registers faulthandler on a
signal, which then writes its stack, and records how it ended. It runs beside student code: all is a claim.
"""

from __future__ import annotations

import atexit
import faulthandler
import json
import os
import sys
import time
from _thread import get_ident
from typing import Any

FOLDER = "RANKS_FOLDER"
LAUNCHER = "RANKS_LAUNCHER"
COUNT = "RANKS_COUNT"
"""Variables: where the records lie, which launcher started it, and how many ranks there shall be."""
MAIN = "main"
"""In place of a rank: the process that starts the others."""
SIGNAL = 43
"""A real-time signal that neither Python nor the usual libraries use."""
FRAMES = 60
TEXT = 1000


class BootRank:
    """Rank of this process, once it is known."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.name = ""
        """The rank in decimal, MAIN, or empty while it is unknown."""
        self._pid = 0
        self._error: dict[str, Any] | None = None
        self._children: list[Any] = []

    def claim(self, name: str) -> bool:
        """Take this rank, unless another process has it: a rank's own children inherit its variables."""
        base = f"{self._folder}/{name}"
        try:
            os.close(os.open(f"{base}.claimed", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except OSError:
            return False
        self.name, self._pid, self._error = name, os.getpid(), None
        # faulthandler keeps the number of the file alone
        self._stack = open(f"{base}.stack", "w")  # noqa: SIM115
        faulthandler.register(SIGNAL, file=self._stack, all_threads=True)
        for stream, kind in ((1, "out"), (2, "err")):
            file = os.open(f"{base}.{kind}", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
            os.dup2(file, stream)
            os.close(file)
        write(f"{base}.process", {"pid": self._pid, "thread": get_ident(), "at": time.monotonic()})
        return True

    def raised(self, error: BaseException | None) -> None:
        """Remember what ends it; torch's wrapper ends with an exit status what began as something else."""
        if isinstance(error, SystemExit):
            error = error.__context__
        if error is None:
            return
        frames = []
        trace = error.__traceback__
        while trace is not None:
            code = trace.tb_frame.f_code
            frames.append([code.co_filename, trace.tb_lineno, code.co_name])
            trace = trace.tb_next
        try:
            text = str(error)
        except Exception:  # an exception of the student's may refuse to be text
            text = ""
        kind = type(error).__name__[:TEXT]
        self._error = {"type": kind, "text": text[:TEXT], "frames": frames[::-1][:FRAMES]}

    def ended(self, status: int | None = None) -> None:
        """Note that it ends now."""
        if self.name and os.getpid() == self._pid:  # a fork of it has its name, too
            base = f"{self._folder}/{self.name}"
            write(f"{base}.end", {"status": status, "error": self._error, "at": time.monotonic()})
            if self._children:
                statuses = {name: child.exitcode for name, child in self._children}
                write(f"{self._folder}/statuses", statuses)

    def started(self, child: Any) -> None:
        """Remember a process that this one has started."""
        if self.name == MAIN and (name := index_of(child)):
            self._children.append((name, child))


def boot() -> None:
    """Take part, if the variables say so."""
    folder = os.environ.get(FOLDER, "")
    if not folder:
        return
    global current  # noqa: PLW0603 - programs ask for it
    current = rank = BootRank(folder)
    by_torchrun = os.environ.get(LAUNCHER) == "torchrun"
    if by_torchrun:
        name = os.environ.get("RANK", "")
        mine = name.isdigit() and rank.claim(name)
    else:
        mine = rank.claim(MAIN)
        name_children(rank)
    if mine:
        atexit.register(rank.ended)
        shown = sys.excepthook

        def raised(kind: Any, error: Any, trace: Any) -> None:
            rank.raised(error)
            shown(kind, error, trace)

        sys.excepthook = raised


def name_children(rank: BootRank) -> None:
    """Patch multiprocessing so that the processes which the program starts know their rank."""
    from multiprocessing import process

    kind: Any = process.BaseProcess
    bootstrap, run, start = kind._bootstrap, kind.run, kind.start  # noqa: SLF001 - where a child begins and ends

    def booted(self: Any, *args: Any, **kwargs: Any) -> Any:
        name = index_of(self)
        claimed = bool(name) and rank.claim(name)
        status = bootstrap(self, *args, **kwargs)
        if claimed:
            rank.ended(status)
        return status

    def ran(self: Any) -> None:
        try:
            run(self)
        except BaseException as error:
            rank.raised(error)
            raise

    def begun(self: Any) -> None:
        start(self)
        rank.started(self)

    kind._bootstrap, kind.run, kind.start = booted, ran, begun  # noqa: SLF001


def index_of(child: Any) -> str:
    """Return the rank of a process of multiprocessing; empty for none.

    torch's spawn tells each process; of others, the first that the program starts is rank 0.
    """
    target: Any = getattr(child, "_target", None)
    args: Any = getattr(child, "_args", ())
    identity = child._identity  # noqa: SLF001 - the numbers of a process and of those above it
    if getattr(target, "__module__", "") == "torch.multiprocessing.spawn":
        number = args[1]
    elif len(identity) == 1:
        number = identity[0] - 1
    else:
        return ""
    return str(number) if 0 <= number < int(os.environ.get(COUNT, "0")) else ""


def write(path: str, plain: Any) -> None:
    """Write a record, whole or not at all."""
    with open(f"{path}.part", "w") as file:
        json.dump(plain, file)
    os.rename(f"{path}.part", path)


current: BootRank | None = None
if __name__ == "sitecustomize":
    boot()
