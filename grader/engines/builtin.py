"""The built-in engines, through the door that guests use."""

from __future__ import annotations

from grader.contracts.engine import Engine
from grader.markers import hookimpl


@hookimpl
def grader_engines() -> list[type[Engine]]:
    """This machine's, and one for each kind of cluster."""
    from grader.engines.local import LocalEngine
    from grader.engines.ray.engine import RayEngine
    from grader.engines.slurm.engine import SlurmEngine

    return [LocalEngine, RayEngine, SlurmEngine]
