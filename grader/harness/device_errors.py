"""CUDA's errors as outcomes, with a sentence for students."""

from __future__ import annotations

import re
from typing import NamedTuple

from grader.contracts.call import Call
from grader.errors import NeedsGpuError
from grader.model.observation import Outcome, Symptom

_CAUSE = re.compile(r"(?:importing )?[^\s:]+: (\w+)")
_OF_THE_TEXT = frozenset({"NameError", "AttributeError", "TypeError", "ModuleNotFoundError"})
"""Exceptions that a GPU does not change, whatever they name."""
_NO_GPU = re.compile(
    r"\b(?:CudaSupportError|NvvmSupportError|NVMLError\w*|nvidia-smi)\b"
    r"|\blib(?:cuda|nvidia|nvvm)|(?:CUDA|NVIDIA) driver|not compiled with CUDA"
    r"|cuInit|cudaGetDeviceCount|no CUDA|cuda\w*\.is_available\(\)|no_?device|insufficient_?driver"
    r"|backend:? '(?:cuda|gpu)'"
    r"|\b(?:no|need|needs|requires?|without)\b(?: an?| any)? (?:CUDA|NVIDIA|GPU)"
    r"|\b(?:CUDA|GPUs?)(?: devices?)?(?: is| are)? (?:not|un)[ -]?(?:available|found|detected|present)",
    re.IGNORECASE,
)
"""What numba, torch, CuPy, JAX, the loader and students say where there is no GPU, or none of theirs."""

_PLACE = re.compile(r" \(([^\s():]+:\d+)\)$")
CAUSE_CHARACTERS = 70
"""So much of an error's text is shown behind what it means."""

_NAMED = re.compile(r"\b(?:CUDA_ERROR|cudaError)_?([A-Za-z_]+)")


def asks_for_gpu(note: str) -> bool:
    """Tell whether an import or a program failed for want of a GPU, by the note on it.

    That is the program's word: it may put off what is decided where there is no GPU, and nothing else.
    """
    cause = _CAUSE.match(note)
    return bool(cause and cause[1] not in _OF_THE_TEXT and _NO_GPU.search(note))


def must_need_no_gpu(call: Call) -> None:
    """Check that an import, or a program, did not fail for want of a GPU.

    Raises:
        NeedsGpuError: it did.
    """
    if call.outcome is not Outcome.OBSERVED and asks_for_gpu(call.note):
        file, _, cause = call.note.removeprefix("importing ").partition(": ")
        if place := _PLACE.search(cause):
            file, cause = place[1], cause[: place.start()]
        if len(cause) > CAUSE_CHARACTERS:
            cause = f"{cause[:CAUSE_CHARACTERS].rpartition(' ')[0]} …"
        raise NeedsGpuError(f"{file} asks for a GPU, and there is none here, so this waits for one ({cause})")


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
        "invaliddevice|nodevice|operatingsystem|invalid device ordinal",
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
