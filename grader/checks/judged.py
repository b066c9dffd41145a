"""YAML keys of an item that a person judges beside a model answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from grader.matching.criteria import Criterion, name_problems
from grader.model.options import option, refuse

if TYPE_CHECKING:
    from grader.model.rubric import Item


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

    @property
    def documents(self) -> str:
        """The file that the person reads, or a pattern of such files; empty if none is named."""
        return ""

    def __post_init__(self) -> None:
        """Refuse criteria that share a name."""
        refuse(name_problems(self.criteria), self)


def documents_asked(item: Item) -> str:
    """Return the file that a person reads for an item, or a pattern of such files; empty if none is named."""
    return item.options.documents if isinstance(item.options, JudgedOptions) else ""


def documents_of(item: Item, files: Iterable[str]) -> tuple[str, ...]:
    """Return those of a submission's files that a person reads for an item."""
    pattern = documents_asked(item)
    return tuple(file for file in files if fnmatchcase(file, pattern))
