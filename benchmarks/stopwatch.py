"""What grader's stopwatch reads for functions on a GPU, beside their own `timeit` in a plain process.

python benchmarks/stopwatch.py [NAME...] [--times N] [--cpu]

Both are taken in turns, N times each, on inputs that are fresh for every call. The plain process is not
sandboxed and not pinned; its figure is the median of 20 calls in a row. For `max`, which is compared with
the loop of the homework, the ratio is shown as well. With --cpu the functions are NumPy's, on any machine.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from grader.checks.calls import Oracle
from grader.checks.ratio import measured
from grader.checks.rounds import REPEATS, Rounds, Runner, Schedule, timed_rounds
from grader.contracts.call import Burst, Call, InputCase
from grader.contracts.context import REFERENCE, SUBMISSION, Quiet, Subject
from grader.coursecode import course_module
from grader.harness.item_context import Unwatched
from grader.harness.process_pool import ProcessPool, ProcessSpec
from grader.harness.server_spec import DeviceGrant
from grader.harness.servers import Servers
from grader.machine.cores import Cores
from grader.model.assignment import Limits
from grader.sandbox.bubblewrap import BubblewrapSandbox
from grader.sandbox.interpreter import interpreter
from grader.worker.devices import Devices

ROOT = Path(__file__).parent.parent
COURSE = ROOT / "assignments" / "cdp_hw1"
PLAIN_CALLS = 20
PLAYED = DeviceGrant(devices=("/dev/null",), count=1)
"""A device that nobody uses: its programs are timed as those on a GPU are."""
LOOP = "reference_over"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One function that is timed, and what it is compared with."""

    of: str
    """Its file and its name."""
    over: str
    family: str
    oracle: str
    loops: bool = False
    """Whether `over` is the homework's own loop, so that the ratio means something."""


KINDS = {
    "max": Kind(
        of="max_functions.max_gpu",
        over="max_functions.max_cpu",
        family="byte_matrices",
        oracle="max_gpu",
        loops=True,
    ),
    "rows": Kind(of="rows.max_gpu", over="spin.max_cpu", family="byte_matrices", oracle="max_gpu"),
    "matmul": Kind(
        of="matmul_functions.matmul_transpose_gpu",
        over="spin.product",
        family="tall_matrices",
        oracle="matmul_transpose_gpu",
    ),
}
PROGRAMS = {
    "spin.py": """
import time
import numpy as np

def spin():
    until = time.thread_time() + 0.1
    while time.thread_time() < until: pass

def max_cpu(A, B):
    spin()
    return np.maximum(A, B)

def product(X):
    spin()
    return X @ X.T
""",
    "rows.py": """
import numpy as np
from numba import cuda
from max_functions import max_kernel

def max_gpu(A, B):
    # ten rows at a time
    arrays = [cuda.device_array(A.shape, A.dtype) for _ in range(3)]
    for source, target in zip((A, B), arrays):
        for i in range(0, len(A), 10): target[i:i + 10].copy_to_device(source[i:i + 10])
    max_kernel[1000, 1000](*arrays)
    C = np.empty_like(A)
    for i in range(0, len(C), 10): arrays[2][i:i + 10].copy_to_host(C[i:i + 10])
    return C
""",
}
ON_CPU = """
import numpy as np

def max_gpu(A, B):
    return np.maximum(A, B)

def matmul_transpose_gpu(X):
    return X @ X.T
"""
CLOCKED = """
import time
from {module} import {name} as original

clocks = []

def {name}(*args):
    begun = time.perf_counter()
    value = original(*args)
    clocks.append(time.perf_counter() - begun)
    return value

def seconds():
    return clocks
"""


def main() -> None:
    """Print a line for each comparison, and the medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(KINDS))
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--plain", nargs=4, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.plain:
        plain_process(*asked.plain)
        return
    with programs(cpu=asked.cpu) as stage:
        for name in asked.names or KINDS:
            compare(stage, name, KINDS[name], asked.times)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Where programs are started."""

    folder: Path
    start: Callable[[str, str], Subject]
    """By whose they are, and their file."""
    devices: int


@contextmanager
def programs(*, cpu: bool) -> Iterator[Stage]:
    """The functions in a folder, and children over it, with a leased GPU and leased cores."""
    with ExitStack() as resources:
        folder = Path(resources.enter_context(TemporaryDirectory()))
        folder.chmod(0o755)
        for file in ("max_functions.py", "matmul_functions.py"):
            shutil.copy(COURSE / "reference" / file, folder)
        for file, text in PROGRAMS.items():
            (folder / file).write_text(text)
        if cpu:
            loop = (folder / "max_functions.py").read_text().partition("@njit")[0]
            (folder / "max_functions.py").write_text(
                loop.replace("from numba import cuda, njit, prange", "") + ON_CPU
            )
            for file in ("rows.py", "matmul_functions.py"):
                (folder / file).write_text(ON_CPU)
        for kind in KINDS.values():
            module, _, name = kind.of.rpartition(".")
            (folder / f"clocked_{module}.py").write_text(CLOCKED.format(module=module, name=name))
        limits = Limits(import_wall_s=60.0, call_wall_s=20.0, memory_mb=4096, gpu_memory_mb=8192)
        servers = Servers(
            (BubblewrapSandbox(),),
            python=interpreter().executable,
            site=interpreter().site,
            workspaces={SUBMISSION: folder, REFERENCE: folder},
            limits=limits,
            as_root=True,
        )
        resources.enter_context(closing(servers))
        children = resources.enter_context(closing(ProcessPool(servers, limits, Cores().pick(1))))
        lent, preloads = PLAYED, ("numpy",)
        if not cpu:
            devices = Devices("a benchmark", retire=children.retire_devices, say=print)
            resources.enter_context(closing(devices))
            lent, preloads = devices.lend({"gpu": 1}), ("numpy", "numba", "numba.cuda")
            children.device_memory = devices.memory_used

        def start(whose: str, module: str) -> Subject:
            order = ProcessSpec(whose=whose, module=module, setup=lent.setup(preloads))
            subject = resources.enter_context(children.subject(order))
            assert not subject.imported.note, subject.imported.note
            return subject

        yield Stage(folder=folder, start=start, devices=lent.count)


@dataclass
class CheckContext:
    """As much of a check's context as timed rounds need."""

    kind: Kind
    devices: int
    quiet: Quiet = field(default_factory=Unwatched)

    def draw(self, family: str, number: int) -> tuple[InputCase, ...]:
        """Inputs of the homework."""
        return drawn(family, number)


def drawn(family: str, number: int) -> tuple[InputCase, ...]:
    """A family of the homework, another one for each number."""
    return tuple(getattr(_module("inputs.py"), family)(np.random.default_rng([number, 7])))


@cache
def _module(file: str) -> Any:
    return course_module(COURSE / file)


class Counting:
    """A subject that counts its calls."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.calls = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.subject, name)

    def burst(self, function: str, cases: Sequence[InputCase], *, again: int = 0) -> Burst:
        """Call several times in a row."""
        self.calls += len(cases)
        return self.subject.burst(function, cases, again=again)

    def call(self, function: str, case: InputCase) -> Call:
        """Call once."""
        self.calls += 1
        return self.subject.call(function, case)


def compare(stage: Stage, name: str, kind: Kind, times: int) -> None:
    """Print each comparison of one function, and the medians."""
    module, _, function = kind.of.rpartition(".")
    over_module, _, over = kind.over.rpartition(".")
    clocked = Counting(stage.start(SUBMISSION, f"clocked_{module}"))
    runners = {
        "of": Runner(subject=clocked, function=function, ours=False, quick=True),
        "reference_of": Runner(
            subject=stage.start(REFERENCE, module), function=function, ours=True, quick=True
        ),
        "over": Runner(subject=stage.start(SUBMISSION, over_module), function=over, ours=False, quick=False),
        LOOP: Runner(subject=stage.start(REFERENCE, over_module), function=over, ours=True, quick=False),
    }
    own: list[Mapping[str, float]] = []
    ends: list[int] = []
    with plain(stage.folder, kind) as ask:
        ask()  # compiles

        def beside(rounds: Rounds) -> bool:
            if rounds.quiet == len(own):  # the round was disturbed and does not count
                return False
            own.append(ask())
            ends.append(clocked.calls)
            fast, least = (own[-1][which] * 1e3 for which in ("fast", "least"))
            line = [f"{name} {len(own):2}: timeit {fast:6.3f} (least {least:.3f})"]
            for side in ("of", "reference_of"):
                seconds = rounds.samples[side][-1]
                line.append(f"{side} {seconds * 1e3:6.3f} ({seconds / own[-1]['fast']:.2f})")
            line.append(f"again {rounds.identity_s[-1] * 1e3:.3f}")
            if kind.loops:
                line.append(f"loop {rounds.cpu[LOOP][-1] * 1e3:.0f}, timeit {own[-1]['loop'] * 1e3:.0f}")
            print("; ".join(line), flush=True)
            return len(own) >= times

        schedule = Schedule(least=1, budget_s=1e9, decided=beside)
        oracle = Oracle(getattr(_module("expected.py"), kind.oracle))
        context = CheckContext(kind=kind, devices=stage.devices)
        rounds = timed_rounds(context, runners, kind.family, oracle, loop=LOOP, schedule=schedule)
    if rounds.failed or rounds.wrong:
        raise SystemExit(f"{name}: {rounds.failed or rounds.wrong}")
    clocks = list(clocked.call("seconds", InputCase(name="", args=())).value)
    inner = [median(clocks[:end][-REPEATS:]) for end in ends]
    print("\n    ".join([f"{name}: medians of {len(own)}", *report(kind, rounds, own, inner)]), flush=True)


def report(
    kind: Kind, rounds: Rounds, own: Sequence[Mapping[str, float]], inner: Sequence[float]
) -> Iterator[str]:
    """Medians over all comparisons; `inner` are the seconds by a clock in the program."""
    fast_s = [one["fast"] for one in own]
    yield f"timeit {median(fast_s) * 1e3:.3f} ms; a clock in the program {median(inner) * 1e3:.3f} ms"
    for side in ("of", "reference_of"):
        yield f"{side} {quotient(rounds.samples[side], fast_s)} of timeit"
    yield f"of {quotient(rounds.samples['of'], inner)} of the clock in the program"
    yield f"handing over {median(rounds.identity_s) * 1e3:.3f} ms"
    if kind.loops:
        graders = [c / s for c, s in zip(rounds.cpu[LOOP], rounds.samples["of"], strict=True)]
        theirs = [one["loop"] / one["fast"] for one in own]
        yield f"loop {quotient(rounds.cpu[LOOP], [one['loop'] for one in own])} of timeit"
        yield f"ratio {spread(graders)}, by timeit {spread(theirs)}: {quotient(graders, theirs)}"
        whole = measured(rounds.samples, rounds.cpu, rounds.first_call_s, calm_rounds=6).ratio
        yield f"as graded {whole.interval.middle:.1f}{f' ({whole.slowed})' if whole.slowed else ''}"


def quotient(values: Sequence[float], others: Sequence[float]) -> str:
    """The spread of one over the other, pair by pair."""
    return spread([a / b for a, b in zip(values, others, strict=True)])


def spread(values: Sequence[float]) -> str:
    """The median and the range."""
    return f"{median(values):.3g} ({min(values):.3g} to {max(values):.3g})"


@contextmanager
def plain(folder: Path, kind: Kind) -> Iterator[Callable[[], Mapping[str, float]]]:
    """A plain process that times the same functions by its own clock whenever it is asked."""
    argv = [
        sys.executable,
        __file__,
        "--plain",
        str(folder),
        kind.of,
        kind.over if kind.loops else "",
        kind.family,
    ]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        lines, orders = process.stdout, process.stdin

        def ask() -> Mapping[str, float]:
            print(file=orders, flush=True)
            return json.loads(lines.readline())  # type: ignore[no-any-return]

        yield ask
        orders.close()


def plain_process(folder: str, of: str, over: str, family: str) -> None:
    """Time so many calls in a row, and one of the loop; print seconds, for each line that is read."""
    from importlib import import_module
    from time import perf_counter, process_time

    sys.path.insert(0, folder)
    functions = {
        name: getattr(import_module(path.rpartition(".")[0]), path.rpartition(".")[2])
        for name, path in (("fast", of), ("loop", over))
        if path
    }
    numbers = count(10**6)
    for _ in sys.stdin:
        calls = [drawn(family, next(numbers))[0].args for _ in range(PLAIN_CALLS)]
        seconds = []
        kept = None
        for args in calls:
            begun = perf_counter()
            kept = functions["fast"](*args)
            seconds.append(perf_counter() - begun)
        told = {"fast": median(seconds), "least": min(seconds)}
        if over:
            begun = process_time()
            kept = functions["loop"](*calls[0])
            told["loop"] = process_time() - begun
        del kept
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    if "--plain" not in sys.argv:
        os.environ.setdefault("PYTHONUNBUFFERED", "1")
    main()
