"""How far a verdict can be trusted: known ratios, submissions graded again and again, and clocks compared.

python benchmarks/verdicts.py planted|stable|clocks --out FILE [--load [beside]] [--times N] [--within S]
python benchmarks/verdicts.py table FILE

Each graded run is a JSON line in FILE, and what is in it is not done again: a command that ends with 1 has
more to do. `planted` grades programs whose ratio is known, `stable` submissions of cdp_hw1, and `clocks` one
that times itself. With `--load` every core is busy meanwhile; with `--load beside`, all but the one that
programs are timed on. `--cpu` plants programs that need no GPU.

The whole design: planted --ratios 34 36 38 40 42 44 46 --times 20 --within 7200, and again with --load.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from grading import ROOT, evidence_below, run_grader
from planted.lines import Line, Lines
from planted.plant import Bed, lasting, planted, truth
from planted.tables import tables

from grader.checks.waiting import NOT_TIMED
from grader.machine.cores import Cores
from grader.model.observation import Observation, Outcome

STUDENT = "somebody"
GUESS_S = 30.0
"""What a run may take, as long as none was seen."""
SPIN = """
import os, sys
os.sched_setaffinity(0, {int(sys.argv[1])})
while os.getppid() == int(sys.argv[2]):
    for _ in range(10**6): pass
"""

Ready = tuple[Path, Mapping[Any, Path]]
"""A course, and a submission for each value of what varies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One of the three questions."""

    varies: str
    """What its runs differ in: the key of it in a line."""
    values: Callable[[argparse.Namespace], Sequence[Any]]
    ready: Callable[[argparse.Namespace, Lines], AbstractContextManager[Ready]]
    assignment: str
    rubric: str
    times: tuple[int, int]
    """How often each value is graded: on a quiet machine, and on a busy one."""


def main() -> int:
    """Do what is left and there is time for; 1 if that is not all."""
    asked = arguments()
    file = Lines(asked.out)
    if asked.part == "table":
        print(tables(file.all))
        return 0
    begun = time.monotonic()
    part = PARTS[asked.part]
    left = [told for told in wanted(part, asked) if not file.holds(told)]
    if left:
        with part.ready(asked, file) as (course, submissions):
            reserve_s = 1.2 * (time.monotonic() - begun)  # what was made ready is looked at once more
            with busy(LOADS[asked.load]()):
                for told, within_s in timely(left, begun + asked.within - reserve_s):
                    facts = graded(course, submissions[told[part.varies]], part, within_s)
                    if facts is None:
                        break
                    file.append(told | facts)
        left = [told for told in left if not file.holds(told)]
    print(f"{asked.out}: {len(left)} runs of {asked.part} are left", file=sys.stderr)
    return int(bool(left))


def arguments() -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts = parser.add_subparsers(dest="part", required=True)
    parts.add_parser("table").add_argument("out", type=Path, metavar="FILE")
    for name, part in PARTS.items():
        sub = parts.add_parser(name)
        sub.add_argument("--out", type=Path, required=True, metavar="FILE")
        sub.add_argument("--load", nargs="?", choices=[*filter(None, LOADS)], default="", const="every")
        sub.add_argument("--times", type=int, help="how often; {} or, with --load, {}".format(*part.times))
        sub.add_argument("--within", type=float, default=480.0, metavar="S")
        sub.add_argument("--cpu", action="store_true", help="plant what needs no GPU")
    parts.choices["planted"].add_argument("--ratios", type=float, nargs="+", default=[36.0, 38.0, 42.0, 44.0])
    parts.choices["stable"].add_argument(
        "names", nargs="*", default=["alice", "gpu_slow", "gpu_1001_blocks", "gpu_empty_kernel"]
    )
    return parser.parse_args()


def wanted(part: Part, asked: argparse.Namespace) -> list[Line]:
    """What names each run, all values once before any of them the second time."""
    times = asked.times or part.times[bool(asked.load)]
    return [
        {"part": asked.part, part.varies: value, "load": asked.load, "cpu": asked.cpu, "run": run}
        for run in range(1, times + 1)
        for value in part.values(asked)
    ]


def timely(
    left: Iterable[Line], ends: float, clock: Callable[[], float] = time.monotonic
) -> Iterator[tuple[Line, float]]:
    """Those for which there is time, each with the seconds until `ends`.

    There is, as long as the longest run so far would fit in.
    """
    longest_s = 0.0
    for told in left:
        begun = clock()
        if ends - begun < (longest_s or GUESS_S):
            return
        yield told, ends - begun
        longest_s = max(longest_s, clock() - begun)


def graded(course: Path, submission: Path, part: Part, within_s: float) -> Line | None:
    """What `grader run` makes of a submission; None if it did not end in time.

    Raises:
        SystemExit: it could not be graded at all.
    """
    with TemporaryDirectory(ignore_cleanup_errors=True) as out:
        options = ["--assignment", part.assignment, "--rubric", part.rubric, "--student", STUDENT]
        run = run_grader([submission], Path(out), options, course=course, within_s=within_s)
        if not run.in_time:
            return None
        (evidence,) = evidence_below(Path(out)) or (None,)
        if not run.scores or evidence is None or not evidence.runs:
            raise SystemExit(f"{submission}: was not graded:\n{run.complaints}")
        (card,) = run.scores
        machine = evidence.runs[-1].environment
        return {
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "machine": machine_in_words(machine),
            "load_1min": machine["load_1min"],
            "seconds": round(run.wall_s, 2),
            "items": {
                item["id"]: facts(item, evidence.observations[item["id"]])
                for item in card["items"]
                if item["id"] in evidence.observations
            },
        }


def facts(item: Mapping[str, Any], seen: Observation) -> Line:
    """What is written down of an item: what it says in `score.json`, and what its check kept."""
    noisy = seen.outcome is Outcome.NOT_OBSERVED and seen.note.startswith(NOT_TIMED)
    return {
        "verdict": "noisy" if noisy else item["status"],
        "outcome": item["outcome"],
        "reason": item["reason"],
        "note": seen.note,
        "flags": item["flags"],
        "measured": {name: quantity["value"] for name, quantity in item["measured"].items()},
        **{name: seen.facts[name] for name in ("timed", "observed", "disturbance") if name in seen.facts},
    }


def machine_in_words(machine: Mapping[str, Any]) -> str:
    """What tells one machine from another."""
    gpus = [f"{gpu['name']} (driver {gpu['driver']})" for gpu in machine.get("gpus", ())]
    return ", ".join([f"{os.cpu_count()} cores of {machine.get('processor', 'unknown')}", *gpus])


@contextmanager
def busy(cores: Iterable[int]) -> Iterator[None]:
    """Have a process compute on each of these cores for a while."""
    spinning = [
        subprocess.Popen([sys.executable, "-S", "-E", "-c", SPIN, str(core), str(os.getpid())])
        for core in cores
    ]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


@contextmanager
def known_ratios(asked: argparse.Namespace, file: Lines) -> Iterator[Ready]:
    """Programs of known ratios; what they really take is written down before and after."""
    with bed(asked) as ours:
        submissions = planted(ours, asked.ratios)

        def look(when: str) -> None:
            for ratio, submission in submissions.items():
                told = {"part": "truth", "ratio": ratio, "load": asked.load, "cpu": asked.cpu, "when": when}
                file.append({**told, **truth(ours, submission)})

        look("before")
        yield ours.course, submissions
        look("after")


@contextmanager
def known_submissions(asked: argparse.Namespace, file: Lines) -> Iterator[Ready]:
    """Submissions of the project's own course."""
    del file
    archives = {name: ROOT / "submissions" / f"{name}.tar.gz" for name in asked.names}
    if missing := [str(archive) for archive in archives.values() if not archive.exists()]:
        raise SystemExit(f"{missing[0]}: is not there; run scripts/build_submissions.py")
    yield ROOT, archives


@contextmanager
def known_lengths(asked: argparse.Namespace, file: Lines) -> Iterator[Ready]:
    """Programs that take about so long, and time themselves."""
    del file
    with bed(asked) as ours:
        yield ours.course, lasting(ours, LENGTHS_MS)


@contextmanager
def bed(asked: argparse.Namespace) -> Iterator[Bed]:
    """A course of its own in a temporary folder."""
    with TemporaryDirectory() as folder:
        made = Bed(folder=Path(folder), gpu=not asked.cpu)
        made.lay_out()
        yield made


LENGTHS_MS = (2.0, 5.0, 20.0)
LOADS: Mapping[str, Callable[[], Iterable[int]]] = {
    "": lambda: (),
    "every": lambda: Cores().allowed,
    "beside": lambda: set(Cores().allowed) - set(Cores().pick(1)[:1]),
}
"""Which cores are kept busy; one free core is the first that grader takes to time on."""
PARTS = {
    "planted": Part(
        varies="ratio",
        values=lambda asked: asked.ratios,
        ready=known_ratios,
        assignment="planted",
        rubric="planted",
        times=(10, 5),
    ),
    "stable": Part(
        varies="submission",
        values=lambda asked: asked.names,
        ready=known_submissions,
        assignment="cdp_hw1",
        rubric="cdp_hw1_gpu",
        times=(10, 5),
    ),
    "clocks": Part(
        varies="about_ms",
        values=lambda _: LENGTHS_MS,
        ready=known_lengths,
        assignment="planted",
        rubric="clocks",
        times=(3, 3),
    ),
}

if __name__ == "__main__":
    sys.exit(main())
