"""Advice for an item that lost points: one line beside the rubric's own hint.

Rules read only the view that a report gets, which is already reduced to what its audience may know.
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
class ItemFacts:
    """One item with the values that several rules of advice need."""

    line: Line
    item: Item
    observation: Observation

    @cached_property
    def watched(self) -> Watched | None:
        """The record of the GPU calls, or None if it is missing or incomplete."""
        watched = watched_in(self.observation)
        return watched if watched is not None and watched.trace.complete else None

    @cached_property
    def split(self) -> Split | None:
        """The time of a timed call in kernels, copies and the rest."""
        return split_of(self.observation, self.watched)

    @cached_property
    def difference(self) -> str:
        """The first difference between a result and its oracle; empty if there is none."""
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
        """Tell whether the item or a case has this outcome, with one of the words, if any, in its note."""
        notes = [self.observation.note] if self.observation.outcome is outcome else []
        notes += [case.note for case in self.observation.cases if case.outcome is outcome]
        return any(not words or any(word in note for word in words) for note in notes)


def _made_on_cpu(watched: Watched) -> bool:
    series = watched.series
    return Proven.HOST in (watched.proof, series.proof if series else None)


def _untouched(facts: ItemFacts) -> bool:
    differ = _DIFFER.search(facts.difference)
    share = int(differ[1]) / int(differ[2]) if differ else 1.0
    return bool(_GOT_ZERO.search(facts.difference)) and share >= UNTOUCHED


def _wrong_launch(facts: ItemFacts) -> bool:
    phrases = (" asked for", " must be", " must have this name")
    return (
        facts.item.check == "kernel_launch"
        and facts.lost
        and any(part in facts.line.reason for part in phrases)
    )


def _too_slow(facts: ItemFacts) -> bool:
    high, least = (
        amount(facts.observation, "ratio_high"),
        number(getattr(facts.item.options, "at_least", None)),
    )
    return facts.lost and not facts.difference and None not in (high, least) and (high or 0) < (least or 0)


def _near(facts: ItemFacts) -> bool:
    low, high = (amount(facts.observation, name) for name in ("ratio_low", "ratio_high"))
    least = number(getattr(facts.item.options, "at_least", None))
    if low is None or high is None or least is None or facts.line.standing is Standing.PROVISIONAL:
        return False
    return low < least <= high


def _largest(part: str) -> Callable[[ItemFacts], bool]:
    def is_largest(facts: ItemFacts) -> bool:
        split = facts.split
        if split is None or not _too_slow(facts):
            return False
        return bool(getattr(split, part) == max(split.kernels, split.copies, split.rest))

    return is_largest


ON_GPU = ("GPU",)
Rule = tuple[Callable[[ItemFacts], bool], str]

RULES: tuple[Rule, ...] = (
    (
        lambda facts: facts.ended(Outcome.CRASHED, "illegal address"),
        "The index of every read and write in the kernel: a grid that is rounded up has threads beyond the "
        "last element, and they must do nothing. Then the shapes of the arrays: is each as large as the "
        "index takes it to be?",
    ),
    (
        lambda facts: facts.ended(Outcome.TIMED_OUT),
        "Loops, and waiting at barriers or for other threads, that some input never ends; then work that "
        "grows faster than the input does.",
    ),
    (
        lambda facts: facts.ended(Outcome.OUT_OF_MEMORY, *ON_GPU),
        "What every call takes of the GPU's memory and nobody gives back: a library's handle, such as "
        "cublasCreate's without cublasDestroy, or arrays in a global, a list, a cache. Make one handle, and "
        "keep it.",
    ),
    (
        lambda facts: facts.ended(Outcome.OUT_OF_MEMORY) and not facts.ended(Outcome.OUT_OF_MEMORY, *ON_GPU),
        "Arrays that are larger than the result needs them, and what is kept from call to call.",
    ),
    (
        lambda facts: facts.watched is not None and not facts.watched.trace.launch_count,
        "Whether the kernel is launched at all, as kernel[blocks, threads](...), on the way that these "
        "inputs take through the function.",
    ),
    (
        lambda facts: facts.watched is not None and _made_on_cpu(facts.watched),
        "Whether what is returned is what the kernel wrote: here it was computed on the CPU, beside the "
        "kernel.",
    ),
    (
        lambda facts: bool(_RACE.search(facts.difference)),
        "Places that several threads write, or that one reads while another writes: give each thread its "
        "own, add atomically, or put a barrier between.",
    ),
    (
        lambda facts: bool(_OWN_ARRAY.search(facts.difference)),
        "What is returned: an array on the GPU has to be copied back, as with copy_to_host().",
    ),
    (
        lambda facts: bool(_GOT_NAN.search(facts.difference)),
        "Divisions by zero, roots and logarithms of negative numbers, and memory that is read before "
        "anything was written there.",
    ),
    (
        _untouched,
        "Whether the result is written at all: the array that the kernel gets must be the one that is "
        "copied back and returned, and the index must reach each element.",
    ),
    (
        lambda facts: bool(_GOT.search(facts.difference)),
        "The first element that differs: work it out by hand, for the smallest input that goes wrong.",
    ),
    (
        lambda facts: _wrong_launch(facts) and " ran with " in facts.line.reason,
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
        lambda facts: (
            facts.item.check == "scaling" and facts.lost and bool(amount(facts.observation, "rounds"))
        ),
        "What only one core does meanwhile: a part that is not parallel, shares of the work that are not "
        "even, threads that wait for each other.",
    ),
    (
        _near,
        "How close this is: the threshold lies within what was measured, and another run may fall short.",
    ),
)
"""Advice is that of the first rule that applies: later ones follow from it, or are less certain."""


def look_at(line: Line, item: Item, observation: Observation) -> str:
    """Return the advice for an item; empty if no rule applies."""
    facts = ItemFacts(line=line, item=item, observation=observation)
    return next((advice for applies, advice in RULES if applies(facts)), "")
