"""What to look at, by what became of an item: a line beside the rubric's own hint.

Everything is told by the view that a report gets: what its audience must not know is not in there, and no
line speaks of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from grader.model.observation import Outcome
from grader.model.score import Standing
from grader.model.trace import Proven, Watched
from grader.reports.device import Split, split_of, watched_in
from grader.reports.numbers import amount, number

if TYPE_CHECKING:
    from grader.model.observation import Observation
    from grader.model.rubric import Item
    from grader.model.score import Line

UNTOUCHED = 0.9
"""From this share of wrong values on, the first of them a zero, nothing seems to have been written."""
_GOT_NAN = re.compile(r"\bgot nan\b")
_GOT_ZERO = re.compile(r"\bgot -?0(\.0)?,")
_GOT = re.compile(r"\bgot .+, expected ")
_RACE = re.compile(r"\b(threads|core|cores) it is right\b")
_DIFFER = re.compile(r"\((\d+) of (\d+) values differ\)")
_OWN_ARRAY = re.compile(r"\breturned an? \w*(DeviceNDArray|MappedNDArray|ManagedNDArray)\b")


@dataclass(frozen=True, kw_only=True)
class Seen:
    """One item, with what several lines of advice ask of it."""

    line: Line
    item: Item
    observation: Observation

    @cached_property
    def watched(self) -> Watched | None:
        """What was observed of a GPU, if the record counts."""
        watched = watched_in(self.observation)
        return watched if watched is not None and watched.trace.complete else None

    @cached_property
    def split(self) -> Split | None:
        """Where the time of a timed call went."""
        return split_of(self.observation, self.watched)

    @cached_property
    def difference(self) -> str:
        """How the first wrong result differs; empty if none does."""
        if self.watched is not None and self.watched.wrong:
            return self.watched.wrong
        wrong = (
            case.note
            for case in self.observation.cases
            if case.outcome is Outcome.OBSERVED and case.agrees and not any(case.agrees.values())
        )
        return next(wrong, "")

    @property
    def lost(self) -> bool:
        """Whether points are lost, or would be if the simulator counted."""
        judged = self.observation.simulated or self.line.standing is not Standing.PROVISIONAL
        return judged and self.line.fraction != 1

    def ended(self, outcome: Outcome, *words: str) -> bool:
        """Whether the item, or a case of it, ended like this; with one of these words in its note, if any."""
        notes = [self.observation.note] if self.observation.outcome is outcome else []
        notes += [case.note for case in self.observation.cases if case.outcome is outcome]
        return any(not words or any(word in note for word in words) for note in notes)


def _made_on_cpu(watched: Watched) -> bool:
    series = watched.series
    return Proven.HOST in (watched.proof, series.proof if series else None)


def _untouched(seen: Seen) -> bool:
    differ = _DIFFER.search(seen.difference)
    share = int(differ[1]) / int(differ[2]) if differ else 1.0
    return bool(_GOT_ZERO.search(seen.difference)) and share >= UNTOUCHED


def _wrong_launch(seen: Seen) -> bool:
    told = (" asked for", " must be", " must have this name")
    return seen.item.check == "kernel_launch" and seen.lost and any(part in seen.line.reason for part in told)


def _too_slow(seen: Seen) -> bool:
    high, least = amount(seen.observation, "ratio_high"), number(getattr(seen.item.options, "at_least", None))
    return seen.lost and not seen.difference and None not in (high, least) and (high or 0) < (least or 0)


def _near(seen: Seen) -> bool:
    low, high = (amount(seen.observation, name) for name in ("ratio_low", "ratio_high"))
    least = number(getattr(seen.item.options, "at_least", None))
    if low is None or high is None or least is None or seen.line.standing is Standing.PROVISIONAL:
        return False
    return low < least <= high


def _largest(part: str) -> Callable[[Seen], bool]:
    def is_largest(seen: Seen) -> bool:
        split = seen.split
        if split is None or not _too_slow(seen):
            return False
        return bool(getattr(split, part) == max(split.kernels, split.copies, split.rest))

    return is_largest


ON_GPU = ("GPU",)
Rule = tuple[Callable[[Seen], bool], str]

RULES: tuple[Rule, ...] = (
    (
        lambda seen: seen.ended(Outcome.CRASHED, "illegal address"),
        "The index of every read and write in the kernel: a grid that is rounded up has threads beyond the "
        "last element, and they must do nothing. Then the shapes of the arrays: is each as large as the "
        "index takes it to be?",
    ),
    (
        lambda seen: seen.ended(Outcome.TIMED_OUT),
        "Loops, and waiting at barriers or for other threads, that some input never ends; then work that "
        "grows faster than the input does.",
    ),
    (
        lambda seen: seen.ended(Outcome.OUT_OF_MEMORY, *ON_GPU),
        "What every call takes of the GPU's memory and nobody gives back: a library's handle, such as "
        "cublasCreate's without cublasDestroy, or arrays in a global, a list, a cache. Make one handle, and "
        "keep it.",
    ),
    (
        lambda seen: seen.ended(Outcome.OUT_OF_MEMORY) and not seen.ended(Outcome.OUT_OF_MEMORY, *ON_GPU),
        "Arrays that are larger than the result needs them, and what is kept from call to call.",
    ),
    (
        lambda seen: seen.watched is not None and not seen.watched.trace.launch_count,
        "Whether the kernel is launched at all, as kernel[blocks, threads](...), on the way that these "
        "inputs take through the function.",
    ),
    (
        lambda seen: seen.watched is not None and _made_on_cpu(seen.watched),
        "Whether what is returned is what the kernel wrote: here it was computed on the CPU, beside the "
        "kernel.",
    ),
    (
        lambda seen: bool(_RACE.search(seen.difference)),
        "Places that several threads write, or that one reads while another writes: give each thread its "
        "own, add atomically, or put a barrier between.",
    ),
    (
        lambda seen: bool(_OWN_ARRAY.search(seen.difference)),
        "What is returned: an array on the GPU has to be copied back, as with copy_to_host().",
    ),
    (
        lambda seen: bool(_GOT_NAN.search(seen.difference)),
        "Divisions by zero, roots and logarithms of negative numbers, and memory that is read before "
        "anything was written there.",
    ),
    (
        _untouched,
        "Whether the result is written at all: the array that the kernel gets must be the one that is "
        "copied back and returned, and the index must reach each element.",
    ),
    (
        lambda seen: bool(_GOT.search(seen.difference)),
        "The first element that differs: work it out by hand, for the smallest input that goes wrong.",
    ),
    (
        lambda seen: _wrong_launch(seen) and " ran with " in seen.line.reason,
        "The two numbers in kernel[blocks, threads]: the first is how many blocks the grid has, the second "
        "how many threads each block has. Print them right before the launch.",
    ),
    (
        _wrong_launch,
        "Which kernels are launched, and how often: their names and shapes are in the table.",
    ),
    (
        _largest("copies"),
        "The copies, which take most of the call: each array once, only what the kernel needs, and nothing "
        "back that it did not change.",
    ),
    (
        _largest("rest"),
        "What is neither kernel nor copy, which is most of the call: memory allocated each time, many small "
        "launches, loops in Python.",
    ),
    (
        _largest("kernels"),
        "The kernel, which takes most of the call: neighbouring threads should read neighbouring elements, "
        "and there should be enough threads for the whole GPU.",
    ),
    (
        _too_slow,
        "What is done for each element in Python, and what every call does anew although it could be kept.",
    ),
    (
        lambda seen: seen.item.check == "scaling" and seen.lost and bool(amount(seen.observation, "rounds")),
        "What only one core does meanwhile: a part that is not parallel, shares of the work that are not "
        "even, threads that wait for each other.",
    ),
    (
        _near,
        "How close this is: the threshold lies within what was measured, and another run may fall short.",
    ),
)
"""The first that fits is told: what comes later follows from it, or is less sure."""


def look_at(line: Line, item: Item, observation: Observation) -> str:
    """What to look at; empty if nothing is wrong that is known here."""
    seen = Seen(line=line, item=item, observation=observation)
    return next((advice for applies, advice in RULES if applies(seen)), "")
