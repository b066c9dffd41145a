"""What a person, or a program, sees of a verification."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TextIO

from grader.errors import ExitCode, worst
from grader.reports.terminal import encodable, sign_of
from grader.reports.words import LineState, counted, out_of
from grader.text import one_line
from grader.trials import SOURCES, Trial
from grader.verification import Verdict, gaps

MARKS = {ExitCode.GRADED: LineState.FULL, ExitCode.NOT_OBSERVED: LineState.OPEN}
"""How a verdict is marked; any other code is a mark lost."""
REFUSED = "refused"
LONGEST = 200
"""Characters of one deviation: the card of the hand-in has the rest."""


def columns(trials: Sequence[Trial]) -> tuple[int, int]:
    """How wide the longest name and the longest figure are."""
    figures = (out_of(t.rubric.points, t.rubric.points) if t.rubric else REFUSED for t in trials)
    return max(len(trial.name) for trial in trials), max(map(len, figures))


def rows(verdict: Verdict, widths: tuple[int, int], stream: TextIO) -> Iterator[str]:
    """A line of what was earned, or one for each deviation; `widths` as of `columns`."""
    trial = verdict.trial
    sign = sign_of(MARKS.get(verdict.exit_code, LineState.LOST), stream)
    if verdict.deviations:
        for deviation in verdict.deviations:
            text = one_line(" ".join(str(deviation).split()), LONGEST)
            yield encodable(f"{sign} {trial.name}: {text}", stream)
        return
    figure = REFUSED
    if trial.rubric and verdict.points is not None:
        figure = out_of(verdict.points, trial.rubric.points)
    yield encodable(f"{sign} {trial.name:{widths[0]}}  {figure:>{widths[1]}}  {trial.about}", stream)


def closing(verdicts: Sequence[Verdict], wall_s: float, *, whole: bool) -> Iterator[str]:
    """How many were as expected; of a `whole` course also what its hand-ins leave untested."""
    yield from ("", *_untested(verdicts, whole=whole), _counts(verdicts, wall_s))


def document(verdicts: Sequence[Verdict], wall_s: float, *, whole: bool) -> dict[str, Any]:
    """The same for programs: `verdicts`, `never_mistaken`, `never_earned`, `wall_s` and `exit_code`."""
    untested = gaps(verdicts if whole else ())
    return {
        "verdicts": [_plain(verdict) for verdict in verdicts],
        "never_mistaken": list(untested.never_mistaken),
        "never_earned": list(untested.never_earned),
        "wall_s": round(wall_s, 3),
        "exit_code": int(worst(verdict.exit_code for verdict in verdicts)),
    }


def _untested(verdicts: Sequence[Verdict], *, whole: bool) -> Iterator[str]:
    if not whole:
        return
    trials = [verdict.trial for verdict in verdicts]
    if all(trial.reference for trial in trials):
        yield f"{SOURCES}: no hand-ins are there; only references were verified"
        return
    marking = {trial.rubric.name for trial in trials if trial.rubric and not trial.reference}
    for name in sorted({trial.rubric.name for trial in trials if trial.rubric} - marking):
        yield f"{name}: no hand-in is marked by this rubric"
    untested = gaps(verdicts)
    yield from (f"{item}: no hand-in gets it wrong; is the check alive?" for item in untested.never_mistaken)
    yield from (f"{item}: no hand-in gets it right; can it be passed?" for item in untested.never_earned)


def _counts(verdicts: Sequence[Verdict], wall_s: float) -> str:
    references = sum(verdict.trial.reference for verdict in verdicts)
    codes = [verdict.exit_code for verdict in verdicts]
    right, unseen = codes.count(ExitCode.GRADED), codes.count(ExitCode.NOT_OBSERVED)
    counts = {"as expected": right, "not as expected": len(codes) - right - unseen, "not observed": unseen}
    told = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    who = f"{counted(len(codes) - references, 'hand-in')} and {counted(references, 'reference')}"
    return f"{who}: {told}; {wall_s:.1f} s"


def _plain(verdict: Verdict) -> dict[str, Any]:
    trial = verdict.trial
    return {
        "name": trial.name,
        "reference": trial.reference,
        "assignment": trial.assignment,
        "rubric": trial.rubric and trial.rubric.name,
        "about": trial.about,
        "points": verdict.points,
        "total": trial.total,
        "deviations": [
            {"item": deviation.item, "text": deviation.text, "exit_code": int(deviation.exit_code)}
            for deviation in verdict.deviations
        ],
        "wall_s": round(verdict.wall_s, 3),
    }
