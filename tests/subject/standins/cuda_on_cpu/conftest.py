"""Tools for all tests, libraries that are compiled once, and each function in a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from grader.subject.standins import cuda_on_cpu

KERNELS = Path(__file__).parent / "kernels"
PROGRAM = """
import ctypes, json, sys
sys.path.insert(0, sys.argv[1])
from library import forget, record, run_in
library = ctypes.CDLL(sys.argv[2])
out = (ctypes.c_double * 64)()
if sys.argv[4]:
    run_in(library, sys.argv[4], int(sys.argv[5]))
status = getattr(library, sys.argv[3])(out)
print(json.dumps({"status": status, "out": list(out), "record": record(library)}))
"""


@dataclass
class Ran:
    """What became of a function."""

    status: int | None
    """What it returned, None if it did not."""
    out: list[float]
    record: dict[str, Any]
    ended: int
    said: str
    reported: list[dict[str, Any]]

    @property
    def fault(self) -> dict[str, Any]:
        (fault,) = self.reported
        return fault


@pytest.fixture(scope="session")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with nvcc and g++ of ours."""
    folder = tmp_path_factory.mktemp("cuda") / "tools"
    cuda_on_cpu.install(str(folder))
    return folder


@pytest.fixture(scope="session")
def library(tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The library that is made of a file below kernels/."""
    folder = tmp_path_factory.mktemp("libraries")

    def build(name: str) -> Path:
        built = folder / f"{name}.so"
        if not built.exists():
            command = cuda_on_cpu.command(str(tools), [f"{name}.cu"], str(built))
            subprocess.run(command, check=True, cwd=KERNELS)
        return built

    return build


@pytest.fixture
def run(library: Callable[[str], Path], tmp_path: Path) -> Callable[..., Ran]:
    """Calls a function of a library in a process of its own."""

    def call(name: str, function: str, order: str = "", seed: int = 0) -> Ran:
        return ran(library(name), function, tmp_path / "report.jsonl", order=order, seed=seed)

    return call


def ran(built: Path, function: str, report: Path, *, order: str = "", seed: int = 0) -> Ran:
    report.write_text("")
    program = (
        sys.executable,
        "-c",
        PROGRAM,
        Path(cuda_on_cpu.__file__).parent,
        built,
        function,
        order,
        str(seed),
    )
    environment = {**os.environ, "CUDA_ON_CPU_REPORT": str(report)}
    done = subprocess.run(program, env=environment, capture_output=True, text=True, timeout=600, check=False)
    told = json.loads(done.stdout) if done.returncode == 0 else {"status": None, "out": [], "record": {}}
    lines = [json.loads(line) for line in report.read_text().splitlines()]
    return Ran(**told, ended=done.returncode, said=done.stderr, reported=lines)


@pytest.fixture
def line_of() -> Callable[..., int]:
    """The line of a file below kernels/ that bears a mark."""

    def find(mark: str, name: str = "wrong") -> int:
        lines = (KERNELS / f"{name}.cu").read_text().splitlines()
        (line,) = [number for number, text in enumerate(lines, start=1) if text.endswith(f"// here: {mark}")]
        return line

    return find
