"""`grader rescore`: a changed rubric over the evidence of a class."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.cli.book import GRADEBOOK, opened
from grader.cli.course import open_course
from grader.errors import UsageError

if TYPE_CHECKING:
    from grader.gradebook.rescore import Rescored
    from grader.model.score import Scorecard


@click.command("rescore")
@click.argument("assignment")
@click.option("--rubric", help="A rubric's name or file; otherwise the one named like the assignment.")
@click.option("--apply", is_flag=True, help="Keep the new scores, all of them or none.")
@click.option("--json", "as_json", is_flag=True, help="Print an object on a line for each change, then sums.")
@GRADEBOOK
@click.pass_context
def command(
    context: click.Context, assignment: str, rubric: str | None, apply: bool, as_json: bool, gradebook: Path
) -> None:
    """Say what the present rubric would change in the marks of ASSIGNMENT, or change them with --apply.

    Nothing is run for it: stored evidence is judged. Where the rubric asks for something that was not
    observed in this way, the mark stays as it is, and the items that must run again are named.
    """
    from grader.config.rubric import load_rubric
    from grader.jobs import task_digests

    course, plugins = open_course(context)
    if assignment not in plugins.assignment_folders:
        there_are = ", ".join(plugins.assignment_folders)
        raise UsageError(f"{assignment}: there is no such assignment; there are {there_are}")
    path = course.rubric_for(assignment, rubric)
    loaded = load_rubric(path, kinds=plugins.checks, assignments=plugins.assignment_folders)
    if loaded.assignment != assignment:
        raise UsageError(f"{path}: marks {loaded.assignment}, not {assignment}; name another rubric")
    digests = task_digests(loaded, plugins.assignments[assignment], plugins.assignment_folders[assignment])
    tally = Tally(assignment)
    with opened(gradebook) as book:
        from grader.gradebook.rescore import Judge, rescore

        extensions = course.extensions_of(assignment)
        judge = Judge(loaded, plugins.checks, digests, extensions=extensions, zone=course.zone)
        for rescored in rescore(book, judge, apply=apply):
            tally.add(rescored)
            if moved := _moved(rescored):
                click.echo(json.dumps(moved) if as_json else _line(moved))
    click.echo(json.dumps(tally.document(apply)) if as_json else tally.text(apply))


class Tally:
    """What becomes of a class."""

    def __init__(self, assignment: str) -> None:
        self._assignment = assignment
        self._hand_ins: Counter[str] = Counter()
        self._points: Counter[str] = Counter()
        self._to_run: Counter[str] = Counter()

    def add(self, rescored: Rescored) -> None:
        """One more hand-in."""
        self._hand_ins["all"] += 1
        self._hand_ins["changed"] += rescored.changes
        self._to_run.update(rescored.to_run)
        difference = rescored.after.points.raw - rescored.before.points.raw
        if rescored.to_run:
            self._hand_ins["waiting"] += 1
        elif difference:
            way = "gain" if difference > 0 else "lose"
            self._hand_ins[way] += 1
            self._points[way] += abs(difference)  # type: ignore[assignment]  # a Counter counts anything

    def document(self, applied: bool) -> dict[str, Any]:
        """The sums as JSON values."""
        counts = {name: self._hand_ins[name] for name in ("all", "gain", "lose", "changed", "waiting")}
        points = {name: round(self._points[name], 9) for name in ("gain", "lose")}
        return {
            "hand_ins": counts,
            "points": points,
            "must_run_again": dict(self._to_run),
            "applied": applied,
        }

    def text(self, applied: bool) -> str:
        """The sums in words, and what to do."""
        from grader.reports.words import counted

        there, points = self._hand_ins, self._points
        moves = [
            f"{there[way]} {way} {counted(points[way], 'point')} together"
            for way in ("gain", "lose")
            if there[way]
        ]
        lines = [f"{counted(there['all'], 'hand-in')}: {', '.join(moves) or 'no points change'}"]
        for item, count in self._to_run.items():
            lines.append(f"{item} must run again for {counted(count, 'hand-in')}: grade the archives again")
        if self._to_run:
            lines.append(f"{there['waiting']} of the marks stay as they are until then")
        if applied:
            lines.append(f"{counted(there['changed'], 'new score')} kept")
        elif there["changed"]:
            lines.append(f"{counted(there['changed'], 'score')} would be new; --apply keeps them")
        return "\n".join(lines)


def _moved(rescored: Rescored) -> dict[str, Any]:
    """What moves, as JSON values; empty if no points do and nothing has to run."""
    before, after = _points(rescored.before), _points(rescored.after)
    names = dict.fromkeys((*after, *before))
    items = {
        name: [before.get(name), after.get(name)] for name in names if before.get(name) != after.get(name)
    }
    totals = {
        total.student: [was.adjusted, total.adjusted]
        for was, total in zip(rescored.before.totals, rescored.after.totals, strict=False)
        if was.adjusted != total.adjusted and total.student in rescored.students
    }
    if not (items or totals or rescored.to_run):
        return {}
    return {
        "student": rescored.student,
        "raw": [rescored.before.points.raw, rescored.after.points.raw],
        "possible": rescored.after.points.possible,
        "totals": totals,
        "items": items,
        "must_run_again": list(rescored.to_run),
    }


def _points(card: Scorecard) -> dict[str, float | None]:
    """By item; None while they are open."""
    return {line.item: None if line.fraction is None else line.points for line in card.lines}


def _line(moved: dict[str, Any]) -> str:
    from grader.reports.words import number, out_of, signed

    before, after = moved["raw"]
    if moved["must_run_again"]:
        return f"{moved['student']}  must run again: {', '.join(moved['must_run_again'])}"
    figures = f"{number(before)} -> {out_of(after, moved['possible'])}  {signed(round(after - before, 9))}"
    items = (f"{name} {_open(was)} -> {_open(now)}" for name, (was, now) in moved["items"].items())
    return f"{moved['student']}  {figures}  ({', '.join(items) or 'by the late rule'})"


def _open(points: float | None) -> str:
    from grader.reports.words import number

    return "open" if points is None else number(points)
