"""CUDA's errors as outcomes, with a sentence for students."""

from __future__ import annotations

import re
from typing import NamedTuple

from grader.model.observation import Outcome, Symptom

_NAMED = re.compile(r"\b(?:CUDA_ERROR|cudaError)_?([A-Za-z_]+)")


class ErrorMeaning(NamedTuple):
    """The meaning of an error that a device reports."""

    outcome: Outcome
    sentence: str
    symptom: Symptom | None = None


_MEANINGS: tuple[tuple[str, ErrorMeaning], ...] = (
    (
        "illegaladdress|an illegal memory access",
        ErrorMeaning(
            Outcome.CRASHED,
            "a kernel read or wrote outside of its arrays (illegal address)",
            Symptom.OUT_OF_BOUNDS,
        ),
    ),
    (
        "misalignedaddress|misaligned address",
        ErrorMeaning(Outcome.CRASHED, "a kernel used a misaligned address"),
    ),
    (
        "outofmemory|memoryallocation|out of memory",
        ErrorMeaning(Outcome.OUT_OF_MEMORY, "the GPU has no memory left for it", Symptom.GPU_MEMORY),
    ),
    (
        "launchoutofresources|too many resources",
        ErrorMeaning(Outcome.CRASHED, "a block needs more registers or shared memory than there are"),
    ),
    (
        "invalidconfiguration|invalidvalue|invalid configuration",
        ErrorMeaning(
            Outcome.CRASHED,
            "a launch or a copy asked for something that no GPU does, such as more than 1024 threads a block",
        ),
    ),
    ("launchtimeout|timed out", ErrorMeaning(Outcome.TIMED_OUT, "a kernel ran for too long")),
    ("assert|device-side assert", ErrorMeaning(Outcome.CRASHED, "an assertion in a kernel failed")),
    ("launchfail|unspecified launch failure", ErrorMeaning(Outcome.CRASHED, "a kernel failed while it ran")),
    (
        "invaliddevice|nodevice|invalid device ordinal",
        ErrorMeaning(Outcome.CRASHED, "it asked for a GPU that it does not have"),
    ),
)
"""Parts of the names that the driver and the runtime give their errors, or of torch's sentences."""


def explain(text: str) -> ErrorMeaning | None:
    """Return the meaning of an exception's text; None if no device reported it.

    The names are those of cuda.h and driver_types.h.
    """
    named = _NAMED.search(text)
    if named is None and "CUDA" not in text:
        return None
    message = named.group(1).replace("_", "").lower() if named else text
    for pattern, meaning in _MEANINGS:
        if re.search(pattern, message):
            return meaning
    return ErrorMeaning(Outcome.CRASHED, f"the GPU says {named.group(0)}") if named else None
