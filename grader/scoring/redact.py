"""Reduces a score to what staff and students may know; the only module that handles visibility."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING

from grader.model.observation import Fault, Outcome
from grader.model.options import without_secrets
from grader.model.score import Standing
from grader.model.view import AudienceView
from grader.scoring.drawings import drawings_of
from grader.scoring.host_paths import HostPaths
from grader.scoring.judge import BEFORE_POINTS
from grader.scoring.late import later
from grader.scoring.totals import points_of, standing_of, totals_of

if TYPE_CHECKING:
    from grader.contracts.check import CheckKind
    from grader.model.evidence import Evidence
    from grader.model.observation import Observation
    from grader.model.rubric import Item, Rubric
    from grader.model.score import Line, Scorecard

WAITS = "waits for an item that is not shown here"
BESIDE = "judged together with an item that is not shown here"
SHARED = "what the program did here is not shown: it ran together with items that are not"

NOT_OBSERVED = {
    Fault.COURSE: "not observed yet, because of a mistake in the course's own files: nothing is lost by it",
    Fault.MACHINE: "not observed yet, because of the machine that grades: nothing is lost by it",
    Fault.BUSY: "not measured yet, because the machine that grades was busy: nothing is lost by it",
    Fault.GRADER: "not observed yet, because of a mistake in the grader: nothing is lost by it",
}
"""What a student reads of a fault. Its own words are for those who mend it: they quote the course's files,
names of hidden values and folders of the machine."""

_NEVER_RAN = frozenset({Outcome.SKIPPED.value, Outcome.NOT_OBSERVED.value})


def staff_view(
    rubric: Rubric,
    evidence: Evidence,
    scorecard: Scorecard,
    *,
    kinds: Mapping[str, CheckKind] | None = None,
) -> AudienceView:
    """Return the view of staff, with everything, and with drawings if `kinds` are given."""
    return AudienceView(
        audience="staff",
        rubric=rubric,
        evidence=evidence,
        scorecard=scorecard,
        drawings=drawings_of(rubric.items, evidence.observations, kinds or {}),
    )


def student_view(  # noqa: PLR0913 - each decides for itself what is shown
    rubric: Rubric,
    evidence: Evidence,
    scorecard: Scorecard,
    *,
    kinds: Mapping[str, CheckKind] | None = None,
    now: datetime,
    published: bool = False,
    closes: datetime | None = None,
    host_folders: Iterable[str] = (),
) -> AudienceView:
    """Reduce a score to what the student may know `now`.

    `closes` is the time after which nothing may be handed in; `published` says whether grades are.
    `host_folders` are folders of this machine, which no text names.

    Nothing of a hidden item is left: no id, title, reason, input or output, neither in its own line nor in
    what others say of it. The sums are those of the items that are left, and are not final. Whatever a
    program did in one child with a hidden item goes too, for it could have kept that one's inputs. Flags are
    for staff. `kinds` draw what is left of the observations. Secret options, such as model answers, are left
    out until grades are published and this one is final: others may still be writing their answers.
    """
    host_paths = HostPaths(host_folders)
    secrets = published and scorecard.standing is Standing.FINAL
    due_is_over = closes is not None and now > closes
    shown = {"always": True, "after_due": due_is_over, "after_published": published, "never": False}
    left_out = [item for item in rubric.items if not shown[item.visible]]
    hidden = frozenset(item.id for item in left_out)
    closed = frozenset(line.item for line in scorecard.lines if line.item in hidden and line.fraction != 1)
    items = {item.id: item for item in rubric.items if item.id not in hidden}
    groups = {item.group for item in left_out} - {""}
    shared = frozenset(item.id for item in items.values() if item.group in groups)
    beside = _users(items, hidden | shared)
    visible = tuple(line for line in scorecard.lines if line.item in items)
    reasons = {line.item: _reason(line, items[line.item], closed, hidden, beside, shared) for line in visible}
    lines = tuple(
        _line(
            _without_fault(line, evidence.observations.get(line.item)), items[line.item], reasons[line.item]
        )
        for line in visible
    )
    lines = host_paths.cut(lines)
    observations = {
        name: host_paths.cut(_observation(_unblamed(observation), reasons[name]))
        for name, observation in evidence.observations.items()
        if name in items
    }
    reduced = replace(
        rubric,
        items=tuple(_item(item, items, secrets=secrets) for item in items.values()),
        points=sum(item.points for item in items.values() if item.counts == "earns"),
    )
    drawings = drawings_of(reduced.items, observations, kinds or {})
    on_hold = scorecard.standing is Standing.HELD
    standing = Standing.HELD if on_hold else standing_of(lines)
    points = points_of(reduced, lines)
    settled = not hidden and standing is Standing.FINAL
    lates = {total.student: total.late for total in scorecard.totals}
    return AudienceView(
        audience="student",
        rubric=reduced,
        evidence=replace(evidence, observations=observations, runs=host_paths.cut(evidence.runs)),
        scorecard=replace(
            scorecard,
            lines=lines,
            points=points,
            totals=totals_of(points.raw, lates, settled=settled),
            standing=standing,
        ),
        whole=not hidden,
        drawings={
            name: tuple(drawing for drawing in shown_here if not drawing.for_staff)
            for name, shown_here in drawings.items()
        },
        later=sum(item.visible != "never" for item in left_out),
    )


def closes(rubric: Rubric, extensions: Mapping[str, float], zone: tzinfo = UTC) -> datetime | None:
    """Return the latest deadline of all students, grace included; None if there is none.

    One time holds for all, so that a late student learns nothing from an earlier one's report.
    """
    if rubric.due is None:
        return None
    return later(later(rubric.due, max(extensions.values(), default=0.0), zone), rubric.late.grace_s, zone)


def _users(items: Mapping[str, Item], of: frozenset[str]) -> frozenset[str]:
    """Return the items whose `uses` lead to these, directly or through others."""
    users: frozenset[str] = frozenset()
    while more := {item.id for item in items.values() if (of | users).intersection(item.uses)} - users:
        users |= more
    return users


def _reason(
    line: Line,
    item: Item,
    closed: frozenset[str],
    hidden: frozenset[str],
    beside: frozenset[str],
    shared: frozenset[str],
) -> str:
    """Return the reason that replaces a line's own, if that may reveal hidden items; empty otherwise."""
    needs = hidden.intersection(item.needs)
    if needs and (needs & closed or line.outcome in _NEVER_RAN):
        return WAITS
    if line.item in beside:
        return BESIDE
    return SHARED if line.item in shared else ""


def _line(line: Line, item: Item, reason: str) -> Line:
    line = replace(line, flags=())
    # The hint of a kind may tell what it saw, too; that of the rubric was written for the student.
    return replace(line, reason=reason, hint=line.hint and item.hint, missing="") if reason else line


def _observation(observation: Observation, reason: str) -> Observation:
    if not reason:
        return observation
    return replace(
        observation,
        note=reason if observation.note else "",
        symptom=None,
        cases=(),
        quantities={},
        facts={},
        output="",
    )


def _without_fault(line: Line, observation: Observation | None) -> Line:
    """Return a line whose reason are not the words of a fault."""
    if observation is None or observation.fault is None or line.reason != observation.note:
        return line
    return replace(line, reason=NOT_OBSERVED[observation.fault])


def _unblamed(observation: Observation) -> Observation:
    """Return an observation without what a fault says, and without what the reference printed there."""
    if observation.fault is not None:
        return _observation(observation, NOT_OBSERVED[observation.fault])
    _, _, fault = observation.facts.get(BEFORE_POINTS, ("", "", None))
    return observation if fault is None else replace(observation, output="")


def _item(item: Item, visible: Mapping[str, Item], *, secrets: bool) -> Item:
    return replace(
        item,
        options=item.options if secrets else without_secrets(item.options),
        needs=tuple(name for name in item.needs if name in visible),
        uses=tuple(name for name in item.uses if name in visible),
    )
