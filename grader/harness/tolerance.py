"""How far a value may be from the expected one, by the precision it was computed in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Literal

from grader.model.options import option

Precision = Literal["any", "float32", "float64"]
"""The coarsest type of floats that a result may have."""
ACCEPTED: dict[Precision, str] = {"float32": "float32 or float64", "float64": "float64"}
"""The types that are fine enough, as a sentence names them; `any` refuses none."""

STEPS = {"float16": 2.0**-10, "float32": 2.0**-23, "float64": 2.0**-52}
"""The distance from 1 to the next number of each type; neighbours differ by half of it to all of it, as a
share of their value."""

PRECISION = "The coarsest type of floats that a result may have where floats are expected."


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """`|got - expected| <= atol + rtol * |expected|`."""

    rtol: float = option("Allowed difference as a share of the expected value.")
    atol: float = option("Allowed difference in the value's own unit; what counts near zero.")

    def __post_init__(self) -> None:
        if self.rtol < 0 or self.atol < 0:
            raise ValueError("rtol and atol must be 0 or more")
        if self.rtol >= 1:
            raise ValueError(
                f"rtol {self.rtol:g} takes 0 for any value; write a share, as 0.01 for one percent"
            )

    def in_words(self) -> str:
        """Return how far a value may be off, in words of a sentence."""
        parts = [f"{self.rtol:g} of the expected value"] * bool(self.rtol) + [f"{self.atol:g}"] * bool(
            self.atol
        )
        return " plus ".join(parts) or "none"

    def objection(self, dtype: str) -> str:
        """Return why values near 1, or larger, agree bit by bit alone; empty if they need not.

        An atol of a step or more is taken to be meant for the size of the values, and 0 for both for bits.
        """
        step, default = STEPS[dtype], getattr(Tolerances(), dtype)
        if self.rtol >= step or self.atol >= step or self.rtol == self.atol == 0:
            return ""
        written = f"rtol {self.rtol:g} and atol {self.atol:g}"
        sizes = f"{written} are less than a step of {dtype} ({step:.2g} of a value)"
        advice = f"write rtol: {default.rtol:g}, atol: {default.atol:g}, or 0 for both if nothing is rounded"
        return f"{sizes}, so that a right result is lost if its last bit is rounded otherwise; {advice}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerances:
    """One tolerance per floating dtype; integers and booleans are exact.

    The coarser dtype of the two sides decides, so an answer computed in float32 is not asked for digits
    that float32 does not have. Complex numbers count by the dtype of their parts.
    """

    float16: Tolerance = option("For half precision.", default=Tolerance(rtol=1e-3, atol=1e-3))
    float32: Tolerance = option("For single precision.", default=Tolerance(rtol=1e-5, atol=1e-6))
    float64: Tolerance = option("For double precision.", default=Tolerance(rtol=1e-9, atol=1e-12))

    def in_words(self, dtype: str) -> str:
        """Return how far values may be off that are compared as this dtype; all but floats are exact."""
        tolerance = getattr(self, dtype, None)
        return tolerance.in_words() if isinstance(tolerance, Tolerance) else "none"

    def objections(self) -> Iterator[tuple[str, str]]:
        """Yield each dtype whose tolerance is less than a step of it, and what to write."""
        for field in fields(self):
            if message := getattr(self, field.name).objection(field.name):
                yield field.name, message
