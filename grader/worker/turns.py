"""Which item comes next, here or beside, and what is seen of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from grader.model.job import Task
from grader.model.observation import Observation
from grader.worker.beside import WORTH_SHARING, Beside

if TYPE_CHECKING:
    from grader.worker.items import Items


def in_turn(tasks: Sequence[Task], items: Items, beside: Beside) -> Iterator[Observation]:
    """What is seen of every item: one after the other here, each after what it needs, and others beside.

    Of those that can be looked at, those that are lent the most GPUs come first: what the rest does not
    need is given back early.

    Half of those that bear company on a GPU are given to whoever is beside and has nothing to do. Nothing
    else is looked at meanwhile. Whatever did not pass in company is looked at once more, without: nobody may
    lose anything by a program that took memory or time beside his.
    """
    left = [task for task in tasks if task.item not in beside.left]
    company = set(beside.company)
    """Those that have not failed to pass in it."""

    def settled(task: Task, observation: Observation, *, accompanied: bool) -> bool:
        passes = items.passes(task, observation)
        if accompanied and not passes:
            company.remove(task.item)
            left.append(task)
            return False
        items.note(task, observation, passes)
        return True

    while left or beside.left:
        for task, observation in beside.seen():
            if settled(task, observation, accompanied=task.item in beside.company):
                yield observation
        missing = {one.item for one in left} | beside.left.keys()
        ready = [task for task in left if missing.isdisjoint({*task.needs, *task.uses})]
        bearing = [task for task in ready if task.item in company]
        if beside.idle and len(bearing) >= WORTH_SHARING and (lent := items.prepare(bearing[0])):
            beside.give(bearing[1::2], items.standing, lent)
            left = [task for task in left if task.item not in beside.left]
            bearing = bearing[::2]
        accompanied = beside.on_gpu
        if accompanied:
            ready = bearing
        if ready:
            task = max(ready, key=items.gpus_for)
            left.remove(task)
            observation = items.observe(task)
            if settled(task, observation, accompanied=accompanied):
                yield observation
            items.leave(task, [*left, *beside.left.values()])
            continue
        if left and not accompanied:
            items.prepare(max(left, key=items.gpus_for))
        if beside.left and not beside.wait():  # it ended before its time
            left += beside.taken()
