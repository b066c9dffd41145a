"""Observes calls on real devices: starts a source before the program is imported, and returns its records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..cuda_driver import CudaError, synchronise
from .canary import Canary
from .cupti_source import SUNG, Cupti
from .exchange import Ask
from .numba_source import Launched, NumbaLaunches, plain
from .profiler_source import TorchProfiler
from .record import Record
from .source import RecordSource
from .torch_exchange import TorchExchange


def _first_source() -> tuple[RecordSource | None, str]:
    """Return the first source that can be imported here, and otherwise why none can."""
    missing = []
    for kind in (Cupti, TorchProfiler):
        try:
            return kind(), ""
        except ImportError as error:
            missing.append(f"{kind.name} cannot be imported ({error})")
    return None, "; ".join(missing)


_source, _why_none = _first_source()
"""Looked up when a server imports this: in a child it would cost every check anew."""


class Observer:
    """Observer of every call of a program that has devices: timed, watched or exchanged, it is the same.

    What is to be done with the inputs of kernels is asked for at a launch; nothing in this process
    shows it before. Records are made when they are asked for, after calls that may be timed.
    """

    def __init__(self, ask: Ask, *, whole: bool = False) -> None:
        """Start; nothing of the program may be imported yet.

        With `whole` everything is recorded that can be, call by call: that takes time of the call's own.
        """
        self._ask = ask
        self._numba = NumbaLaunches()
        self._torch = TorchExchange()
        self._launched: list[Launched] = []
        self._source, self._why_none = _source, _why_none
        if self._source is not None and not whole and self._source.name == TorchProfiler.name:
            self._source, self._why_none = None, "torch.profiler records no timed calls; install cupti-python"
        self._numba.install()
        if self._source is not None:
            try:
                self._source.start(whole=whole)
            except Exception as error:  # of the library or the driver: the program must not be blamed
                name, self._source = self._source.name, None
                self._why_none = f"{name} does not start: {type(error).__name__}: {error}"[:200]

    def call(self, act: Callable[[], Any], arguments: Sequence[Any] = ()) -> Any:
        """Call `act`, wait for the devices, and return what came of it.

        Raises:
            whatever `act` raises, or CudaError if what it started on a device fails.
        """
        self._numba.launched = []
        self._launched.append(self._numba.launched)
        self._numba.exchange.begin(self._ask, arguments)
        source = self._source or RecordSource()
        source.begin()
        try:
            value = act()
        finally:
            source.end()
        synchronise()
        source.settle()
        self._numba.exchange.end(value)
        return value

    def records(self) -> list[dict[str, Any]]:
        """Return the records of the calls since the last time, as plain JSON; the devices are idle.

        The last one holds what exchanging the inputs of its kernels showed, if that was done.
        """
        launched, self._launched = self._launched, []
        records = self._records(len(launched))
        if self._numba.installed:
            for record, launches in zip(records, launched, strict=True):
                record.framework_launches = plain(launches)
        if records:
            records[-1].exchange = self._numba.exchange.shown()
        return [record.plain() for record in records]

    def _records(self, count: int) -> list[Record]:
        """Return a record for each of so many calls; where the source broke, each says so."""
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
            except CudaError as error:
                problem = f"the observer has no device ({error})"
            except Exception as error:  # a source that the program broke
                problem = f"{type(error).__name__}: {error}"[:200]
        return [_void(self._source.name if self._source else "none", problem) for _ in range(count)]

    def watch(self, act: Callable[[], Any], arguments: Sequence[Any] = ()) -> tuple[Any, dict[str, Any]]:
        """Call `act` and return what came of it, with the record of the call as plain JSON.

        Raises:
            whatever `act` raises, or CudaError if what it started on a device fails.
        """
        self._torch.begin(self._ask, arguments)
        self._launched.clear()
        canary: Canary | None = None
        problem = self._why_none or "there is nothing to observe with"
        if self._source is not None:
            try:
                canary = Canary()
                self._source.open()
                canary.sing()
            except CudaError as error:
                problem = f"the observer has no device ({error})"
        value = self.call(lambda: self._torch.act(act), arguments)
        record = _void("none", problem)
        if self._source is not None and canary is not None:
            try:
                canary.sing()
                record = self._source.records(canary)[-1]
            except Exception as error:  # a source that the program broke
                record = _void(self._source.name, f"{type(error).__name__}: {error}"[:200])
        if self._numba.installed:
            record.framework_launches = plain(self._launched[-1])
        record.exchange = self._torch.end() or self._numba.exchange.shown()
        return value, record.plain()


def _void(source: str, problem: str) -> Record:
    record = Record(source)
    record.problem = problem
    return record
