"""YAML keys of an item that a person judges beside a model answer."""

from __future__ import annotations

from dataclasses import dataclass

from grader.matching.criteria import Criterion, require_names
from grader.model.options import option


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedOptions:
    """The YAML keys that kinds share for which a person gives points."""

    model: str = option(
        "The model answer, beside which a person reads; students see it when their grade is final and "
        "published.",
        judges=True,
        secret=True,
        default="",
    )
    criteria: tuple[Criterion, ...] = option(
        "The parts of the item; together they are worth what it is, and a person gives points for each.",
        judges=True,
        secret=True,
        default=(),
    )

    @property
    def request(self) -> str:
        """The question, or another request to the person."""
        return ""

    def __post_init__(self) -> None:
        """Refuse criteria that share a name."""
        require_names(self.criteria)
