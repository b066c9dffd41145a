"""How much trainings of different lengths allocate, where what grows comes from, and how that is told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from grader.model.observation import Case
from grader.model.trace import Trace, Traffic

UNRECORDED = ("cuMemCreate",)
"""Calls that allocate and of which CUPTI's memory records may know nothing."""
CALLS_PER_S = 2_000_000
"""A launch takes the host 2 µs on the fastest machines of today, and an allocation no less than a quarter."""
MOST_PLACES = 4
"""How many a sentence names."""
HINTS = {"libcublas": "A cuBLAS handle allocates memory when it is made: make one, and keep it."}
"""What to try next, by the beginning of the name of the library that asks for most of what grows."""

Place = tuple[str, str]
"""A C function, and the library that asked for memory in it; either may be empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """The record of one training, stored as JSON among an observation's facts."""

    epochs: int
    trace: Trace
    """Without its launches, of which there are too many."""


def unseen(trainings: Sequence[Training], needed: frozenset[str]) -> str:
    """Why the records cannot tell these fields of theirs, in a few words; empty if they can."""
    for trace in (training.trace for training in trainings):
        if not trace.complete:
            return trace.problem
        if missing := needed.intersection(trace.unseen):
            return f"{trace.source} cannot see {', '.join(sorted(missing))}"
        if trace.peak_bytes is None:
            return f"{trace.source} did not see how much memory was in use"
    return ""


def not_on_device(trainings: Sequence[Training]) -> str:
    """How it is known that it was not the device that trained, in one sentence; empty if it was."""
    launches = [training.trace.launch_count for training in trainings]
    if not any(launches):
        return "no kernel was launched: it does not train on the GPU"
    if any(later <= earlier for earlier, later in pairwise(launches)):
        return f"more epochs launch no more kernels ({series(launches, trainings)}): the GPU does not train"
    return ""


def implausible(
    trainings: Sequence[Training], cases: Sequence[Case], *, peak_bytes: int, launches: int
) -> str:
    """Why the records are not believed before a person has looked, in one sentence; empty if they are.

    `peak_bytes` is what any such training holds at one time, `launches` what every further epoch launches.
    """
    for training, case in zip(trainings, cases, strict=True):
        if (peak := training.trace.peak_bytes or 0) < peak_bytes:
            recorded = f"{training.epochs} epochs are recorded with {peak:,} bytes in use at one time"
            return f"{recorded}, and need {peak_bytes:,}"
        wall_s = case.quantities.get("wall_s")
        calls = allocated(training.trace).count + training.trace.launch_count
        if wall_s and isinstance(wall_s.value, float) and calls > CALLS_PER_S * wall_s.value:
            return (
                f"{calls:,} launches and allocations are recorded in {wall_s.value:.2g} s; no driver answers "
                f"more than {CALLS_PER_S:,} in a second"
            )
    for training, longer in pairwise(trainings):
        more, epochs = (
            longer.trace.launch_count - training.trace.launch_count,
            longer.epochs - training.epochs,
        )
        if more < launches * epochs:
            needed = launches * epochs
            return f"{epochs} more epochs are recorded with {more:,} more launches, and need {needed:,}"
    return ""


def allocated(trace: Trace) -> Traffic:
    """All allocations of one training."""
    traffic = trace.allocations
    beside = sum(trace.api.get(name, 0) for name in UNRECORDED if name not in traffic)
    return Traffic(
        count=beside + sum(part.count for part in traffic.values()),
        bytes=sum(part.bytes for part in traffic.values()),
    )


def allocated_in(trace: Trace, functions: Sequence[str]) -> Traffic:
    """Add the allocations that happened inside some C functions."""
    sites = [site for site in trace.sites if site.function in functions]
    return Traffic(count=sum(site.count for site in sites), bytes=sum(site.bytes for site in sites))


def growth(
    what: str, of: Sequence[Traffic], trainings: Sequence[Training], *, slack: int, slack_bytes: int
) -> str:
    """How the number of allocations, or their size alone, grows, in one sentence; empty if neither does."""
    calls, sizes = [traffic.count for traffic in of], [traffic.bytes for traffic in of]
    if rise(calls) > slack:
        return f"the longer it trains the more {what}: {series(calls, trainings)}"
    if len(set(calls)) == 1 and rise(sizes) > slack_bytes:
        return f"as many {what}, but larger ones the longer it trains: {series(sizes, trainings, ' bytes')}"
    return ""


def peak_growth(trainings: Sequence[Training], slack_bytes: int) -> str:
    """How the memory in use at one time grows, in one sentence; empty if it does not."""
    peaks = [training.trace.peak_bytes or 0 for training in trainings]
    if rise(peaks) <= slack_bytes:
        return ""
    return f"the longer it trains the more memory is in use at one time: {series(peaks, trainings, ' bytes')}"


def rise(values: Sequence[int]) -> int:
    """The most by which a longer training exceeds a shorter one; not above 0 if none does."""
    return max(later - earlier for earlier, later in combinations(values, 2))


def grown_places(trainings: Sequence[Training]) -> Mapping[Place, int]:
    """How many more allocations the longest training made than the shortest, by place; most first."""
    grown = Counter(_places(trainings[-1].trace))
    grown.subtract(_places(trainings[0].trace))
    return {place: count for place, count in grown.most_common() if count > 0}


def _places(trace: Trace) -> Mapping[Place, int]:
    if "sites" in trace.unseen:
        return {}
    places = Counter({(site.function, site.library): site.count for site in trace.sites})
    places["", ""] += allocated(trace).count - places.total()
    return places


def growth_in_words(grown: Mapping[Place, int]) -> str:
    """`7,000 more inside DLGpuMatrixMultiply (asked for by libcublas.so.13), 200 more inside …`."""
    most = [f"{count:,} more {_place(*place)}" for place, count in list(grown.items())[:MOST_PLACES]]
    rest = sum(list(grown.values())[MOST_PLACES:])
    return ", ".join([*most, f"{rest:,} more in other places"] if rest else most)


def _place(function: str, library: str) -> str:
    inside = f"inside {function}" if function else "elsewhere"
    return f"{inside} (asked for by {library})" if library else inside


def hint_for(grown: Mapping[Place, int]) -> str:
    """Return a hint; empty if the library behind most of the growth is unknown."""
    library = next(iter(grown), ("", ""))[1]
    return next((hint for beginning, hint in HINTS.items() if library.startswith(beginning)), "")


def series(values: Sequence[int], trainings: Sequence[Training], unit: str = "") -> str:
    """`64 at 2, 4 and 8 epochs alike`, or `2,691 at 2, 3,891 at 4, 6,291 at 8 epochs`."""
    if len(set(values)) == 1:
        *some, last = (str(training.epochs) for training in trainings)
        return f"{values[0]:,}{unit} at {', '.join(some)} and {last} epochs alike"
    each = (
        f"{value:,}{unit} at {training.epochs}" for value, training in zip(values, trainings, strict=True)
    )
    return f"{', '.join(each)} epochs"
