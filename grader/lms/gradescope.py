"""Gradescope: `results.json`, the file of its autograders, with what a student may see of a grade."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from grader.contracts.exporter import ResultsFile
from grader.model.score import Standing
from grader.reports.words import LineState, case_lines, figure, remarks, state_of, sums
from grader.text import block, document, one_line, quoted

if TYPE_CHECKING:
    from grader.contracts.exporter import Rules
    from grader.model.observation import Observation
    from grader.model.score import Line
    from grader.model.view import AudienceView

LONGEST = 20_000
"""Characters of one text."""
MOST_LINES = 1_000
"""Lines of one text."""
_UNSETTLED = frozenset({LineState.OPEN, LineState.HELD})


class Gradescope(ResultsFile):
    """A test per item that the student may see.

    The score is that of these items, after the late rule, and within the bounds of the rubric: not always
    the sum of the tests. What is open has no score. While anything is open or held, or the late rule could
    not be applied, only staff sees the results, unless the rules say otherwise.
    """

    name: ClassVar[str] = "gradescope"
    filename: ClassVar[str] = "results.json"

    def render(self, view: AudienceView, rules: Rules) -> str:
        """Return the file's text.

        Raises:
            ValueError: the view is not the student's: Gradescope shows what is in the file.
        """
        if view.audience != "student":
            raise ValueError("Gradescope shows this to students: give it the student's view")
        card = view.scorecard
        settled = card.standing is Standing.FINAL or rules.include_provisional
        timed = rules.include_untimed or not any(total.untimed for total in card.totals)
        lines = [*_totals(view), *sums(card), *remarks(view)]
        return _text(
            {
                # a submission has one score there: nobody may lose by a team mate without an extension
                "score": max((total.adjusted for total in card.totals), default=card.points.raw),
                "output": block("\n".join(map(one_line, lines)), LONGEST),
                "output_format": "text",
                "test_name_format": "text",
                "test_output_format": "text",
                "visibility": "visible" if settled and timed else "hidden",
                "stdout_visibility": "hidden",
                "tests": [
                    _test(number, line, view.evidence.observations.get(line.item))
                    for number, line in enumerate(card.lines, 1)
                ],
            }
        )


def refusal(problem: str) -> str:
    """Return the file for a submission that was not accepted: no points, and why, for the student."""
    results = {"score": 0, "output": one_line(problem), "output_format": "text", "visibility": "visible"}
    return _text({**results, "stdout_visibility": "hidden", "tests": []})


def _test(number: int, line: Line, observation: Observation | None) -> dict[str, Any]:
    what = state_of(line)
    test: dict[str, Any] = {
        "name": one_line(line.title),
        "name_format": "text",
        "number": str(number),
        "output": block("\n".join(_lines(line, what, observation)), LONGEST, MOST_LINES),
        "output_format": "text",
        "visibility": "visible",
        # Bonus and penalties make the assignment worth no more.
        "max_score": line.possible if line.counts == "earns" else 0,
    }
    if what is not LineState.OPEN:
        test |= {"score": line.points}
    if what not in _UNSETTLED:
        test |= {"status": "passed" if line.fraction == 1 else "failed"}
    return test


def _lines(line: Line, what: LineState, observation: Observation | None) -> Iterator[str]:
    yield one_line(f"{what.value} ({figure(line, '?')}): {line.reason}")
    if line.hint:
        yield one_line(f"hint: {line.hint}")
    for case in observation.cases if observation else ():
        if case.note:
            yield from case_lines(case)
    if observation and observation.output:
        yield "printed:"
        yield quoted(observation.output, "| ", LONGEST // 2, MOST_LINES // 2)


def _totals(view: AudienceView) -> Iterator[str]:
    """Yield the totals of a team's members where their extensions differ."""
    totals = view.scorecard.totals
    if len({total.adjusted for total in totals}) > 1:
        yield from (f"{total.student}: {total.adjusted:g} points" for total in totals)


def _text(results: dict[str, Any]) -> str:
    return json.dumps(document(results), indent=2, ensure_ascii=True, allow_nan=False) + "\n"
