"""Play a class on a cluster of any size with the costs of a task that were measured on a small one.

    python benchmarks/cluster_plan.py [--submissions 10000] [--gpus 1000] [--seconds 60]

The packs are those that the engine makes. Played are: how fast Slurm starts tasks, how long a worker needs
until it begins, how often the host looks and asks, and how many submissions it has open. Nothing is started.
"""

from __future__ import annotations

import argparse
import heapq
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from grader.engines.remote.packs import pack_sizes
from grader.engines.remote.scheduler import Pace
from grader.engines.remote.session import GATHER_S, MANY_TASKS

PACE = Pace()
LAUNCH_S = 0.28
"""Seconds between two tasks that Slurm starts: 300 tasks took 91 s on three nodes with 12 GPUs."""
START_S = 3.0
"""Seconds from the start of a task to its first order: interpreter, imports, sandbox."""
ORDER_S = 0.3
"""Seconds of one order beside what it observes."""
SPREAD = 0.3
"""Standard deviation of an order's duration, as a share of it."""
MOST_TASKS = 1000


class Cluster:
    """Places for tasks, which start one after the other."""

    def __init__(self, places: int, launch_s: float) -> None:
        self.free = [0.0] * places
        self.launch_s = launch_s
        self.next_launch = 0.0
        self.busy_s = 0.0
        self.tasks = 0

    def run(self, sent: float, durations: list[float]) -> list[float]:
        """Run a task when there is room, and return when each of its orders has ended."""
        begin = max(sent, heapq.heappop(self.free), self.next_launch)
        self.next_launch = begin + self.launch_s
        ends, now = [], begin + START_S
        for duration in durations:
            now += ORDER_S + duration
            ends.append(now)
        self.busy_s += sum(durations)
        self.tasks += 1
        heapq.heappush(self.free, now)
        return ends


def play(submissions: int, gpus: int, seconds: float, at_most: int, launch_s: float) -> tuple[float, Cluster]:
    """Return how long a class takes, and the cluster on which it was played."""
    draw = random.Random(1)
    cluster = Cluster(gpus, launch_s)
    waiting, open_ends = 0, list[float]()
    left, now, known = submissions, 0.0, False
    while left or open_ends:
        # what has ended is seen at the next look; each makes room for another submission
        while open_ends and open_ends[0] <= now:
            heapq.heappop(open_ends)
            known = True
        waiting = min(left, at_most - len(open_ends))
        queued = sum(end > now for end in cluster.free) >= gpus
        if waiting and (not queued or now % GATHER_S < PACE.ask_every_s[1]):
            each_s = seconds + ORDER_S if known else None
            for size in pack_sizes(waiting, gpus, 1, each_s=each_s, first=8, tasks=MOST_TASKS):
                durations = [max(1.0, draw.gauss(seconds, SPREAD * seconds)) for _ in range(size)]
                for end in cluster.run(now, durations):
                    heapq.heappush(open_ends, end)
            left -= waiting
        share = min(1.0, min(gpus, cluster.tasks) / MANY_TASKS)
        now += PACE.read_every_s[0] + share * (PACE.read_every_s[1] - PACE.read_every_s[0])
    return now, cluster


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--submissions", type=int, default=10_000)
    parser.add_argument("--gpus", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=60.0)
    arguments = parser.parse_args()
    print("submissions  GPUs  open  start of a task each  tasks  minutes  of the GPUs' time")
    for at_most in (256, 4096, arguments.submissions):
        for launch_s in (LAUNCH_S, 0.02):
            wall_s, cluster = play(
                arguments.submissions, arguments.gpus, arguments.seconds, at_most, launch_s
            )
            share = cluster.busy_s / (wall_s * arguments.gpus)
            print(
                f"{arguments.submissions:11} {arguments.gpus:5} {at_most:5} {launch_s:19.2f} s "
                f"{cluster.tasks:6} {wall_s / 60:8.1f} {share:18.0%}"
            )


if __name__ == "__main__":
    main()
