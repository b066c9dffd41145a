"""Observes calls of a program whose devices a stand-in plays, by that stand-in's records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .exchange import Ask
from .torch_exchange import TorchExchange

if TYPE_CHECKING:
    from ..standins.player import Player  # imports this package


class PlayedObserver:
    """`Observer` in a process with a stand-in: nothing here waits for a device or needs a canary."""

    def __init__(self, ask: Ask, player: Player) -> None:
        """`ask` is asked at a launch what to do with the inputs of its kernel."""
        self._ask = ask
        self._player = player
        self._torch = TorchExchange()

    def call(self, act: Callable[[], Any], arguments: Sequence[Any] = ()) -> Any:
        """Call `act` and return what came of it; raises whatever `act` raises."""
        exchange = self._player.exchange
        self._player.begin()
        if exchange is not None:
            exchange.begin(self._ask, arguments)
        value = act()
        if exchange is not None:
            exchange.end(value)
        return value

    def records(self) -> list[dict[str, Any]]:
        """Return the record of the last call as plain JSON, with what an exchange of inputs showed."""
        record, exchange = self._player.record(), self._player.exchange
        if exchange is not None:
            record.exchange = exchange.shown()
        return [record.plain()]

    def watch(self, act: Callable[[], Any], arguments: Sequence[Any] = ()) -> tuple[Any, dict[str, Any]]:
        """Call `act` and return what came of it, with the record; raises whatever `act` raises."""
        self._torch.begin(self._ask, arguments)
        value = self.call(lambda: self._torch.act(act), arguments)
        (record,) = self.records()
        record["exchange"] = self._torch.end() or record["exchange"]
        return value, record
