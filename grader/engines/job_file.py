"""The file and the command by which a worker gets one order."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from grader.config.codec import dumps
from grader.contracts.engine import Order
from grader.errors import NotObservedError
from grader.files import obstacle, write_whole


def write_job(
    order: Order,
    *,
    cores: Sequence[int] = (),
    shared_workspace: Path | None = None,
    shares_gpu: bool = False,
    granted: tuple[str, ...] = (),
) -> Path:
    """Write the job of an order into its outbox, and return the file; the worker removes it.

    Args:
        order: the order.
        cores: those that its timed items have for themselves, none if it has no such items or is to lease
            them.
        shared_workspace: that of the engine's settings.
        shares_gpu: whether another worker may use its GPU meanwhile, if the order may share it.
        granted: the UUIDs of GPUs that another worker has leased and shares.

    Raises:
        NotObservedError: it cannot be written.
    """
    stage = str(shared_workspace.absolute()) if shared_workspace else ""
    file = order.job_file
    job = replace(order.job, cores=tuple(cores), stage=stage, shares_gpu=shares_gpu, granted=granted)
    try:
        write_whole(file, dumps(job))
    except OSError as error:
        raise obstacle(file, error, kind=NotObservedError) from None
    return file


def remove_job(order: Order) -> None:
    """Remove the file, with the seed of items not observed yet, if the worker has not."""
    with suppress(OSError):
        order.job_file.unlink(missing_ok=True)


def worker_command(order: Order) -> list[str]:
    """Return the command of a worker for an order; it ends when the pipe of its standard input is closed."""
    # -P: the working directory may hold anything, a submission for example
    return [sys.executable, "-P", "-m", "grader.worker", str(order.job_file), str(order.outbox)]
