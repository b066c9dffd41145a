"""CUDA's errors as outcomes, with a sentence for students."""

from __future__ import annotations

import re

from grader.model.observation import Outcome

_NAMED = re.compile(r"\b(?:CUDA_ERROR|cudaError)_?([A-Za-z_]+)")

_MEANINGS: tuple[tuple[str, Outcome, str], ...] = (
    (
        "illegaladdress|an illegal memory access",
        Outcome.CRASHED,
        "a kernel read or wrote outside of its arrays (illegal address)",
    ),
    ("misalignedaddress|misaligned address", Outcome.CRASHED, "a kernel used a misaligned address"),
    (
        "outofmemory|memoryallocation|out of memory",
        Outcome.OUT_OF_MEMORY,
        "the GPU has no memory left for it",
    ),
    (
        "launchoutofresources|too many resources",
        Outcome.CRASHED,
        "a block needs more registers or shared memory than there are",
    ),
    (
        "invalidconfiguration|invalidvalue|invalid configuration",
        Outcome.CRASHED,
        "a launch or a copy asked for something that no GPU does, such as more than 1024 threads a block",
    ),
    ("launchtimeout|timed out", Outcome.TIMED_OUT, "a kernel ran for too long"),
    ("assert|device-side assert", Outcome.CRASHED, "an assertion in a kernel failed"),
    ("launchfail|unspecified launch failure", Outcome.CRASHED, "a kernel failed while it ran"),
    (
        "invaliddevice|nodevice|invalid device ordinal",
        Outcome.CRASHED,
        "it asked for a GPU that it does not have",
    ),
)
"""Parts of the names that the driver and the runtime give their errors, or of torch's sentences."""


def explain(text: str) -> tuple[Outcome, str] | None:
    """How a program ended that raised an error with this text, and a sentence; None if no device said it.

    The names are those of cuda.h and driver_types.h.
    """
    named = _NAMED.search(text)
    if named is None and "CUDA" not in text:
        return None
    message = named.group(1).replace("_", "").lower() if named else text
    for pattern, outcome, sentence in _MEANINGS:
        if re.search(pattern, message):
            return outcome, sentence
    return (Outcome.CRASHED, f"the GPU says {named.group(0)}") if named else None
