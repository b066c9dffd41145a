"""An exercise on collectives, run by torchrun over gloo: right ones, and all the ways to get it wrong."""

import re
from dataclasses import replace

import pytest

from grader.checks.ranks import Ranks
from grader.model.observation import Outcome

pytest.importorskip("torch")
pytestmark = pytest.mark.torch

OPTIONS = Ranks.Options(
    file="drive.py",
    processes=2,
    inputs="shares",
    expected="mean",
    within_s=60.0,
    blocked_s=2.0,
    prints="rank_0",
)
COURSE = {
    "reference/collective.py": "",
    "given/drive.py": """
        import os

        import torch
        import torch.distributed as dist
        from grader_ranks import inputs, report

        from collective import all_reduce_mean

        dist.init_process_group(os.environ["BACKEND"])
        rank = dist.get_rank()
        if torch.cuda.is_available():
            torch.cuda.set_device(rank)
        where = "cuda" if torch.cuda.is_available() else "cpu"
        share = torch.tensor(inputs()["values"][rank], device=where)
        report(mean=all_reduce_mean(share))
        dist.barrier()
        dist.destroy_process_group()
    """,
    "inputs.py": """
        import numpy as np
        from grader.api import case

        def shares(rng):
            return [case("1000 numbers each", values=rng.normal(size=(2, 1000)).astype(np.float32))]
    """,
    "expected.py": """
        def mean(values):
            return {"mean": values.mean(axis=0)}
    """,
}
RIGHT = """
    import torch.distributed as dist

    def all_reduce_mean(share):
        total = share.clone()
        dist.all_reduce(total)
        if dist.get_rank() == 0: print("reduced")
        return total / dist.get_world_size()
"""
BY_A_RING = """
    import torch, torch.distributed as dist

    def all_reduce_mean(share):
        rank, size = dist.get_rank(), dist.get_world_size()
        total, passing = share.clone(), share.clone()
        for _ in range(size - 1):
            coming = torch.empty_like(passing)
            sending = dist.isend(passing, (rank + 1) % size)
            dist.recv(coming, (rank - 1) % size)
            sending.wait()
            total += coming
            passing = coming
        return total / size
"""
SKIPS = """
    import torch.distributed as dist

    def all_reduce_mean(share):
        if dist.get_rank() == 0:
            return share
        dist.all_reduce(share)
        return share / dist.get_world_size()
"""
LEAVES = """
    import os
    import torch.distributed as dist

    def all_reduce_mean(share):
        if dist.get_rank() == 0:
            raise SystemExit
        dist.all_reduce(share)
        return share / dist.get_world_size()
"""
ORDER = """
    import torch, torch.distributed as dist

    def all_reduce_mean(share):
        others = torch.empty_like(share)
        if dist.get_rank() == 0:
            dist.recv(others, 1)
            dist.all_reduce(share)
        else:
            dist.all_reduce(share)
            dist.send(share, 0)
        return share / dist.get_world_size()
"""
DIVISOR = """
    import torch.distributed as dist

    def all_reduce_mean(share):
        dist.all_reduce(share)
        return share / (dist.get_world_size() + 1)
"""
CRASHES = """
    import torch.distributed as dist

    def all_reduce_mean(share):
        if dist.get_rank() == 1:
            share = share[:, 0]
        dist.all_reduce(share)
        return share / dist.get_world_size()
"""
TALKS = """
    import torch.distributed as dist

    def all_reduce_mean(share):
        print("hello")
        dist.all_reduce(share)
        return share / dist.get_world_size()
"""
IMPATIENT = """
    from datetime import timedelta
    import time
    import torch.distributed as dist

    def all_reduce_mean(share):
        quick = dist.new_group(timeout=timedelta(seconds=1), backend="gloo")
        if dist.get_rank() == 0:
            time.sleep(1000)
        dist.all_reduce(share, group=quick)
        return share
"""


def observe(real_context, code, options=OPTIONS):
    seen = Ranks().observe(options, real_context({"collective.py": code}, COURSE))
    return seen, Ranks().award(options, seen, {}) if seen.outcome is Outcome.OBSERVED else None


@pytest.mark.parametrize(
    "code", [RIGHT, pytest.param(BY_A_RING, marks=pytest.mark.slow)], ids=["call", "ring"]
)
def test_what_is_right_earns(real_context, code):
    seen, result = observe(real_context, code)
    assert (seen.outcome, seen.note) == (Outcome.OBSERVED, "")
    assert result.reason == "2 processes ran to their end: 2 of 2 reports agree"
    assert result.fraction == 1.0


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        pytest.param(DIVISOR, "1000 numbers each, rank 0: ", id="wrong divisor", marks=pytest.mark.slow),
        pytest.param(
            TALKS, "rank 1 prints as well; only rank 0 should", id="every rank prints", marks=pytest.mark.slow
        ),
    ],
)
def test_what_is_wrong_is_told(real_context, code, reason):
    seen, result = observe(real_context, code)
    assert (seen.outcome, seen.note) == (Outcome.OBSERVED, "")
    assert result.fraction == 0.0
    assert result.reason.startswith(reason)


WAITS = r", for \d+ s"


@pytest.mark.parametrize(
    ("code", "outcome", "note"),
    [
        pytest.param(
            ORDER,
            Outcome.TIMED_OUT,
            r"drive.py: is blocked: none of its processes goes on; rank 0 waits in recv "
            rf"\(collective.py:7\){WAITS}; rank 1 waits in all_reduce \(collective.py:10\){WAITS}. "
            r"They wait in different operations",
            id="two operations in two orders",
        ),
        pytest.param(
            SKIPS,
            Outcome.TIMED_OUT,
            r"drive.py: is blocked: none of its processes goes on; rank 0 waits in barrier "
            rf"\(drive.py:17\){WAITS}; rank 1 waits in all_reduce \(collective.py:7\){WAITS}. They .*",
            id="one skips it",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            LEAVES,
            Outcome.CRASHED,
            r"drive.py: rank 1 failed in all_reduce \(collective.py:8\): RuntimeError: .*"
            r"Connection closed by peer.*; rank 0 had ended before",
            id="one leaves",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            CRASHES,
            Outcome.CRASHED,
            r"drive.py: rank 1 failed at collective.py:6: share = share\[:, 0\]: IndexError: .*",
            id="one crashes",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            IMPATIENT,
            Outcome.CRASHED,
            r"drive.py: rank 1 failed in all_reduce \(collective.py:10\): RuntimeError: .*[Tt]imed out.*",
            id="a time-out of the library's own",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_who_waits_or_fails_is_told(real_context, code, outcome, note):
    seen, _ = observe(real_context, code)
    assert seen.outcome is outcome
    assert re.fullmatch(note, seen.note, re.DOTALL), seen.note


SPAWNS = """
    import os, sys
    import torch, torch.distributed as dist, torch.multiprocessing as mp
    from grader_ranks import report

    def work(rank, size):
        os.environ.update(MASTER_ADDR="localhost", MASTER_PORT="29500")
        dist.init_process_group(os.environ["BACKEND"], rank=rank, world_size=size)
        total = torch.ones(3)
        if len(sys.argv) > 1 and rank == 1:
            raise ValueError("oh")
        dist.all_reduce(total)
        report(total=total)
        print("Test Accuracy:", 97.5)

    if __name__ == "__main__":
        mp.spawn(work, (2,), nprocs=2)
"""
SPAWNED = Ranks.Options(
    file="main.py",
    launcher="spawn",
    numbers={"accuracy": "Test Accuracy: {}"},
    at_least={"accuracy": 95.0},
)


def test_a_program_that_starts_its_processes_itself_is_observed_as_well(real_context):
    seen = Ranks().observe(SPAWNED, real_context({"main.py": SPAWNS}, COURSE))
    assert (seen.outcome, seen.note) == (Outcome.OBSERVED, "")
    result = Ranks().award(SPAWNED, seen, {})
    assert (result.fraction, result.reason) == (1.0, "2 processes ran to their end: accuracy 97.5")


@pytest.mark.slow
def test_what_torchs_spawn_turns_into_an_exit_status_is_told_as_it_was(real_context):
    options = replace(SPAWNED, arguments=("crash",))
    seen = Ranks().observe(options, real_context({"main.py": SPAWNS}, COURSE))
    assert seen.outcome is Outcome.CRASHED
    assert seen.note == 'main.py: rank 1 failed at main.py:11: raise ValueError("oh"): ValueError: oh'
