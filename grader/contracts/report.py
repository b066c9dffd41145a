"""The contract of a report: one format in which a grade is written."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from grader.model.view import AudienceView


class Report(ABC):
    """One format in which a grade is written."""

    name: ClassVar[str]
    """As in `grader plugins`."""
    filename: ClassVar[str]
    """The file's name in the results folder of one submission."""

    def prepare(self) -> None:  # noqa: B027 - nothing to do by default
        """Import what `render` needs; called once, while the first submission is observed and we wait."""

    @abstractmethod
    def render(self, view: AudienceView) -> str:
        """Return the whole file as text, UTF-8. Pure: no files, no clock.

        Everything in the view may be shown: what its audience must not know is not in it.
        """
