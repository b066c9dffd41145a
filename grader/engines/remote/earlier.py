"""Orders of earlier commands for the same results folder, and the folder where they lie.

Settings may name another folder of orders than those of an earlier command did. Its orders are collected
where they are, so that nothing is observed twice; the next command has its orders where the settings say.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from grader.contracts.engine import Order
from grader.engines.remote.ledger import Ledger
from grader.engines.remote.scheduler import Scheduler
from grader.engines.remote.stored import BatchPlace, OrderStore, StoredOrder, require_private, root_for
from grader.files import obstacle, write_whole

BESIDE_RESULTS = ".cluster"
"""The folder of orders in a results folder, where settings name none that is shared."""
NOTE = ".cluster_folder"
"""Names, in a results folder, the shared folder in which its orders lie."""


def orders_folder(results: Path, shared: str) -> Path:
    """Return the folder for the orders of a results folder, in `shared` if that is named."""
    return root_for(Path(shared), results) if shared else results / BESIDE_RESULTS


@dataclass(slots=True)
class EarlierOrders:
    """Orders of earlier commands that are not collected yet."""

    ledger: Ledger
    results: Path
    durations_folder: Path
    """Where durations are kept: in a shared folder those of all results folders together.

    `grader verify` has a new results folder each time, of which nothing may stay there.
    """
    moves_to: str = ""
    """The folder that settings name by now, while orders lie in another one."""
    _stored: dict[str, list[StoredOrder]] = field(default_factory=dict)
    """By their results folder of a submission."""

    @classmethod
    def open(cls, results: Path, shared: str, scheduler: Scheduler) -> EarlierOrders:
        """Open the folder of orders of a results folder: the earlier one as long as it has any.

        Raises:
            UsageError: it cannot be made, or belongs to somebody else, or others may enter it.
            NotObservedError: a disk is full or broken.
        """
        named = orders_folder(results, shared)
        root = next((folder for folder in _earlier_folders(results) if _has_orders(folder)), named)
        if root == named and shared:
            require_private(Path(shared))
        store = OrderStore.at(root)
        durations = Path(shared) if shared else results / BESIDE_RESULTS
        opened = cls(Ledger(store, scheduler), results, durations, str(named) if root != named else "")
        for stored in store.all():
            opened._stored.setdefault(stored.outbox, []).append(stored)
        if root != results / BESIDE_RESULTS:
            try:
                results.mkdir(parents=True, exist_ok=True)
                write_whole(results / NOTE, f"{root}\n")
            except OSError as error:
                store.close()
                raise obstacle(results, error) from None
        return opened

    def find(self, order: Order, course: str) -> tuple[StoredOrder, BatchPlace] | None:
        """Return the order of an earlier command that covers this one, with its place; drop stale ones."""
        earlier = self._stored.get(str(order.outbox.absolute()), [])
        for stored in tuple(earlier):
            if stored.covers(order, course) and (place := self.ledger.store.place_of(stored.key)):
                earlier.remove(stored)
                return stored, place
            if stored.is_stale(order, course):
                earlier.remove(stored)
                self.ledger.take_back(stored.key)
        return None

    def close(self) -> None:
        """Let go of the folder; without orders there, forget where it was."""
        self.ledger.store.close()
        if not _has_orders(self.ledger.store.root):
            with suppress(OSError):
                (self.results / NOTE).unlink(missing_ok=True)


def _earlier_folders(results: Path) -> tuple[Path, ...]:
    """Return the folders in which earlier commands may have left orders."""
    with suppress(OSError, UnicodeDecodeError):
        if noted := (results / NOTE).read_text().strip():
            return Path(noted), results / BESIDE_RESULTS
    return (results / BESIDE_RESULTS,)


def _has_orders(folder: Path) -> bool:
    with suppress(OSError):
        return any((folder / "orders").iterdir())
    return False
