"""Streams and events of virtual GPUs: all has happened when a call returns, and no wait waits."""

from __future__ import annotations

import threading
from itertools import count
from time import perf_counter
from typing import Any

from .devices import devices
from .torches import torch

_numbers = count(1)
_current = threading.local()


class Stream:
    """`torch.cuda.Stream`."""

    def __init__(self, device: Any = None, priority: int = 0, **options: Any) -> None:
        index = devices.current if device is None else _index(device)
        self.device = torch.device("cuda", devices.checked(index))
        self.device_index = index
        self.priority = priority
        self.stream_id = self.cuda_stream = 0 if options.get("default") else next(_numbers)
        self._outside: list[tuple[int, Stream]] = []

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and (self.device, self.stream_id) == (other.device, other.stream_id)

    def __hash__(self) -> int:
        return hash((self.cuda_stream, self.device))

    def __repr__(self) -> str:
        return f"<torch.cuda.Stream device={self.device} cuda_stream={self.cuda_stream:#x}>"

    def __enter__(self) -> Stream:
        self._outside.append((devices.current, current(self.device_index)))
        make_current(self)
        return self

    def __exit__(self, *error: object) -> None:
        device, stream = self._outside.pop()
        make_current(stream)
        devices.current = device

    def record_event(self, event: Event | None = None) -> Event:
        """Note that the program got here."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def query(self) -> bool:
        """Tell whether everything has happened."""
        return True

    def is_capturing(self) -> bool:
        """Tell whether a graph of what happens is being made."""
        return False

    def synchronize(self) -> None:
        """Wait."""

    def wait_event(self, event: Any) -> None:
        """Do nothing: all has happened."""

    def wait_stream(self, stream: Any) -> None:
        """Do nothing: all has happened."""


class Event:
    """`torch.cuda.Event`; its times are those of the host."""

    def __init__(self, enable_timing: bool = False, blocking: bool = False, **options: bool) -> None:
        del blocking, options
        self._timed = enable_timing
        self._at: float | None = None

    def record(self, stream: Any = None) -> None:
        """Note the time."""
        del stream
        self._at = perf_counter()

    def elapsed_time(self, end_event: Event) -> float:
        """Return milliseconds until another. Raises ValueError, as torch does, unless both have a time."""
        if not (self._timed and end_event._timed):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self._at is None or end_event._at is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        return (end_event._at - self._at) * 1e3

    def query(self) -> bool:
        """Tell whether it has happened."""
        return True

    def synchronize(self) -> None:
        """Wait."""

    def wait(self, stream: Any = None) -> None:
        """Do nothing: all has happened."""


def _index(device: Any) -> int:
    if isinstance(device, int):
        return device
    return devices.index(torch.device(device))


def default(device: Any = None) -> Stream:
    """Return the stream that every thread begins with."""
    return Stream(device, default=True)


def current(device: Any = None) -> Stream:
    """Return the stream of a device, by default the current one, that this thread uses."""
    index = devices.current if device is None else _index(device)
    stream: Stream | None = vars(_current).get(f"of {index}")
    return default(index) if stream is None else stream


def make_current(stream: Stream | None) -> None:
    """Use a stream, and its device, from now on; None changes nothing."""
    if stream is not None:
        vars(_current)[f"of {stream.device_index}"] = stream
        devices.current = stream.device_index
