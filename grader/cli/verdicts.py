"""Output of a verification, for people and for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import fsum
from typing import Any, TextIO

from grader.errors import ExitCode, worst
from grader.model.magnitude import counted
from grader.model.score import Standing
from grader.reports.terminal import encodable, sign_of
from grader.reports.words import LineState, out_of
from grader.selftest.cases import Role, SelfTestCase
from grader.selftest.compare import Verdict, gaps
from grader.selftest.expectations import SOURCES
from grader.text import one_line

MARKS = {ExitCode.GRADED: LineState.FULL, ExitCode.NOT_OBSERVED: LineState.OPEN}
"""The sign of a verdict by exit code; LOST for any other code."""
REFUSED = "refused"
LONGEST = 400
"""Characters of one deviation: the card of the submission has the rest."""


def columns(cases: Sequence[SelfTestCase]) -> tuple[int, int]:
    """Return the widths of the longest name and the longest figure."""
    figures = (out_of(t.rubric.points, t.rubric.points) if t.rubric else REFUSED for t in cases)
    return max(len(case.name) for case in cases), max(map(len, figures))


def rows(verdict: Verdict, widths: tuple[int, int], stream: TextIO, lacking: dict[str, str]) -> Iterator[str]:
    """Yield a line with the points, or one for each deviation; `widths` as of `columns`.

    Why nothing of a submission was observed, which is mostly what the machine lacks, is written whole for
    the first one; `lacking` holds its name by these words, and grows.
    """
    case = verdict.case
    sign = sign_of(MARKS.get(verdict.exit_code, LineState.LOST), stream)
    if verdict.deviations:
        for deviation in verdict.deviations:
            text = " ".join(str(deviation).split())
            if deviation.item or deviation.exit_code is not ExitCode.NOT_OBSERVED:
                text = one_line(text, LONGEST)
            elif (first := lacking.setdefault(text, case.name)) != case.name:
                text = f"the same as {first}"
            else:
                text = one_line(text)
            yield encodable(f"{sign} {case.name}: {text}", stream)
        return
    figure = REFUSED
    if case.rubric and verdict.points is not None:
        figure = out_of(verdict.points, case.rubric.points)
    about = f"{case.about}{_open(verdict)}"
    yield encodable(f"{sign} {case.name:{widths[0]}}  {figure:>{widths[1]}}  {about}", stream)


def _open(verdict: Verdict) -> str:
    """Return a remark on the points that are pending here, as expected; empty if there are none."""
    points = fsum(line.possible for line in verdict.lines if line.standing is Standing.PROVISIONAL)
    return f" ({counted(points, 'point')} open here)" if points else ""


def closing(verdicts: Sequence[Verdict], wall_s: float, *, whole: bool) -> Iterator[str]:
    """Yield remarks on starters, the untested items of a `whole` course, and the counts of verdicts."""
    remarks = (f"{verdict.case.name}: {remark}" for verdict in verdicts if (remark := _remark(verdict)))
    yield from ("", *remarks, *_untested(verdicts, whole=whole), _counts(verdicts, wall_s))


def document(
    verdicts: Sequence[Verdict], wall_s: float, problems: Sequence[str] = (), *, whole: bool
) -> dict[str, Any]:
    """Return the JSON document: verdicts, untested items, seconds, exit code, and the course's `problems`."""
    untested = gaps(verdicts if whole else ())
    codes = (*(ExitCode.COURSE for _ in problems), *(verdict.exit_code for verdict in verdicts))
    return {
        "verdicts": [_plain(verdict) for verdict in verdicts],
        "never_mistaken": list(untested.never_mistaken),
        "never_earned": list(untested.never_earned),
        "wall_s": round(wall_s, 3),
        "exit_code": int(worst(codes)),
        "problems": list(problems),
    }


def _remark(verdict: Verdict) -> str:
    """Return what may not be meant: that a starter earns points; empty for any other case."""
    rubric, earning = verdict.case.rubric, [line for line in verdict.lines if line.points > 0]
    if verdict.case.role is not Role.STARTER or verdict.deviations or rubric is None or not earning:
        return ""
    points = out_of(fsum(line.points for line in earning), rubric.points)
    items = ", ".join(line.item for line in earning)
    return f"earns {points} points as it is handed out, by {items}; is that meant?"


def _untested(verdicts: Sequence[Verdict], *, whole: bool) -> Iterator[str]:
    if not whole:
        return
    cases = [verdict.case for verdict in verdicts]
    if not any(case.role is Role.SUBMISSION for case in cases):
        names = ", ".join(sorted({case.assignment or "" for case in cases}))
        yield f"{SOURCES}: has no submission of {names}; only references and starters were verified"
        return
    marking = {case.rubric.name for case in cases if case.rubric and case.role is Role.SUBMISSION}
    for name in sorted({case.rubric.name for case in cases if case.rubric} - marking):
        yield f"{name}: no submission is graded by this rubric"
    untested = gaps(verdicts)
    yield from (
        f"{item}: no submission gets it wrong, crashed calls apart; can this check fail at all?"
        for item in untested.never_mistaken
    )
    for item in untested.never_earned:
        if item in untested.reference_earns:
            yield f"{item}: no submission but the reference gets it right; can another right one pass?"
        else:
            yield f"{item}: no submission gets it right; can it be passed?"


def _counts(verdicts: Sequence[Verdict], wall_s: float) -> str:
    roles = Counter(verdict.case.role for verdict in verdicts)
    codes = [verdict.exit_code for verdict in verdicts]
    right, unseen = codes.count(ExitCode.GRADED), codes.count(ExitCode.NOT_OBSERVED)
    counts = {"as expected": right, "not as expected": len(codes) - right - unseen, "not observed": unseen}
    results = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    shown = [Role.SUBMISSION, Role.REFERENCE, *([Role.STARTER] if roles[Role.STARTER] else [])]
    *first, last = [counted(roles[role], role) for role in shown]
    return f"{', '.join(first)} and {last}: {results}; {wall_s:.1f} s"


def _plain(verdict: Verdict) -> dict[str, Any]:
    case = verdict.case
    return {
        "name": case.name,
        "reference": case.role is Role.REFERENCE,
        "starter": case.role is Role.STARTER,
        "assignment": case.assignment,
        "rubric": case.rubric and case.rubric.name,
        "about": case.about,
        "points": verdict.points,
        "total": case.total,
        "remark": _remark(verdict),
        "deviations": [
            {"item": deviation.item, "text": deviation.text, "exit_code": int(deviation.exit_code)}
            for deviation in verdict.deviations
        ],
        "wall_s": round(verdict.wall_s, 3),
    }
