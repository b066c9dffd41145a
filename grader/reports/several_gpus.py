"""What each of several GPUs did in an observed call, and what was copied from where to where."""

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
"""GPUs that are shown; what the others did is listed with the other quantities."""
MOST_TRANSFERS = 24
"""Likewise: as many as four GPUs can have, all ways between them and the host, and within each."""


def works_in(observation: Observation, watched: Watched | None) -> tuple[DeviceWork, ...]:
    """What each of the item's GPUs did, those too that did nothing; by number.

    Empty where there was one GPU alone, or where the record does not count.
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
    """Kernels, their time and the peak memory, a row for each GPU; without columns that nobody knows."""
    rows = ((place(one.device), f"{one.kernels:,}", _time(one), memory_of(one)) for one in works)
    return table(*_without_unknown(("GPU", "Kernels", "Time", "Peak memory"), rows), MOST_GPUS)


def transfers_table(trace: Trace) -> str:
    """What was copied from where to where: from the host first, then between GPUs, then to the host."""
    copies: list[tuple[str, Traffic | Transfer]] = [(_ends(one), one) for one in _in_order(trace)]
    # Copies between two places of the host have no GPU at an end.
    copies += [("within the host", one) for name, one in trace.copies.items() if name == "host_to_host"]
    rows = ((ends, size(one.bytes), f"{one.count:,}", time_of([one.seconds])) for ends, one in copies)
    return table(*_without_unknown(("Copied", "Size", "Times", "Time"), rows), MOST_TRANSFERS)


def listed_in_tables(works: Sequence[DeviceWork], trace: Trace) -> frozenset[str]:
    """Quantities that the two tables show, so that they need not be listed again."""
    of_gpus = (
        f"gpu_{one.device}_{what}"
        for one in works[:MOST_GPUS]
        for what in ("kernels", "kernels_s", "peak_bytes")
    )
    of_copies = (f"{_ends_as_listed(one)}_bytes" for one in _in_order(trace)[:MOST_TRANSFERS])
    return frozenset({*of_gpus, *of_copies})


def place(number: int | None) -> str:
    """`GPU 1`, or `host`."""
    return "host" if number is None else f"GPU {number}"


def memory_of(work: DeviceWork) -> str:
    """The peak memory of a GPU."""
    return NOTHING if work.peak_bytes is None else size(work.peak_bytes)


def _memory_seen(trace: Trace) -> bool:
    in_all = trace.peak_bytes is not None and "peak_bytes" not in trace.unseen
    return in_all or any(one.peak_bytes is not None for one in trace.devices)


def _in_order(trace: Trace) -> Sequence[Transfer]:
    return sorted(
        trace.transfers,
        key=lambda one: (one.target is None, one.source is not None, one.source or 0, one.target or 0),
    )


def _ends(one: Transfer) -> str:
    if one.source == one.target:
        return f"within {place(one.source)}"
    return f"{place(one.source)} to {place(one.target)}"


def _ends_as_listed(one: Transfer) -> str:
    """As `placement` names the quantity."""
    return "_to_".join("host" if end is None else f"gpu_{end}" for end in (one.source, one.target))


def _time(work: DeviceWork) -> str:
    return NOTHING if work.seconds is None else seconds(work.seconds)


def _without_unknown(
    head: Sequence[str], rows: Iterable[Sequence[str]]
) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Without the columns in which every cell says that nothing is known."""
    found = list(rows)
    kept = [n for n in range(len(head)) if any(row[n] != NOTHING for row in found)]
    return [head[n] for n in kept], [[row[n] for n in kept] for row in found]
