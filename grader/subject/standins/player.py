"""What the student's process asks of a stand-in for GPUs."""

from __future__ import annotations

from typing import Protocol

from ..observer.exchange import InputExchange
from ..observer.record import Record


class Player(Protocol):
    """A stand-in in a process that has imported it."""

    name: str
    """The source of its records."""
    observes_every_call: bool
    """Whether calls are observed as those of a program with devices are, and not only recorded whole."""

    @property
    def exchange(self) -> InputExchange | None:
        """What exchanges the inputs of kernels; None if it cannot."""
        ...

    def install(self) -> None:
        """Give this process its devices, before a file of the submission is imported.

        Raises:
            ImportError: a library of this machine cannot play them.
        """
        ...

    def next_call(self) -> None:
        """Prepare the next call, observed or not."""
        ...

    def begin(self) -> None:
        """Begin the record of a call."""
        ...

    def record(self) -> Record:
        """Return what the last call did."""
        ...
