"""How many bytes GPUs have sent over their bus, counted by their own hardware: no program can reach that."""

from __future__ import annotations

from dataclasses import dataclass

from grader.cuda import nvml

_SENT = 197
"""NVML_FI_DEV_PCIE_COUNT_TX_BYTES, which older versions of nvidia-ml-py do not name."""
WRAPS_AT = 2**32
"""Where such a counter begins anew."""


@dataclass(frozen=True, slots=True)
class SentBytes:
    """Reads the counters of the GPUs with these UUIDs."""

    uuids: tuple[str, ...]

    def __call__(self) -> tuple[int, ...] | None:
        """Return a count for each; None where one of them does not count."""
        library, _ = nvml.load()
        if library is None:
            return None
        counts = []
        for uuid in self.uuids:
            handle = library.ask("nvmlDeviceGetHandleByUUID", uuid)
            values = None if handle is None else library.ask("nvmlDeviceGetFieldValues", handle, [_SENT])
            if not values or values[0].nvmlReturn:
                return None
            counts.append(int(values[0].value.ullVal))
        return tuple(counts)


def sent_between(before: tuple[int, ...] | None, after: tuple[int, ...] | None) -> int | None:
    """Return how many bytes were sent between two readings; None if one of them is missing."""
    if before is None or after is None:
        return None
    return sum((now - then) % WRAPS_AT for then, now in zip(before, after, strict=True))
