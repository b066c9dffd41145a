"""Whether submissions that hang or forge keep a class from ending, or take points from the others.

python benchmarks/attacked_class.py [--jobs N] [--within S]

Grades 20 honest submissions, and then the same class with 3 that hang and 3 that forge in place of 6 of
them, in one command each, and prints

    ratio = seconds of the second / (seconds of the first + what the attackers took / workers)

where what the attackers took are their programs' own seconds: each may use its time limits, whether it runs
into them or not. Ends with 1 if the ratio is above 1, if a submission earned other points than it deserves or
has some left open, or if a class did not end within --within seconds (it is killed then).
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle, islice
from math import isclose
from pathlib import Path

from grading import ROOT, Run, evidence_below, run_grader

from grader.config.course import load_course
from grader.machine.cores import Cores
from grader.plugins import Plugins
from grader.selftest.cases import Selection, SelfTestCase, cases_of

RUBRIC = "cdp_hw1_utils"
SIZE = 20
HANGING = ("attack_hang", "attack_open_processes", "swallows_signals")
FORGING = ("attack_open_replies", "attack_open_socket", "forges_verdict")
HONEST = (
    "honest_subprocesses",
    "honest_habits",
    "honest_busy_threads",
    "leaves_a_daemon",
    "tuples",
    "chatty",
)
LIMIT = 1.0


def main() -> int:
    """Grade both classes and print what came of them; 1 unless all is as it must be."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=len(Cores().allowed), help="workers; one for each core")
    parser.add_argument("--within", type=float, default=600.0, metavar="S", help="wall limit of each class")
    options = parser.parse_args()
    selection = Selection(patterns=(*HANGING, *FORGING, *HONEST))
    cases = {case.name: case for case in cases_of(load_course(ROOT), Plugins(ROOT), selection)}
    honest = [cases[name] for name in islice(cycle(HONEST), SIZE)]
    attacked = [*(cases[name] for name in (*HANGING, *FORGING)), *honest][:SIZE]
    first, _, problems = graded_class(honest, options)
    second, attackers_s, more = graded_class(attacked, options)
    allowed_s = first.wall_s + attackers_s / options.jobs
    ended = first.in_time and second.in_time
    ratio = second.wall_s / allowed_s
    print(f"{SIZE} honest submissions: {first.wall_s:.1f} s")
    print(f"{len(HANGING)} that hang and {len(FORGING)} that forge among them: {second.wall_s:.1f} s")
    print(f"these took {attackers_s:.1f} s themselves; {options.jobs} workers")
    print(f"ratio {ratio:.2f} (limit {LIMIT:g})" if ended else "no ratio: a class did not end")
    for problem in (*problems, *more):
        print(f"  {problem}")
    return int(ratio > LIMIT or bool(problems or more))


def graded_class(cases: Sequence[SelfTestCase], options: argparse.Namespace) -> tuple[Run, float, list[str]]:
    """Grade a class: the run, the seconds that its attackers took, and what is not as it must be."""
    with tempfile.TemporaryDirectory(prefix="grader-class-", ignore_cleanup_errors=True) as folder:
        archives, out = Path(folder, "archives"), Path(folder, "results")
        archives.mkdir()
        students = {f"student{number}": case for number, case in enumerate(cases)}
        for student, case in students.items():
            shutil.copyfile(case.archive, archives / f"{student}.tar.gz")
        # attacks must not run where processes that are none of theirs can be seen
        words = ["--rubric", RUBRIC, "--jobs", str(options.jobs), "--min-isolation", "namespaces"]
        run = run_grader([archives], out, words, within_s=options.within)
        attackers_s = sum(
            seen.program_s
            for one in evidence_below(out)
            if students[one.submission.student].name in {*HANGING, *FORGING}
            for seen in one.observations.values()
        )
    if not run.in_time:
        return run, attackers_s, [f"did not end within {options.within:g} s"]
    return run, attackers_s, list(undeserved(students, run))


def undeserved(students: Mapping[str, SelfTestCase], run: Run) -> Iterator[str]:
    """A line for each item that earned something else than it deserves, or is open or held."""
    items = {score["students"][0]: score["items"] for score in run.scores}
    for student, case in students.items():
        if student not in items:
            yield f"{student} ({case.name}): was not graded"
        for item in items.get(student, ()):
            deserved, status = case.earns[item["id"]], item["status"]
            if status in {"pending", "held"}:
                yield f"{student} ({case.name}): {item['id']} is {status}: {item['reason']}"
            elif deserved == "pending" or not isclose(item["points"], deserved, abs_tol=1e-6):
                points = f"earned {item['points']:g}, deserves {deserved}"
                yield f"{student} ({case.name}): {item['id']} {points}: {item['reason']}"


if __name__ == "__main__":
    sys.exit(main())
