"""What `grader post` does on every platform: plan, tell, send, and note what came of it."""

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

from grader.cli.book import GRADEBOOK, opened
from grader.cli.files import PATH, PathType
from grader.cli.gradescope import INCLUDE_UNTIMED
from grader.cli.post_lines import Teller
from grader.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from grader.config.course import Course
    from grader.config.roster import Roster
    from grader.gradebook.book import Gradebook
    from grader.lms.platform import Platform, Receipt, Target
    from grader.lms.posting import Line, PostRules, Wanted

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--apply", is_flag=True, help="Send what the plan says; without it nothing is changed."),
    click.option(
        "--include-provisional", is_flag=True, help="Also marks that are open or held, as they are."
    ),
    INCLUDE_UNTIMED,
    click.option("--overwrite", is_flag=True, help="Also where another's grade stands, as a person's."),
    click.option("--lower", is_flag=True, help="Also where the grade there is more than the mark."),
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
    type=PathType(exists=True, file_okay=False),
    help="The results of grader run: each student's page is attached to their comment.",
)
"""Only where a platform takes files."""


def options(command: Command) -> Command:
    """The options that posting has on every platform."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def read_token(file: Path | None, variable: str) -> str:
    """The token, from a file or from the environment; never from an argument, which everybody could see.

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
class Asked:
    """What the options said."""

    gradebook: Path
    results: Path | None
    apply: bool
    as_json: bool
    rules: PostRules


def asked(told: Mapping[str, Any]) -> Asked:
    """The values of `options`, by their names, but for the token's."""
    from grader.lms.posting import PostRules

    own: dict[str, Any] = {name: told.get(name) for name in ("gradebook", "results", "apply", "as_json")}
    rules = {name: value for name, value in told.items() if name not in own and name != "no_comment"}
    return Asked(**own, rules=PostRules(comment=not told["no_comment"], **rules))


def carry_out(
    course: Course,
    assignment: str,
    platform: Platform,
    asked: Asked,
    criteria: Mapping[str, str] | None = None,
) -> int:
    """Plan the posting of an assignment, tell the plan, and send it if that was asked; the exit code.

    `criteria` are ids of the platform's own rubric by item, as in `rubrics` of course.yaml.
    """
    from grader.config.course import FILE
    from grader.config.problem import show_path

    where = f"{show_path(course.folder / FILE)}: {platform.name}.rubrics.{assignment}"
    with opened(asked.gradebook) as book:
        from grader.cli.wanted import known_criteria, wanted_of

        with book.database.alone() if asked.apply else nullcontext():
            target = platform.target()
            known = known_criteria(criteria or {}, target, where)
            wanted = wanted_of(book, assignment, asked.results, known, where)
            if not wanted:
                raise UsageError(
                    f"{asked.gradebook}: has no grade in {assignment!r}; fill it by grader record"
                )
            posting = Posting(book, platform, target, wanted)
            return int(_post(posting, Teller(target, as_json=asked.as_json), course.roster, asked))


class Posting:
    """One assignment's marks on their way to one platform."""

    def __init__(
        self, book: Gradebook, platform: Platform, target: Target, wanted: Mapping[str, tuple[int, Wanted]]
    ) -> None:
        """Take what everyone shall have, with the number of the score that it comes from."""
        self._book, self._platform, self._target = book, platform, target
        self._scores = {student: score for student, (score, _) in wanted.items()}
        self._wanted = {student: one for student, (_, one) in wanted.items()}

    def plan(self, roster: Roster, rules: PostRules) -> tuple[Line, ...]:
        """What would change; see `grader.lms.posting.plan`."""
        from dataclasses import replace

        from grader.gradebook.posts import posted
        from grader.lms.posting import plan

        before = posted(self._book, self._target.key)
        wanted = {
            student: replace(one, posted=before.get(student, ())) for student, one in self._wanted.items()
        }
        return plan(wanted, self._target, self._platform.held(), roster, rules)

    def apply(self, lines: Sequence[Line]) -> Iterator[Receipt]:
        """Send the changes of a plan, each noted before and after."""
        from grader.gradebook.posts import SENDING, Post, note

        by_student = {line.who: line for line in lines if line.change is not None}
        changes = [line.change for line in lines if line.change is not None]

        def row(student: str, outcome: str, said: str = "") -> Post:
            line = by_student[student]
            return Post(
                score=self._scores[student],
                student=student,
                platform=self._target.key,
                marker=line.change.marker if line.change else "",
                points=Decimal(line.new),
                outcome=outcome,
                message=said,
            )

        note(self._book, [row(one.student, SENDING) for one in changes])
        for receipt in self._platform.apply(changes):
            note(self._book, [row(receipt.student, receipt.answer, receipt.said)])
            yield receipt


def _post(posting: Posting, teller: Teller, roster: Roster, asked: Asked) -> ExitCode:
    """Plan, tell, and if told so, send; whether all that was sent is there."""
    from grader.lms.platform import Answer

    lines = posting.plan(roster, asked.rules)
    teller.plan(lines)
    teller.remarks()
    if not asked.apply:
        teller.sums(lines, None)
        return ExitCode.GRADED
    answers: Counter[str] = Counter()
    try:
        for receipt in posting.apply(lines):
            answers[receipt.answer.value] += 1
            teller.receipt(receipt)
    finally:
        teller.sums(lines, answers)
    sent = sum(answers.values())
    return ExitCode.GRADED if answers[Answer.THERE.value] == sent else ExitCode.NOT_OBSERVED
