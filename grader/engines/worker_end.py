"""How a worker of this machine ended: complaints go to its log, a mistake of the course to the evidence."""

from __future__ import annotations

from contextlib import suppress

from grader.config.evidence_file import EVIDENCE, EvidenceWriter, ItemObserved
from grader.contracts.engine import Order
from grader.errors import NotObservedError
from grader.machine.time_limit import ENDS, mistake_in
from grader.model.exit_status import ending
from grader.model.job import WORKER_LOG, Task
from grader.model.observation import Fault, Observation, Outcome
from grader.text import block

_ENDED_BY_COURSE = (
    "a function of the course ended grader's own process with status {status}, without an exception, while "
    "{check} observed; look for os._exit in checks.py, inputs.py and expected.py"
)


def record_end(order: Order, item: str, *, complaints: str, finished: int | None, exited: int) -> str:
    """Record how the work of a worker on an order ended; return why it is not finished, or "".

    Args:
        order: the order.
        item: the item that was observed last; empty before the first one.
        complaints: what the worker wrote to its error output.
        finished: the status of the order, as the worker's log has it; None if the worker ended before.
        exited: the exit status of the worker's process; 0 if it is kept.
    """
    task = next((task for task in order.job.tasks if task.item == item), None)
    status = exited if finished is None else finished
    mistake = ""
    if task and status == -ENDS:
        mistake = mistake_in(complaints)
    elif task and finished is None and status >= 0 and not complaints:  # os._exit alone is so quiet
        mistake = _ENDED_BY_COURSE.format(status=status, check=task.check)
    log = order.outbox / WORKER_LOG
    if complaints.strip():
        with suppress(OSError), log.open("a") as file:  # a full disk: the last line is in the problem
            file.write(block(complaints))
    if task and mistake:
        return _record_mistake(order, task, mistake)
    if status == 0:
        return ""
    last = complaints.strip().splitlines()[-1:]
    why = "".join(f": {line}" for line in last)
    return f"{log}: the worker {ending(status)} before it had finished{why}; run again"


def _record_mistake(order: Order, task: Task, note: str) -> str:
    """Record the mistake of a course by which a worker ended, for the item that it observed.

    Return why it could not be recorded; empty if it was.
    """
    observation = Observation(
        item=task.item, outcome=Outcome.NOT_OBSERVED, note=note, fault=Fault.COURSE, digest=task.digest
    )
    try:
        with EvidenceWriter(order.outbox / EVIDENCE, shared=True) as evidence:
            evidence.write(ItemObserved(run=order.job.id, observation=observation))
    except NotObservedError as error:
        return str(error)
    return ""
