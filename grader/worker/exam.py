"""One exam from its job to the last record: read it top to bottom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.config.codec import from_plain, loads
from grader.config.evidence_file import EVIDENCE, EvidenceWriter, ExamEnded, ExamStarted, ItemObserved
from grader.errors import CourseError, NotObservedError
from grader.grading.digests import course_digest
from grader.grading.plan import cores_of
from grader.harness.server_spec import ServerSpec, of_tool
from grader.harness.servers import Servers
from grader.machine.cores import Cores
from grader.model.evidence import Exam
from grader.model.job import Job, Task
from grader.worker.beside import Beside, Shares, shares
from grader.worker.devices import Devices, foreseen, gpus_for
from grader.worker.environment import environment
from grader.worker.server_cache import ServerCache
from grader.worker.turns import in_turn

if TYPE_CHECKING:
    from grader.harness.builds import Builds
    from grader.harness.process_pool import ProcessPool


def run(job_file: Path, outbox: Path, kept: ServerCache) -> None:
    """Observe every item of a job and append each observation to `evidence.jsonl` in the outbox.

    The job's file is taken away. Every item gets a record; what cannot be observed says whose fault that is.

    Raises:
        NotObservedError: the job cannot be read, or the outbox cannot be written.
        CourseError: a plugin of the course cannot be loaded.
    """
    job = from_plain(Job, loads(job_file.read_text()), where=str(job_file))
    job_file.unlink()  # it holds the seed, and a program without a wall around it could read it
    plugins = kept.plugins(job.course)
    with ExitStack() as resources:
        evidence = resources.enter_context(EvidenceWriter(outbox / EVIDENCE))
        servers = resources.enter_context(kept.servers(job))
        given = shares(job, plugins.checks, Cores())
        warm = _setups([task for task in job.tasks if task not in given.apart], job)
        for setup in warm:
            servers.warm_up(setup)
        machine = environment()  # before we keep off most of it
        # not before it is known that somebody needs them: a run over quick items is short
        from grader.worker.quiet import OwnCores, WatchedCores

        wanted = cores_of(job.tasks, plugins.checks, job.limits, gpus=gpus_for(job.tasks))
        own = resources.enter_context(closing(OwnCores(wanted, _who(job), _say, job.cores)))
        beside = resources.enter_context(closing(Beside(job, given if own.beside else Shares(), own.beside)))
        # numpy comes with these: the servers import theirs meanwhile
        from grader.harness.process_pool import ProcessPool
        from grader.worker.items import Items

        children = resources.enter_context(closing(ProcessPool(servers, job.limits, own.cores)))
        devices = resources.enter_context(
            closing(Devices(_who(job), retire=children.retire_devices, say=_say, lent=job.lent))
        )
        children.device_memory = devices.memory_used
        children.bus_carried = devices.bus_carried
        exam = _exam(job, machine, warm[0], servers, devices)
        evidence.write(ExamStarted(submission=job.submission, exam=exam))
        builds = _builds(job, children)
        if builds is not None:
            resources.enter_context(closing(builds))
        quiet = WatchedCores(own.cores, devices)
        items = Items(job, plugins.checks, children, devices, quiet, builds)
        for observation in in_turn(job.tasks, items, beside):
            evidence.write(ItemObserved(exam=job.id, observation=observation))
            _say(f"{observation.item}: {observation.outcome}")
        evidence.write(ExamEnded(exam=job.id))


def _say(line: str) -> None:
    """The log that an engine follows."""
    print(line, flush=True)  # noqa: T201


def _who(job: Job) -> str:
    """What a lease is for, as others who wait for it read it."""
    return f"{job.submission.assignment} of {job.submission.student}"


def _builds(job: Job, children: ProcessPool) -> Builds | None:
    """Builds the submission and the reference, if the assignment says how."""
    if job.build is None:
        return None
    from grader.harness.builds import Builds
    from grader.harness.store import cache_folder

    return Builds(job.build, children, job.limits, cache_folder() / "builds")


def _setups(tasks: Sequence[Task], job: Job) -> list[ServerSpec]:
    """The servers for these tasks, in the order in which they are needed: first those without devices.

    Those with products, for numbers of cores, and with devices of which a lease will tell, come later.
    """
    plain: list[ServerSpec] = []
    lent: list[ServerSpec] = []
    for task in tasks:
        plain += [of_tool(task.tool)] if task.tool else []
        if task.built or "cores" in task.options:
            continue
        preloads = [job.preloads.get(module, ()) for module in task.calls]
        if not task.devices:
            plain += [ServerSpec(preloads=modules) for modules in preloads]
        elif devices := foreseen(task.devices):
            lent += [devices.setup(modules) for modules in preloads]
    return [*dict.fromkeys(plain or [ServerSpec()]), *dict.fromkeys(lent)]


def _exam(
    job: Job, machine: Mapping[str, Any], setup: ServerSpec, servers: Servers, devices: Devices
) -> Exam:
    """The exam's own facts, once it is known which sandbox works here."""
    facts: dict[str, Any] = dict(machine)
    try:
        with servers.serving(setup) as server:
            facts["subject"] = dict(server.versions)
    except (CourseError, NotObservedError) as error:
        facts["sandbox_error"] = "; ".join(error.problems)
    if any(task.devices for task in job.tasks):
        facts["gpus"] = devices.facts()
    if servers.missing:
        facts["stronger_layers_missing"] = list(servers.missing)
    started = datetime.now(UTC).isoformat(timespec="seconds")
    return Exam(
        id=job.id,
        started_at=started,
        isolation=servers.isolation,
        course=course_digest(Path(job.assignment_folder)),
        environment=facts,
    )
