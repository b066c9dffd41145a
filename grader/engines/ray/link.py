"""The host's end of the driver: starts it, sends commands, and reads what it reports."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

START_S = 90.0
"""Seconds until Ray must have answered."""
STOP_S = 40.0
"""Seconds after which a driver is killed that does not end: Ray ends its tasks then."""
_READ_BYTES = 1 << 16
_PIPE_BYTES = 4096


class RayLostError(Exception):
    """There is no connection to a cluster; the message says why."""


class DriverLink:
    """A driver that is connected to a cluster."""

    def __init__(self, address: str) -> None:
        """Start it.

        Raises:
            RayLostError: no cluster answers.
        """
        self._errors = os.memfd_create("errors", os.MFD_CLOEXEC)
        self._rest = b""
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "grader.engines.ray.driver", address],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            bufsize=0,
            process_group=0,  # Ctrl-C is for us
        )
        assert self._process.stdin  # noqa: S101 - a pipe was asked for
        assert self._process.stdout  # noqa: S101 - likewise
        self._input, self._output = self._process.stdin, self._process.stdout
        try:
            ends_at = time.monotonic() + START_S
            self.nodes: list[Mapping[str, Any]] | None = None
            while self.nodes is None:
                self._await(ends_at)
                self.read()
        except BaseException:
            self.close(kill=True)
            raise

    def _wait(self, seconds: float) -> bool:
        return bool(select.select([self._output], [], [], max(0.0, seconds))[0])

    def _await(self, ends_at: float) -> None:
        if not self._wait(ends_at - time.monotonic()):
            raise RayLostError(f"no answer within {START_S:.0f} s")

    def send(self, **command: Any) -> None:
        """Send a command; a driver that has ended says so at the next `read`."""
        with suppress(BrokenPipeError):
            self._input.write(f"{json.dumps(command)}\n".encode())

    def read(self) -> list[Mapping[str, Any]]:
        """Return what it reports of tasks since the last call, and note what it reports of nodes.

        Raises:
            RayLostError: it has ended.
        """
        reports: list[Mapping[str, Any]] = []
        while self._wait(0.0):
            content = os.read(self._output.fileno(), _READ_BYTES)
            if not content:
                raise RayLostError(self._last_words())
            *lines, self._rest = (self._rest + content).split(b"\n")
            for line in map(json.loads, lines):
                if "nodes" in line:
                    self.nodes = line["nodes"]
                else:
                    reports.append(line)
        return reports

    def _last_words(self) -> str:
        size = os.fstat(self._errors).st_size
        text = os.pread(self._errors, _PIPE_BYTES, max(0, size - _PIPE_BYTES)).decode(errors="replace")
        lines = text.strip().splitlines()
        return lines[-1] if lines else "the process that uses it ended without a word"

    def close(self, *, kill: bool = False) -> None:
        """Have it cancel its tasks, and wait until it has ended."""
        if kill:
            self._process.kill()
        self._input.close()
        try:
            self._process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._output.close()
        os.close(self._errors)
