"""torchrun in a forked process, which has torch already, and the exit statuses of the ranks it started."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, NoReturn

from .boot import write


def run(arguments: Sequence[str], environment: Mapping[str, str], folder: str) -> NoReturn:
    """Run as `torchrun` with this command line; never returns.

    `folder/statuses` holds the exit statuses by rank, `folder/launcher.out` what torchrun says.
    """
    started: list[tuple[str, Any]] = []
    status = 1
    try:
        os.setsid()
        output = os.open(f"{folder}/launcher.out", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
        for stream in (1, 2):
            os.dup2(output, stream)
        os.environ.update(environment)
        _remember(started)
        sys.argv = ["torchrun", *arguments]
        import_module("torch.distributed.run").main(list(arguments))
        status = 0
    except BaseException as error:  # torchrun raises if a process failed
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        sys.stderr.flush()
    finally:
        write(f"{folder}/statuses", {rank: process.poll() for rank, process in started})
        os._exit(status)


def _remember(started: list[tuple[str, Any]]) -> None:
    """Keep every process that is started as a rank: torchrun tells only of those that failed."""
    kind: Any = subprocess.Popen
    begin = kind.__init__

    def begun(self: Any, *args: Any, **kwargs: Any) -> None:
        begin(self, *args, **kwargs)
        rank = (kwargs.get("env") or {}).get("RANK")
        if rank is not None:
            started.append((rank, self))

    kind.__init__ = begun
