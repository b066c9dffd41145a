"""The engine `ray`: opens a session over a cluster of Ray, which ends with it.

Every command asks each engine for its name and options. What only a session needs is imported with it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, ClassVar

from grader.contracts.engine import Engine, EngineFinding, EngineSettings
from grader.engines.ray.options import RayOptions
from grader.errors import UsageError
from grader.extras import install_command

if TYPE_CHECKING:
    from grader.engines.ray.scheduler import RayScheduler
    from grader.engines.remote.session import RemoteSession


class RayEngine(Engine):
    """Has Ray run workers on the nodes of a cluster; files travel there, and nothing need be shared."""

    name: ClassVar[str] = "ray"
    Options: ClassVar[type] = RayOptions
    is_remote: ClassVar[bool] = True

    @contextmanager
    def open(self, settings: EngineSettings) -> Iterator[RemoteSession]:
        """Connect to the cluster; what is open at the end is cancelled, for Ray ends it with us."""
        from grader.engines.remote.session import RemoteSession

        options = settings.options or RayOptions()
        with _connected(options) as scheduler:
            session = RemoteSession(scheduler, options, settings, "Ray")
            try:
                yield session
            finally:
                session.close(cancel=True)

    def probe(self, settings: EngineSettings) -> Iterator[EngineFinding]:
        """Run a probe for each kind of tasks."""
        from grader.engines.remote.prober import probe

        options = settings.options or RayOptions()
        with _connected(options) as scheduler, tempfile.TemporaryDirectory(prefix="grader-doctor-") as folder:
            yield from probe(scheduler, settings, "Ray", folder)


@contextmanager
def _connected(options: RayOptions) -> Iterator[RayScheduler]:
    from grader.engines.ray.link import RayLostError
    from grader.engines.ray.scheduler import RayScheduler

    if find_spec("ray") is None:
        raise UsageError(f"--engine ray: Ray is not installed; {install_command('ray')}")
    scheduler = RayScheduler(options)
    try:
        scheduler.connect()
        yield scheduler
    except RayLostError as error:
        raise UsageError(
            f"--engine ray: no cluster answers ({error}); start one, or name its head by engines.ray.address"
        ) from None
    finally:
        scheduler.close()
