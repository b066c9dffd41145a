"""Programs with a GPU for each process: they talk through NCCL, and a collective that hangs is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest

from grader.checks.ranks import Ranks
from grader.contracts.context import REFERENCE, SUBMISSION
from grader.cuda.gpus import gpus
from grader.harness.item_context import ItemContext
from grader.harness.process_pool import ProcessPool
from grader.harness.servers import Servers
from grader.model.assignment import Limits
from grader.model.job import Job
from grader.model.observation import Outcome
from grader.model.submission import Submission
from grader.sandbox.bubblewrap import BubblewrapSandbox
from grader.sandbox.interpreter import interpreter
from grader.worker.devices import Devices

pytestmark = pytest.mark.gpu

COUNT = 2
OPTIONS = Ranks.Options(
    file="work.py", processes=COUNT, inputs="shares", expected="mean", within_s=120.0, blocked_s=10.0
)
PROGRAM = """
    import os
    import torch
    import torch.distributed as dist
    from grader_ranks import inputs, report

    rank = int(os.environ["RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group(os.environ["BACKEND"], device_id=torch.device("cuda", rank))
    assert os.environ["NCCL_NVLS_ENABLE"] == "0"
    print(dist.get_backend(), torch.cuda.get_device_properties(rank).uuid)
    share = torch.tensor(inputs()["values"][rank], device="cuda")
    {collective}
    report(mean=(share / dist.get_world_size()))
    dist.destroy_process_group()
"""


@pytest.fixture
def context(tmp_path: Path) -> Iterator[Callable[[str], ItemContext]]:
    """A context whose item has a GPU for each process."""
    pytest.importorskip("torch")
    if len(gpus()) < COUNT:
        pytest.skip(f"needs {COUNT} GPUs; this machine has {len(gpus())}")
    workspace, folder = tmp_path / "workspace", tmp_path / "assignment"
    for one in (tmp_path, workspace, folder, folder / "reference"):
        one.mkdir(mode=0o755, exist_ok=True)
        one.chmod(0o755)
    (folder / "inputs.py").write_text(
        "from grader.api import case\n"
        "def shares(rng):\n"
        f"    return [case('shares', values=rng.normal(size=({COUNT}, 1000)).astype('f4'))]\n"
    )
    (folder / "expected.py").write_text("def mean(values):\n    return {'mean': values.mean(axis=0)}\n")
    limits = Limits(memory_mb=32768, gpu_memory_mb=65536, file_mb=1024, processes=1024)
    with ExitStack() as resources:
        servers = Servers(
            (BubblewrapSandbox(),),
            python=interpreter().executable,
            site=interpreter().site,
            workspaces={SUBMISSION: workspace, REFERENCE: folder / "reference"},
            limits=limits,
        )
        resources.enter_context(closing(servers))
        children = resources.enter_context(closing(ProcessPool(servers, limits)))
        devices = Devices("a test", retire=children.retire_devices, say=print, waits=print)
        resources.enter_context(closing(devices))
        children.device_memory = devices.memory_used

        def make(collective: str) -> ItemContext:
            (workspace / "work.py").write_text(dedent(PROGRAM).format(collective=collective))
            submission = Submission(
                student="s", assignment="a", archive="s.tar.gz", digest="d", files=("work.py",)
            )
            job = Job(
                id="1",
                submission=submission,
                course=str(tmp_path),
                assignment_folder=str(folder),
                workspace=str(workspace),
                tasks=(),
                preloads={},
                limits=limits,
                seed="5eed",
            )
            return ItemContext(job, "item", children, lent=devices.grant({"gpu": COUNT}))

        yield make


def test_ranks_reduce_through_nccl_on_a_gpu_each(context):
    seen = Ranks().observe(OPTIONS, context("dist.all_reduce(share)"))
    assert (seen.outcome, seen.note) == (Outcome.OBSERVED, ""), seen.output
    assert seen.facts["backend"] == "nccl"
    said = [line.split() for line in seen.output.splitlines() if line.startswith("nccl")]
    assert len({uuid for _, uuid in said}) == COUNT
    assert Ranks().award(OPTIONS, seen, {}).fraction == 1.0


def test_a_collective_that_one_rank_leaves_out_is_told_of_the_other(context):
    # whoever waits for a GPU computes, as the kernel sees it: only the time limit ends it
    options = replace(OPTIONS, within_s=45.0)
    seen = Ranks().observe(options, context("rank or dist.all_reduce(share); torch.cuda.synchronize()"))
    assert seen.outcome in {Outcome.TIMED_OUT, Outcome.CRASHED}, seen.output
    assert "rank 0" in seen.note
    assert "work.py:" in seen.note
