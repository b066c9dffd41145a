"""GPU activity of an observed call: kernels, copies, allocations and memory, by GPU if there are several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from grader.checks.drawings.gpu_sentences import sentences, staff_sentences
from grader.checks.drawings.values import in_bytes, in_seconds
from grader.checks.watched import watched_of
from grader.model.drawing import Advice, Bar, Bars, Breakdown, Drawing, Paragraph, ValueTable
from grader.model.observation import Quantity
from grader.model.trace import Proven, shares_of, timed, works_of
from grader.scoring.advice import of_symptom

if TYPE_CHECKING:
    from grader.model.drawing import Cell
    from grader.model.observation import Observation
    from grader.model.trace import DeviceWork, Launch, Trace, Traffic, Transfer, Watched

MOST_GPUS = 16
"""GPUs that are drawn; the values of further ones are listed with the other quantities."""
MOST_TRANSFERS = 24
"""Rows of copies: as many as four GPUs can have, between each other and the host, and within each."""
REST = "everything else"
"""The part of a call that is neither kernel nor copy."""
NOT_LAUNCHED = (
    "Whether the kernel is launched at all, as kernel[blocks, threads](...), on the way that these inputs "
    "take through the function."
)
MADE_ON_CPU = (
    "Whether what is returned is what the kernel wrote: here it was computed on the CPU, beside the kernel."
)


def gpu_drawings(observation: Observation, *, call_s: float | None = None) -> Iterator[Drawing]:
    """Yield what a kind that watches a call knows of its GPUs; nothing if no call was watched.

    `call_s` is the time of the same call when it was not observed: kernels and copies are parts of it.
    """
    watched = watched_of(observation.facts)
    if watched is None:
        return
    trace = watched.trace
    if not trace.complete:
        yield Paragraph(text="What it did on the GPU is not known, and counts neither way.")
        return
    yield from _advice(watched)
    works = _works(observation.facts, trace)
    if split := split_of(trace, call_s):
        yield split
    yield from _bars(works)
    yield from _tables(trace, works)
    shown = {f"{direction}_{unit}" for direction in trace.copies for unit in ("bytes", "s")}
    yield Paragraph(
        caption=" ".join(sentences(watched, works)),
        quantities=frozenset({"launches", "kernels_s", *shown, *_of_several(trace, works)}),
    )
    if for_staff := " ".join(staff_sentences(watched, works)):
        yield Paragraph(caption=for_staff, for_staff=True)


def name_of(device: int | None) -> str:
    """Format `GPU 1`, or `host`."""
    return "host" if device is None else f"GPU {device}"


def split_of(trace: Trace, call_s: float | None) -> Breakdown | None:
    """Divide the time of a call; None if it was not timed, or a kernel or copy has no time.

    None as well for several GPUs: they work at the same time, so their times do not add up to the call's.
    """
    kernels = in_seconds(launch.seconds for launch in trace.launches).value
    copies = in_seconds(copy.seconds for copy in trace.copies.values()).value
    several = len({launch.device for launch in trace.launches}) > 1
    unlisted = trace.launch_count > len(trace.launches)
    if not call_s or several or unlisted or not isinstance(kernels, float) or not isinstance(copies, float):
        return None
    rest = max(0.0, call_s - kernels - copies)
    overlap = "" if rest else " Together they took longer there than the whole timed call."
    return Breakdown(
        title="Where the time of one call goes",
        parts=tuple(
            Bar(name=name, value=in_seconds([seconds]))
            for name, seconds in (("kernels", kernels), ("copies", copies), (REST, rest))
        ),
        caption=f"Kernels and copies were timed in a call of their own, under observation.{overlap}",
    )


def largest_of(split: Breakdown) -> str:
    """Return the name of the part that takes most of a call."""
    return max(split.parts, key=lambda part: float(part.value.value or 0.0)).name


def _advice(watched: Watched) -> Iterator[Advice]:
    series = watched.series
    if not watched.trace.launch_count:
        yield Advice(text=NOT_LAUNCHED)
    if Proven.HOST in (watched.proof, series.proof if series else None):
        yield Advice(text=MADE_ON_CPU)
    yield from of_symptom(watched.symptom)


def _works(facts: Mapping[str, Any], trace: Trace) -> tuple[DeviceWork, ...]:
    """Return the work of each of the item's GPUs, idle ones included; empty for a single GPU."""
    if not trace.devices:
        return ()
    had = facts.get("devices")
    works = works_of(trace, had if type(had) is int and 0 < had <= MOST_GPUS else 0)
    if len(works) < 2:
        return ()
    in_all = trace.peak_bytes is not None and "peak_bytes" not in trace.unseen
    if not in_all and all(work.peak_bytes is None for work in trace.devices):
        return works
    # A source that sees memory has no record of a GPU of which none was allocated.
    return tuple(work if work.peak_bytes is not None else replace(work, peak_bytes=0) for work in works)


def _bars(works: Sequence[DeviceWork]) -> Iterator[Bars]:
    if any(work.peak_bytes for work in works):
        values = [in_bytes(work.peak_bytes) for work in works]
        yield Bars(title="Peak memory, by GPU", bars=_by_gpu(works, values))
    shares = shares_of(works)
    if any(shares):
        what = "Share of the kernels' time" if timed(works) else "Share of the number of kernels"
        values = [Quantity(value=share, unit="share") for share in shares]
        yield Bars(title=f"{what}, by GPU", bars=_by_gpu(works, values), whole=1.0)


def _by_gpu(works: Sequence[DeviceWork], values: Sequence[Quantity]) -> tuple[Bar, ...]:
    pairs = zip(works[:MOST_GPUS], values, strict=False)
    return tuple(Bar(name=name_of(work.device), value=value) for work, value in pairs)


def _tables(trace: Trace, works: Sequence[DeviceWork]) -> Iterator[ValueTable]:
    seconds = [Quantity(value=work.seconds, unit="s") for work in works]
    by_gpu = [
        (name_of(work.device), Quantity(value=work.kernels), took, in_bytes(work.peak_bytes))
        for work, took in zip(works, seconds, strict=True)
    ]
    yield from _table(("GPU", "Kernels", "Time", "Peak memory"), by_gpu, at_most=MOST_GPUS, dense=True)
    yield from _kernels_table(trace.launches)
    copies: list[tuple[str, Traffic | Transfer]] = [
        (name.replace("_", " "), copy) for name, copy in trace.copies.items()
    ]
    if works and trace.transfers:
        # Copies between two places of the host have no GPU at an end.
        within = trace.copies.get("host_to_host")
        copies = [(_ends(copy), copy) for copy in _in_order(trace)]
        copies += [("within the host", within)] if within else []
    rows = [
        (name, in_bytes(copy.bytes), Quantity(value=copy.count), in_seconds([copy.seconds]))
        for name, copy in copies
    ]
    yield from _table(("Copied", "Size", "Times", "Time"), rows, at_most=MOST_TRANSFERS, dense=bool(works))
    if "allocations" not in trace.unseen:
        allocated = [
            (name, in_bytes(traffic.bytes), Quantity(value=traffic.count))
            for name, traffic in trace.allocations.items()
        ]
        yield from _table(("Allocated by", "Size", "Times"), allocated)


def _kernels_table(launches: Sequence[Launch]) -> Iterator[ValueTable]:
    """Yield a row for launches that are alike, in the order of their first one; each GPU has its own."""
    apart = len({launch.device for launch in launches}) > 1
    alike: dict[tuple[str, int, tuple[int, ...], tuple[int, ...]], list[Launch]] = {}
    for launch in launches:
        key = (launch.kernel, launch.device, tuple(launch.grid), tuple(launch.block))
        alike.setdefault(key, []).append(launch)
    rows: list[tuple[Cell, ...]] = [
        (
            kernel,
            *((name_of(device),) if apart else ()),
            _sides(grid),
            _sides(block),
            Quantity(value=len(group)),
            in_seconds(launch.seconds for launch in group),
        )
        for (kernel, device, grid, block), group in alike.items()
    ]
    head = ("Kernel", *(("Device",) if apart else ()), "Grid", "Block", "Times", "Time")
    yield from _table(head, rows)


def _table(
    head: Sequence[str], rows: Sequence[Sequence[Cell]], *, at_most: int = 12, dense: bool = False
) -> Iterator[ValueTable]:
    """Yield a table if it has rows; a `dense` one without the columns of which no cell is known."""
    columns = [n for n in range(len(head)) if not dense or any(map(_is_known, (row[n] for row in rows)))]
    if rows:
        yield ValueTable(
            head=tuple(head[n] for n in columns),
            rows=tuple(tuple(row[n] for n in columns) for row in rows),
            at_most=at_most,
        )


def _is_known(cell: Cell) -> bool:
    return isinstance(cell, str) or cell.value is not None


def _of_several(trace: Trace, works: Sequence[DeviceWork]) -> Iterator[str]:
    """Yield the quantities of several GPUs that the tables show, as `placement` names them."""
    if not works:
        return
    for work in works[:MOST_GPUS]:
        yield from (f"gpu_{work.device}_{what}" for what in ("kernels", "kernels_s", "peak_bytes"))
    for copy in _in_order(trace)[:MOST_TRANSFERS]:
        ends = ("host" if end is None else f"gpu_{end}" for end in (copy.source, copy.target))
        yield f"{'_to_'.join(ends)}_bytes"


def _in_order(trace: Trace) -> Sequence[Transfer]:
    """Sort copies: from the host, between GPUs, to the host."""
    return sorted(
        trace.transfers,
        key=lambda copy: (
            copy.target is None,
            copy.source is not None,
            copy.source or 0,
            copy.target or 0,
        ),
    )


def _ends(copy: Transfer) -> str:
    if copy.source == copy.target:
        return f"within {name_of(copy.source)}"
    return f"{name_of(copy.source)} to {name_of(copy.target)}"


def _sides(shape: Sequence[int]) -> str:
    """Format a shape as `1000` or `32 x 32`, without trailing sides of 1."""
    sides = list(shape)
    while len(sides) > 1 and sides[-1] == 1:
        sides.pop()
    return " x ".join(map(str, sides))
