"""The engine `slurm`: opens a session over sbatch, squeue and scancel.

Every command asks each engine for its name and options. What only a session needs is imported with it.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from grader.contracts.engine import Engine, EngineFinding, EngineSettings
from grader.engines.slurm.options import SlurmOptions
from grader.errors import UsageError

if TYPE_CHECKING:
    from grader.engines.remote.session import RemoteSession


class SlurmEngine(Engine):
    """Has Slurm run workers on the nodes of a cluster with a shared file system."""

    name: ClassVar[str] = "slurm"
    Options: ClassVar[type] = SlurmOptions
    is_remote: ClassVar[bool] = True
    detaches: ClassVar[bool] = True

    @contextmanager
    def open(self, settings: EngineSettings) -> Iterator[RemoteSession]:
        """Look for Slurm's commands; nothing is queued before an order comes."""
        from grader.engines.remote.session import RemoteSession
        from grader.engines.slurm.scheduler import SlurmScheduler, require_commands

        require_commands()
        options = settings.options or SlurmOptions()
        if not (options.folder or settings.results):
            raise UsageError(
                "--engine slurm: this command has no results folder; name one that all nodes share by "
                "engines.slurm.folder of course.yaml or of the site's file"
            )
        session = RemoteSession(SlurmScheduler(options), options, settings, "Slurm", _folder(options))
        cancel = False
        try:
            yield session
        except KeyboardInterrupt as interrupt:
            # a host that is shut down, or loses its terminal, leaves its jobs to whoever comes next
            cancel = not settings.detach and interrupt.args[:1] in {(), (signal.SIGINT,)}
            raise
        finally:
            session.close(cancel=cancel)

    def probe(self, settings: EngineSettings) -> Iterator[EngineFinding]:
        """Run a probe for each kind of tasks."""
        from grader.engines.remote.prober import probe
        from grader.engines.slurm.scheduler import SlurmScheduler, require_commands

        require_commands()
        options = settings.options or SlurmOptions()
        return probe(SlurmScheduler(options), settings, "Slurm", _folder(options))


def _folder(options: SlurmOptions) -> str:
    """Return the folder of orders, with `~` as the user's home; empty for none.

    Raises:
        UsageError: it depends on where the command was started.
    """
    folder = Path(options.folder).expanduser() if options.folder else None
    if folder and not folder.is_absolute():
        raise UsageError(
            f"engines.slurm.folder: {options.folder} is not absolute; give the path that all machines see"
        )
    return str(folder or "")
