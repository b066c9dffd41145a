"""Which sum a program computed, told by what its matrices do to one vector."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

RIGHT, UNSEEN = "right", "unseen"
MISTAKES: Mapping[str, str] = {
    "element_wise": "every element was taken to the power of 10: that is not the power of the matrix",
    "one_more": "it is the sum of the 11th powers: the 10th takes nine products",
    "one_less": "it is the sum of the 9th powers: the 10th takes nine products",
    "power_of_the_sum": "A and B were added first: (A + B)ⁿ is another matrix than Aⁿ + Bⁿ",
    "first_alone": "it is the power of A alone: B was not added",
    "second_alone": "it is the power of B alone: A was not added",
    "first_twice": "the power of A was added to itself: B was not used",
}
"""By the oracle that gives the same, or by what is found among a program's matrices."""

HINTS: Mapping[str, str] = {
    "element_wise": "For a square matrix A, A ** n and torch.pow take the power of each number; see A @ A.",
    "one_more": "Count the products of your loop for n = 2: it takes one.",
    "one_less": "Count the products of your loop for n = 2: it takes one.",
    "power_of_the_sum": "Try it with two numbers: is (2 + 3)² the same as 2² + 3²?",
    "first_alone": "Which line adds B's power?",
    "second_alone": "Which line adds A's power?",
    "first_twice": "Which matrix does the second GPU get?",
    "unsynchronised": "A product returns before it is computed. Call torch.cuda.synchronize for every device "
    "before you read the clock.",
    "early": "Make the matrices, move them, and let every GPU compute something small first; then start the "
    "clock.",
    "late": "Stop the clock before you copy, compare or print the result.",
    "one_device": "A product runs where its operands lie: print A.device and B.device.",
    "two_devices": "For the time on one GPU both matrices lie on the same one.",
    "in_turn": "Whoever waits for the first GPU before asking the second one for its work keeps it idle.",
    "nothing": "The clock must be read before the first product and after the last one.",
}
"""What to try next, by what is wrong with a sum or with a time."""

NEAR = 1e-3
"""The relative distance of two vectors that single precision explains; A in B's place makes it larger."""
ITSELF, NINTH, TENTH, ELEVENTH, ELEMENTS = range(5)
"""The rows that `program.powers` gives of each matrix."""

Rows = Sequence[Any]


def summed(kept: Sequence[Rows]) -> str:
    """What the matrices of a program show of the sum: `right`, a mistake, or `unseen`.

    `kept` has the five rows of each matrix that the program left behind, in any order; A, B and the sum may
    be among them more than once, and the powers as well.
    """
    found = [
        [rows[row] for row in (ITSELF, NINTH, TENTH, ELEVENTH, ELEMENTS)] for rows in kept if len(rows) == 5
    ]
    pairs = [(a, b) for a, b in combinations(found, 2) if not _near(a[ITSELF], b[ITSELF])]
    sums: Mapping[str, Callable[[Rows, Rows], Any]] = {
        RIGHT: lambda a, b: a[TENTH] + b[TENTH],
        "element_wise": lambda a, b: a[ELEMENTS] + b[ELEMENTS],
        "one_more": lambda a, b: a[ELEVENTH] + b[ELEVENTH],
        "one_less": lambda a, b: a[NINTH] + b[NINTH],
        "first_twice": lambda a, b: 2 * a[TENTH],
    }
    for name, of in sums.items():
        both = (*pairs, *((b, a) for a, b in pairs))
        if any(_near(total[ITSELF], of(a, b)) for a, b in both for total in found):
            return name
    return _powers(found)


def _powers(found: Sequence[Rows]) -> str:
    """The powers themselves, where a program left them behind and not their sum."""
    if any(_near(total[ITSELF], a[TENTH]) for a in found for total in found):
        return UNSEEN
    for name, row in (("element_wise", ELEMENTS), ("one_more", ELEVENTH), ("one_less", NINTH)):
        if any(_near(total[ITSELF], a[row]) for a in found for total in found):
            return name
    return UNSEEN


def _near(one: Any, other: Any) -> bool:
    from numpy import errstate, isfinite
    from numpy.linalg import norm

    with errstate(all="ignore"):
        size = norm(other)
        return bool(isfinite(size) and size > 0 and norm(one - other) <= NEAR * size)
