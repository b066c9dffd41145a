"""Tables of the work of each GPU in an observed call, and of the copies between devices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.model.trace import works_of
from grader.reports.numbers import seconds, size
from grader.reports.tables import NOTHING, table, time_of

if TYPE_CHECKING:
    from grader.model.observation import Observation
    from grader.model.trace import DeviceWork, Trace, Traffic, Transfer, Watched

MOST_GPUS = 16
"""GPUs in the table; the values of further ones are listed with the other quantities."""
MOST_TRANSFERS = 24
"""Rows of copies: as many as four GPUs can have, between each other and the host, and within each."""


def works_in(observation: Observation, watched: Watched | None) -> tuple[DeviceWork, ...]:
    """Return the work of each of the item's GPUs, idle ones included, by number.

    Empty for a single GPU, or if the record is incomplete.
    """
    if watched is None or not watched.trace.complete or not watched.trace.devices:
        return ()
    trace = watched.trace
    had = observation.facts.get("devices")
    count = had if type(had) is int and 0 < had <= MOST_GPUS else 0
    works = works_of(trace, count)
    if len(works) < 2:
        return ()
    if not _memory_seen(trace):
        return works
    # A source that sees memory has no record of a GPU of which none was allocated.
    return tuple(work if work.peak_bytes is not None else replace(work, peak_bytes=0) for work in works)


def gpus_table(works: Sequence[DeviceWork]) -> str:
    """Render kernels, their time and the peak memory of each GPU, without unknown columns."""
    rows = ((place(work.device), f"{work.kernels:,}", _time(work), memory_of(work)) for work in works)
    return table(*_without_unknown(("GPU", "Kernels", "Time", "Peak memory"), rows), MOST_GPUS)


def transfers_table(trace: Trace) -> str:
    """Render copies by source and target: from the host, between GPUs, to the host."""
    copies: list[tuple[str, Traffic | Transfer]] = [(_ends(copy), copy) for copy in _in_order(trace)]
    # Copies between two places of the host have no GPU at an end.
    copies += [("within the host", copy) for name, copy in trace.copies.items() if name == "host_to_host"]
    rows = ((ends, size(copy.bytes), f"{copy.count:,}", time_of([copy.seconds])) for ends, copy in copies)
    return table(*_without_unknown(("Copied", "Size", "Times", "Time"), rows), MOST_TRANSFERS)


def listed_in_tables(works: Sequence[DeviceWork], trace: Trace) -> frozenset[str]:
    """Quantities that the two tables show, so that they need not be listed again."""
    of_gpus = (
        f"gpu_{work.device}_{what}"
        for work in works[:MOST_GPUS]
        for what in ("kernels", "kernels_s", "peak_bytes")
    )
    of_copies = (f"{_ends_as_listed(copy)}_bytes" for copy in _in_order(trace)[:MOST_TRANSFERS])
    return frozenset({*of_gpus, *of_copies})


def place(number: int | None) -> str:
    """Format `GPU 1`, or `host`."""
    return "host" if number is None else f"GPU {number}"


def memory_of(work: DeviceWork) -> str:
    """Return the peak memory of a GPU."""
    return NOTHING if work.peak_bytes is None else size(work.peak_bytes)


def _memory_seen(trace: Trace) -> bool:
    in_all = trace.peak_bytes is not None and "peak_bytes" not in trace.unseen
    return in_all or any(work.peak_bytes is not None for work in trace.devices)


def _in_order(trace: Trace) -> Sequence[Transfer]:
    return sorted(
        trace.transfers,
        key=lambda transfer: (
            transfer.target is None,
            transfer.source is not None,
            transfer.source or 0,
            transfer.target or 0,
        ),
    )


def _ends(transfer: Transfer) -> str:
    if transfer.source == transfer.target:
        return f"within {place(transfer.source)}"
    return f"{place(transfer.source)} to {place(transfer.target)}"


def _ends_as_listed(transfer: Transfer) -> str:
    """Return the ends of a copy as `placement` names the quantity."""
    return "_to_".join("host" if end is None else f"gpu_{end}" for end in (transfer.source, transfer.target))


def _time(work: DeviceWork) -> str:
    return NOTHING if work.seconds is None else seconds(work.seconds)


def _without_unknown(
    head: Sequence[str], rows: Iterable[Sequence[str]]
) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Drop the columns in which every cell is unknown."""
    cells = list(rows)
    columns = [n for n in range(len(head)) if any(row[n] != NOTHING for row in cells)]
    return [head[n] for n in columns], [[row[n] for n in columns] for row in cells]
