"""What all tests have for themselves: leases, a cache, workers, and Hypothesis without a clock."""

from __future__ import annotations

import gc
import os
import signal
from collections import Counter
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import settings

from grader.cuda.gpus import gpus
from grader.harness import store
from grader.machine import lockfolder
from tests.forked_workers import WORKERS

# A busy machine would fail a deadline; without a database no folder appears beside the sources.
for profile, examples in (("quick", 40), ("reference", 400)):
    settings.register_profile(profile, deadline=None, database=None, max_examples=examples)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

ON_ONE_WORKER = (
    *("context/", "cli/test_installed.py", "cli/test_streams.py", "cli/test_unusable_paths.py"),
    *("cli/test_class_report.py", "cli/test_export_lms.py", "cli/test_post", "cli/test_replay.py"),
    "cli/test_rescore.py",
    *("cli/test_ray.py", "cli/test_slurm.py"),
    *("scaffold/test_workflow_", "subject/standins/cuda_on_cpu/"),
)
"""Parts of the names of files whose tests share a preparation of 1 to 8 s."""


def pytest_configure(config: pytest.Config) -> None:
    """End by the signals that end programs, also where who started us ignores them, as `nohup` and `&` do.

    The programs that tests start and interrupt inherit that.
    """
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    gc.disable()  # until all tests are collected, which makes much and throws nothing away
    config.addinivalue_line(
        "markers", "covering: of all combinations only as many are quick as show each value once"
    )
    config.addinivalue_line("markers", "quick(count): only so many of its cases are quick, the first ones")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--part`, for `tox -e reference -- PATTERN`: one pattern for submissions and for tests."""
    parser.addoption("--part", default="", metavar="PATTERN", help="only tests with this glob in their names")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark as slow what is beyond the quick cases of a test, and deselect what is not of the part.

    What needs a CUDA device is skipped without one, unless `-m` asks for it: `-m gpu` fails there.
    Those that belong together begin, so that no worker is left with many of them at the end.
    """
    items.sort(key=lambda item: not belongs_to(item.nodeid))
    mark_beyond_covering([item for item in items if item.get_closest_marker("covering")])
    mark_beyond_count(items)
    if "gpu" not in config.option.markexpr and not gpus():
        for item in items:
            if item.get_closest_marker("gpu"):
                item.add_marker(pytest.mark.skip(reason="needs a CUDA device"))
    other = [item for item in items if not fnmatch(item.nodeid, f"*{config.option.part}*")]
    if other:
        items[:] = [item for item in items if item not in other]
        config.hook.pytest_deselected(items=other)


def belongs_to(nodeid: str) -> str:
    """The part of `ON_ONE_WORKER` that a test belongs to; empty if it goes to any worker."""
    return next((part for part in ON_ONE_WORKER if part in nodeid), "")


def mark_beyond_covering(items: Iterable[pytest.Item]) -> None:
    """Mark as slow every combination of values each of which one quick combination has shown.

    Combinations are taken by how many values they are the first to show: n forms in m layers need max(n, m).
    """
    functions: dict[str, list[tuple[pytest.Item, set[tuple[str, str]]]]] = {}
    for item in items:
        values = {(name, repr(value)) for name, value in item.callspec.params.items()}  # type: ignore[attr-defined]
        functions.setdefault(item.nodeid.partition("[")[0], []).append((item, values))
    for left in functions.values():
        while left:
            item, shown = max(left, key=lambda case: len(case[1]))
            left[:] = [(other, values - shown) for other, values in left if other is not item]
            if not shown:
                item.add_marker(pytest.mark.slow)


def mark_beyond_count(items: Iterable[pytest.Item]) -> None:
    """Mark as slow every case of a test behind as many as its mark `quick` says; slow ones do not count."""
    counts: Counter[str] = Counter()
    for item in items:
        if (quick := item.get_closest_marker("quick")) and not item.get_closest_marker("slow"):
            function = item.nodeid.partition("[")[0]
            counts[function] += 1
            if counts[function] > quick.args[0]:
                item.add_marker(pytest.mark.slow)


def pytest_collection_finish() -> None:
    """Have the garbage collector pass over what collecting made, which stays, and work less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """A part may be of submissions alone, and no test is about it."""
    if session.config.option.part and session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        session.exitstatus = pytest.ExitCode.OK


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One worker more than cores: many tests wait for a process that they have started."""
    return 1 + len(os.sched_getaffinity(0))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Hand out one test after the other, but for those that belong together."""
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return belongs_to(nodeid) or nodeid

    return Scheduling(config, log)


@pytest.fixture(scope="session", autouse=True)
def _workers_end() -> Iterator[None]:
    """End what this worker forked its workers from."""
    yield
    WORKERS.close()


@pytest.fixture
def forked_workers() -> Iterator[None]:
    """Have what is graded in this process be examined by forks of one that has imported everything."""
    with WORKERS.in_use():
        yield


@pytest.fixture(autouse=True)
def _shared_gpus(request: pytest.FixtureRequest) -> Iterator[None]:
    """Have a test that needs a GPU lease it from all on the machine: others' programs take its memory."""
    if request.node.get_closest_marker("gpu"):
        with patch.dict(os.environ):
            os.environ.pop(lockfolder.VARIABLE, None)
            yield
    else:
        yield


@pytest.fixture(scope="session", autouse=True)
def own_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Locks and built files of this worker alone, so that no other grader on the machine is waited for."""
    folders = {
        lockfolder.VARIABLE: str(tmp_path_factory.mktemp("own") / "leases"),
        store.VARIABLE: str(tmp_path_factory.mktemp("own") / "cache"),
    }
    with patch.dict(os.environ, folders):
        yield
