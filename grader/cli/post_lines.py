"""The output of `grader post`: the plan and the receipts, for people or as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from grader.cli.echo import echo, echo_json
from grader.model.magnitude import counted
from grader.text import one_line

if TYPE_CHECKING:
    from grader.contracts.platform import Receipt, Target
    from grader.lms.posting import PlanLine

_COMPLETE = {"there already", "without a grade"}
"""Outcomes of students for whom there is nothing to send."""


class PlanPrinter:
    """Prints the plan and the receipts, for people or as JSON."""

    def __init__(self, target: Target, *, as_json: bool) -> None:
        self._target, self._as_json = target, as_json

    def plan(self, lines: Sequence[PlanLine]) -> None:
        """Print a line for each student."""
        if self._as_json:
            for line in lines:
                echo_json(_document(line), indent=None)
            return
        from grader.lms.numbers import spelled

        possible = "" if self._target.possible is None else f", {spelled(self._target.possible)} points"
        echo(f"{self._target.title} ({self._target.key}){possible}")
        rows = [("student", "now", "new", "")]
        rows += [
            (one_line(line.who), one_line(line.now or "-"), line.new or "-", _words(line)) for line in lines
        ]
        wide = [max(len(row[column]) for row in rows) for column in range(3)]
        for who, now, new, words in rows:
            text = f"{who:{wide[0]}}  {now:>{wide[1]}}  {new:>{wide[2]}}  {words}"
            echo(text.rstrip())

    def remarks(self) -> None:
        """Print what else to know about the assignment."""
        for remark in self._target.remarks:
            echo(f"{self._target.key}: {remark}", err=True)

    def receipt(self, receipt: Receipt) -> None:
        """Print what came of one change."""
        if self._as_json:
            document = {"student": receipt.student, "answer": receipt.answer.value}
            echo_json({**document, "message": receipt.message}, indent=None)
        elif receipt.message:
            echo(f"{receipt.student}: {receipt.answer.value}: {receipt.message}", err=True)

    def sums(self, lines: Sequence[PlanLine], answers: Counter[str] | None) -> None:
        """Print the sums; without answers, what applying would do."""
        outcomes = Counter(line.outcome.value for line in lines)
        missing = sum(line.outcome.value not in _COMPLETE for line in lines)
        changes = sum(line.change is not None for line in lines)
        if self._as_json:
            counts = None if answers is None else dict(answers)
            echo_json({"outcomes": dict(outcomes), "changes": changes, "answers": counts}, indent=None)
            return
        words = {"without a row": "not found there"}
        sums = ", ".join(f"{count} {words.get(name, name)}" for name, count in sorted(outcomes.items()))
        echo(f"{'planned' if answers is None else 'as planned'}: {sums or 'nobody'}")
        if answers is not None:
            sent = ", ".join(f"{count} {answer}" for answer, count in sorted(answers.items()))
            what_is_missing = (
                f"; {counted(missing, 'grade')} not there" if missing else ", all of it is there"
            )
            echo(f"sent: {sent or 'nothing' + what_is_missing}")
        elif changes:
            echo(f"{changes} would be sent; --apply sends them")
        else:
            echo("nothing is to be sent")


def _document(line: PlanLine) -> dict[str, Any]:
    change = line.change
    return {
        "student": line.who,
        "outcome": line.outcome.name.lower(),
        "now": line.now,
        "new": line.new,
        "note": line.note,
        "change": None
        if change is None
        else {
            "id": change.id,
            "points": None if change.points is None else float(change.points),
            "comment": change.comment,
            "page": None if change.page is None else str(change.page),
            "rubric": {name: float(points) for name, points in change.rubric.items()},
        },
    }


def _words(line: PlanLine) -> str:
    """Return the last column of a plan's line."""
    words = {"WRITTEN": "new", "REPLACED": "changes", "SAME": "is there"}
    return line.note or words.get(line.outcome.name, "")
