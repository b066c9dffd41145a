"""What was measured; no points and no opinions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Outcome(StrEnum):
    """How looking ended. There is no default, and none of them means success."""

    OBSERVED = "observed"
    """The check could look; whether what it saw is right, the rubric says."""
    CRASHED = "crashed"
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"
    NOT_BUILT = "not_built"
    REFUSED = "refused"
    """The program gave something that cannot be looked at: no such function, an oversized result."""
    SKIPPED = "skipped"
    """An item it needs failed."""
    NOT_OBSERVED = "not_observed"
    """The grader's or the machine's doing: pending, tried again, never zero."""


class Fault(StrEnum):
    """Whose doing a `not_observed` is, so that the right person hears of it."""

    COURSE = "course"
    """`inputs.py`, `expected.py` or a check of the course is wrong."""
    MACHINE = "machine"
    """The sandbox, the disk, a device: trying again may help."""
    GRADER = "grader"
    """A bug of ours."""


MISSING_FILE = "missing_file"
"""The fact that a file which the item needs was not handed in: a sentence, the same for all such items."""

STUDENTS_DOING = frozenset(
    {
        Outcome.CRASHED,
        Outcome.TIMED_OUT,
        Outcome.OUT_OF_MEMORY,
        Outcome.NOT_BUILT,
        Outcome.REFUSED,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """One measured value, with its unit and who took it."""

    value: float | int | str | bool | None
    """None if there was nothing to measure."""
    unit: str = ""
    """An SI unit or a plain word (`s`, `bytes`, `calls`); empty for a pure number."""
    taken_by: str = "examiner"
    """`examiner`, or `subject` where the student's own process says so: a claim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One call: what went in, what came back, what was expected."""

    name: str
    """What `inputs.py` calls it; students read it."""
    outcome: Outcome
    """How this call ended."""
    agrees: Mapping[str, bool] = field(default_factory=dict)
    """Which oracle or property the result agrees with, by its name."""
    called: str = ""
    """The call as Python source would write it, large arrays shortened."""
    returned: str = ""
    """What came back, in the same way."""
    expected: str = ""
    """What the oracle says, in the same way."""
    note: str = ""
    """One sentence on where the two differ, or how the program ended."""
    inputs: Any = None
    """What went in, as JSON: small arrays whole, large ones by shape, dtype and digest."""
    quantities: Mapping[str, Quantity] = field(default_factory=dict)
    """What was measured of this call, by name."""
    changed_inputs: tuple[str, ...] = ()
    """Arguments that the call changed in place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What one item's check saw."""

    item: str
    """The item's id."""
    outcome: Outcome
    """How looking at the item as a whole ended."""
    note: str = ""
    """One sentence for a person: why it did not get to `observed`."""
    fault: Fault | None = None
    """Only with `not_observed`; None if nothing is wrong and the item only waits."""
    cases: tuple[Case, ...] = ()
    """What was looked at one by one, in that order."""
    quantities: Mapping[str, Quantity] = field(default_factory=dict)
    """What was measured of the item as a whole, by name."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What else the kind wants its own `award` to see; JSON."""
    output: str = ""
    """What the program printed, shortened."""
    seed: str = ""
    """The secret the inputs were drawn from, in hexadecimal."""
    digest: str = ""
    """`sha256:…` over everything that decides what is measured."""
    simulated: bool = False
    """Whether it was seen in a simulator and not on the device itself."""
    wall_s: float = 0.0
    """Seconds that looking took, children included."""
    program_s: float = 0.0
    """Those among them in which the hand-in's own program imported, compiled or ran."""
