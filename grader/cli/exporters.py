"""`grader export NAME`: a command for each exporter that the built-ins, plugins or the course bring."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.cli.book import GRADEBOOK, grades_of, opened
from grader.cli.course import find_any, open_course, roster_of
from grader.cli.echo import echo
from grader.cli.files import PATH, remove, write, written
from grader.cli.gradescope import INCLUDE_PROVISIONAL, INCLUDE_UNTIMED, PUBLISHED
from grader.errors import CourseError, GraderError, UsageError
from grader.lms.contract import Fate, Filled, Results, Rules, Worksheet

if TYPE_CHECKING:
    from grader.gradebook.book import RecordedGrade

OUT = click.option("--out", type=PATH, help="The file; otherwise standard output.")
_NAME = r"[a-z][a-z0-9-]*"


class Exports(click.Group):
    """The commands of our own, which load no plugin, and those that the exporters make."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: D102 - click's interface
        try:
            return [*self.commands, *self._exporters(ctx)]
        except GraderError as error:  # a plugin that is wrong must not take the help away
            for problem in error.problems:
                echo(f"grader: {problem}", err=True)
            return list(self.commands)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: D102
        if name in self.commands:
            return self.commands[name]
        exporter = self._exporters(ctx).get(name)
        if exporter is None:
            return None
        return _results(exporter) if hasattr(exporter, "render") else _worksheet(exporter)

    def _exporters(self, context: click.Context) -> Mapping[str, Any]:
        """All of them; those of the course only where we are in one.

        Raises:
            CourseError: a plugin is wrong, or an exporter's name can be no command.
        """
        from grader.plugins import Plugins

        if __name__ in context.meta:  # the help asks for each command again
            known: Mapping[str, Any] = context.meta[__name__]
            return known
        course = find_any(context)
        exporters = Plugins(course.folder if course else None).exporters
        for name, exporter in exporters.items():
            if name in self.commands or not re.fullmatch(_NAME, name):
                wrong = "is a command of grader export" if name in self.commands else "can be no command"
                where = f"{type(exporter).__module__}.{type(exporter).__qualname__}"
                raise CourseError(f"{where}: the name {name!r} {wrong}; give it another, as in my-platform")
        context.meta[__name__] = exporters
        return exporters


def _worksheet(worksheet: Worksheet) -> click.Command:
    """For a platform's own table."""

    @click.command(worksheet.name, help=f"Fill the marks of ASSIGNMENT into {worksheet.file}.")
    @click.argument("assignment")
    @click.option("--sheet", required=True, type=PATH, help="The file as it was given.")
    @click.option("--column", default="", help="The heading or the id of the column, if there are several.")
    @click.option(
        "--include-provisional", is_flag=True, help="Also marks that are open or held, as they are."
    )
    @INCLUDE_UNTIMED
    @click.option("--overwrite", is_flag=True, help="Also where another grade stands, even a higher one.")
    @click.option("--scale", is_flag=True, help="Convert in proportion where the maximum there is another.")
    @click.option(
        "--digits", default=2, type=click.IntRange(0, 6), show_default=True, help="Decimals that are written."
    )
    @OUT
    @GRADEBOOK
    @click.pass_context
    def filled(
        context: click.Context,
        /,
        assignment: str,
        sheet: Path,
        out: Path | None,
        gradebook: Path,
        **told: Any,
    ) -> None:
        rules = Rules(**told)
        try:
            content = sheet.read_bytes()
        except OSError as error:
            raise UsageError(
                f"--sheet {sheet}: cannot be read ({error.strerror}); name {worksheet.file}"
            ) from None
        with opened(gradebook) as book:
            marks = grades_of(book, assignment)
        if not marks:
            raise UsageError(
                f"{gradebook}: has no grade in {assignment!r}; grader export json lists what it has"
            )
        done = worksheet.fill(content, str(sheet), marks, roster_of(context), rules)
        with written(out) as file:
            file.write(done.text)
        _tell(done, rules)

    return filled


def _tell(done: Filled, rules: Rules) -> None:
    """Everyone of whom there is something to say, then the sums."""
    for outcome in done.outcomes:
        if outcome.note:
            echo(f"{outcome.who}: {outcome.note}", err=True)
    for remark in done.remarks:
        echo(remark, err=True)
    counts = Counter(outcome.fate for outcome in done.outcomes)
    sums = [f"{counts[fate]} {fate}" for fate in Fate if counts[fate] or fate is Fate.WRITTEN]
    if done.rounded:
        sums.append(f"{done.rounded} rounded to {rules.digits} decimals")
    echo(", ".join(sums), err=True)


def _results(exporter: Results) -> click.Command:
    """For a platform that reads a file for each student."""
    ending = Path(exporter.filename).suffix
    text = (
        f"Write a {exporter.filename} for each student who has a mark in ASSIGNMENT.\n\n"
        "For a platform that fetches what was graded elsewhere."
    )

    @click.command(exporter.name, help=text)
    @click.argument("assignment")
    @click.option("--out", required=True, type=PATH, help=f"The folder for STUDENT{ending}.")
    @PUBLISHED
    @INCLUDE_PROVISIONAL
    @INCLUDE_UNTIMED
    @GRADEBOOK
    @click.pass_context
    def each(context: click.Context, /, assignment: str, out: Path, published: bool, **told: Any) -> None:
        from grader.lms.fill import UNTIMED
        from grader.model.score import Standing

        options = {name: told[name] for name in ("include_provisional", "include_untimed")}
        rules, count = Rules(**options), 0
        views = _Views(context, assignment, published)
        with opened(told["gradebook"]) as book:
            for entry in tuple(book.grades(assignment=assignment)):
                file = out / f"{entry.student}{ending}"
                why = views.objection(entry)
                if entry.card.standing is not Standing.FINAL and not rules.include_provisional:
                    why = why or f"is {entry.card.standing} and held back"
                untimed = any(one.untimed for one in entry.card.totals if one.student == entry.student)
                if untimed and not rules.include_untimed:
                    why = why or UNTIMED
                if why:
                    remove(file)  # what an earlier export said does not hold any more
                    echo(f"{entry.student}: {why}", err=True)
                    continue
                write(file, exporter.render(views.of(entry, book.evidence(entry.attempt)), rules))
                count += 1
        echo(f"{out}: {count} written", err=True)

    return each


class _Views:
    """What students may see of the marks in one assignment."""

    def __init__(self, context: click.Context, assignment: str, published: bool) -> None:
        from datetime import UTC, datetime

        self._course, self._plugins = open_course(context)
        self._assignment, self._published = assignment, published
        self._now = datetime.now(UTC)
        self._rubrics: dict[str, Any] = {}

    def _rubric(self, name: str) -> Any:
        from grader.config.rubric import load_rubric

        if name not in self._rubrics:
            path = self._course.rubric_for(self._assignment, name)
            kinds, folders = self._plugins.checks, self._plugins.assignment_folders
            self._rubrics[name] = load_rubric(path, kinds=kinds, assignments=folders)
        return self._rubrics[name]

    def objection(self, entry: RecordedGrade) -> str:
        """Why the mark cannot be shown; empty if it can."""
        if self._rubric(entry.card.rubric).digest != entry.card.rubric_digest:
            again = f"run grader rescore {self._assignment}"
            return f"was marked by an earlier rubric {entry.card.rubric}; {again}"
        return ""

    def of(self, entry: RecordedGrade, evidence: Any) -> Any:
        """One student's view of the mark, also of a team's."""
        from dataclasses import replace

        from grader.scoring.redact import closes, student_view

        rubric, course = self._rubric(entry.card.rubric), self._course
        own = tuple(total for total in entry.card.totals if total.student == entry.student)
        return student_view(
            rubric,
            evidence,
            replace(entry.card, totals=own),
            now=self._now,
            published=self._published,
            closes=closes(rubric, course.extensions_of(self._assignment), course.zone),
        )
