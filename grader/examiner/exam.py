"""One exam from its job to the last record: read it top to bottom."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from grader.bench.bench import REFERENCE, SUBMISSION, Bench
from grader.bench.servers import Servers, preloads_of
from grader.config.codec import from_plain, loads
from grader.config.decode import decode
from grader.config.evidence_file import EVIDENCE, EvidenceWriter, ExamEnded, ExamStarted, ItemObserved
from grader.contracts import CheckKind, Sandbox
from grader.errors import CourseError, NotObservedError
from grader.examiner.environment import environment, missing_devices
from grader.model.evidence import Exam
from grader.model.job import Job, Task
from grader.model.observation import Fault, Observation, Outcome
from grader.model.rubric import Item
from grader.plugins import Plugins
from grader.sandbox.interpreter import interpreter
from grader.scoring.score import passed


def run(job_file: Path, outbox: Path) -> None:
    """Observe every item of a job and append each observation to `evidence.jsonl` in the outbox.

    The job's file is taken away. Every item gets a record; what cannot be observed says whose fault that is.

    Raises:
        NotObservedError: the job cannot be read, or the outbox cannot be written.
        CourseError: a plugin of the course cannot be loaded.
    """
    job = from_plain(Job, loads(job_file.read_text()), where=str(job_file))
    job_file.unlink()  # it holds the seed, and a program without a wall around it could read it
    plugins = Plugins(Path(job.course))
    folder = Path(job.assignment_folder)
    servers = Servers(
        _strong_enough(plugins.sandboxes, job.min_isolation),
        python=interpreter().executable,
        site=interpreter().site,
        workspaces={SUBMISSION: Path(job.workspace), REFERENCE: folder / "reference"},
        given=folder / "given" if (folder / "given").is_dir() else None,
        limits=job.limits,
    )
    with ExitStack() as resources:
        evidence = resources.enter_context(EvidenceWriter(outbox / EVIDENCE))
        resources.enter_context(closing(servers))
        warm = _preloads(job)
        for preloads in warm:
            servers.warm_up(preloads)
        # numpy comes with these: the servers import theirs meanwhile
        from grader.bench.children import Children
        from grader.bench.workbench import Workbench

        evidence.write(ExamStarted(submission=job.submission, exam=_exam(job, warm[0], servers)))
        standing = dict(job.passed)
        seen: dict[str, Observation] = {}
        children = resources.enter_context(closing(Children(servers, job.preloads, job.limits)))
        for number, task in enumerate(job.tasks, start=1):
            bench = Workbench(job, task.item, children, task.group)
            observation = seen[task.item] = _observe(task, bench, plugins.checks, standing)
            _remember(task, seen, plugins.checks, standing)
            if task.group not in {later.group for later in job.tasks[number:]}:
                children.end(task.group)
            evidence.write(ItemObserved(exam=job.id, observation=observation))
            print(f"{task.item}: {observation.outcome}", flush=True)  # noqa: T201 - the log an executor follows
        evidence.write(ExamEnded(exam=job.id))


def _strong_enough(sandboxes: tuple[Sandbox, ...], least: str) -> tuple[Sandbox, ...]:
    strengths = {sandbox.name: sandbox.strength for sandbox in sandboxes}
    if least and least not in strengths:
        raise CourseError(f"course.yaml: min_isolation: no layer {least!r}; there are {', '.join(strengths)}")
    return tuple(s for s in sandboxes if s.strength >= strengths.get(least, 0))


def _preloads(job: Job) -> list[tuple[str, ...]]:
    """What the servers of this exam import, in the order in which they are needed."""
    found: list[tuple[str, ...]] = []
    for task in job.tasks:
        found += [job.preloads.get(module, ()) for module in task.calls]
        found += [preloads_of(task.tool)] if task.tool else []
    return list(dict.fromkeys(found)) or [()]


def _exam(job: Job, preloads: tuple[str, ...], servers: Servers) -> Exam:
    """The exam's own facts, once it is known which sandbox works here."""
    facts: dict[str, Any] = dict(environment())
    try:
        with servers.serving(preloads) as server:
            facts["subject"] = dict(server.versions)
    except (CourseError, NotObservedError) as error:
        facts["sandbox_error"] = str(error)
    if servers.missing:
        facts["stronger_layers_missing"] = list(servers.missing)
    started = datetime.now(UTC).isoformat(timespec="seconds")
    return Exam(id=job.id, started_at=started, isolation=servers.isolation, environment=facts)


def _observe(
    task: Task, bench: Bench, kinds: Mapping[str, CheckKind], standing: Mapping[str, bool]
) -> Observation:
    """Look at one item, unless what it needs did not pass."""
    begun = time.perf_counter()
    kind = kinds[task.check]
    options, problems = decode(kind.Options, task.options)
    if problems:
        raise NotObservedError(*(f"job: item {task.item}: {problem}" for problem in problems))
    observation = _gate(task, standing) or _look(kind, options, bench)
    return replace(observation, digest=task.digest, wall_s=time.perf_counter() - begun)


def _remember(
    task: Task, seen: Mapping[str, Observation], kinds: Mapping[str, CheckKind], standing: dict[str, bool]
) -> None:
    """Note whether an item passed, for those that need it; unknown if that cannot be told yet."""
    observation = seen[task.item]
    if observation.outcome is Outcome.NOT_OBSERVED or not seen.keys() >= set(task.uses):
        return
    kind = kinds[task.check]
    options, _ = decode(kind.Options, task.options)
    item = Item(id=task.item, title="", points=1, check=task.check, options=options, uses=task.uses)
    with suppress(Exception):  # no reason to lose what was seen: the host judges too, and shows this bug
        standing[task.item] = passed(item, observation, kinds, seen)


def _gate(task: Task, standing: Mapping[str, bool]) -> Observation | None:
    failed = [name for name in task.needs if standing.get(name) is False]
    if failed:
        return Observation(item=task.item, outcome=Outcome.SKIPPED, note=f"needs {', '.join(failed)}")
    if lacking := missing_devices(task.devices):
        return Observation(item=task.item, outcome=Outcome.NOT_OBSERVED, note=lacking)
    waiting = [name for name in task.needs if name not in standing]
    if waiting:
        note = f"waits for {', '.join(waiting)}"
        return Observation(item=task.item, outcome=Outcome.NOT_OBSERVED, note=note)
    return None


def _look(kind: CheckKind, options: Any, bench: Bench) -> Observation:
    """Have the kind look; whatever it raises is not the student's fault."""
    try:
        return kind.observe(options, bench)
    except CourseError as error:
        note, fault = str(error), Fault.COURSE
    except (NotObservedError, OSError) as error:
        note, fault = str(error), Fault.MACHINE
    except (Exception, SystemExit) as error:
        import traceback

        traceback.print_exc()
        note, fault = f"a bug in check kind {kind.name}: {type(error).__name__}: {error}", Fault.GRADER
    return Observation(item=bench.item, outcome=Outcome.NOT_OBSERVED, note=note, fault=fault, seed=bench.seed)
