"""Sentences on the GPU activity of an observed call, and on what its source could not see."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from grader.model.magnitude import counted, seconds, size
from grader.model.trace import Proven

if TYPE_CHECKING:
    from grader.model.trace import DeviceWork, Series, Watched

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
_TOGETHER = ", all GPUs together"


def sentences(watched: Watched, works: Sequence[DeviceWork]) -> Iterator[str]:
    """Yield the sentences below the tables; `works` are those of several GPUs."""
    trace = watched.trace
    together = _TOGETHER if works else ""
    if works:
        yield f"GPU {works[0].device} is what the program calls cuda:{works[0].device}."
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
    if watched.series is not None:
        yield from _timed(watched.series, without="copies" in trace.unseen)
    if trace.peak_bytes is not None and "peak_bytes" not in trace.unseen:
        yield f"At one time it had at most {size(trace.peak_bytes)} of device memory{together}."
    if trace.synchronisations is not None and "synchronisations" not in trace.unseen:
        yield f"It waited for the GPU {counted(trace.synchronisations, 'time')}."
    yield f"Seen by {SOURCES.get(trace.source, trace.source)}, in a call that was not timed."


def staff_sentences(watched: Watched, works: Sequence[DeviceWork]) -> Iterator[str]:
    """Yield the sentences on how a result on a GPU was proven, and on what the source could not see."""
    if watched.proof is not None:
        by_copies = watched.proof is Proven.HOST and watched.unproven
        made = f"{watched.unproven}, so it was made on the CPU" if by_copies else _MADE[watched.proof]
        yield f"In another call its kernels got other inputs than the program: {made}."
    together = _TOGETHER if works else ""
    unseen = [UNSEEN.get(name, name) + together * (name == "peak_bytes") for name in watched.trace.unseen]
    if unseen:
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
