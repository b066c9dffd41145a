"""Observations: measured values and outcomes, without points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Outcome(StrEnum):
    """The end of an observation. There is no default, and none of them means success."""

    OBSERVED = "observed"
    """The check could observe; the rubric judges whether the result is right."""
    CRASHED = "crashed"
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"
    NOT_BUILT = "not_built"
    REFUSED = "refused"
    """The program returned nothing that can be checked: no such function, an oversized result."""
    SKIPPED = "skipped"
    """An item it needs failed."""
    NOT_OBSERVED = "not_observed"
    """The grader's or the machine's doing: pending, tried again, never zero."""


class Fault(StrEnum):
    """The cause of a `not_observed`, which selects the person to inform."""

    COURSE = "course"
    """`inputs.py`, `expected.py` or a check of the course is wrong."""
    MACHINE = "machine"
    """The sandbox, the disk, a device: trying again may help."""
    BUSY = "busy"
    """Other programs had the machine while something was timed: nobody has to act, the next run decides."""
    GRADER = "grader"
    """A bug of ours."""


class Symptom(StrEnum):
    """The form of a mistake, where it tells where to look."""

    OUT_OF_BOUNDS = "out_of_bounds"
    """A kernel read or wrote outside of its arrays."""
    GPU_MEMORY = "gpu_memory"
    """The device had no memory left for the program."""
    ON_DEVICE = "on_device"
    """An array of a device was returned, which was not copied to the host."""
    RACE = "race"
    """The result is right in another order of the threads, or on fewer cores."""
    NAN = "nan"
    """The first wrong value is a NaN."""
    UNWRITTEN = "unwritten"
    """Nearly all values are wrong, the first of them a zero."""
    WRONG_VALUE = "wrong_value"


NOT_CALLED = "not called: an earlier call did not end in time"
"""The note of a case that its item had no time for."""
NOT_IMPORTED = "not_imported"
"""A fact of an observation of a file that cannot be imported, or read, or that lacks the name which is asked
for: the module that it lacks, or an empty text. Nothing of it was called, so a hint on results is none."""
NO_RESULT = "no_result"
"""A fact of an observation that ended with a call, which gave no result, or of a build that lacks files, so
that no compiler has looked at the code: a hint on either is none."""
JUDGED_BY = "judged_by"
"""The fact that holds `judging_digest` of the options by which a loss was held against the reference."""
NEEDS_GPU = "needs_gpu"
"""A fact of an observation that waits for a GPU, though its item needs none: an import asked for one."""
MISSING_FILE = "missing_file"
"""The fact that a needed file was not handed in: a sentence, equal for all items that need it."""
SEVERAL_MISSING = "; "
"""Joins the sentences of an item that lacks several files, as the fact of their name holds them."""
LEFT_OUT = "was handed in and left out"
"""What a note says, behind its path, of a file that a program lacks and that `accepts` does not name."""

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
    """An SI unit or a plain word (`s`, `bytes`, `calls`); empty, or the SI's `1`, for a pure number."""
    taken_by: str = "worker"
    """`worker`, or `subject` where the student's own process says so: a claim."""

    @property
    def unit_text(self) -> str:
        """The unit as it is written behind the value; empty for a pure number."""
        return "" if self.unit == "1" else self.unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One call: what went in, what came back, what was expected."""

    name: str
    """The name in `inputs.py`, which students read."""
    outcome: Outcome
    """The outcome of this call."""
    agrees: Mapping[str, bool] = field(default_factory=dict)
    """Whether the result agrees with each oracle or property, by its name."""
    called: str = ""
    """The call as Python source would write it, large arrays shortened."""
    returned: str = ""
    """The result, in the same form."""
    expected: str = ""
    """The oracle's value, in the same form."""
    longer: Mapping[str, str] = field(default_factory=dict)
    """Of a wrong case, the texts above that are shortened, with arrays of up to 64 elements whole."""
    note: str = ""
    """One sentence on where the two differ, or how the program ended."""
    symptom: Symptom | None = None
    """The form of the difference, or of the crash."""
    inputs: Any = None
    """The arguments, as JSON: small arrays whole, large ones by shape, dtype and digest."""
    quantities: Mapping[str, Quantity] = field(default_factory=dict)
    """Quantities of this call, by name."""
    changed_inputs: tuple[str, ...] = ()
    """Arguments that the call changed in place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """The observation of one item's check."""

    item: str
    """The item's id."""
    outcome: Outcome
    """The outcome of the item as a whole."""
    note: str = ""
    """One sentence for a person: why it did not get to `observed`."""
    symptom: Symptom | None = None
    """The form of the crash."""
    fault: Fault | None = None
    """Only with `not_observed`; None if nothing is wrong and the item only waits."""
    cases: tuple[Case, ...] = ()
    """The single calls, in order."""
    quantities: Mapping[str, Quantity] = field(default_factory=dict)
    """Quantities of the item as a whole, by name."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Further values for the `award` of the kind; JSON."""
    output: str = ""
    """The printed output of the program, shortened; the reference's where that failed as well."""
    seed: str = ""
    """The secret the inputs were drawn from, in hexadecimal."""
    digest: str = ""
    """`sha256:…` over everything that decides what is measured."""
    simulated: bool = False
    """Whether it was observed in a simulator and not on the device itself."""
    wall_s: float = 0.0
    """Seconds that observing took, children included."""
    program_s: float = 0.0
    """Seconds of these in which the submission's own program imported, compiled or ran."""
