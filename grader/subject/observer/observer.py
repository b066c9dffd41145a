"""Stands beside one call: starts its sources before the program is imported, and keeps what they saw."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from ..driver import DeviceError, synchronise
from .canary import Canary
from .cupti_source import Cupti
from .numba_source import NumbaLaunches
from .profiler_source import TorchProfiler
from .record import Record
from .simulated_source import Simulated, simulator
from .stand_in_source import StandIn
from .torch_exchange import TorchExchange
from .virtual_source import Virtual, virtual_gpus


class Source(Protocol):
    """Where a record comes from."""

    name: str

    def start(self) -> None:
        """Begin to observe."""
        ...

    def open(self) -> None:
        """Begin a record."""
        ...

    def begin(self) -> None:
        """From here on it is the program's doing."""
        ...

    def end(self) -> None:
        """Up to here; what it started on a device may still be running."""
        ...

    def settle(self) -> None:
        """Now that has ended as well."""
        ...

    def stop(self) -> None:
        """Observe no more."""
        ...

    def record(self, canary: Canary) -> Record:
        """Close the record and give it."""
        ...


def _first_source(names: tuple[str, ...]) -> tuple[Source | None, str]:
    """The first of them that can be had here, and otherwise why none can."""
    missing = []
    for kind in (Cupti, TorchProfiler):
        if kind.name not in names:
            continue
        try:
            return kind(), ""
        except ImportError as error:
            missing.append(f"{kind.name} cannot be imported ({error})")
    return None, "; ".join(missing)


ALL = (Cupti.name, TorchProfiler.name)
_source, _why_none = _first_source(ALL)
"""Found when a server imports this: in a child it would cost every check anew."""


def _played() -> Simulated | Virtual | StandIn | None:
    """What plays devices in this process, and knows by itself what they do."""
    if (gpus := virtual_gpus()) is not None:
        return Virtual(gpus)
    if (device := simulator()) is not None:
        return Simulated(device)
    return StandIn() if "CUDA_ON_CPU_ORDER" in os.environ else None


class Observer:
    """What a child does while it is observed."""

    def __init__(self, sources: tuple[str, ...] = ALL) -> None:
        """Start; nothing of the program may be imported yet."""
        self._numba = NumbaLaunches()
        self._torch = TorchExchange()
        self._played = _played()
        self._source, self._why_none = (_source, _why_none) if sources == ALL else _first_source(sources)
        if self._played is not None:
            return
        self._numba.install()
        if self._source is not None:
            self._source.start()

    def watch(
        self, act: Callable[[], Any], arguments: Sequence[Any] = (), proof: str = ""
    ) -> tuple[Any, dict[str, Any]]:
        """Do something with arguments and give what came of it, with the record as plain JSON.

        With a `proof`, the inputs of its kernels are noted (`note`) or exchanged (`exchange`).

        Raises:
            whatever `act` raises, or DeviceError if what it started on a device fails.
        """
        exchange = self._numba.exchange if self._played is None else self._played.exchange
        if exchange is not None:
            exchange.begin(proof, arguments)
        self._torch.begin(proof, arguments)
        value, record = self._watch(lambda: self._torch.act(act))
        if exchange is not None:
            record.exchange = exchange.end(value)
        record.exchange = self._torch.end() or record.exchange
        return value, record.plain()

    def _watch(self, act: Callable[[], Any]) -> tuple[Any, Record]:
        if self._played is not None:
            self._played.watch()
            return act(), self._played.record()
        self._numba.seen.clear()
        canary = None
        problem = self._why_none
        if self._source is not None:
            try:
                canary = Canary()
                self._source.open()
                canary.sing()
                self._source.begin()
            except DeviceError as error:
                problem, canary = f"the observer has no device ({error})", None
        value = act()
        if canary is not None and self._source is not None:
            self._source.end()
        synchronise()
        record = self._record(canary, problem)
        if self._numba.installed:
            record.framework_launches = list(self._numba.seen)
        return value, record

    def _record(self, canary: Canary | None, problem: str) -> Record:
        if self._source is None or canary is None:
            record = Record("none")
            record.problem = problem or "there is nothing to observe with"
            return record
        try:
            self._source.settle()
            canary.sing()
            return self._source.record(canary)
        except Exception as error:  # a source that the program broke
            record = Record(self._source.name)
            record.problem = f"{type(error).__name__}: {error}"[:200]
            return record

    def stop(self) -> None:
        """Observe no more."""
        if self._source is not None:
            self._source.stop()
