"""Throws damaged archives and rubrics at the grader: each ends in an answer or in a line, and nothing else.

    python scripts/fuzz.py archives --count 10000 --seed 1
    python scripts/fuzz.py rubrics --count 10000 --seed 1
    python scripts/fuzz.py archives --seed 1 --only 4711 --keep FOLDER

A case depends on its seed and its number alone, so one that failed is found again by them.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fuzz_archives import make_archive, probe_archive
from fuzz_case import Finding, Target, remove
from fuzz_rubrics import make_rubric, rubric_prober

CPU_S = 10.0
"""Seconds of processor time after which a case is a finding."""


@dataclass(slots=True, kw_only=True)
class Tally:
    """What came of a run."""

    answers: Counter[str] = field(default_factory=Counter)
    findings: dict[int, str] = field(default_factory=dict)
    slowest_s: float = 0.0
    slowest: int | None = None


def fuzz(
    target: Target, cases: Sequence[int], *, seed: int, keep: Path | None = None, cpu_s: float = CPU_S
) -> Tally:
    """Make and probe each case; files of cases with a finding are written to `keep`."""
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        for index in cases:
            # Deep, so that what climbs out by a few steps is still seen.
            home = Path(folder) / str(index) / "a" / "b" / "c"
            name, data = target.make(random.Random(f"{seed}:{index}"))
            home.mkdir(parents=True)
            (home / name).write_bytes(data)
            started = time.process_time()
            try:
                with at_most(cpu_s):
                    tally.answers[target.probe(home / name)] += 1
                _check_surroundings(Path(folder) / str(index), home / name, data)
            except Finding as finding:
                tally.findings[index] = str(finding)
            except Exception:
                tally.findings[index] = traceback.format_exc()
            if index in tally.findings and keep:
                keep.mkdir(parents=True, exist_ok=True)
                (keep / f"{index}-{name}").write_bytes(data)
            if (took := time.process_time() - started) > tally.slowest_s:
                tally.slowest_s, tally.slowest = took, index
            remove(Path(folder) / str(index))
    return tally


@contextmanager
def at_most(cpu_s: float) -> Iterator[None]:
    """Raise a Finding in what takes longer."""

    def too_long(*_: Any) -> None:
        raise Finding(f"took more than {cpu_s:g} s of processor time")

    before = signal.signal(signal.SIGPROF, too_long)
    signal.setitimer(signal.ITIMER_PROF, cpu_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _check_surroundings(top: Path, source: Path, data: bytes) -> None:
    """What a probe may leave is removed by the probe: only the file itself is still there."""
    if not source.is_file() or source.read_bytes() != data:
        raise Finding("changed the file that was handed in")
    beside = {path for path in top.rglob("*") if path != source} - set(source.parents)
    if beside:
        raise Finding(f"left behind {sorted(str(path.relative_to(top)) for path in beside)}")


def target(name: str) -> Target:
    """What is called so on the command line."""
    if name == "archives":
        return Target(make=make_archive, probe=probe_archive)
    return Target(make=make_rubric, probe=rubric_prober())


def main(arguments: list[str] | None = None) -> int:
    """Fuzz and report; 1 if there is a finding."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=("archives", "rubrics"))
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="the number of a single case")
    parser.add_argument("--keep", type=Path, help="a folder for the files of cases with a finding")
    options = parser.parse_args(arguments)
    cases = range(options.count) if options.only is None else [options.only]
    tally = fuzz(target(options.what), cases, seed=options.seed, keep=options.keep)
    for index, finding in tally.findings.items():
        print(f"case {index}: {finding}")
    answers = ", ".join(f"{count} {answer}" for answer, count in tally.answers.most_common())
    print(f"{len(cases)} {options.what}: {answers or 'no answer'}; {len(tally.findings)} findings")
    print(f"slowest: case {tally.slowest}, {tally.slowest_s:.2f} s of processor time")
    return int(bool(tally.findings))


if __name__ == "__main__":
    sys.exit(main())
