"""How long a whole grading takes, beside the submission's own building and running: ratios of one run.

python benchmarks/whole.py [NAME...] [--times N] [--items]

Each submission of tests/submissions is graded once without a look at the clock, since the first run on a
machine builds what later ones find (the reference, compiled modules), and then N times. Ends with 1 if the
median of one is over the limit. With --items it says, of the last time, what took long beside the
submission's own program; two workers may have been at work at once.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from grading import ROOT, evidence_below, run_grader

from grader.config.course import load_course
from grader.errors import GraderError
from grader.model.observation import Observation
from grader.plugins import Plugins
from grader.selftest.cases import Selection, SelfTestCase, cases_of

NAMES = ("alice", "dlsys_right", "dlsys_cublas")
LIMIT = 1.5
MOST = 12
"""So many items are named."""


def main() -> int:
    """Print a line for each submission; 1 if one of them is over the limit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*", default=NAMES, metavar="NAME")
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--items", action="store_true")
    asked = parser.parse_args()
    try:
        cases = cases_of(load_course(ROOT), Plugins(ROOT), Selection(patterns=tuple(asked.names)))
    except GraderError as error:
        raise SystemExit(f"whole.py: {error}") from None
    print(f"{'':20} {'all, s':>8} {'its own, s':>11} {'ratio':>6}   (limit {LIMIT:g})")
    over = False
    for case in cases:
        graded(case)
        found = [graded(case) for _ in range(asked.times)]
        wall_s, own_s = (median(getattr(one, name) for one in found) for name in ("wall_s", "own_s"))
        ratio = median(one.wall_s / one.own_s for one in found)
        print(f"{case.name:20} {wall_s:8.2f} {own_s:11.2f} {ratio:6.2f}", flush=True)
        if asked.items:
            for seen in sorted(found[-1].items, key=_beside_s, reverse=True)[:MOST]:
                print(f"    {seen.item:36} {seen.wall_s:8.2f} {seen.program_s:8.2f}", flush=True)
        over |= ratio > LIMIT
    return int(over)


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """A whole `grader run`."""

    wall_s: float
    own_s: float
    """What the submission's own program took of it."""
    items: tuple[Observation, ...]


def _beside_s(seen: Observation) -> float:
    return seen.wall_s - seen.program_s


def graded(case: SelfTestCase) -> Graded:
    """Grade a submission anew.

    Raises:
        SystemExit: it was not graded, or nothing of it ran.
    """
    rubric = case.rubric.name if case.rubric else ""
    with TemporaryDirectory() as out:
        run = run_grader([case.archive], Path(out), ["--rubric", rubric, "--student", "somebody"])
        items = tuple(seen for one in evidence_below(Path(out)) for seen in one.observations.values())
    own_s = sum(seen.program_s for seen in items)
    if not own_s:
        raise SystemExit(f"{case.name}: was not graded, or nothing of it ran\n{run.complaints}")
    return Graded(wall_s=run.wall_s, own_s=own_s, items=items)


if __name__ == "__main__":
    sys.exit(main())
