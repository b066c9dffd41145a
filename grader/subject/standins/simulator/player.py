"""The simulator of numba's kernels as a stand-in: its records, and another order of threads in each call."""

from __future__ import annotations

from itertools import count

from ... import standins
from ...observer.exchange import DeviceArray, HostArray, InputExchange
from ...observer.record import LAUNCHES, Record, launch
from .. import simulator
from ..player import Player

_UNSEEN = ("allocations", "sites", "frees", "peak_bytes", "synchronisations", "api", "api_before")
_ORDERS = ("forward", "reversed", "shuffled")


class SimulatorPlayer(Player):
    """Records what the simulator ran: nothing of it can be forged by a driver, and nothing has a time."""

    name = "simulator"

    def install(self) -> None:
        """Begin with the first call; the simulator itself took numba's place when it was imported."""
        self.exchange: InputExchange = InputExchange(_array_of, lambda: None)
        self._calls = count()

    def next_call(self) -> None:
        """Choose the order of the call's threads: forward, reversed, shuffled, and again."""
        call = next(self._calls)
        simulator.run_in(_ORDERS[call % len(_ORDERS)], call)

    def begin(self) -> None:
        """Begin the record of a call."""
        simulator.forget()
        simulator.around_launches(self.exchange.launch)

    def record(self) -> Record:
        """Return what the last call did."""
        record = Record(self.name)
        record.unseen = _UNSEEN
        launches = [
            launch(ran["kernel"], ran["grid"], ran["block"], shared_bytes=ran["shared_bytes"])
            for ran in simulator.launches()
        ]
        record.framework_launches = launches[:LAUNCHES]
        for ran in launches:
            record.launched(ran)
        record.copied_by_direction(simulator.copies())
        return record


def _array_of(argument: object) -> DeviceArray | None:
    elements = simulator.elements_of(argument)
    return None if elements is None else HostArray(elements)


standins.active_player = SimulatorPlayer()
