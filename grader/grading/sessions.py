"""Opens the session of an engine for one command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from grader.config.problem import suggestion
from grader.contracts.engine import EngineSettings, Session
from grader.errors import UsageError
from grader.grading.results import passing
from grader.plugins import Plugins

LOCAL = "local"
"""The engine that is used where none is named."""


@contextmanager
def open_session(
    plugins: Plugins, engine: str = LOCAL, *, out: Path | None = None, at_once: int = 1, gpus: int = 0
) -> Iterator[Session]:
    """Connect to an engine; one that is local starts its workers now, and they import while we do.

    With `out`, a results folder, its workers serve many submissions, `at_once` of them side by side.

    Raises:
        UsageError: there is no such engine, or `out` cannot be written.
    """
    if engine not in plugins.engines:
        advice = suggestion(engine, plugins.engines)
        raise UsageError(f"--engine {engine}: there is none of that name; {advice}")
    with ExitStack() as resources:
        folder = resources.enter_context(passing(out)) if out is not None else None
        settings = EngineSettings(at_once=at_once, gpus=gpus, shared_workspace=folder)
        yield resources.enter_context(plugins.engines[engine].open(settings))
