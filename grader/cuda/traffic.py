"""How many bytes went over the buses of GPUs, by counters of their hardware: no program can reach those."""

from __future__ import annotations

from dataclasses import dataclass

from grader.cuda import nvml

_SENT, _RECEIVED = 197, 198
"""NVML_FI_DEV_PCIE_COUNT_TX_BYTES and _RX_BYTES, which older versions of nvidia-ml-py do not name."""
WRAPS_AT = 2**32
"""Where such a counter begins anew."""
Counts = tuple[tuple[int, int], ...]
"""What each GPU has sent and received."""


@dataclass(frozen=True, slots=True)
class BusBytes:
    """Reads the counters of the GPUs with these UUIDs."""

    uuids: tuple[str, ...]

    def __call__(self) -> Counts | None:
        """Return two counts for each; None where one of them does not count."""
        library, _ = nvml.load()
        if library is None:
            return None
        counts = []
        for uuid in self.uuids:
            handle = library.ask("nvmlDeviceGetHandleByUUID", uuid)
            fields = [_SENT, _RECEIVED]
            values = None if handle is None else library.ask("nvmlDeviceGetFieldValues", handle, fields)
            if not values or any(value.nvmlReturn for value in values):
                return None
            sent, received = (int(value.value.ullVal) for value in values)
            counts.append((sent, received))
        return tuple(counts)


def moved_between(before: Counts | None, after: Counts | None) -> tuple[int, int] | None:
    """Return how many bytes were sent and received between two readings; None if one is missing."""
    if before is None or after is None:
        return None
    pairs = list(zip(before, after, strict=True))
    sent, received = (sum((now[way] - then[way]) % WRAPS_AT for then, now in pairs) for way in (0, 1))
    return sent, received
