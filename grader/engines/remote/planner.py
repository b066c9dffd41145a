"""Plans batches: how many orders a task observes, how many tasks a batch has, and how long they may take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from grader.engines.remote.batch import Batch, new_name
from grader.engines.remote.durations import Durations
from grader.engines.remote.packs import divide_into_packs, pack_sizes
from grader.engines.remote.scheduler import Scheduler
from grader.engines.remote.stored import StoredOrder, Wants

SHORTEST_S = 120.0
"""The shortest time limit of a task."""


@dataclass
class BatchPlanner:
    """Plans batches by what is known of durations, and of the limits of a scheduler."""

    scheduler: Scheduler
    first: int
    """The size of packs while nothing is known of durations."""
    durations: Durations = field(default_factory=Durations)
    _full_time: set[Wants] = field(default_factory=set)
    """Needs whose tasks took longer than was expected."""
    _most_tasks: dict[Wants, int] = field(default_factory=dict)
    """The most tasks of a batch, where the scheduler took no more."""

    def plan(self, wants: Wants, orders: Sequence[StoredOrder]) -> Batch:
        """Plan a batch of the first orders, or of all.

        Raises:
            SchedulerAwayError: the scheduler does not answer.
            SchedulerRefusedError: it has no place for such orders.
        """
        cores, limit_s = self.scheduler.cores(wants), self.scheduler.limit_s(wants)
        lanes = 1 if wants.exclusive else cores
        each_s = self.durations.expected(orders)
        sizes = pack_sizes(
            len(orders),
            self.scheduler.slots(wants),
            lanes,
            each_s=each_s,
            first=self.first,
            tasks=self.scheduler.most_tasks,
        )
        time_s = limit_s
        if each_s is not None and wants not in self._full_time:
            time_s = min(limit_s, SHORTEST_S + 2.0 * each_s * max(sizes) / lanes)
        packs = divide_into_packs([order.key for order in orders], sizes[: self._most_tasks.get(wants)])
        return Batch(name=new_name(), packs=packs, wants=wants, cores=cores, time_s=time_s)

    def demand_full_time(self, batch: Batch) -> bool:
        """Give later batches like this one all the time there may be; tell whether this one had less."""
        if batch.time_s >= self.scheduler.limit_s(batch.wants):
            return False
        self._full_time.add(batch.wants)
        return True

    def demand_fewer_tasks(self, batch: Batch) -> bool:
        """Give later batches like this one half of its tasks; tell whether it had more than one."""
        self._most_tasks[batch.wants] = max(1, len(batch.packs) // 2)
        return len(batch.packs) > 1
