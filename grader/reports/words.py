"""Words, result states and number formats that all reports share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo
from enum import Enum
from typing import TYPE_CHECKING

from grader.model.drawing import Paragraph
from grader.model.magnitude import counted, number, taken_off
from grader.model.observation import SEVERAL_MISSING, Outcome
from grader.model.score import Line, Standing
from grader.text import block, one_line

if TYPE_CHECKING:
    from grader.model.drawing import Drawing
    from grader.model.observation import Case
    from grader.model.score import Late, Points, Scorecard
    from grader.model.view import AudienceView
LONGEST_TEXT = 4_000
"""Characters of one value of a case, where plain text shows it."""
MOST_TEXT_LINES = 100
"""Lines of it."""


SAME_FILES = "handed in the same graded files, byte for byte"
"""Said to staff of students who are no team."""
RIGHT_SO_FAR = "needs a GPU; right in the simulator"


class LineState(Enum):
    """The result of one line, for people."""

    FULL = "earned"
    PARTIAL = "partly earned"
    LOST = "not earned"
    SKIPPED = "skipped"
    OPEN = "pending"
    HELD = "held"


_NEVER_RAN = frozenset({Outcome.SKIPPED.value, Outcome.NOT_OBSERVED.value, "missing"})
_UNSETTLED = {Standing.PROVISIONAL: LineState.OPEN, Standing.HELD: LineState.HELD}


def state_of(line: Line) -> LineState:
    """Return the result of a line; a final line that never ran was skipped."""
    if line.standing in _UNSETTLED:
        return _UNSETTLED[line.standing]
    if line.outcome in _NEVER_RAN or (line.counts == "penalty" and line.fraction == 0 == line.points):
        return LineState.SKIPPED
    if line.outcome == Outcome.OBSERVED and line.fraction == 1:
        return LineState.FULL
    return LineState.PARTIAL if line.fraction else LineState.LOST


def all_right(line: Line) -> bool:
    """Tell whether a line earned everything, or would if a GPU shows what the simulator has shown."""
    return state_of(line) is LineState.FULL or line.simulated == 1


def open_reason(line: Line) -> str:
    """Return why a line is open, in one sentence for all that are right in the simulator."""
    return RIGHT_SO_FAR if line.simulated == 1 else line.reason


def distinct(*values: float) -> tuple[str, ...]:
    """Format numbers side by side, so that different values have different texts."""
    short = tuple(number(value) for value in values)
    return short if len(set(short)) == len(set(values)) else tuple(f"{value:.9g}" for value in values)


def out_of(points: float, possible: float) -> str:
    """Format `2.5 / 3`, never rounded so far that lost points disappear."""
    shown, whole = number(points), number(possible)
    if shown == whole and points < possible:
        shown, whole = f"{points:.9g}", f"{possible:.9g}"
    return f"{shown} / {whole}"


def figure(line: Line, sign: str) -> str:
    """Format the points of a line: `2 / 3`, `+1` of a bonus, `-2` of a penalty, `sign` while open."""
    still_open = state_of(line) is LineState.OPEN
    if line.counts == "earns":
        return f"{sign} / {number(line.possible)}" if still_open else out_of(line.points, line.possible)
    return sign if still_open else signed(line.points)


def signed(points: float) -> str:
    """Format points of a bonus or penalty: `+1`, `-2`, `0`."""
    return f"{'+' if points > 0 else ''}{number(points)}"


def points_off(points: float) -> str:
    """Format `1.5 points`."""
    return f"{taken_off(points)} point{'' if points == 1 else 's'}"


def standing_remark(card: Scorecard, *, whole: bool = True) -> str:
    """Return the sentence for the standing of a grade, or of a part of it."""
    open_lines = [line for line in card.lines if state_of(line) is LineState.OPEN]
    counts = any(line.counts != "earns" or line.possible for line in open_lines)
    late = any(total.late and total.late.share for total in card.totals)
    words = {"amount": still_open(card), "when": " after the late rule"} if late else {}
    return standing_of(card.standing, card.points.pending, whole=whole, counts=counts, **words)


def still_open(card: Scorecard) -> str:
    """Return what open points can add to the totals, after the late rule; empty if it is nothing.

    A range for a team whose members have different deadlines: `3.2 to 4 points`.
    """
    return _range([card.still_open(total) for total in card.totals] or [card.points.pending])


def worth_after_late(points: float, card: Scorecard) -> str:
    """Return what some of the open points can add to the totals, in the words of `still_open`."""
    shares = [total.late.share if total.late else 0.0 for total in card.totals] or [0.0]
    return _range([round(points * (1 - share), 9) for share in shares])


def _range(amounts: Sequence[float]) -> str:
    low, high = min(amounts), max(amounts)
    if not high:
        return ""
    return counted(high, "point") if low == high else f"{number(low)} to {counted(high, 'point')}"


def standing_of(
    of: Standing,
    pending: float,
    *,
    whole: bool = True,
    counts: bool = True,
    amount: str | None = None,
    when: str = "",
) -> str:
    """Return the sentence for a standing with `pending` points open, of a grade or of a part of it.

    `counts` tells whether an open bonus or penalty may still change the total, `amount` names the open points
    where a rule has changed them, and `when` names that rule.
    """
    if amount is None:
        amount = counted(pending, "point") if pending else ""
    open_points = f"{amount} still open{when}, neither earned nor lost"
    return {
        Standing.FINAL: "Final." if whole else "Nothing of this is open.",
        Standing.PROVISIONAL: f"Provisional: {open_points}."
        if amount
        else f"Provisional: what is still open is worth no points{when}."
        if pending
        else "Provisional: what may still add or take points is open."
        if counts
        else "Provisional: what is still open is worth no points.",
        Standing.HELD: "Held: a person has to look first" + (f"; {open_points}." if amount else "."),
    }[of]


def case_lines(case: Case) -> Iterator[str]:
    """Yield a case in plain text: the difference, the call, the result and the expected value.

    Further lines of a text begin with a bar: none can be taken for a line of ours.
    """
    yield one_line(": ".join(filter(None, (case.name, case.note))))
    for word, text in (("called", case.called), ("returned", case.returned), ("expected", case.expected)):
        if text:
            first, *more = block(text, LONGEST_TEXT, MOST_TEXT_LINES).split("\n")
            yield f"  {word} {first}"
            yield from (f"  | {line}" for line in more)


def remarks(view: AudienceView) -> Iterator[str]:
    """Yield sentences on the total: its standing, the students, and the points that lateness took."""
    card = view.scorecard
    yield standing_remark(card, whole=view.whole)
    if not view.whole:
        yield "These are the points of the items that are shown here."
    if view.later:
        yield f"{counted(view.later, 'item')} {'is' if view.later == 1 else 'are'} shown later."
    yield from lateness(card, view.time_zone)


def missing_files(card: Scorecard) -> Iterator[str]:
    """Yield a sentence for each file that was not handed in: what to do, and what it costs.

    Files that one item lacks together are told together, so that no point is counted twice.
    """
    lacking = [line for line in card.lines if line.missing and (line.points or line.counts != "penalty")]
    groups: list[tuple[dict[str, None], list[Line]]] = []
    for line in lacking:
        sentences, lines = dict.fromkeys(line.missing.split(SEVERAL_MISSING)), [line]
        apart = []
        for others, of_others in groups:
            if sentences.keys().isdisjoint(others):
                apart.append((others, of_others))
            else:
                sentences, lines = others | sentences, [*of_others, *lines]
        groups = [*apart, (sentences, lines)]
    for sentences, lines in groups:
        points = counted(sum(line.possible - line.points for line in lines), "point")
        yield f"{SEVERAL_MISSING.join(sentences)}. This costs {points} in {counted(len(lines), 'item')}."


def sums(card: Scorecard) -> Iterator[str]:
    """Yield a sentence on a total with bonus or penalty."""
    points = card.points
    parts = [
        f"{signed(value)} {name}"
        for name, value in (("bonus", points.bonus), ("penalty", points.penalty))
        if value
    ]
    if not parts:
        return
    bounds = ", within the bounds of the rubric" if bounded(points) else ""
    yield f"{counted(points.earned, 'point')} earned, {', '.join(parts)}: {number(points.raw)}{bounds}."


def bounded(points: Points) -> bool:
    """Tell whether the rubric's bounds make the raw total differ from the sum."""
    return abs(points.earned + points.bonus + points.penalty - points.raw) > 1e-9


def lateness(card: Scorecard, zone: tzinfo) -> Iterator[str]:
    """Yield sentences on extensions, on a wrong or unknown time, and on points that lateness took.

    Times are in `zone`: those of a stored card have an offset, which has no name.
    """
    yield from _extensions(card, zone)
    ruled = [(total, total.late) for total in card.totals if total.late and total.late.rule]
    if unknown := [late for _, late in ruled if late.submitted_at is None]:  # of the submission, so of all
        marked = "The LMS marked it late; when" if unknown[0].marked else "When"
        yield f"{marked} it was handed in is unknown: nothing is taken off for lateness."
    for _, late in ruled:
        if late.in_future and late.submitted_at:
            time = local_time(late.submitted_at, zone)
            yield (
                f"The time of submission, {time}, had not come yet: "
                "what lateness costs stays open until the time is corrected."
            )
            break
    students: dict[tuple[str, str], list[str]] = {}
    for total, late in ruled:
        if late.days:
            remain = out_of(total.adjusted, card.points.possible)
            costs = f"{points_off(late.lost)} off, {remain} left. Rule: {late.rule}."
            students.setdefault((elapsed(late.late_s), costs), []).append(total.student)
    for (time, costs), late_ones in students.items():
        whose = f" ({', '.join(late_ones)})" if len(late_ones) < len(card.totals) else ""
        yield f"Handed in {time} late{whose}: {costs}"


def _extensions(card: Scorecard, zone: tzinfo) -> Iterator[str]:
    """Yield a sentence for each extension, with the deadline that it gives."""
    students: dict[tuple[str, str, str], list[str]] = {}
    for student, late in ((total.student, total.late) for total in card.totals):
        if late is not None and late.extension_s:
            when = f"Handed in {local_time(late.submitted_at, zone)}; the" if late.submitted_at else "The"
            extension = when, elapsed(late.extension_s), local_time(late.due, zone)
            students.setdefault(extension, []).append(student)
    for (when, time, due), extended in students.items():
        whose = f" ({', '.join(extended)})" if len(extended) < len(card.totals) else ""
        yield f"{when} deadline with the extension of {time}{whose} is {due}."


def late_cost(late: Late | None) -> str:
    """Return a sentence on the share that lateness costs; empty if it costs nothing."""
    if late is None or not late.share:
        return ""
    return f"Handed in {elapsed(late.late_s)} late: {late.share * 100:.4g} % off."


def local_time(moment: datetime | str, zone: tzinfo, *, seconds: bool = False) -> str:
    """Format a moment, or its ISO 8601 text, in a time zone: `2026-11-20 22:00 CET`, also with its seconds.

    Other text, as evidence of an unknown origin may hold, stays as it is.
    """
    try:
        instant = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
        return instant.astimezone(zone).strftime(f"%Y-%m-%d %H:%M{':%S' if seconds else ''} %Z")
    except (OverflowError, ValueError):
        return str(moment)


def dated(drawing: Drawing, zone: tzinfo) -> Drawing:
    """Return a drawing with the moment of a paragraph as words before its text."""
    if not isinstance(drawing, Paragraph) or not drawing.moment:
        return drawing
    return replace(drawing, text=f"{local_time(drawing.moment, zone)}: {drawing.text}", moment="")


def elapsed(seconds: float) -> str:
    """Format a duration in its two largest units: `1 day 3 hours`, `12 minutes`."""
    parts = []
    for name, size in (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1)):
        amount, seconds = divmod(seconds, size)
        if amount:
            parts.append(counted(amount, name))
    return " ".join(parts[:2]) or "less than a second"
