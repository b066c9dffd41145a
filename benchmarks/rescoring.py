"""How many marks a second a changed rubric gives, and whether memory grows with the class.

python benchmarks/rescoring.py RUBRIC EVIDENCE [--submissions N …]

EVIDENCE is the evidence.jsonl of a graded submission; a gradebook is filled with as many copies of it as
there are students, and judged by the same rubric with twice the points. A class of each size has a process of
its own.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from grader.config.course import load_course
from grader.config.evidence_file import read_evidence
from grader.config.rubric import load_rubric
from grader.gradebook.book import Gradebook
from grader.gradebook.rescore import Judge, rescore
from grader.grading.digests import task_digests
from grader.plugins import Plugins
from grader.scoring.score import score

ROOT = Path(__file__).parent.parent
SIZES = (300, 3000)


def main() -> int:
    """Print a line for each size."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("rubric")
    parser.add_argument("evidence", type=Path)
    parser.add_argument("--submissions", type=int, nargs="+", default=SIZES)
    asked = parser.parse_args()
    if len(asked.submissions) == 1:
        measure(asked.rubric, asked.evidence, asked.submissions[0])
        return 0
    for size in asked.submissions:
        argv = [sys.executable, __file__, asked.rubric, str(asked.evidence), "--submissions", str(size)]
        subprocess.run(argv, check=True)
    return 0


def measure(name: str, evidence: Path, size: int) -> None:
    """Fill a gradebook, then make the plan of a rescoring."""
    plugins = Plugins(ROOT)
    rubric = load_rubric(
        load_course(ROOT).folder / "rubrics" / f"{name}.yaml",
        kinds=plugins.checks,
        assignments=plugins.assignment_folders,
    )
    folder = plugins.assignment_folders[rubric.assignment]
    digests = task_digests(rubric, plugins.assignments[rubric.assignment], folder)
    one = read_evidence(evidence)
    if one is None:
        raise SystemExit(f"{evidence}: holds no evidence")
    now = digests(one.submission.digest)
    seen = {item: replace(of, digest=now[item]) for item, of in one.observations.items() if item in now}
    dearer = replace(
        rubric,
        items=tuple(replace(item, points=2 * item.points) for item in rubric.items),
        points=2 * rubric.points,
        digest="sha256:dearer",
    )
    with tempfile.TemporaryDirectory() as place, Gradebook(Path(place, "class.db"), create=True) as book:
        for number in range(size):
            submission = replace(one.submission, student=f"student{number:05}")
            each = replace(one, submission=submission, observations=seen)
            book.record(each, score(rubric, each, plugins.checks), how="record")
        begun, begun_cpu = time.monotonic(), time.process_time()
        done = sum(rescored.changes for rescored in rescore(book, Judge(dearer, plugins.checks, digests)))
        seconds, cpu_s = time.monotonic() - begun, time.process_time() - begun_cpu
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    speeds = f"{done / seconds:,.0f} a second, {done / cpu_s:,.0f} a second of CPU time"
    print(f"{name}: {done} of {size} judged, {speeds}; the process took {peak_mb:.0f} MB")


if __name__ == "__main__":
    sys.exit(main())
