"""Sends a probe for each kind of tasks, and waits for what it says."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from grader.contracts.engine import EngineFinding, EngineSettings
from grader.engines.remote.batch import (
    Batch,
    folder_of,
    journals_of,
    last_words,
    new_name,
    remove_batch,
    write_batch,
)
from grader.engines.remote.journal import TaskJournals
from grader.engines.remote.ledger import Ledger
from grader.engines.remote.probe import DOCTOR_S, Arrival, findings
from grader.engines.remote.scheduler import (
    SHARED_FOLDER,
    Scheduler,
    SchedulerAwayError,
    SchedulerFullError,
    SchedulerRefusedError,
    TaskPhase,
)
from grader.engines.remote.status import Repeated
from grader.engines.remote.stored import OrderStore, Wants, require_private, root_for
from grader.errors import NotObservedError

READ_EVERY_S = 0.1


def probe(
    scheduler: Scheduler, settings: EngineSettings, name: str, shared: str = ""
) -> Iterator[EngineFinding]:
    """Yield what tasks without and with GPUs would have, each on the machine that the scheduler chose.

    Args:
        scheduler: the scheduler.
        settings: of the command.
        name: what the scheduler is called in messages.
        shared: a folder that all machines share; otherwise `.cluster` of the results folder is used.

    Raises:
        UsageError: the shared folder cannot be used.
        NotObservedError: the scheduler does not answer, or the folder cannot be written.
    """
    results = (settings.results or Path.cwd()).absolute()
    folder = Path(shared) if shared else results / ".cluster"
    require_private(folder)
    store = OrderStore.at(root_for(folder, results) if shared else folder)
    ledger = Ledger(store, scheduler)
    kinds = [("tasks without GPUs", Wants())]
    if scheduler.gpus():
        kinds.append(("tasks with a GPU", Wants(exclusive=True, gpus=1)))
    try:
        for heading, wants in kinds:
            yield from _probed(heading, wants, ledger, settings, name)
        if len(kinds) == 1:
            yield EngineFinding(
                machine="tasks with a GPU",
                name="GPUs",
                works=True,  # a course may need none
                message="none that a task can have; items that need one stay open",
            )
    finally:
        store.close()


def _probed(
    heading: str, wants: Wants, ledger: Ledger, settings: EngineSettings, name: str
) -> Iterator[EngineFinding]:
    scheduler, root = ledger.scheduler, ledger.store.root
    time_s = min(scheduler.limit_s(wants), 2 * DOCTOR_S)
    batch = Batch(
        name=new_name(), packs=((),), wants=wants, cores=scheduler.cores(wants), time_s=time_s, probe=True
    )
    folder = folder_of(root, batch.name)
    journals, printed = TaskJournals(journals_of(folder, 0)), ""
    advice = f"see `setup` and `command` in engines.{name.lower()} of course.yaml or of the site's file"
    if scheduler.carrier == SHARED_FOLDER:
        advice += f"; that machine needs the same grader, and the folder {root}"
    try:
        scheduler.slots(wants)  # refuses what would wait for ever
        write_batch(root, batch)
        scheduler.submit(batch, root, folder)
        problem = _wait(journals, batch, folder, scheduler, lambda why: settings.tell(f"{heading}: {why}"))
        printed = last_words(folder, 0)
    except OSError as error:
        raise NotObservedError(f"{root}: cannot be written ({error.strerror}); make room there") from None
    except SchedulerRefusedError as error:
        problem = f"{name} refused the probe: {error}"
        advice = "" if "; see " in problem else advice
    except SchedulerFullError as error:
        raise NotObservedError(f"{name} takes no more tasks now ({error}); try again later") from None
    except SchedulerAwayError as error:
        raise NotObservedError(f"{name} does not answer ({error}); try again later") from None
    finally:
        with suppress(SchedulerAwayError):
            scheduler.cancel(batch.name)
        remove_batch(folder)
    if problem:
        yield EngineFinding(machine=heading, name="probe", works=False, message=problem, advice=advice)
        return
    late_s = max(0.0, time.time() - ledger.clock_ahead_s - journals.facts["written_at"])
    machine = f"{heading}, on {journals.node}"
    limit_s = scheduler.limit_s(wants)
    ahead_s = max(journals.clock_ahead_s.items())[1] - ledger.clock_ahead_s
    arrival = Arrival(scheduler.carrier, late_s, clock_ahead_s=ahead_s, printed=printed)
    least = settings.min_isolation
    yield from findings(journals.facts, batch, machine=machine, arrival=arrival, limit_s=limit_s, least=least)


def _wait(
    journals: TaskJournals, batch: Batch, folder: Path, scheduler: Scheduler, tell: Callable[[str], None]
) -> str:
    """Wait for the facts of a probe, and tell what it waits for; return why there are none."""
    pace, waiting = scheduler.pace, Repeated()
    ask_at, over_at = time.monotonic() + pace.first_ask_s, float("inf")
    node = ended = ""
    tell_at = ask_at + pace.ask_every_s[0] / 2  # every task waits for a moment
    while True:
        journals.read()
        if journals.facts:
            return ""
        now = time.monotonic()
        if now > over_at + pace.grace_s:
            words = last_words(folder, 0) or f"its log is empty or missing{ended and f' ({ended})'}"
            return f"its task{node and f' on {node}'} ended without a word: {words}"
        if now >= ask_at:
            ask_at = now + pace.ask_every_s[0]
            state = scheduler.states().get((batch.name, 0))
            waits = now >= tell_at and state and state.phase is TaskPhase.WAITING
            if state and waits and waiting.is_due(state.words):
                tell(f"waiting ({state.words})")
            node, ended = (state.node, state.words) if state else (node, ended)
            over = state is None or state.phase.is_over
            over_at = min(over_at, now) if over else float("inf")
        time.sleep(READ_EVERY_S)
