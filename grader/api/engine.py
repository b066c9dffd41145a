"""Names for an engine: the contract, orders and events, and the command and files of a worker."""

from __future__ import annotations

from grader.config.evidence_file import EVIDENCE, LineReader
from grader.contracts.engine import (
    CountsGpus,
    Ended,
    Engine,
    EngineFinding,
    EngineSettings,
    Event,
    Order,
    QueueStatus,
    Records,
    Session,
    Waits,
)
from grader.engines.job_file import remove_job, worker_command, write_job
from grader.errors import NotObservedError, UsageError
from grader.model.job import WAITS, Job, Task

__all__ = [
    "EVIDENCE",
    "WAITS",
    "CountsGpus",
    "Ended",
    "Engine",
    "EngineFinding",
    "EngineSettings",
    "Event",
    "Job",
    "LineReader",
    "NotObservedError",
    "Order",
    "QueueStatus",
    "Records",
    "Session",
    "Task",
    "UsageError",
    "Waits",
    "remove_job",
    "worker_command",
    "write_job",
]
