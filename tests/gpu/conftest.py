"""A leased GPU, and programs that have it, behind the strongest wall that this machine has."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest

from grader.contracts.call import InputCase
from grader.contracts.context import SUBMISSION, Subject
from grader.harness.process_pool import ProcessPool, ProcessSpec
from grader.harness.servers import Servers
from grader.model.assignment import Limits
from grader.sandbox.bubblewrap import BubblewrapSandbox
from grader.sandbox.interpreter import interpreter
from grader.worker.devices import Devices

Start = Callable[..., AbstractContextManager[Subject]]


def case(*args: object) -> InputCase:
    return InputCase(name="a case", args=args)


def numbers(size: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=size)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start a program that has a GPU, with numba imported unless other modules are named."""
    workspace = tmp_path / "workspace"
    workspace.mkdir(mode=0o755)
    tmp_path.chmod(0o755)
    limits = Limits(import_wall_s=60.0, call_wall_s=10.0, memory_mb=4096, gpu_memory_mb=8192)
    with ExitStack() as resources:
        servers = Servers(
            (BubblewrapSandbox(),),
            python=interpreter().executable,
            site=interpreter().site,
            workspaces={SUBMISSION: workspace},
            limits=limits,
        )
        resources.enter_context(closing(servers))
        children = resources.enter_context(closing(ProcessPool(servers, limits)))
        devices = Devices("a test", retire=children.retire_devices, say=print, waits=print)
        resources.enter_context(closing(devices))
        granted = devices.grant({"gpu": 1})
        children.device_memory = devices.memory_used

        def begin(
            code: str, *preloads: str, observed: bool = False, files: dict[str, bytes] | None = None
        ) -> AbstractContextManager[Subject]:
            (workspace / "work.py").write_text(dedent(code))
            for name, content in (files or {}).items():
                (workspace / name).write_bytes(content)
            setup = granted.setup(preloads or ("numpy", "numba", "numba.cuda"))
            order = ProcessSpec(whose=SUBMISSION, module="work", setup=setup, observed=observed)
            return children.subject(order)

        yield begin
