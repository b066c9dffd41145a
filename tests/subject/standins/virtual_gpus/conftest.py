"""A program that imports torch and runs each snippet in a child, on virtual GPUs or on real ones."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import grader.subject

HERE = Path(__file__).parent
PROGRAM = """
import json, os, signal, sys, types
package = types.ModuleType("_grader_subject")
package.__path__ = [sys.argv[1]]
sys.modules[package.__name__] = package
import torch
names = {"torch": torch, "nn": torch.nn}
if virtual := int(sys.argv[2]):
    from _grader_subject.standins.virtual_gpus.installation import install
    from _grader_subject.standins.virtual_gpus.placement import placement
    names |= {"install": install, "placement": placement}

def work(code):
    try:
        if virtual:
            install(virtual)
        exec(compile(code, "submission.py", "exec"), names)
        return {"result": names["result"]}
    except Exception as error:
        return {"raised": f"{type(error).__name__}: {error}"}

def answer(code):
    # the first one that uses a GPU cannot fork any more
    if (pid := os.fork()) == 0:
        signal.alarm(120)
        print(json.dumps(work(code)), flush=True)
        os._exit(0)
    if os.waitpid(pid, 0)[1]:
        print(json.dumps({"raised": "the child died"}), flush=True)

print(json.dumps(torch.version.cuda), flush=True)
for line in sys.stdin:
    answer(json.loads(line))
"""


class Raised(Exception):
    """What the snippet raised."""


Run = Callable[[str], Any]


@contextmanager
def program(virtual: int) -> Iterator[tuple[str | None, Run]]:
    """The CUDA version that torch is built for, and what runs a snippet and gives what it calls `result`."""
    if find_spec("torch") is None:
        pytest.skip("torch is not installed")
    folder = Path(grader.subject.__file__).parent
    # from Python 3.12 on, a fork beside torch's threads is warned of
    warnings = "error::UserWarning" if virtual else "ignore"
    argv = [sys.executable, "-W", warnings, "-c", PROGRAM, str(folder), str(virtual)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:

        def run(code: str) -> Any:
            process.stdin.write(json.dumps(dedent(code)) + "\n")
            process.stdin.flush()
            said = json.loads(process.stdout.readline())
            if "raised" in said:
                raise Raised(said["raised"])
            return said["result"]

        try:
            yield json.loads(process.stdout.readline()), run
        finally:
            process.stdin.close()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs PyTorch: all tests here that use a fixture of this file."""
    for item in items:
        if item.path.parent == HERE and {"virtual", "real"} & {*getattr(item, "fixturenames", ())}:
            item.add_marker(pytest.mark.torch)


@pytest.fixture(scope="session")
def virtual() -> Iterator[Run]:
    """Runs a snippet that may use torch, nn, install and placement; there are four virtual GPUs."""
    with program(4) as (cuda, run):
        if cuda is not None:
            pytest.skip(f"torch is built for CUDA {cuda}")
        yield run


@pytest.fixture(scope="session")
def real() -> Iterator[Run]:
    """Runs a snippet that may use torch and nn on the GPUs of this machine."""
    with program(0) as (_, run):
        yield run
