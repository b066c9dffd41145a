"""Which C function a program was in at what time, for every library that it loads through ctypes."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import Any

CALLS = 1_000_000
"""At most so many calls are recorded."""


class NativeCalls:
    """Brackets calls by times of the clock that stamps the records to be matched with them.

    ctypes gives every library a class of its own for its functions; ours stands below it, so that a function
    is still one of ctypes in every other respect. What a function written in C calls in turn is its doing.
    """

    def __init__(self) -> None:
        self._clock: Callable[[], int] | None = None
        self._calls: list[tuple[int, int, str]] = []

    def install(self) -> None:
        """Bracket the functions of every library that is loaded from now on."""
        libraries: Any = ctypes.CDLL
        load = libraries.__init__

        @wraps(load)
        def loading(library: Any, *args: Any, **named: Any) -> None:
            load(library, *args, **named)
            library._FuncPtr = self._bracketed(library._FuncPtr)  # noqa: SLF001 - ctypes has no other door

        libraries.__init__ = loading

    def begin(self, clock: Callable[[], int]) -> None:
        """Forget what was, and note what is called from here on."""
        self._calls.clear()
        self._clock = clock

    def end(self) -> None:
        """Note no further calls."""
        self._clock = None

    @property
    def complete(self) -> bool:
        """Whether all calls were recorded."""
        return len(self._calls) < CALLS

    def running(self, times: Iterable[int]) -> Iterator[str]:
        """Yield for each of some ascending times the function that ran then; empty if none did.

        Where several did, one below the other or side by side, it is the one that was called last.
        """
        calls = sorted(self._calls)
        begun: list[tuple[int, int, str]] = []
        position = 0
        for time in times:
            while position < len(calls) and calls[position][0] <= time:
                begun.append(calls[position])
                position += 1
            while begun and begun[-1][1] < time:
                begun.pop()
            yield begun[-1][2] if begun else ""

    def _bracketed(self, plain: Any) -> Any:
        noted = self

        class Bracketed(plain):  # type: ignore[misc] # its base is made anew by every library
            _flags_ = plain._flags_

            def __call__(self, *args: Any, **named: Any) -> Any:
                clock = noted._clock
                if clock is None:
                    return super().__call__(*args, **named)
                began = clock()
                try:
                    return super().__call__(*args, **named)
                finally:
                    if noted.complete:
                        noted._calls.append((began, clock(), str(getattr(self, "__name__", "?"))))

        return Bracketed
