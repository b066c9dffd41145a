"""Contract of a stand-in for GPUs in the student's process."""

from __future__ import annotations

from ..observer.exchange import InputExchange
from ..observer.record import Record


class Player:
    """A stand-in in a process that has imported it; what one has nothing to do for is left as it is here."""

    name: str
    """The source of its records."""
    observes_every_call = True
    """Whether calls are observed as those of a program with devices are, and not only recorded whole."""
    exchange: InputExchange | None = None
    """Exchanges the inputs of kernels; None if it cannot."""

    def install(self) -> None:
        """Give this process its devices, before a file of the submission is imported.

        Raises:
            ImportError: a library of this machine cannot play them.
        """

    def next_call(self) -> None:
        """Prepare the next call, observed or not."""

    def begin(self) -> None:
        """Begin the record of a call."""
        raise NotImplementedError

    def record(self) -> Record:
        """Return what the last call did."""
        raise NotImplementedError
