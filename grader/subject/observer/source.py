"""Contract of what records the work of devices in a program's process."""

from __future__ import annotations

from .canary import Canary
from .record import Record


class RecordSource:
    """Source of records on devices; what a source has nothing to do for is left as it is here."""

    name: str

    def start(self, *, whole: bool = True) -> None:
        """Begin to observe; unless `whole`, only what costs a call next to nothing."""

    def open(self) -> None:
        """Begin a record."""

    def begin(self) -> None:
        """Note that a call begins: from here on it is the program's doing."""

    def end(self) -> None:
        """Note that the call has ended; what it started on a device may still be running."""

    def settle(self) -> None:
        """Note that the devices are idle."""

    def records(self, canary: Canary) -> list[Record]:
        """Return a record for each call that began since the last time."""
        raise NotImplementedError
