"""Whether a submission can earn what it does not deserve, stay open by its own doing, or stop a grading.

python benchmarks/attacks.py [NAME...] [--only gpu|cpu] [--out FILE] [--within S] [--each S]

Grades the submissions of tests/submissions whose names begin with `attack_`, and their honest twins
(`honest_`), one after the other, and compares every item with what expected.yaml says it deserves. A run
that is not over after --each seconds is killed; the items that it had not observed are graded again one by
one, so that the one that hangs is named. Each item is a JSON line in FILE, and what is in FILE is not run
again. Ends with 1 if an item was earned that is not deserved, was lost by a twin, is open or held although
a program alone decides it, hung, or is left for a later command (--within).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from math import isclose
from pathlib import Path
from typing import Any

from grading import ROOT, Run, evidence_below, run_grader
from planted.lines import Line, Lines

from grader.config.course import load_course
from grader.cuda.gpus import gpus
from grader.errors import GraderError
from grader.model.observation import Observation, Outcome
from grader.plugins import Plugins
from grader.selftest.cases import Selection, SelfTestCase, cases_of

NAMES = ("attack_*", "honest_*")
RIGHT = "as deserved"
NO_ATTACK = "only for a sandbox of grader"
"""What an attack raises where it does not find the frames of grader's own code around it."""
LEFT = "left for a later command"


def main() -> int:
    """Grade what FILE does not hold yet, print the table; 1 unless every item is as deserved."""
    options = arguments()
    lines = Lines(options.out) if options.out else Lines(Path("/dev/null"))
    cases = selected(options)
    ends = time.monotonic() + options.within
    print(f"{'submission':28} {'item':26} {'deserved':>8} {'earned':>8} {'seconds':>8}")
    verdicts: Counter[str] = Counter()
    for case in cases:
        names = {item: {"name": case.name, "item": item} for item in decided_here(case)}
        if items := [item for item, name in names.items() if not lines.holds(name)]:
            for line in observed(case, items, options.each, ends):
                lines.append(line)
        for name in names.values():
            line = next((line for line in lines.all if name.items() <= line.items()), None)
            verdicts[line["verdict"] if line else LEFT] += 1
            if line:
                print(row(line), flush=True)
    counts = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common())
    print(f"{len(cases)} submissions, {verdicts.total()} items: {counts or 'nothing to grade'}")
    return int(verdicts.total() > verdicts[RIGHT])


def arguments() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", default=NAMES, metavar="NAME")
    parser.add_argument("--only", choices=("gpu", "cpu"), help="submissions that need a GPU, or need none")
    parser.add_argument("--out", type=Path, metavar="FILE")
    parser.add_argument(
        "--within", type=float, default=float("inf"), metavar="S", help="begin no run that could last longer"
    )
    parser.add_argument("--each", type=float, default=180.0, metavar="S", help="wall limit of one run")
    return parser.parse_args()


def selected(options: argparse.Namespace) -> list[SelfTestCase]:
    """The submissions to grade, each with at least one item that this machine can decide.

    Raises:
        SystemExit: a name or an expected.yaml is wrong.
    """
    selection = Selection(patterns=tuple(options.names), gpus=len(gpus()))
    try:
        cases = cases_of(load_course(ROOT), Plugins(ROOT), selection)
    except GraderError as error:
        raise SystemExit(f"attacks.py: {error}") from None
    on_gpu = {case.name for case in cases if any(needs_gpu(case, item) for item in decided_here(case))}
    wanted = {"gpu": on_gpu, "cpu": {case.name for case in cases} - on_gpu}.get(options.only)
    return [case for case in cases if decided_here(case) and (wanted is None or case.name in wanted)]


def decided_here(case: SelfTestCase) -> list[str]:
    """The items that a program alone decides on this machine: those that expected.yaml gives points."""
    return [item for item, points in case.earns.items() if points != "pending"]


def needs_gpu(case: SelfTestCase, name: str) -> bool:
    """Whether an item asks for a GPU."""
    return any(item.id == name and item.devices.get("gpu", 0) for item in case.rubric.items if case.rubric)


def observed(case: SelfTestCase, items: list[str], each_s: float, ends: float) -> Iterator[Line]:
    """A line per item; of a run that is killed, the items that it had not observed are run one by one."""
    if time.monotonic() + each_s > ends:
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as out:
        run = grade(case, items, Path(out), each_s)
        observations = dict(
            pair for evidence in evidence_below(Path(out)) for pair in evidence.observations.items()
        )
        rest = [] if run.in_time else [item for item in items if item not in observations]
        if done := [item for item in items if item not in rest]:
            # a killed run scored nothing; the same command goes on from its evidence, and only scores
            scored = run if run.in_time else grade(case, done, Path(out), each_s)
            yield from (line_of(case, item, observations.get(item), scored) for item in done)
    if rest == items and len(rest) == 1:
        yield line_of(case, rest[0], None, run)
        return
    for item in rest:
        yield from observed(case, [item], each_s, ends)


def grade(case: SelfTestCase, items: Iterable[str], out: Path, within_s: float) -> Run:
    """Run grader over these items of a submission."""
    options = ["--student", "somebody", "--rubric", case.rubric.name if case.rubric else ""]
    if case.isolation:
        options += ["--min-isolation", case.isolation]
    for item in items:
        options += ["--item", item]
    return run_grader([case.archive], out, options, within_s=within_s)


def line_of(case: SelfTestCase, item: str, seen: Observation | None, run: Run) -> Line:
    """What became of one item, and the verdict on it."""
    scored: dict[str, Any] = next(
        (line for score in run.scores for line in score["items"] if line["id"] == item), {}
    )
    line = {
        "name": case.name,
        "item": item,
        "deserved": case.earns[item],
        "earned": scored.get("points"),
        "status": scored.get("status"),
        "outcome": str(seen.outcome) if seen else None,
        "fault": str(seen.fault) if seen and seen.fault else None,
        "flags": scored.get("flags", []),
        "reason": scored.get("reason") or (seen.note if seen else run.complaints.strip()[-400:]),
        "seconds": round(seen.wall_s if seen else run.wall_s, 2),
    }
    return {**line, "verdict": verdict(line, seen, run)}


def verdict(line: Line, seen: Observation | None, run: Run) -> str:
    """One word or two of what is wrong; RIGHT if nothing is."""
    if not run.in_time and seen is None:
        return "HUNG"
    if seen is None:
        return "NOT GRADED"
    if seen.outcome is Outcome.NOT_OBSERVED or line["status"] in {"pending", "held"}:
        return "OPEN"
    if NO_ATTACK in line["reason"]:
        return "NO ATTACK"
    if isclose(line["earned"], line["deserved"], abs_tol=1e-6):
        return RIGHT
    return "EARNED" if line["earned"] > line["deserved"] else "LOST"


def row(line: Line) -> str:
    """A line of the table."""
    earned = "-" if line["earned"] is None else f"{line['earned']:g}"
    text = f"{line['name']:28} {line['item']:26} {line['deserved']:8g} {earned:>8} {line['seconds']:8.2f}"
    if line["verdict"] == RIGHT:
        return text
    return f"{text}  {line['verdict']}: {' '.join(line['reason'].split())[:110]}".rstrip(": ")


if __name__ == "__main__":
    sys.exit(main())
