"""Posting to any platform: plan, print, send, and note each answer."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from grader.cli.book import GRADEBOOK, Location, opened
from grader.cli.files import PATH, RESULTS_FOLDER
from grader.cli.gradescope import INCLUDE_UNTIMED
from grader.cli.lookup import require_assignment
from grader.cli.post_lines import PlanPrinter
from grader.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from grader.config.course import Course
    from grader.contracts.platform import Platform, Receipt, Target
    from grader.gradebook.book import Gradebook
    from grader.lms.posting import DesiredGrade, PlanLine, PostRules
    from grader.model.roster import Roster

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--apply", is_flag=True, help="Send what the plan says; without it nothing is changed."),
    click.option(
        "--rehearse",
        is_flag=True,
        help="Send to a stand-in on this machine, and show what arrives; needs no token.",
    ),
    click.option(
        "--include-provisional", is_flag=True, help="Also grades that are open or held, as they are."
    ),
    INCLUDE_UNTIMED,
    click.option("--overwrite", is_flag=True, help="Also where somebody else's grade is, as a person's."),
    click.option("--lower", is_flag=True, help="Also where the grade there is higher."),
    click.option("--scale", is_flag=True, help="Convert in proportion where the maximum there is another."),
    click.option("--no-comment", is_flag=True, help="Grades alone, on Canvas many at a time."),
    click.option(
        "--digits", default=2, type=click.IntRange(0, 5), show_default=True, help="Decimals that are posted."
    ),
    click.option(
        "--token-file",
        type=PATH,
        help="A file with the token in it; otherwise the token is in the environment.",
    ),
    click.option("--json", "as_json", is_flag=True, help="Print an object for each line, then the sums."),
    GRADEBOOK,
)
PAGES = click.option(
    "--results",
    type=RESULTS_FOLDER,
    help="The results of grader run: each student's page is attached to their comment.",
)
"""Only where a platform takes files."""


def options(command: Command) -> Command:
    """Add the options that posting has on every platform."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def read_token(file: Path | None, variable: str) -> str:
    """Read the token from a file or from the environment; arguments are visible to everybody.

    Raises:
        UsageError: there is none.
    """
    if file is None:
        if token := os.environ.get(variable, "").strip():
            return token
        raise UsageError(f"{variable}: is not set; put a token there, or name a file by --token-file")
    try:
        token = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "no text"
        raise UsageError(f"--token-file {file}: cannot be read ({why}); name a file with a token") from None
    if not token:
        raise UsageError(f"--token-file {file}: is empty; put the token there")
    return token


@dataclass(frozen=True, slots=True, kw_only=True)
class PostOptions:
    """The values of `options`."""

    gradebook: Location
    results: Path | None
    apply: bool
    as_json: bool
    rules: PostRules


def post_options(values: Mapping[str, Any]) -> PostOptions:
    """Sort the values of `options`, by their names, but for the token's."""
    from grader.lms.posting import PostRules

    direct: dict[str, Any] = {name: values.get(name) for name in ("gradebook", "results", "apply", "as_json")}
    others = {*direct, "no_comment", "rehearse"}
    rules = {name: value for name, value in values.items() if name not in others}
    return PostOptions(**direct, rules=PostRules(comment=not values["no_comment"], **rules))


def carry_out(course: Course, assignment: str, platform: Platform, options: PostOptions) -> int:
    """Plan the posting of an assignment, print the plan, and send it with --apply; return the exit code."""
    from grader.config.course import FILE
    from grader.files import show_path

    where = f"{show_path(course.folder / FILE)}: {platform.name}.rubrics.{assignment}"
    with opened(options.gradebook) as book:
        from grader.cli.desired import criteria_of, desired_grades

        require_assignment(book, options.gradebook, assignment)
        with book.database.alone() if options.apply else nullcontext():
            target = platform.target()
            criteria = criteria_of(platform.criteria, target, where)
            desired = desired_grades(book, assignment, options.results, criteria, where)
            posting = Posting(book, platform, target, desired)
            printer = PlanPrinter(target, as_json=options.as_json)
            return int(_post(posting, printer, course.roster, options))


class Posting:
    """The grades of one assignment on their way to one platform."""

    def __init__(
        self,
        book: Gradebook,
        platform: Platform,
        target: Target,
        desired: Mapping[str, tuple[int, DesiredGrade]],
    ) -> None:
        """Take everyone's desired grade with the number of its score."""
        self._book, self._platform, self._target = book, platform, target
        self._scores = {student: score for student, (score, _) in desired.items()}
        self._desired = {student: grade for student, (_, grade) in desired.items()}

    def plan(self, roster: Roster, rules: PostRules) -> tuple[PlanLine, ...]:
        """Return what would change; see `grader.lms.posting.plan`."""
        from dataclasses import replace

        from grader.gradebook.posts import posted
        from grader.lms.posting import plan

        before = posted(self._book, self._target.key)
        desired = {
            student: replace(grade, posted=before.get(student, ()))
            for student, grade in self._desired.items()
        }
        return plan(desired, self._target, tuple(self._platform.grades()), roster, rules)

    def apply(self, lines: Sequence[PlanLine]) -> Iterator[Receipt]:
        """Send the changes of a plan, each noted before and after."""
        from grader.gradebook.posts import SENDING, Post, note

        by_student = {line.who: line for line in lines if line.change is not None}
        changes = [line.change for line in lines if line.change is not None]

        def row(student: str, outcome: str, message: str = "") -> Post:
            line = by_student[student]
            return Post(
                score=self._scores[student],
                student=student,
                platform=self._target.key,
                marker=line.change.marker if line.change else "",
                points=Decimal(line.new),
                outcome=outcome,
                message=message,
            )

        note(self._book, [row(change.student, SENDING) for change in changes])
        for receipt in self._platform.apply(changes):
            note(self._book, [row(receipt.student, receipt.answer, receipt.message)])
            yield receipt


def _post(posting: Posting, printer: PlanPrinter, roster: Roster, options: PostOptions) -> ExitCode:
    """Plan, print, and with --apply send; return GRADED if all that was sent is there."""
    from grader.contracts.platform import Answer

    lines = posting.plan(roster, options.rules)
    printer.plan(lines)
    printer.remarks()
    if not options.apply:
        printer.sums(lines, None)
        return ExitCode.GRADED
    answers: Counter[str] = Counter()
    try:
        for receipt in posting.apply(lines):
            answers[receipt.answer.value] += 1
            printer.receipt(receipt)
    finally:
        printer.sums(lines, answers)
    sent = sum(answers.values())
    return ExitCode.GRADED if answers[Answer.THERE.value] == sent else ExitCode.NOT_OBSERVED
