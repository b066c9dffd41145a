"""Opens the session of an engine for one command; what an engine breaks, its orders did not observe."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from grader.config.problem import require_named
from grader.contracts.engine import (
    CountsGpus,
    Ended,
    Engine,
    EngineSettings,
    Event,
    Order,
    QueueStatus,
    Records,
    Session,
    Waits,
)
from grader.engines import LOCAL
from grader.errors import GraderError
from grader.grading.results import passing
from grader.plugins import Plugins
from grader.text import one_line


@contextmanager
def open_session(
    plugins: Plugins,
    engine: str = LOCAL,
    *,
    out: Path | None = None,
    **settings: Any,
) -> Iterator[GuardedSession]:
    """Connect to an engine; one that is local starts its workers now, and they import while we do.

    With `out`, a results folder, its workers serve many submissions. Other settings are those of
    `EngineSettings`.

    Raises:
        UsageError: there is no such engine, or `out` cannot be written.
    """
    with ExitStack() as resources:
        chosen = engine_called(engine, plugins)
        if out is not None and not chosen.is_remote:
            settings["shared_workspace"] = resources.enter_context(passing(out))
        whole = EngineSettings(**{"results": out, **settings})
        yield resources.enter_context(GuardedSession(chosen, whole))


def engine_called(name: str, plugins: Plugins) -> Engine:
    """Return the engine of a name.

    Raises:
        UsageError: there is none.
    """
    require_named("--engine", name, plugins.engines)
    return plugins.engines[name]


T = TypeVar("T")


class GuardedSession:
    """The session of an engine that may be broken.

    With the first exception, or with an answer that is none, all of its orders have ended, and so has every
    later one: each `Ended` has the exception as its problem, in one line.
    """

    def __init__(self, engine: Engine, settings: EngineSettings) -> None:
        self._engine = engine
        self._settings = settings
        self._session: Session | None = None
        self._resources = ExitStack()
        self._orders: dict[str, Order] = {}
        """Those that have not ended."""
        self._ended: deque[Event] = deque()
        self._problem = ""

    def __enter__(self) -> Self:
        self._session = self._guarded(
            lambda: self._resources.enter_context(self._engine.open(self._settings)), None
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # an engine whose workers go on without us must know whether a person interrupts them
        self._guarded(lambda: self._resources.__exit__(kind, error, trace), None)

    def gpus(self) -> int:
        """Return how many GPUs one worker can have: those of this machine, where workers run here."""
        session: object = self._session
        if isinstance(session, CountsGpus):
            return self._guarded(session.gpus, 0)
        from grader.cuda.gpus import gpus

        return sum(not gpu.mig for gpu in gpus())

    def wants(self) -> bool:
        """Tell whether the engine wants another order; a broken one takes one after the other."""
        session = self._session
        return not self._ended if session is None else self._guarded(session.wants, True)

    def submit(self, order: Order) -> None:
        """Queue an order."""
        self._orders[order.key] = order
        if session := self._session:
            self._guarded(lambda: session.submit(order), None)
        else:
            self._end_orders()

    def event(self) -> Event | None:
        """Return the next event; None if the engine says that it has no order."""
        session = self._session
        event = self._guarded(lambda: self._checked(session.event()), None) if session else None
        if isinstance(event, Ended):
            del self._orders[event.order.key]
        return event or (self._ended.popleft() if self._ended else None)

    def _checked(self, event: Event | None) -> Event | None:
        if event is not None and event.order.key not in self._orders:
            raise ValueError(f"it gave an event of {event.order.key}, which is no open order")
        if isinstance(event, Records) and not all(isinstance(line, bytes) for line in event.lines):
            raise TypeError("it gave a record that is not bytes")
        if isinstance(event, Ended):
            return replace(event, problem=one_line(event.problem))
        if isinstance(event, Waits | QueueStatus):
            return replace(event, message=one_line(event.message))
        return event

    def _guarded(self, act: Callable[[], T], default: T) -> T:
        """Call a method of the engine; with its first exception all orders end, and what it holds."""
        try:
            return act()
        except (Exception, SystemExit) as error:
            sentence = f"the engine {self._engine.name} broke: {type(error).__name__}: {error}; run again"
            self._problem = one_line(str(error) if isinstance(error, GraderError) else sentence)
            self._session = None
            self._end_orders()
        with suppress(Exception):  # an engine that is broken may not even end
            self._resources.close()
        return default

    def _end_orders(self) -> None:
        self._ended += (Ended(order=order, problem=self._problem) for order in self._orders.values())
        self._orders.clear()
