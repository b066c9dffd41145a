"""One run from its job to the last record: read it top to bottom."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.config.codec import from_plain, loads
from grader.config.evidence_file import EVIDENCE, EvidenceWriter, ItemObserved, RunEnded, RunStarted
from grader.errors import CourseError, NotObservedError
from grader.grading.digests import course_digest
from grader.grading.plan import cores_of
from grader.harness.server_spec import ServerSpec, of_tool
from grader.harness.servers import Servers
from grader.machine.lease import Lease
from grader.machine.time_limit import tell_by
from grader.model.evidence import WorkerRun
from grader.model.job import BEGINS, WAITS, Job
from grader.worker.devices import Devices, foreseen, gpus_for
from grader.worker.environment import environment
from grader.worker.server_cache import ServerCache

if TYPE_CHECKING:
    from grader.harness.builds import Builds
    from grader.harness.process_pool import ProcessPool


def run(
    job_file: Path, outbox: Path, cache: ServerCache, share: Callable[[Lease, str], None] | None = None
) -> None:
    """Observe every item of a job and append each observation to `evidence.jsonl` in the outbox.

    The job's file is removed. Every item gets a record; what cannot be observed says whose fault that is.
    Only an item that did not pass while a GPU was shared is left without one: it is observed again, alone.

    Args:
        job_file: the job as JSON.
        outbox: the folder of the records.
        cache: plugins and servers of earlier runs.
        share: shares the lease of a GPU, given its UUID, if the job says `shares_gpu`.

    Raises:
        NotObservedError: the job cannot be read, or the outbox cannot be written.
        PackageError: a plugin of the course imports what is not installed here.
        CourseError: a plugin of the course cannot be loaded.
    """
    job = from_plain(Job, loads(job_file.read_text()), where=str(job_file))
    tell_by(_log_wait)
    job_file.unlink()  # it holds the seed, and a program without a wall around it could read it
    plugins = cache.plugins(job.course)
    with ExitStack() as resources:
        evidence = resources.enter_context(EvidenceWriter(outbox / EVIDENCE, shared=True))
        servers = resources.enter_context(cache.servers(job))
        warm = _server_specs(job)
        for spec in warm:
            servers.warm_up(spec)
        machine = environment()  # before we keep off most of it
        # not before it is certain that somebody needs them: a run over quick items is short
        from grader.worker.quiet import OwnCores, WatchedCores

        count = cores_of(job.tasks, plugins.checks, job.limits, gpus=gpus_for(job.tasks))
        own_cores = OwnCores(count, _purpose(job), _log_wait, job.cores, wait_s=job.lease_wait_s)
        leased = resources.enter_context(closing(own_cores))
        # numpy comes with these: the servers import theirs meanwhile
        from grader.harness.process_pool import ProcessPool
        from grader.worker.items import Items

        processes = resources.enter_context(closing(ProcessPool(servers, job.limits, leased.cores)))
        devices = Devices(
            _purpose(job),
            retire=processes.retire_devices,
            say=_log,
            waits=_log_wait,
            share=share if job.shares_gpu else None,
            granted=job.granted,
            tasks=job.tasks,
            wait_s=job.lease_wait_s,
        )
        resources.enter_context(closing(devices))
        processes.device_memory = devices.memory_used
        described = _describe(job, machine, warm[0], servers, devices)
        evidence.write(RunStarted(submission=job.submission, run=described))
        builds = _builds(job, processes)
        if builds is not None:
            resources.enter_context(closing(builds))
        quiet = WatchedCores(leased.cores, devices, lambda: processes.cpu_s)
        items = Items(job, plugins.checks, processes, devices, quiet, builds)
        for number, task in enumerate(job.tasks, start=1):
            processes.is_last_item = number == len(job.tasks)
            _log(f"{BEGINS}{task.item}")
            observation = items.observe(task)
            if items.note(task, observation) or not job.shares_gpu:
                evidence.write(ItemObserved(run=job.id, observation=observation))
                _log(f"{task.item}: {observation.outcome}")
            else:
                _log(f"{task.item}: did not pass while the GPU was shared")
            items.leave(task, job.tasks[number:])
        evidence.write(RunEnded(run=job.id))


def _log(line: str) -> None:
    """Write a line of the log that an engine follows."""
    print(line, flush=True)  # noqa: T201


def _log_wait(cause: str) -> None:
    _log(f"{WAITS}{cause}")


def _purpose(job: Job) -> str:
    """Say what a lease is for, as others who wait for it read it."""
    return f"{job.submission.assignment} of {job.submission.student}"


def _builds(job: Job, processes: ProcessPool) -> Builds | None:
    """Prepare to build the submission and the reference, if the assignment says how."""
    if job.build is None:
        return None
    from grader.harness.builds import Builds
    from grader.harness.store import cache_folder

    return Builds(
        job.build,
        processes,
        job.limits,
        cache_folder() / "builds",
        accepts=job.accepts,
        files=job.submission.files,
        dropped=job.submission.dropped,
    )


def _server_specs(job: Job) -> list[ServerSpec]:
    """Return the servers to start early, in the order in which they are needed: first those without devices.

    Those with products, for numbers of cores, and with devices of which a lease will tell, come later.
    """
    plain: list[ServerSpec] = []
    with_devices: list[ServerSpec] = []
    for task in job.tasks:
        plain += [of_tool(task.tool)] if task.tool else []
        if task.built or "cores" in task.options:
            continue
        preloads = [job.preloads.get(module, ()) for module in task.calls]
        if not task.devices:
            plain += [ServerSpec(preloads=modules) for modules in preloads]
        elif devices := foreseen(task.devices):
            with_devices += [devices.setup(modules) for modules in preloads]
    return [*dict.fromkeys(plain or [ServerSpec()]), *dict.fromkeys(with_devices)]


def _describe(
    job: Job, machine: Mapping[str, Any], spec: ServerSpec, servers: Servers, devices: Devices
) -> WorkerRun:
    """Describe the run, once it is certain which sandbox works here."""
    facts: dict[str, Any] = dict(machine)
    try:
        with servers.serving(spec) as server:
            facts["subject"] = dict(server.versions)
    except (CourseError, NotObservedError) as error:
        facts["sandbox_error"] = "; ".join(error.problems)
    if any(task.devices for task in job.tasks):
        facts["gpus"] = devices.facts()
    if servers.missing:
        facts["stronger_layers_missing"] = list(servers.missing)
    started = datetime.now(UTC).isoformat(timespec="seconds")
    return WorkerRun(
        id=job.id,
        started_at=started,
        isolation=servers.isolation,
        course=course_digest(Path(job.assignment_folder)),
        environment=facts,
    )
