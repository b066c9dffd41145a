"""What all tests have for themselves: leases, a cache, workers, and Hypothesis without a clock."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from fnmatch import fnmatch
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import settings

from grader.bench import store
from grader.machine import lockfolder

# A busy machine would fail a deadline; without a database no folder appears beside the sources.
settings.register_profile("shared machine", deadline=None, database=None)
settings.load_profile("shared machine")

ON_ONE_WORKER = (
    *("bench/", "cli/test_installed.py", "cli/test_streams.py", "cli/test_unusable_paths.py"),
    *("scaffold/test_workflow_", "subject/cuda_on_cpu/"),
)
"""Parts of the names of files whose tests share a preparation of 1 to 8 s."""


def pytest_configure() -> None:
    """End by the signals that end programs, also where who started us ignores them, as `nohup` and `&` do.

    The programs that tests start and interrupt inherit that.
    """
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--part`, for `tox -e reference -- PATTERN`: one pattern for submissions and for tests."""
    parser.addoption("--part", default="", metavar="PATTERN", help="only tests with this glob in their names")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect what is not of the part."""
    other = [item for item in items if not fnmatch(item.nodeid, f"*{config.option.part}*")]
    if other:
        items[:] = [item for item in items if item not in other]
        config.hook.pytest_deselected(items=other)


def pytest_collection_finish() -> None:
    """Have the garbage collector pass over what collecting made: it stays until the end."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """A part may be of submissions alone, and no test is about it."""
    if session.config.option.part and session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        session.exitstatus = pytest.ExitCode.OK


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Twice as many workers as cores: many tests wait for a process that they have started."""
    return 2 * len(os.sched_getaffinity(0))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Hand out one test after the other, but for those that belong together."""
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return next((part for part in ON_ONE_WORKER if part in nodeid), nodeid)

    return Scheduling(config, log)


@pytest.fixture(scope="session", autouse=True)
def own_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Locks and built files of this worker alone, so that no other grader on the machine is waited for."""
    folders = {
        lockfolder.VARIABLE: str(tmp_path_factory.mktemp("own") / "leases"),
        store.VARIABLE: str(tmp_path_factory.mktemp("own") / "cache"),
    }
    with patch.dict(os.environ, folders):
        yield
