"""A program with the simulator in it that runs each snippet in a child, as a subject server does."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import grader.subject

PROGRAM = """
import json, os, signal, sys, types
package = types.ModuleType("_grader_subject")
package.__path__ = [sys.argv[1]]
sys.modules[package.__name__] = package
import numpy as np
from _grader_subject.standins import simulator
from numba import cuda
import numba
for line in sys.stdin:
    if (pid := os.fork()) == 0:
        signal.alarm(30)  # a kernel that waits for ever fails its own test alone
        names = {"np": np, "cuda": cuda, "numba": numba, "simulator": simulator}
        try:
            exec(compile(json.loads(line), "submission.py", "exec"), names)
            said = {"result": names["result"]}
        except Exception as error:
            said = {"raised": f"{type(error).__name__}: {error}"}
        print(json.dumps(said, default=lambda value: value.tolist()), flush=True)
        os._exit(0)
    if os.waitpid(pid, 0)[1]:
        print(json.dumps({"raised": "the child died"}), flush=True)
"""


class Raised(Exception):
    """What the snippet raised."""


@pytest.fixture(scope="session")
def simulated() -> Iterator[Callable[[str], Any]]:
    """Runs a snippet that may use np, cuda, numba and simulator; what it calls `result`, as JSON has it."""
    for name in ("numba", "greenlet"):
        if find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    folder = Path(grader.subject.__file__).parent
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    argv = [sys.executable, "-W", "ignore", "-c", PROGRAM, str(folder)]
    with subprocess.Popen(
        argv, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:

        def run(code: str) -> Any:
            process.stdin.write(json.dumps(dedent(code)) + "\n")
            process.stdin.flush()
            said = json.loads(process.stdout.readline())
            if "raised" in said:
                raise Raised(said["raised"])
            return said["result"]

        try:
            yield run
        finally:
            process.stdin.close()
