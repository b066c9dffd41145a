"""Stands beside calls: starts its sources before the program is imported, and keeps what they saw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from .. import standins
from ..cuda_driver import DeviceError, synchronise
from .canary import Canary
from .cupti_source import SUNG, Cupti
from .exchange import Ask
from .numba_source import Launched, NumbaLaunches, plain
from .profiler_source import TorchProfiler
from .record import Record
from .torch_exchange import TorchExchange


class RecordSource(Protocol):
    """Where a record comes from."""

    name: str

    def start(self, *, whole: bool = True) -> None:
        """Begin to observe; unless `whole`, only what costs a call next to nothing."""
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

    def records(self, canary: Canary) -> list[Record]:
        """What each call did that began since the last time."""
        ...


def _first_source(names: tuple[str, ...]) -> tuple[RecordSource | None, str]:
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


class Observer:
    """Stands beside every call of a program that has devices: timed, watched or exchanged, it is the same.

    What is to be done with the inputs of kernels is asked for at a launch; before it nothing in this process
    tells. Records are made when they are asked for, after calls that may be timed.
    """

    def __init__(self, ask: Ask, *, whole: bool = False, sources: tuple[str, ...] = ALL) -> None:
        """Start; nothing of the program may be imported yet.

        With `whole` everything is recorded that can be, call by call: that takes time of the call's own.
        """
        self._ask = ask
        self._whole = whole
        self._numba = NumbaLaunches()
        self._torch = TorchExchange()
        self._launched: list[Launched] = []
        self._played = standins.active_player
        self._source, self._why_none = (_source, _why_none) if sources == ALL else _first_source(sources)
        if self._source is not None and not whole and self._source.name == TorchProfiler.name:
            self._source, self._why_none = None, "torch.profiler records no timed calls; install cupti-python"
        if self._played is not None:
            return
        self._numba.install()
        if self._source is not None:
            try:
                self._source.start(whole=whole)
            except Exception as error:  # of the library or the driver: the program must not be blamed
                name, self._source = self._source.name, None
                self._why_none = f"{name} does not start: {type(error).__name__}: {error}"[:200]

    def call(self, act: Callable[[], Any], arguments: Sequence[Any] = ()) -> Any:
        """Do something with arguments, wait for the devices, and give what came of it.

        Raises:
            whatever `act` raises, or DeviceError if what it started on a device fails.
        """
        if self._played is not None:
            exchange = self._played.exchange
            self._played.begin()
        else:
            exchange = self._numba.exchange
            self._numba.launched = []
            self._launched.append(self._numba.launched)
        if exchange is not None:
            exchange.begin(self._ask, arguments)
        source = self._source if self._played is None else None
        if source is not None:
            source.begin()
        try:
            value = act()
        finally:
            if source is not None:
                source.end()
        if self._played is None:
            synchronise()
        if source is not None:
            source.settle()
        if exchange is not None:
            exchange.end(value)
        return value

    def records(self) -> list[dict[str, Any]]:
        """Give the records of the calls since the last time, as plain JSON; the devices are idle.

        The last one holds what exchanging the inputs of its kernels showed, if that was done.
        """
        if self._played is not None:
            records, exchange = [self._played.record()], self._played.exchange
        else:
            launched, self._launched = self._launched, []
            exchange = self._numba.exchange
            records = self._records(len(launched))
            if self._numba.installed:
                for record, launches in zip(records, launched, strict=True):
                    record.framework_launches = plain(launches)
        if records and exchange is not None:
            records[-1].exchange = exchange.shown()
        return [record.plain() for record in records]

    def _records(self, count: int) -> list[Record]:
        """A record for each of so many calls; where the source broke, each says so."""
        problem = self._why_none or "there is nothing to observe with"
        if self._source is not None:
            try:
                canary = Canary()
                for _ in range(SUNG):
                    canary.sing()
                records = self._source.records(canary)
                if len(records) == count:
                    return records
                problem = f"{count} calls, and {len(records)} records of them"
            except DeviceError as error:
                problem = f"the observer has no device ({error})"
            except Exception as error:  # a source that the program broke
                problem = f"{type(error).__name__}: {error}"[:200]
        return [_void(self._source.name if self._source else "none", problem) for _ in range(count)]

    def watch(self, act: Callable[[], Any], arguments: Sequence[Any] = ()) -> tuple[Any, dict[str, Any]]:
        """Do something with arguments and give what came of it, with the record of it as plain JSON.

        Raises:
            whatever `act` raises, or DeviceError if what it started on a device fails.
        """
        self._torch.begin(self._ask, arguments)
        if self._played is not None or self._source is None:
            value = self.call(lambda: self._torch.act(act), arguments)
            record_of_played = self.records()[-1]
            record_of_played["exchange"] = self._torch.end() or record_of_played["exchange"]
            return value, record_of_played
        self._launched.clear()
        canary, problem = None, ""
        try:
            canary = Canary()
            self._source.open()
            canary.sing()
        except DeviceError as error:
            problem = f"the observer has no device ({error})"
        value = self.call(lambda: self._torch.act(act), arguments)
        if canary is None:
            record = _void("none", problem)
        else:
            try:
                canary.sing()
                record = self._source.records(canary)[-1]
            except Exception as error:  # a source that the program broke
                record = _void(self._source.name, f"{type(error).__name__}: {error}"[:200])
        if self._numba.installed:
            record.framework_launches = plain(self._launched[-1])
        record.exchange = self._torch.end() or self._numba.exchange.shown()
        return value, record.plain()

    def stop(self) -> None:
        """Observe no more."""
        if self._source is not None:
            self._source.stop()


def _void(source: str, problem: str) -> Record:
    record = Record(source)
    record.problem = problem
    return record
