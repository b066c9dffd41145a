"""Criteria of an answer in words, as a rubric writes them: parts with points, and matchers as data."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.matching.units import unit_problem
from grader.model.options import option, refuse

LEAST_DIMENSIONS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberMatch:
    """A number with its unit."""

    value: float = option("The number.")
    unit: str = option(
        "Its unit: s, B, FLOPS, Hz, bit (with any prefix), min, h, % are converted; another word is taken as "
        "it is, a|b for either.",
        default="",
    )
    tolerance: float = option("How far it may be off, as a share of it.", default=0.0)
    respectively: tuple[float, ...] = option(
        "The numbers of all parts in the order of the question; an answer of just these is likely meant so.",
        default=(),
    )
    lists: bool = option(
        "Whether a list of so many names in brackets, as in images (samples, channels, height, width), is "
        "likely meant so.",
        default=False,
    )

    def __post_init__(self) -> None:
        """Refuse a tolerance below 0 and a unit that is only punctuation."""
        problems = [f"tolerance: must be 0 or more, got {self.tolerance:g}"] if self.tolerance < 0 else []
        if problem := unit_problem(self.unit):
            problems.append(problem)
        if self.respectively and self.value not in self.respectively:
            problems.append(f"respectively: lacks the value, {self.value:g}")
        refuse(problems)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceMatch:
    """One of several options."""

    right: tuple[str, ...] = option("Options of which one must be named; a|b is either spelling.")
    wrong: tuple[str, ...] = option("Options of which none may be named.", default=())

    def __post_init__(self) -> None:
        """Refuse a choice that nothing is right of."""
        if not any(map(str.strip, self.right)):
            raise ValueError("right: names no option; give at least one")


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """Exactly one of `terms`, `number`, `shape` and `choice`."""

    terms: tuple[str, ...] = option(
        "Terms that must occur, a|b for synonyms in any language; plurals, endings and joined spellings are "
        "accepted, and a term with one of ().,[]=:+*^# is taken as code.",
        default=(),
    )
    at_least: int | None = option(
        "How many of the `terms` are enough; left out, all. Fewer give a share.", above=0, default=None
    )
    number: NumberMatch | None = option("A number that must be given.", default=None)
    shape: tuple[tuple[int, ...], ...] = option(
        "Shapes of a tensor, each accepted, as in [[64, 3, 128, 128]]; (64, 3, 128, 128), "
        "64x3x128x128, torch.Size([64, 3, 128, 128]) and the like are read.",
        default=(),
    )
    choice: ChoiceMatch | None = option("An option that must be named.", default=None)
    near: tuple[str, ...] = option(
        "Words of which one must stand in the same sentence, row or list; a|b is either.", default=()
    )

    def __post_init__(self) -> None:
        """Refuse what names no matcher, or several, and what can never match."""
        refuse(self._problems())

    def _problems(self) -> Iterator[str]:
        matchers = [
            name for name in ("terms", "number", "shape", "choice") if getattr(self, name) not in ((), None)
        ]
        if len(matchers) != 1:
            names = " and ".join(matchers) or "nothing"
            yield f"needs one of terms, number, shape or choice, got {names}"
        elif self.at_least is not None and self.at_least > len(self.terms):
            yield f"at_least: there are {len(self.terms)} terms, got {self.at_least}"
        if any(len(shape) < LEAST_DIMENSIONS or min(shape) < 0 for shape in self.shape):
            yield "shape: needs lists of two or more sizes, such as [[64, 3, 128, 128]]"
        for name in ("terms", "near"):
            if not all(any(map(_readable, words.split("|"))) for words in getattr(self, name)):
                yield f"{name}: one of them has no letter and no digit"

    @property
    def enough(self) -> int:
        """How many terms give all points."""
        return len(self.terms) if self.at_least is None else self.at_least


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """One part of an answer, with its points."""

    name: str = option("What it is about, in a few words; unique in the item.")
    points: float = option("What it is worth; all criteria together are worth what the item is.", above=0)
    match: Match | None = option(
        "What a program looks for to suggest points; left out, a person finds them alone.", default=None
    )
    feedback: str = option("What a student reads who did not get all of its points.", default="")

    def __post_init__(self) -> None:
        """Put texts on one line each, and refuse an empty name."""
        for name in ("name", "feedback"):
            object.__setattr__(self, name, " ".join(getattr(self, name).split()))
        if not self.name:
            raise ValueError("name: is empty; say in a few words what the criterion is about")


def name_problems(criteria: Sequence[Criterion]) -> Iterator[str]:
    """Yield the names that several criteria of an item share."""
    names = [criterion.name for criterion in criteria]
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            yield f"criteria: two are called {name!r}; give each its own name"


def require_worth(criteria: Sequence[Criterion], points: float) -> None:
    """Check that criteria are worth what their item is.

    Raises:
        ValueError: they are not.
    """
    total = math.fsum(criterion.points for criterion in criteria)
    if criteria and not math.isclose(total, points, abs_tol=1e-9):
        raise ValueError(f"criteria: their points must add up to the item's, {points:.12g}, got {total:.12g}")


def _readable(words: str) -> bool:
    return any(map(str.isalnum, words))
