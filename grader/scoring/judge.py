"""Judges one item by its evidence, before it is worth points."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from grader.model.observation import (
    JUDGED_BY,
    MISSING_FILE,
    NO_RESULT,
    NOT_IMPORTED,
    STUDENTS_DOING,
    Outcome,
)
from grader.model.options import judging_digest
from grader.model.rubric import MANUAL
from grader.model.score import SLACK, Standing, award_objection

if TYPE_CHECKING:
    from grader.contracts.check import CheckKind
    from grader.model.observation import Observation
    from grader.model.rubric import Item

REASONS: dict[Outcome, str] = {
    Outcome.CRASHED: "the program crashed",
    Outcome.TIMED_OUT: "the program ran out of time",
    Outcome.OUT_OF_MEMORY: "the program used more memory than it may",
    Outcome.NOT_BUILT: "the program could not be built",
    Outcome.REFUSED: "the program gave something that cannot be looked at",
    Outcome.SKIPPED: "has not run yet: it was skipped, and what it needs has passed since",
    Outcome.NOT_OBSERVED: "could not be observed: not the program's fault, and tried again",
}
"""Reasons for students where the observation has no note."""

_REPEATED = frozenset({Outcome.NOT_OBSERVED, Outcome.SKIPPED})
"""Outcomes that are always observed again, whatever the check kind awards."""

POINTS_GIVEN, POINTS_POSSIBLE = "points_given", "points_possible"
"""Quantities with which a person has judged an item: whoever gives points has looked."""

BEFORE_POINTS = "before_points"
"""The fact that holds outcome, note and fault of what a person has judged without an observation."""

UNASKED = "must run again: the rule by which it loses points is newer than what was observed"

CHANGED_INPUTS = "changed its inputs in place"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedItem:
    """One item judged, before it is worth points: an item of 0 points can fail, too."""

    reason: str
    fraction: float = 0.0
    """Of a simulated one, what it would be: it opens gates to what is simulated, too, and earns nothing."""
    standing: Standing = Standing.FINAL
    hint: str = ""
    missing: str = ""
    flags: tuple[str, ...] = ()
    gated: bool = False
    """Whether it was not judged by itself: an item that it needs lost points, or a penalty found nothing."""
    again: bool = False
    """Whether the check kind wants another observation before it decides."""
    simulated: bool = False
    """Whether only a simulator has run it, which does not decide."""
    for_person: bool = False
    """Whether a person decides it, and no further observation."""
    unasked: bool = False
    """Whether it loses points by a rule by which nobody has judged the reference: it must run again."""


def passed(
    item: Item,
    observation: Observation,
    kinds: Mapping[str, CheckKind],
    related: Mapping[str, Observation],
) -> bool:
    """Tell whether an observation earns everything, ignoring the items it needs.

    Raises:
        CourseError, ValueError: the kind awarded what is no fraction, as in `score`.
    """
    return judge(item, {**related, item.id: observation}, kinds).fraction == 1


def loss(
    item: Item,
    observation: Observation,
    kinds: Mapping[str, CheckKind],
    related: Mapping[str, Observation],
) -> str:
    """Return why an observation loses points for sure, ignoring the items it needs; empty if it does not.

    Raises:
        CourseError, ValueError: the kind awarded what is no fraction, as in `score`.
    """
    verdict = judge(item, {**related, item.id: observation}, kinds)
    is_open = verdict.standing is Standing.PROVISIONAL
    return "" if is_open or verdict.fraction == 1 else verdict.reason or verdict.missing


def lasting(
    items: Iterable[Item],
    observations: Mapping[str, Observation],
    kinds: Mapping[str, CheckKind],
    *,
    looked_at: Collection[str] = (),
) -> dict[str, bool]:
    """Return {item: passed} for items that need no new observation.

    Simulated observations are repeated, because the next run may have a device; undecided ones as well,
    because it may have a better or quieter machine. Items in `looked_at` were already tried in this run and
    are not repeated.

    Raises:
        CourseError, ValueError: the kind awarded what is no fraction, as in `score`.
    """
    settled = {}
    for item in items:
        if (observation := observations.get(item.id)) is None:
            continue
        verdict = judge(item, observations, kinds)
        unsure = observation.simulated or verdict.again
        if item.id in looked_at if unsure else observation.outcome not in _REPEATED:
            settled[item.id] = verdict.fraction == 1
    return settled


def waits_for_person(
    item: Item, observations: Mapping[str, Observation], kinds: Mapping[str, CheckKind]
) -> bool:
    """Tell whether an item is open only until a person gives points: no further observation decides it.

    Raises:
        CourseError, ValueError: the kind awarded what is no fraction, as in `score`.
    """
    observation = observations.get(item.id)
    if observation is None or observation.outcome is not Outcome.OBSERVED:
        return False
    verdict = judge(item, observations, kinds)
    is_open = verdict.standing is Standing.PROVISIONAL
    return is_open and for_person(item, verdict, observations, kinds)


def for_person(
    item: Item, verdict: JudgedItem, observations: Mapping[str, Observation], kinds: Mapping[str, CheckKind]
) -> bool:
    """Tell whether an item that opens its own gate is open or held until a person decides."""
    if verdict.standing is not Standing.PROVISIONAL or item.check == MANUAL:
        return verdict.standing is not Standing.FINAL
    observation = observations.get(item.id)
    if observation is None or observation.outcome is not Outcome.OBSERVED or observation.simulated:
        return False
    if not kinds[item.check].by_hand or any(_unseen(observations.get(name)) for name in item.uses):
        return False
    return not verdict.again


def judge(
    item: Item,
    observations: Mapping[str, Observation],
    kinds: Mapping[str, CheckKind],
    titles: Mapping[str, str] | None = None,
) -> JudgedItem:
    """Judge an item by itself; `titles` are for people who read the reason."""
    observation = observations.get(item.id)
    if observation is None:
        return JudgedItem(reason="not observed yet", standing=Standing.PROVISIONAL)
    if POINTS_GIVEN in observation.quantities and not kinds[item.check].by_hand:
        return _overridden(item, observation, observations, kinds, titles or {})
    verdict = _see(item, observation, observations, kinds, titles or {})
    if verdict.standing is Standing.PROVISIONAL:
        return verdict
    if observation.simulated and item.simulated == "informs":
        right = "right" if verdict.fraction == 1 else "partly right" if verdict.fraction else "wrong"
        reason = f"needs a GPU; {right} in the simulator: {verdict.reason}"
        return replace(verdict, standing=Standing.PROVISIONAL, reason=reason, simulated=True)
    if verdict.flags and item.on_flag == "holds" and POINTS_GIVEN not in observation.quantities:
        return replace(verdict, standing=Standing.HELD)
    return verdict


def _see(
    item: Item,
    observation: Observation,
    observations: Mapping[str, Observation],
    kinds: Mapping[str, CheckKind],
    titles: Mapping[str, str],
) -> JudgedItem:
    outcome = observation.outcome
    is_penalty = item.counts == "penalty"  # which takes what is wrong, and nothing for what is not there
    if outcome is Outcome.REFUSED and (missing := observation.facts.get(MISSING_FILE)):
        # the rubric's hint is about a program, and there is none
        return JudgedItem(reason=observation.note, missing=str(missing), gated=is_penalty)
    if outcome in STUDENTS_DOING:
        lacked = observation.facts.get(NOT_IMPORTED)
        return JudgedItem(
            reason=observation.note or REASONS[outcome],
            hint="" if lacked is not None or _lacks_results(observation) else item.hint,
            missing=str(observation.facts.get(MISSING_FILE, "")),
            flags=(f"imports {lacked}, which is not installed here",) if lacked else (),
            gated=is_penalty and lacked is not None,
        )
    if outcome is Outcome.NOT_OBSERVED:
        return JudgedItem(reason=observation.note or REASONS[outcome], standing=Standing.PROVISIONAL)
    if outcome is Outcome.SKIPPED:  # its note names what it needed then; here everything needed has passed
        return JudgedItem(reason=REASONS[outcome], standing=Standing.PROVISIONAL)
    kind = kinds[item.check]
    related = {name: observations[name] for name in item.uses if not _unseen(observations.get(name))}
    waiting = [name for name in item.uses if name not in related]
    if waiting and not kind.related_optional:
        reason = f"waits for {quoted(titles.get(name, name) for name in waiting)}"
        return JudgedItem(reason=reason, standing=Standing.PROVISIONAL)
    return _award(item, observation, related, kind)


def _overridden(
    item: Item,
    observation: Observation,
    observations: Mapping[str, Observation],
    kinds: Mapping[str, CheckKind],
    titles: Mapping[str, str],
) -> JudgedItem:
    """Return a person's points in place of the kind's award, whose flags stay."""
    points, possible = (
        float(observation.quantities[name].value or 0) for name in (POINTS_GIVEN, POINTS_POSSIBLE)
    )
    comment = " ".join(str(observation.facts.get("comment", "")).split())
    took = f"a person took {possible - points:g} of {possible:g}"
    gave = took if item.counts == "penalty" else f"a person gave {points:g} of {possible:g}"
    judged = BEFORE_POINTS not in observation.facts  # otherwise there is nothing that the kind could judge
    return JudgedItem(
        fraction=points / possible if possible else 1.0,
        reason=f"{gave}: {comment}" if comment else gave,
        flags=_see(item, observation, observations, kinds, titles).flags if judged else (),
    )


def _award(
    item: Item, observation: Observation, related: Mapping[str, Observation], kind: CheckKind
) -> JudgedItem:
    award = kind.award(item.options, observation, related)
    if wrong := award_objection(award):  # of one of our own; others are guarded, and their author is told
        raise ValueError(f"check kind {kind.name}: award {wrong}")
    if award.undecided:
        return JudgedItem(
            reason=award.reason, standing=Standing.PROVISIONAL, flags=award.flags, again=award.again
        )
    judged_by = observation.facts.get(JUDGED_BY)
    if award.fraction < 1 - SLACK and judged_by and judged_by != judging_digest(item.options):
        return JudgedItem(reason=UNASKED, standing=Standing.PROVISIONAL, again=True, unasked=True)
    if award.fraction < 1 - SLACK:
        return JudgedItem(
            fraction=max(0.0, award.fraction),
            reason=award.reason,
            hint=award.hint or ("" if _lacks_results(observation) else item.hint),
            missing=str(observation.facts.get(MISSING_FILE, "")),
            flags=award.flags,
        )
    changed = any(case.changed_inputs for case in observation.cases)
    return JudgedItem(
        fraction=1.0, reason=award.reason, flags=(*award.flags, CHANGED_INPUTS) if changed else award.flags
    )


def _lacks_results(observation: Observation) -> bool:
    """Tell whether no call gave a result, or no compiler looked at the code: a hint is on either.

    The cases of a program that did not build are its compiler's complaints, on which there may be a hint.
    """
    ends = {case.outcome for case in observation.cases} - {Outcome.NOT_BUILT}
    return NO_RESULT in observation.facts or (bool(ends) and Outcome.OBSERVED not in ends)


def _unseen(observation: Observation | None) -> bool:
    return observation is None or observation.outcome is Outcome.NOT_OBSERVED


def quoted(titles: Iterable[str]) -> str:
    """List titles of items in quotation marks."""
    return ", ".join(f'"{title}"' for title in titles)
