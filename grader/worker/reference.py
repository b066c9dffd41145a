"""Holds a lost item against the reference: what loses points there as well is the course's mistake."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.checks.disputed import UNJUDGED
from grader.contracts.context import REFERENCE
from grader.errors import CourseError, UnjudgedError
from grader.filenames import matcher
from grader.files import files_below
from grader.model.observation import MISSING_FILE, Observation, Outcome
from grader.scoring.judge import loss
from grader.text import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.contracts.check import CheckKind
    from grader.harness.item_context import ItemContext
    from grader.model.job import Job
    from grader.model.rubric import Item

_QUOTED = 200
"""Characters of a printed line that an error quotes."""


def observe(kind: CheckKind, options: Any, context: ItemContext, job: Job) -> Observation:
    """Have a kind observe a submission; one on whose choice an oracle fails that judges the reference loses.

    Raises:
        CourseError: of the kind; an oracle that fails on what the reference chooses, too, is the course's.
    """
    try:
        return kind.observe(options, context)
    except UnjudgedError as error:
        files = _files(job)
        if not files:
            raise
        try:
            control = kind.observe(options, context.of_reference(files))
        except CourseError:
            raise error from None
        ends = {control.outcome, *(case.outcome for case in control.cases)}
        if ends != {Outcome.OBSERVED}:  # the oracle was not asked
            raise
        return Observation(item=context.item, outcome=Outcome.REFUSED, note=UNJUDGED, seed=context.seed)


def controlled(
    item: Item,
    kind: CheckKind,
    observation: Observation,
    context: ItemContext,
    job: Job,
    related: Mapping[str, Observation],
) -> Observation:
    """Return the observation of a submission, unless the reference loses points in its place as well.

    An item whose file was not handed in is lost whatever the reference earns. A reference that cannot be
    observed here leaves the item open, and one without the file that the item is about, or that only a
    person can judge, tells nothing.

    Raises:
        CourseError: the reference loses points as well.
    """
    kinds = {item.check: kind}
    lost = ""
    with suppress(Exception):  # what the award of a plugin raises is told where the item is scored
        lost = loss(item, observation, kinds, related)
    files = _files(job)
    absent = observation.outcome is Outcome.REFUSED and MISSING_FILE in observation.facts
    if not lost or not files or absent:
        return observation
    control = kind.observe(item.options, context.of_reference(files))
    if control.outcome is Outcome.NOT_OBSERVED:
        return control
    # what other items measured is the submission's
    why = "" if MISSING_FILE in control.facts else loss(item, control, kinds, {})
    if why:
        printed = "" if kind.builds else _printed(control)  # of a build the reason has the line
        raise CourseError(
            f"rubric: {item.id}: the reference loses points as well: {why.rstrip('.')}{printed}; "
            "correct the item, what the course gives for it, or the reference",
            output=control.output,
        )
    return observation


def _printed(control: Observation) -> str:
    """Quote the last line that the reference printed, where programs and tools say why they end."""
    last = next((line for line in reversed(control.output.splitlines()) if line.strip()), "")
    return f"; it printed last: {one_line(last.strip(), _QUOTED)}" if last else ""


def _files(job: Job) -> tuple[str, ...]:
    """Return the files of the reference that a submission could hold as well."""
    folder = Path(job.assignment_folder, REFERENCE)
    return tuple(filter(matcher(job.accepts), files_below(folder)))
