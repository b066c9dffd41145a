"""Settings of every engine that runs workers on other machines."""

from __future__ import annotations

from dataclasses import dataclass

from grader.model.options import option


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteOptions:
    """Keys that all such engines accept."""

    setup: str = option(
        "Lines of shell before the worker, such as `module load cuda` or the activation of an environment.",
        default="",
    )
    command: str = option(
        "The Python that runs workers, with arguments: a container's, for example; otherwise this one.",
        default="",
    )
    pack: int = option(
        "How many orders one task observes, until earlier runs say how long they take.", default=8, above=0
    )
    at_once: int = option(
        "How many tasks of one kind may run at the same time; 0 for as many as there is room for.",
        default=0,
        above=-1,
    )
