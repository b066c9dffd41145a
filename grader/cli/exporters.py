"""`grader export NAME`: a command for each exporter that the built-ins, plugins or the course bring."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from grader.cli.book import GRADEBOOK, Location, grades_of, opened
from grader.cli.course import find_any, open_course, plugins_of, roster_of
from grader.cli.echo import SUMS_AS_JSON, echo, echo_json, need_file
from grader.cli.files import PATH, remove, write, written
from grader.cli.gradescope import INCLUDE_PROVISIONAL, INCLUDE_UNTIMED, PUBLISHED
from grader.cli.lookup import require_assignment
from grader.cli.plugin_commands import PluginCommands
from grader.contracts.exporter import FilledSheet, ResultsFile, RowOutcome, Rules, Worksheet
from grader.errors import UsageError
from grader.text import one_line

if TYPE_CHECKING:
    from grader.gradebook.book import RecordedGrade

OUT = click.option("--out", type=PATH, metavar="FILE", help="The file; otherwise standard output.")
_WORD = re.compile(r"[^\W\d_]+|\d+")
_OF_A_TITLE = 5
"""Letters from which on a word of an assignment's title tells it from others; `with` and `your` do not."""
_BEGINNING = 4
"""Letters from which on a word is recognised as the beginning of another, as `embed` of `embedding`."""


class Exports(PluginCommands):
    """A command for each exporter, beside those of our own."""

    registry = "exporters"

    def made_of(self, entry: Worksheet | ResultsFile) -> click.Command:
        """Return the command of an exporter."""
        return _results(cast("ResultsFile", entry)) if hasattr(entry, "render") else _worksheet(entry)


def _worksheet(worksheet: Worksheet) -> click.Command:
    """Make the command for a platform's table."""

    @click.command(worksheet.name, help=f"Fill the grades of ASSIGNMENT into {worksheet.file}.")
    @click.argument("assignment")
    @click.option("--sheet", required=True, type=PATH, help="The file as it was given.")
    @click.option("--column", default="", help="The heading or the id of the column.")
    @click.option(
        "--include-provisional", is_flag=True, help="Also grades that are open or held, as they are."
    )
    @INCLUDE_UNTIMED
    @click.option("--overwrite", is_flag=True, help="Also where there is another grade, even a higher one.")
    @click.option("--scale", is_flag=True, help="Convert in proportion where the maximum there is another.")
    @click.option(
        "--digits", default=2, type=click.IntRange(0, 6), show_default=True, help="Decimals that are written."
    )
    @OUT
    @SUMS_AS_JSON
    @GRADEBOOK
    @click.pass_context
    def filled(
        context: click.Context,
        /,
        assignment: str,
        sheet: Path,
        out: Path | None,
        as_json: bool,
        gradebook: Location,
        **values: Any,
    ) -> None:
        need_file(out, as_json=as_json)
        rules = Rules(**values)
        try:
            content = sheet.read_bytes()
        except OSError as error:
            raise UsageError(
                f"--sheet {sheet}: cannot be read ({error.strerror}); name {worksheet.file}"
            ) from None
        if out is not None and out.exists() and out.samefile(sheet):
            raise UsageError(f"--out {out}: is the --sheet, which stays as it was given; name another file")
        with opened(gradebook) as book:
            require_assignment(book, gradebook, assignment)
            grades = grades_of(book, assignment)
        fill = partial(worksheet.fill, content, str(sheet), roster=roster_of(context), rules=rules)
        empty_sheet = fill(grades={})  # whose it is comes before what is wrong with its maximum
        objection = _of_another(context, worksheet.name, empty_sheet, assignment)
        if objection and not rules.column:
            column = shlex.quote(one_line(empty_sheet.column))
            advice = f"name a table of {assignment}, or give --column {column}"
            raise UsageError(f"{sheet}: {objection}; {advice}")
        try:
            filled_sheet = fill(grades=grades)
        except UsageError as error:
            if not objection:
                raise
            advice = f"name a column of {assignment}"
            raise UsageError(f"{sheet}: {objection}; {advice}", *error.problems) from None
        with written(out) as file:
            file.write(filled_sheet.text)
        if as_json:
            echo_json({"file": str(out), **_document(filled_sheet)})
        else:
            _print(filled_sheet, rules)

    return filled


def _of_another(context: click.Context, platform: str, sheet: FilledSheet, assignment: str) -> str:
    """Return why the column that was filled is of another assignment of the course; empty if none is known.

    The ids of `course.yaml` decide; else the words of the title on the platform, of which another
    assignment's name and title have more than this one's.
    """
    course = find_any(context)
    if course is None:
        return ""
    in_heading = sheet.assignment_title in sheet.column
    column = f"{one_line(sheet.column)}: " if in_heading else ""
    ids: Mapping[str, Any] = getattr(course.platforms.get(platform), "assignments", None) or {}
    named = {str(number): name for name, number in ids.items()} if sheet.assignment_id else {}
    if other := named.get(sheet.assignment_id):
        by_id = f"{column}is {other}'s by course.yaml, not {assignment}'s"
        return "" if other == assignment else by_id
    if named and assignment in ids:
        return f"{column}is not {assignment}'s, which is {ids[assignment]} by course.yaml"
    titles = {name: each.title for name, each in plugins_of(context, course.folder).assignments.items()}
    words = {name: _words(name) | _words(title, _OF_A_TITLE) for name, title in titles.items()}
    this = words.pop(assignment, _words(assignment))
    heading = _words(sheet.assignment_title)
    shared = {name: _shared(heading, each, numbers=bool(_numbers(this))) for name, each in words.items()}
    other = max(shared, key=shared.__getitem__, default="")
    if not other or shared[other] <= _shared(heading, this, numbers=True):
        return ""
    place = "its title" if in_heading else "the file's name"
    return f"{column}is {other}'s by {place}, not {assignment}'s"


def _words(text: str, letters: int = 1) -> frozenset[str]:
    """Return the numbers of a text, and its words of so many letters and more."""
    words = (word.lstrip("0") if word.isdigit() else word for word in _WORD.findall(text.casefold()))
    return frozenset(word for word in words if word.isdigit() or len(word) >= letters)


def _numbers(words: frozenset[str]) -> frozenset[str]:
    return frozenset(filter(str.isdigit, words))


def _shared(heading: frozenset[str], words: frozenset[str], *, numbers: bool) -> int:
    """Count the words of a heading that an assignment has; 0 where its numbers are others."""
    both = _numbers(heading) & _numbers(words)
    if _numbers(heading) and _numbers(words) and not both:
        return 0
    alike = [word for word in heading - both if any(_is_like(word, each) for each in words)]
    return len(alike) + (len(both) if numbers else 0)


def _is_like(word: str, other: str) -> bool:
    shorter, longer = sorted((word, other), key=len)
    return word == other or (len(shorter) >= _BEGINNING and longer.startswith(shorter))


def _print(sheet: FilledSheet, rules: Rules) -> None:
    """Print a line for each result with a note, then the sums."""
    for result in sheet.results:
        if result.note:
            echo(f"{result.who}: {result.note}", err=True)
    for remark in sheet.remarks:
        echo(remark, err=True)
    counts = Counter(result.outcome for result in sheet.results)
    into = {RowOutcome.WRITTEN: f" into {one_line(sheet.column)}"} if sheet.column else {}
    sums = [
        f"{counts[outcome]} {outcome}{into.get(outcome, '')}"
        for outcome in RowOutcome
        if counts[outcome] or outcome is RowOutcome.WRITTEN
    ]
    if sheet.rounded:
        sums.append(f"{sheet.rounded} rounded to {rules.digits} decimals")
    echo(", ".join(sums), err=True)


def _document(sheet: FilledSheet) -> dict[str, Any]:
    """Return what became of each row as JSON values, with the sums."""
    counts = Counter(result.outcome for result in sheet.results)
    return {
        "column": sheet.column,
        "rows": [
            {"student": result.who, "outcome": result.outcome.value, "note": result.note}
            for result in sheet.results
        ],
        "remarks": list(sheet.remarks),
        "sums": {outcome.value: counts[outcome] for outcome in RowOutcome if counts[outcome]},
        "rounded": sheet.rounded,
    }


def _results(exporter: ResultsFile) -> click.Command:
    """Make the command for a platform that reads a file for each student."""
    ending = Path(exporter.filename).suffix
    text = (
        f"Write a {exporter.filename} for each student who has a grade in ASSIGNMENT.\n\n"
        "For a platform that fetches grades from elsewhere."
    )

    @click.command(exporter.name, help=text)
    @click.argument("assignment")
    @click.option("--out", required=True, type=PATH, help=f"The folder for STUDENT{ending}.")
    @PUBLISHED
    @INCLUDE_PROVISIONAL
    @INCLUDE_UNTIMED
    @SUMS_AS_JSON
    @GRADEBOOK
    @click.pass_context
    def each(
        context: click.Context, /, assignment: str, out: Path, published: bool, as_json: bool, **values: Any
    ) -> None:
        from grader.lms.fill import IN_FUTURE, UNTIMED
        from grader.model.score import Standing

        options = {name: values[name] for name in ("include_provisional", "include_untimed")}
        rules = Rules(**options)
        files: list[str] = []
        left_out: dict[str, str] = {}
        views = _Views(context, assignment, published)
        with opened(values["gradebook"]) as book:
            require_assignment(book, values["gradebook"], assignment)
            for grade in tuple(book.grades(assignment=assignment)):
                file = out / f"{grade.student}{ending}"
                why = views.objection(grade)
                if grade.card.standing is not Standing.FINAL and not rules.include_provisional:
                    in_future = any(total.late and total.late.in_future for total in grade.card.totals)
                    why = why or (IN_FUTURE if in_future else f"is {grade.card.standing} and held back")
                untimed = any(total.untimed for total in grade.card.totals if total.student == grade.student)
                if untimed and not rules.include_untimed:
                    why = why or UNTIMED
                if why:
                    remove(file)  # a file of an earlier export is out of date
                    left_out[grade.student] = why
                    if not as_json:
                        echo(f"{grade.student}: {why}", err=True)
                    continue
                write(file, exporter.render(views.of(grade, book.evidence(grade.attempt)), rules))
                files.append(str(file))
        if as_json:
            echo_json({"written": files, "left_out": left_out})
        else:
            echo(f"{out}: {len(files)} written", err=True)

    return each


class _Views:
    """The views that students have of the grades in one assignment."""

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

    def objection(self, grade: RecordedGrade) -> str:
        """Return why the grade cannot be shown; empty if it can."""
        if self._rubric(grade.card.rubric).digest != grade.card.rubric_digest:
            again = f"run grader rescore {self._assignment}"
            return f"was graded by an earlier rubric {grade.card.rubric}; {again}"
        return ""

    def of(self, grade: RecordedGrade, evidence: Any) -> Any:
        """Return one student's view of the grade, also of a team's."""
        from dataclasses import replace

        from grader.files import host_folders
        from grader.scoring.redact import closes, student_view

        rubric, course = self._rubric(grade.card.rubric), self._course
        totals = tuple(total for total in grade.card.totals if total.student == grade.student)
        view = student_view(
            rubric,
            evidence,
            replace(grade.card, totals=totals),
            now=self._now,
            published=self._published,
            closes=closes(rubric, course.extensions_of(self._assignment), course.zone),
            host_folders=host_folders(course.folder),
        )
        return replace(view, course_title=course.title, time_zone=course.zone)
