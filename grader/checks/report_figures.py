"""Launches, accuracies and shares in a report, held against the evidence of the same submission."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from math import prod
from typing import Any, Literal

from grader.checks.report_ratios import MOST_SHOWN, measured_quantity, short
from grader.checks.requirements import Requirement
from grader.checks.watched import watched_of
from grader.model.drawing import ValueTable
from grader.model.observation import Observation, Outcome
from grader.model.options import UsedItem, option
from grader.model.trace import Trace

MOST_THREADS = 1024
"""Threads of a block, on every GPU since 2010 (CUDA C++ Programming Guide, "Compute Capabilities")."""
WHOLE_PERCENT = 110.0
"""Parts of one time that add up to more contradict each other, however they were rounded."""
BESIDE = ("", "in the report", "here")
"""The head of a table that holds a report's figures beside ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedFigure:
    """A figure that a report may hold, and the item whose evidence it is held against."""

    what: Literal["launch", "accuracy", "shares"] = option(
        "`launch` (blocks and threads of a kernel), `accuracy`, or `shares` (percent of a time)."
    )
    of: str = option("For `launch`, the kernel, as in max_kernel; a|b is either name.", default="")
    by: UsedItem = option(
        "The item that measures it: one that observes launches, or with a quantity `accuracy`.",
        default=UsedItem(""),
    )
    within: float = option(
        "How far an accuracy may be from ours, as a share of the test set.", default=0.03, above=0
    )
    part: str = option("Words that begin the part of the report it is about; a|b is either.", default="")
    elsewhere: str = option("Words that begin another part; a|b is either.", default="")

    def __post_init__(self) -> None:
        """A launch is that of a kernel."""
        if (self.what == "launch") != bool(self.of):
            raise ValueError("of: names the kernel of a launch, and nothing else has one")

    @property
    def key(self) -> str:
        """The name under which what the report says stands in the evidence."""
        return f"{self.what} {self.of}".strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Launch:
    """Blocks and threads of a launch, as a report says or a device ran it."""

    blocks: int | None
    threads: int
    written: str = ""
    certain: bool = True

    def fits(self, other: _Launch) -> bool:
        """Tell whether it may be the same; a product of both may be the threads of all blocks."""
        all_threads = self.blocks is not None and self.threads == self.blocks * other.threads
        same = self.blocks in (None, other.blocks)
        return same and (self.threads == other.threads or all_threads)

    @property
    def impossible(self) -> bool:
        """Whether no block has so many threads, and they are not those of all blocks."""
        of_all = (
            self.blocks not in (None, 1)
            and self.threads % (self.blocks or 1) == 0
            and self.threads // (self.blocks or 1) <= MOST_THREADS
        )
        return self.threads > MOST_THREADS and not of_all


def judged_figures(
    figures: Iterable[ReportedFigure], facts: Mapping[str, Any], related: Mapping[str, Observation]
) -> Iterator[Requirement]:
    """Yield a requirement for each figure that is not as measured, or not possible.

    A report need not hold any: what it does not say, or says as it is, asks for nothing.
    """
    for figure in figures:
        entries = _entries(figure, facts)
        if not entries:
            continue
        if figure.what == "launch":
            yield from _launches(figure, entries, facts, related)
        elif figure.what == "accuracy":
            yield from _accuracy(figure, entries, facts, related)
        else:
            yield from _shares(entries)


def figures_beside(
    figures: Iterable[ReportedFigure], facts: Mapping[str, Any], related: Mapping[str, Observation]
) -> Iterator[ValueTable]:
    """Yield a table of what a report says and what was measured here, for staff; none if it says nothing."""
    rows = []
    for figure in figures:
        entries = _entries(figure, facts)
        if not entries:
            continue
        if figure.what == "shares":
            written = "; ".join(str(entry[1]) for entry in entries[:MOST_SHOWN])
        else:
            written = "; ".join(str(entry[2]) for entry in entries[:MOST_SHOWN])
        rows.append((_title(figure), written, _measured_in_words(figure, related)))
    if rows:
        yield ValueTable(title="Figures of the report", head=BESIDE, rows=tuple(rows), for_staff=True)


def _entries(figure: ReportedFigure, facts: Mapping[str, Any]) -> Sequence[Sequence[Any]]:
    """Return what the report says; nothing in older evidence."""
    entries: Sequence[Sequence[Any]] = facts.get("figures", {}).get(figure.key, ())
    return entries


def _launches(
    figure: ReportedFigure,
    entries: Iterable[Sequence[Any]],
    facts: Mapping[str, Any],
    related: Mapping[str, Observation],
) -> Iterator[Requirement]:
    """Yield a requirement if none of the launches in the report is one that the device ran."""
    stated = [
        _Launch(blocks=blocks, threads=threads, written=written, certain=certain)
        for blocks, threads, written, certain in entries
    ]
    kernel, observed = short(figure.of), _observed(figure, related)
    if any(launch.fits(one) for launch in stated for one in observed):
        return
    certain = [launch for launch in stated if launch.certain]
    impossible = [launch for launch in certain if launch.impossible]
    if impossible:
        lost = facts["latin"] and len(impossible) == len(stated)
        missed = (
            f"it says “{impossible[0].written}” of {kernel}; a block has at most {MOST_THREADS:,} threads"
        )
        yield Requirement(met=False if lost else None, missed=missed)
    elif certain and observed:
        missed = f"it says “{certain[0].written}” of {kernel}, and here ran {_in_words(observed)}"
        yield Requirement(met=None, missed=missed)


def _accuracy(
    figure: ReportedFigure,
    entries: Iterable[Sequence[Any]],
    facts: Mapping[str, Any],
    related: Mapping[str, Observation],
) -> Iterator[Requirement]:
    """Yield a requirement if an accuracy is above the whole, or all are far from ours."""
    certain = [entry for entry in entries if entry[3]]
    for value, half, written, _ in certain:
        if value - half > 1:
            lost = False if facts["latin"] else None
            yield Requirement(
                met=lost, missed=f"it says an accuracy of {written}, more than the whole test set"
            )
            return
    ours = measured_quantity(related.get(figure.by), "accuracy")
    if ours is None or not certain or any(abs(e[0] - ours) <= figure.within + e[1] for e in entries):
        return
    missed = f"it says an accuracy of {certain[-1][2]}, and {figure.by} measured {ours:.2%}"
    yield Requirement(met=None, missed=missed)


def _shares(entries: Iterable[Sequence[Any]]) -> Iterator[Requirement]:
    """Yield a requirement for each sentence whose parts of one time are far more than the whole."""
    for values, sentence, certain in entries:
        if certain and len(values) > 1 and sum(values) > WHOLE_PERCENT:
            missed = f"its shares add up to {sum(values):.4g} %: “{sentence}”"
            yield Requirement(met=None, missed=missed)


def _observed(figure: ReportedFigure, related: Mapping[str, Observation]) -> tuple[_Launch, ...]:
    """Return the launches of the kernel that were observed; a simulator's have the same shape."""
    trace = _trace(related.get(figure.by))
    names = figure.of.split("|")
    launches = trace.launches if trace is not None else ()
    shapes = dict.fromkeys(
        (prod(launch.grid), prod(launch.block))
        for launch in launches
        if any(fnmatchcase(launch.kernel, name.strip()) for name in names)
    )
    return tuple(_Launch(blocks=blocks, threads=threads) for blocks, threads in shapes)


def _trace(observation: Observation | None) -> Trace | None:
    if observation is None or observation.outcome is not Outcome.OBSERVED:
        return None
    watched = watched_of(observation.facts)
    return watched.trace if watched is not None and watched.trace.complete else None


def _title(figure: ReportedFigure) -> str:
    titles = {"accuracy": "accuracy", "shares": "shares of a time"}
    return titles.get(figure.what) or f"launch of {short(figure.of)}"


def _measured_in_words(figure: ReportedFigure, related: Mapping[str, Observation]) -> str:
    if figure.what == "launch":
        return _in_words(_observed(figure, related))
    if figure.what == "accuracy":
        ours = measured_quantity(related.get(figure.by), "accuracy")
        return "" if ours is None else f"{ours:.2%}"
    trace = _trace(related.get(figure.by))
    if trace is None or not trace.launches or any(launch.seconds is None for launch in trace.launches):
        return ""
    kernels = sum(launch.seconds or 0.0 for launch in trace.launches)
    copies = [traffic.seconds for traffic in trace.copies.values()]
    if any(seconds is None for seconds in copies) or not copies:
        return ""
    moving = sum(seconds or 0.0 for seconds in copies)
    whole = kernels + moving
    return (
        f"of kernels and copies: kernels {kernels / whole:.1%}, copies {moving / whole:.1%}" if whole else ""
    )


def _in_words(launches: Iterable[_Launch]) -> str:
    return "; ".join(
        f"{one.blocks:,} {'block' if one.blocks == 1 else 'blocks'} of {one.threads:,} threads"
        for one in launches
    )
