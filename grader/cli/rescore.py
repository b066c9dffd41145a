"""`grader rescore`: a changed rubric over the evidence of a class."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeVar

import click

from grader.cli.book import GRADEBOOK, Location, opened
from grader.cli.course import open_course, remark_extensions
from grader.cli.echo import tell_line
from grader.cli.lookup import require_assignment
from grader.errors import UsageError

if TYPE_CHECKING:
    from grader.gradebook.rescore import Rescored
    from grader.scoring.changes import Difference, Pair

T = TypeVar("T")
_COUNTED = ("all", "changed", "only_rubric", "only_texts", "only_visibility", "only_late_rule", "untimed")
_SHOWN = {
    "always": "students see it from now on",
    "after_due": "students see it after the deadline",
    "after_published": "students see it once grades are published",
    "never": "students do not see it from now on",
}
"""What a new `visible` of an item means."""


@click.command("rescore")
@click.argument("assignment")
@click.option("--rubric", help="A rubric's name or file; otherwise the one that the class was graded by.")
@click.option("--apply", is_flag=True, help="Record the new scores, all of them or none.")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print an object on a line for each total that changes, then sums.",
)
@GRADEBOOK
@click.pass_context
def command(
    context: click.Context,
    assignment: str,
    rubric: str | None,
    apply: bool,
    as_json: bool,
    gradebook: Location,
) -> None:
    """Say what the present rubric would change in the totals of ASSIGNMENT, or change them with --apply.

    Nothing is run for it: stored evidence is judged, by the present file of the rubric that the class was
    graded by. Where grades are by several rubrics, --rubric says which one judges all of them.

    A line says for each student which items, limits or late rule change the total or its standing. Where the
    rubric asks for something that was not observed in this way, the total stays as it is, and the items that
    must run again are named.

    Exit codes: 0 the plan is whole, or all new scores are recorded, also if items must run again;
    2 usage, 4 the course's files are wrong, 5 the gradebook cannot be read or written, then nothing changes.
    """
    from grader.config.rubric import load_rubric
    from grader.grading.digests import task_digests

    course, plugins = open_course(context)
    remark_extensions(course)
    if assignment not in plugins.assignment_folders:
        there_are = ", ".join(plugins.assignment_folders)
        raise UsageError(f"{assignment}: there is no such assignment; there are {there_are}")
    tally = Tally()
    with opened(gradebook) as book:
        from grader.gradebook.rescore import Judge, graded_by, rescore
        from grader.grading.rubric_of_class import require_rubric_of, rubric_again

        require_assignment(book, gradebook, assignment)
        path, remark = rubric_again(course, assignment, rubric, graded_by(book, assignment), gradebook)
        loaded = load_rubric(path, kinds=plugins.checks, assignments=plugins.assignment_folders)
        require_rubric_of(assignment, loaded, path)
        if remark:
            tell_line(remark)
        folder = plugins.assignment_folders[assignment]
        digests = task_digests(loaded, plugins.assignments[assignment], folder)

        extensions = course.extensions_of(assignment)
        judge = Judge(loaded, plugins.checks, digests, extensions=extensions, zone=course.zone)
        for rescored in rescore(book, judge, apply=apply):
            changes = rescored.differences
            tally.add(rescored, changes)
            lines = map(json.dumps, _documents(rescored, changes)) if as_json else _lines(rescored, changes)
            for line in lines:
                click.echo(line)
    click.echo(json.dumps(tally.document(apply)) if as_json else tally.text(apply))


class Tally:
    """Counts of changes in the totals of a class."""

    def __init__(self) -> None:
        self._submissions: Counter[str] = Counter()
        self._totals: Counter[str] = Counter()
        self._points: Counter[str] = Counter()
        self._shown_points: Counter[str] = Counter()
        """The same of totals as they are shown, so that the sums are those of the lines above."""
        self._standings: Counter[str] = Counter()
        self._causes: Counter[str] = Counter()
        self._to_run: Counter[str] = Counter()
        self._skipped: Counter[str] = Counter()
        self._no_item: Counter[str] = Counter()
        self._visibility: Counter[tuple[str, str, str]] = Counter()
        """Submissions by item, and its `visible` before and after."""

    def add(self, rescored: Rescored, differences: Sequence[Difference]) -> None:
        """Count one more submission."""
        from grader.reports.changed_totals import shown_change

        self._submissions["all"] += 1
        self._submissions["changed"] += rescored.changes
        only_late = not differences and rescored.moves_no_points
        self._submissions["only_late_rule"] += only_late
        only_words = rescored.changes and not differences and not only_late
        self._submissions["only_visibility"] += only_words and bool(rescored.visibility)
        same = rescored.says_the_same
        self._submissions["only_rubric"] += same
        self._submissions["only_texts"] += only_words and not (rescored.visibility or same)
        self._visibility.update((item, *pair) for item, pair in rescored.visibility.items())
        untimed = rescored.changes and any(total.untimed for total in rescored.after.totals)
        self._submissions["untimed"] += untimed
        self._to_run.update(rescored.to_run)
        self._skipped.update(rescored.skipped)
        self._no_item.update(filter(None, [rescored.no_item]))
        self._totals["all"] += len(rescored.students)
        self._totals["wait" if rescored.to_run else "stay"] += len(rescored.students)
        for difference in differences:
            self._causes.update(difference.causes)
            if difference.standing.differs:
                self._standings[f"{difference.standing.before} -> {difference.standing.after}"] += 1
            if points := difference.total.after - difference.total.before:
                way = "rise" if points > 0 else "fall"
                self._totals[way] += 1
                self._totals["stay"] -= 1
                self._points[way] += abs(points)  # type: ignore[assignment]  # a Counter counts anything
                shown = shown_change(difference.total.before, difference.total.after)
                self._shown_points[way] += abs(shown)  # type: ignore[assignment]

    def document(self, applied: bool) -> dict[str, Any]:
        """Return the sums as JSON values."""
        return {
            "totals": {name: self._totals[name] for name in ("all", "rise", "fall", "stay", "wait")},
            "points": {name: round(self._points[name], 9) for name in ("rise", "fall")},
            "standings": dict(self._standings),
            "causes": dict(self._causes),
            "visible": {item: [before, after] for item, before, after in self._visibility},
            "submissions": {name: self._submissions[name] for name in _COUNTED},
            "must_run_again": dict(self._to_run),
            "skipped_before": dict(self._skipped),
            "applied": applied,
        }

    def text(self, applied: bool) -> str:
        """Return the sums in words, and what to do."""
        return "\n".join(self._lines(applied))

    def _lines(self, applied: bool) -> Iterator[str]:
        from grader.model.magnitude import counted

        submissions, totals = self._submissions["all"], self._totals["all"]
        moves = ", ".join(self._moves()) or "no points change"
        yield f"{counted(submissions, 'submission')}, {counted(totals, 'total')}: {moves}"
        if self._causes:
            causes = (f"{cause} ({counted(count, 'total')})" for cause, count in self._causes.items())
            yield f"because of: {', '.join(causes)}"
        if self._standings:
            yield f"standing: {', '.join(f'{count} {change}' for change, count in self._standings.items())}"
        for (item, before, after), count in self._visibility.items():
            of = counted(count, "submission")
            yield f"{item}: {_SHOWN[after]} (visible: {before} -> {after}), in {of}"
        for item, count in self._skipped.items():
            yield (
                f"{item} was skipped and must run for {counted(count, 'submission')}, because by this rubric "
                "nothing that it needs stands in its way: grade the archives again"
            )
        for item, count in (self._to_run - self._skipped).items():
            yield f"{item} must run again for {counted(count, 'submission')}: grade the archives again"
        for line, count in self._no_item.items():
            yield f"{line} (in {counted(count, 'submission')})"
        if untimed := self._submissions["untimed"]:
            yield (
                f"the late rule takes nothing off {counted(untimed, 'submission')} whose time of submission "
                "nobody knows: grade the archives again with --times FILE"
            )
        changed = self._submissions["changed"]
        texts = "".join(
            f", {count} of them with {what}"
            for what, count in (
                ("nothing different but the rubric", self._submissions["only_rubric"]),
                ("other texts alone", self._submissions["only_texts"]),
                ("another visibility of items alone", self._submissions["only_visibility"]),
                ("another deadline or late rule that moves no points", self._submissions["only_late_rule"]),
            )
            if count
        )
        if applied:
            yield f"{counted(changed, 'new score')} recorded{texts}"
            if changed:
                yield (
                    "pages in the results folders are of the scores before: grader run writes them anew, and "
                    "grader post attaches none until then"
                )
        elif changed:
            yield f"{counted(changed, 'score')} would be new{texts}; --apply records them"

    def _moves(self) -> Iterator[str]:
        """Count totals by direction; yield nothing if nothing changes."""
        from grader.model.magnitude import counted

        if not (self._causes or self._totals["wait"]):
            return
        for way in ("rise", "fall"):
            if count := self._totals[way]:
                points = counted(self._shown_points[way], "point")
                yield f"{count} {way} by {points} together" if count > 1 else f"1 {way}s by {points}"
        if count := self._totals["stay"]:
            yield "1 stays" if count == 1 else f"{count} stay"
        if count := self._totals["wait"]:
            yield f"{count} {'stays' if count == 1 else 'stay'} until items have run again"


def _lines(rescored: Rescored, differences: Sequence[Difference]) -> Iterator[str]:
    from grader.reports.changed_totals import changed_totals

    if rescored.to_run:
        again = [item for item in rescored.to_run if item not in rescored.skipped]
        must = [f"must run again: {', '.join(again)}"] if again else []
        must += [f"must run, was skipped: {', '.join(rescored.skipped)}"] if rescored.skipped else []
        yield f"{rescored.student}  {'; '.join(must)}"
    yield from changed_totals(rescored.after, differences)


def _documents(rescored: Rescored, differences: Sequence[Difference]) -> Iterator[dict[str, Any]]:
    """Yield a JSON object for each student whose total changes or waits."""
    if rescored.to_run:
        for student in rescored.students:
            yield {
                "student": student,
                "submitted_as": rescored.student,
                "must_run_again": list(rescored.to_run),
            }
    for difference in differences:
        yield {
            "student": difference.student,
            "submitted_as": rescored.student,
            "total": _values(difference.total),
            "possible": _values(difference.possible),
            "standing": _values(difference.standing),
            "late": _values(difference.late),
            "items": {
                name: [None if state is None else asdict(state) for state in _values(states)]
                for name, states in difference.items.items()
            },
            "causes": list(difference.causes),
        }


def _values(pair: Pair[T]) -> list[T]:
    return [pair.before, pair.after]
