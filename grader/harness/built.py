"""The outcome of building a submission, from the answer of the tool that builds."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from grader.contracts.build import Built, Diagnostic
from grader.contracts.call import Call
from grader.harness.diagnoses import diagnose
from grader.harness.server_spec import ServerSpec
from grader.model.assignment import Build
from grader.model.exit_status import ending
from grader.model.observation import Outcome

BUILT = "/built"
"""Where products are shown."""
ENDED_WELL = "ended well"
"""What a note says of a build whose products are not there."""


def with_products(built: Built, spec: ServerSpec) -> ServerSpec:
    """Return the server whose programs find the products."""
    return replace(
        spec,
        mounts=(*spec.mounts, *built.mounts, (BUILT, built.folder)),
        environment=(*spec.environment, (built.variable, BUILT)),
    )


def take_answer(call: Call) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the tool's answer on a build, as JSON, and the products.

    Raises:
        RuntimeError: the tool failed: a bug of ours.
    """
    if call.outcome is not Outcome.OBSERVED:
        if call.outcome is Outcome.OUT_OF_MEMORY:  # also where our own tool met the limit, with a traceback
            return {}, {}
        if call.traceback or call.outcome is Outcome.REFUSED:
            raise RuntimeError(f"tool build: {call.note}\n{call.traceback}")
        return {}, {}
    answer = dict(call.value)
    products = {path: content.tobytes() for path, content in answer.pop("products").items()}
    return {**answer, "sizes": {path: len(content) for path, content in products.items()}}, products


def read_built(
    answer: Mapping[str, Any],
    build: Build,
    call: Call | None = None,
    *,
    files: Collection[str] = (),
    dropped: Collection[str] = (),
    course_files: Collection[str] = (),
) -> Built:
    """Return the outcome of a build; `call` is the tool's own end, if that was not a good one.

    `files` are what is accepted of the submission, `dropped` what is not, and `course_files` the course's,
    for what is said of missing ones.
    """
    if not answer:
        outcome = call.outcome if call else Outcome.NOT_BUILT
        if outcome is Outcome.CRASHED:
            outcome = Outcome.NOT_BUILT
        return Built(outcome=outcome, note=_ended(call, build) if call else "")
    diagnostics = tuple(Diagnostic(**entry) for entry in answer["diagnostics"])
    built = Built(
        outcome=Outcome.OBSERVED,
        diagnostics=diagnostics,
        counts=answer["counts"],
        kernels=tuple(answer["kernels"]),
        python_2=tuple(answer["python_2"]),
        silenced=tuple(answer["silenced"]),
        replaced=tuple(answer["replaced"]),
        course_files=tuple(course_files),
        output=answer["output"],
        wall_s=answer.get("wall_s", call.wall_s if call else 0.0),
        sizes=answer["sizes"],
        variable=build.variable,
    )
    program = build.command[0]
    if answer["status"] is None:
        note = f"{program} did not end within {build.wall_s:g} s of its own time"
        return replace(built, outcome=Outcome.TIMED_OUT, note=note)
    if answer["status"]:
        note = _first(built, build, answer["status"], files, dropped)
        return replace(built, outcome=Outcome.NOT_BUILT, note=note)
    if answer["lacking"]:
        lacking = "; ".join(f"{path} {what}" for path, what in answer["lacking"].items())
        return replace(built, outcome=Outcome.NOT_BUILT, note=f"{program} {ENDED_WELL}, but {lacking}")
    return built


_TOOLS_WORDS = "build: the program"


def _ended(call: Call, build: Build) -> str:
    """Return how the tool ended, in the words of a build."""
    if call.traceback:  # it could not allocate
        return f"building it took all of its memory; {build.memory_mb} MiB are allowed"
    return call.note.replace(_TOOLS_WORDS, "building it")


_OF_MAKE = re.compile(r"g?make(?:\[\d+\])?: ")


def _first(
    built: Built,
    build: Build,
    status: int,
    files: Collection[str],
    dropped: Collection[str],
) -> str:
    """The first error, what is known of it, and how many more there are."""
    if not built.errors:
        lines = built.output.strip().splitlines()
        # what make itself says last is only that something failed
        last = [*lines[-1:], *(line for line in lines if not _OF_MAKE.match(line))][-1:]
        return f"{build.command[0]} {ending(status)}" + "".join(f": {line[:200]}" for line in last)
    first = built.errors[0]
    diagnosis = diagnose(first, files, dropped, build.programs, built.course_files)
    more = built.counts["error"] - 1
    return (
        f"{first}"
        + (f" ({diagnosis.hint})" if diagnosis else "")
        + (f"; and {more} more {'error' if more == 1 else 'errors'}" if more > 0 else "")
    )
