"""Tables of the GPU activity of a call for `report.html`, and a bar that divides its time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.model.trace import Proven, Series, Trace, Traffic, Watched
from grader.reports.markup import text
from grader.reports.numbers import amount, seconds, size
from grader.reports.several_gpus import gpus_table, listed_in_tables, place, transfers_table
from grader.reports.tables import table, time_of, total
from grader.reports.words import counted

if TYPE_CHECKING:
    from grader.model.observation import Observation
    from grader.model.trace import DeviceWork, Launch

COMPARED = "of_s"
"""The quantity with the time of the unobserved call."""

SOURCES = {
    "cupti": "CUPTI",
    "torch.profiler": "torch.profiler",
    "simulator": "the simulator",
    "virtual_gpus": "the virtual GPUs, where an operator of torch counts as a kernel",
    "cuda_on_cpu": "the stand-in for the GPU",
    "none": "nobody",
}
_MADE = {
    Proven.DEVICE: "the result is that of the kernels' inputs",
    Proven.HOST: "the result is that of the program's inputs, and was made on the CPU",
    Proven.UNCLEAR: "it is not clear from whose inputs the result was made",
}
UNSEEN = {
    "sites": "where memory was allocated",
    "launches": "kernels one by one",
    "framework_launches": "numba's own account of its launches",
    "copies": "copies",
    "allocations": "how much memory was allocated",
    "frees": "what was freed",
    "peak_bytes": "the most memory that was taken at one time",
    "synchronisations": "how often the program waited for the GPU",
    "api": "calls of CUDA",
    "api_before": "calls of CUDA before it",
}
"""Fields of a trace, for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Seconds of a call in kernels, copies and the rest."""

    kernels: float
    copies: float
    rest: float
    """Seconds of launching, allocating and Python; 0 if kernels and copies alone exceed the timed call."""

    @property
    def whole(self) -> float:
        """The sum of all parts."""
        return self.kernels + self.copies + self.rest


def watched_in(observation: Observation) -> Watched | None:
    """Decode the record of the GPU calls; None if there is none, or it has another format."""
    plain = observation.facts.get("watched")
    if plain is None:
        return None
    from grader.config.codec import from_plain, to_plain
    from grader.errors import NotObservedError

    try:
        return from_plain(Watched, to_plain(plain), where="watched")
    except (NotObservedError, TypeError):
        return None


def split_of(observation: Observation, watched: Watched | None) -> Split | None:
    """Divide the time of a timed call; None if it was not timed, or a kernel or copy has no time.

    None as well for several GPUs: they work at the same time, so their times do not add up to the call's.
    """
    whole = amount(observation, COMPARED)
    if watched is None or not watched.trace.complete or not whole:
        return None
    trace = watched.trace
    kernels = total(launch.seconds for launch in trace.launches)
    copies = total(copy.seconds for copy in trace.copies.values())
    if kernels is None or copies is None or trace.launch_count > len(trace.launches):
        return None
    if len({launch.device for launch in trace.launches}) > 1:
        return None
    return Split(kernels=kernels, copies=copies, rest=max(0.0, whole - kernels - copies))


def hidden_by(watched: Watched | None, works: Sequence[DeviceWork] = ()) -> frozenset[str]:
    """Quantities that the tables show, so that they need not be listed again; `works` of several GPUs."""
    if watched is None or not watched.trace.complete:
        return frozenset()
    directions = (f"{name}_{unit}" for name in watched.trace.copies for unit in ("bytes", "s"))
    of_several = listed_in_tables(works, watched.trace) if works else frozenset()
    return frozenset({"launches", "kernels_s", *directions}) | of_several


def device_tables(watched: Watched | None, works: Sequence[DeviceWork] = ()) -> str:
    """Render kernels, copies and allocations of the observed call, and the limits of its source.

    `works` are those of several GPUs; without any, nothing says which GPU it was.
    """
    if watched is None:
        return ""
    trace = watched.trace
    if not trace.complete:
        return '<p class="soft">What it did on the GPU is not known, and counts neither way.</p>'
    tables = (
        gpus_table(works),
        _kernels_table(trace.launches),
        transfers_table(trace)
        if works and trace.transfers
        else table(("Copied", "", "Times", "Time"), _traffic(trace.copies)),
        "" if "allocations" in trace.unseen else table(("Allocated by", "", "Times"), _allocated(trace)),
    )
    sentences = " ".join(_sentences(watched, works))
    return f'<div class="device">{"".join(tables)}<p class="fine">{text(sentences)}</p></div>'


def split_bar(split: Split | None) -> str:
    """Draw a bar that divides the call into kernels, copies and the rest."""
    if split is None:
        return ""
    parts = [
        (name, getattr(split, name), label)
        for name, label in (("kernels", "kernels"), ("copies", "copies"), ("rest", "everything else"))
    ]
    caption = ", ".join(f"{label} {seconds(took)} ({took / split.whole:.0%})" for _, took, label in parts)
    drawing, at = "", 0.0
    for name, took, _ in parts:
        width = 100 * took / split.whole
        drawing += f'<rect class="{name}" x="{at:.2f}%" y="1" width="{width:.2f}%" height="20"/>'
        at += width
    legend = "".join(
        f'<span><svg width="10" height="10" aria-hidden="true"><rect class="{name}" x="0" y="0" width="10" '
        f'height="10"/></svg>{label}: {seconds(took)}</span>'
        for name, took, label in parts
    )
    overlap = "" if split.rest else " Together they took longer there than the whole timed call."
    return (
        '<figure><p class="label">Where the time of one call goes</p>'
        f'<svg width="100%" height="22" role="img" aria-label="{text(caption)}">{drawing}</svg>'
        f'<figcaption><span class="legend">{legend}</span> Kernels and copies were timed in a call of their '
        f"own, under observation.{overlap}</figcaption></figure>"
    )


def _kernels_table(launches: Sequence[Launch]) -> str:
    """Alike launches together, in the order of their first one; those of several GPUs apart."""
    apart = len({launch.device for launch in launches}) > 1
    alike: dict[tuple[str, int, tuple[int, ...], tuple[int, ...]], list[Launch]] = {}
    for launch in launches:
        alike.setdefault((launch.kernel, launch.device, tuple(launch.grid), tuple(launch.block)), []).append(
            launch
        )
    rows = (
        (
            kernel,
            *((place(device),) if apart else ()),
            *(
                _sides(grid),
                _sides(block),
                str(len(group)),
                time_of(launch.seconds for launch in group),
            ),
        )
        for (kernel, device, grid, block), group in alike.items()
    )
    return table(("Kernel", *(("Device",) if apart else ()), "Grid", "Block", "Times", "Time"), rows)


def _traffic(of: Mapping[str, Traffic]) -> Iterator[Sequence[str]]:
    for name, traffic in of.items():
        yield name.replace("_", " "), size(traffic.bytes), str(traffic.count), time_of([traffic.seconds])


def _allocated(trace: Trace) -> Iterator[Sequence[str]]:
    for name, traffic in trace.allocations.items():
        yield name, size(traffic.bytes), str(traffic.count)


def _sides(shape: Sequence[int]) -> str:
    """Format a shape as `1000` or `32 x 32`, without trailing sides of 1."""
    sides = list(shape)
    while len(sides) > 1 and sides[-1] == 1:
        sides.pop()
    return " x ".join(map(str, sides))


def _sentences(watched: Watched, works: Sequence[DeviceWork]) -> Iterator[str]:
    """Yield the sentences below the tables."""
    trace = watched.trace
    together = ", all GPUs together" if works else ""
    if works:
        yield f"{place(works[0].device)} is what the program calls cuda:{works[0].device}."
    if not trace.launch_count:
        yield "No kernel was launched."
    elif "launches" in trace.unseen:
        yield f"{counted(trace.launch_count, 'kernel')} ran."
    elif trace.launch_count > len(trace.launches):
        yield f"{trace.launch_count} kernels were launched; the table is of the first {len(trace.launches)}."
    # Beside what devices did, all launches are counted but those of collectives.
    collectives = trace.launch_count - sum(work.kernels for work in works)
    if works and collectives > 0:
        are = "is" if collectives == 1 else "are"
        yield (
            f"{counted(collectives, 'kernel')} of collectives (NCCL) {are} counted for no GPU: "
            "they wait for each other."
        )
    if watched.proof is not None:
        by_copies = watched.proof is Proven.HOST and watched.unproven
        made = f"{watched.unproven}, so it was made on the CPU" if by_copies else _MADE[watched.proof]
        yield f"In another call its kernels got other inputs than the program: {made}."
    if watched.series is not None:
        yield from _timed(watched.series, without="copies" in trace.unseen)
    if trace.peak_bytes is not None and "peak_bytes" not in trace.unseen:
        yield f"At one time it had at most {size(trace.peak_bytes)} of device memory{together}."
    if trace.synchronisations is not None and "synchronisations" not in trace.unseen:
        yield f"It waited for the GPU {counted(trace.synchronisations, 'time')}."
    yield f"Seen by {SOURCES.get(trace.source, trace.source)}, in a call that was not timed."
    if trace.unseen:
        unseen = (UNSEEN.get(name, name) + together * (name == "peak_bytes") for name in trace.unseen)
        yield f"Not to be seen that way: {', '.join(unseen)}."


def _timed(series: Series, *, without: bool) -> Iterator[str]:
    """Yield sentences on timed calls and their needed traffic; `without` copies where these are unknown."""
    if not series.calls:
        return
    if series.kernels_s is not None and series.call_s:
        yield (
            f"In a timed call kernels ran for {seconds(series.kernels_s)} of {seconds(series.call_s)} "
            f"({series.kernels_s / series.call_s:.2g} of it)."
        )
    if not without and not series.void:
        calls = counted(series.calls, "timed call")
        to_device, to_host = size(series.to_device_bytes), size(series.to_host_bytes)
        arguments, result = size(series.needed_to_device_bytes), size(series.needed_to_host_bytes)
        yield (
            f"Each of {calls} copied at least {to_device} to the GPU and {to_host} back; its arguments fill "
            f"{arguments} and its result {result}, packed as tightly as their values allow."
        )
    if series.proof is not None:
        calls = counted(series.exchanges, "call")
        yield f"In {calls} among them its kernels got other inputs than the program: {_MADE[series.proof]}."
