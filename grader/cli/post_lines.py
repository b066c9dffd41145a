"""What `grader post` says of a plan, and of what came of it: to people, or to programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from grader.cli.echo import echo, echo_json
from grader.text import one_line

if TYPE_CHECKING:
    from grader.lms.platform import Receipt, Target
    from grader.lms.posting import Line


class Teller:
    """Says what is planned and what came of it, to people or to programs."""

    def __init__(self, target: Target, *, as_json: bool) -> None:
        self._target, self._as_json = target, as_json

    def plan(self, lines: Sequence[Line]) -> None:
        """A line for each student."""
        if self._as_json:
            for line in lines:
                echo_json(_document(line), indent=None)
            return
        from grader.lms.grades import spelled

        possible = "" if self._target.possible is None else f", {spelled(self._target.possible)} points"
        echo(f"{self._target.title} ({self._target.key}){possible}")
        rows = [("student", "now", "new", "")]
        told = ((line.who, line.now or "-", line.new or "-", _words(line)) for line in lines)
        rows += [(one_line(who), one_line(now), new, words) for who, now, new, words in told]
        wide = [max(len(row[column]) for row in rows) for column in range(3)]
        for who, now, new, words in rows:
            text = f"{who:{wide[0]}}  {now:>{wide[1]}}  {new:>{wide[2]}}  {words}"
            echo(text.rstrip())

    def remarks(self) -> None:
        """What else to know about the assignment."""
        for remark in self._target.remarks:
            echo(f"{self._target.key}: {remark}", err=True)

    def receipt(self, receipt: Receipt) -> None:
        """What came of one change."""
        if self._as_json:
            said = {"student": receipt.student, "answer": receipt.answer.value, "said": receipt.said}
            echo_json(said, indent=None)
        elif receipt.said:
            echo(f"{receipt.student}: {receipt.answer.value}: {receipt.said}", err=True)

    def sums(self, lines: Sequence[Line], answers: Counter[str] | None) -> None:
        """How many of what; without answers, what applying would do."""
        fates = Counter(line.fate.value for line in lines)
        changes = sum(line.change is not None for line in lines)
        if self._as_json:
            told = None if answers is None else dict(answers)
            echo_json({"fates": dict(fates), "changes": changes, "answers": told}, indent=None)
            return
        words = {"without a row": "not found there"}
        counts = ", ".join(f"{count} {words.get(fate, fate)}" for fate, count in sorted(fates.items()))
        echo(f"{'planned' if answers is None else 'as planned'}: {counts or 'nobody'}")
        if answers is not None:
            sent = ", ".join(f"{count} {answer}" for answer, count in sorted(answers.items()))
            echo(f"sent: {sent or 'nothing, all of it is there'}")
        elif changes:
            echo(f"{changes} would be sent; --apply sends them")
        else:
            echo("nothing is to be sent")


def _document(line: Line) -> dict[str, Any]:
    change = line.change
    return {
        "student": line.who,
        "fate": line.fate.name.lower(),
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


def _words(line: Line) -> str:
    """What a plan says of one student."""
    return line.note or {"WRITTEN": "new", "REPLACED": "changes", "SAME": "is there"}.get(line.fate.name, "")
