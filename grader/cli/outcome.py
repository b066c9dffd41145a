"""Results of a run: a card for each of a few submissions, a line for each of many, then totals."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from grader.cli.display import show
from grader.cli.echo import echo, echo_json, tell_line
from grader.cli.exit_reason import OLDER, ExitReasons
from grader.cli.submission_times import SubmissionTimes
from grader.errors import (
    CourseError,
    ExitCode,
    NamelessError,
    NotObservedError,
    NotRecordedError,
    OutdatedError,
    UsageError,
)
from grader.grading.rubric_of_class import remark as remark_on_rubrics
from grader.model.magnitude import counted, number
from grader.model.observation import LEFT_OUT
from grader.model.score import Standing
from grader.reports.terminal import encodable, sign_of
from grader.reports.words import SAME_FILES, LineState, local_time, out_of, still_open
from grader.text import one_line

if TYPE_CHECKING:
    from grader.cli.submissions import RunInput
    from grader.config.course import Course
    from grader.grading.score import Graded
    from grader.intake.upload import Upload
    from grader.model.score import Scorecard, Total
    from grader.model.submission import Submission

FEW = 5
"""Print full scorecards for at most this many submissions."""
NAMED = 5
"""More submissions with the same problem are counted, not named."""
_LISTED = 3
_LATER_RUN = re.compile(r": [^:]+, [^:]+: a later run is recorded already \([^)]*\)")
"""What differs in the lines on submissions of which the gradebook has a later run: student and times."""
_WORDS = {Standing.FINAL: "final", Standing.PROVISIONAL: "with open points", Standing.HELD: "held"}
_MARKS = {Standing.FINAL: LineState.FULL, Standing.PROVISIONAL: LineState.OPEN, Standing.HELD: LineState.HELD}


class RunSummary:
    """Prints each result as it arrives; keeps no evidence, so that memory stays flat in a large class."""

    def __init__(
        self,
        course: Course,
        run: RunInput,
        out: Path,
        *,
        accepts: Callable[[str], Sequence[str]],
        items: Sequence[str] = (),
        as_json: bool,
        require_final: bool,
    ) -> None:
        """Take what returns the files that an assignment asks for.

        `items` are patterns of the items that a card lists; none stands for all.
        """
        self._accepts = accepts
        self._course = course
        self._out = out
        self._folders = re.compile(rf"({re.escape(str(out))}/(?:\.incoming-|[^/:]+/))[^/:]+/")
        self._items = items
        self._as_json = as_json
        self._several = run.several
        self._many = run.several or len(run.uploads) > FEW
        """Whether each submission gets a line in place of a card."""
        self._of_class = run.several or len(run.uploads) > 1
        """Whether sums, who of the roster is missing, and the reason of the exit code come last."""
        self._reasons = ExitReasons(require_final=require_final)
        self._cards: dict[int, Any] = {}
        self._refused = list(run.problems)
        """A line for each reason why something was not graded, in the order in which they come."""
        self._waiting: dict[int, Graded | Exception] = {}
        """Results of a few submissions that wait for earlier ones, to be printed in order."""
        self._next = 0
        self._width = max((len(upload.name) for upload in run.uploads), default=0)
        self._graded: dict[str, list[Submission]] = {}
        """By assignment, the submissions of students."""
        self._standings: Counter[Standing] = Counter()
        self._unchanged = 0
        """Submissions for which nothing was run again."""
        self._students: set[str] = set()
        self._uploads = run.uploads
        self._ungraded: set[str] = set()
        """Students whose upload was not graded."""
        self._times = SubmissionTimes(course.zone)
        self._graded_by: dict[tuple[str, str], Counter[str]] = {}
        """By assignment and rubric, how many were graded by which other rubric before."""
        self._repeated: dict[str, list[str]] = {}
        """By a line that was printed, the submissions after the first one for which it would be again."""
        for problem in run.problems:
            tell_line(problem)
            self._reasons.refused(ExitCode.NOT_ACCEPTED)
        for name in run.unread:
            self._ungraded.update(self._senders(name))

    def add(self, number: int, result: Graded | Exception) -> None:
        """Add the result of the submission at index `number`."""
        if self._many:
            self._tell(number, result)
            return
        self._waiting[number] = result
        while self._next in self._waiting:
            self._tell(self._next, self._waiting.pop(self._next))
            self._next += 1

    def close(self) -> ExitCode:
        """Print the totals and return the exit code."""
        if self._as_json:
            scores = [self._cards[number] for number in sorted(self._cards)]
            echo_json({"scores": scores, "refused": self._refused})
        for problem, others in self._repeated.items():
            if others:
                first = ", ".join(others if len(others) <= NAMED else [*others[:NAMED], "…"])
                tell_line(f"the same of {counted(len(others), 'more submission')} ({first}): {problem}")
        for (assignment, rubric), graded_by in self._graded_by.items():
            tell_line(remark_on_rubrics(assignment, rubric, graded_by, self._out))
        for line in self._times.unknown():
            tell_line(line)
        for line in self._same_files():
            tell_line(line)
        for line in self._times.changed() if self._of_class else ():
            tell_line(line)
        for line in self._times.in_future():
            tell_line(line)
        if self._of_class:
            for line in self._sums():
                echo(line, err=True)
        return self._reasons.code

    def _tell(self, number: int, result: Graded | Exception) -> None:
        if isinstance(result, Exception):  # the others can be graded still
            from grader.cli.main import of_the_course, tell

            name = self._uploads[number].name
            kind = type(of_the_course(result) or result)
            code = tell(result, lambda problem: self._tell_refused(problem, name, kind))
            if code is ExitCode.BUG and self._of_class:  # a traceback names nobody
                tell_line(f"{name}: is not graded, for the bug above")
            nameless = self._several and isinstance(result, NamelessError)  # nobody typed that name here
            students = self._ungraded
            if isinstance(result, OutdatedError):  # they have a grade by another run
                self._reasons.older()
                students = self._students
            elif isinstance(result, NotRecordedError):
                self._reasons.not_recorded()
                students = self._students
            else:
                self._reasons.refused(ExitCode.NOT_ACCEPTED if nameless else code)
            students.update(self._senders(self._uploads[number]))
            return
        for mistake in result.mistakes:  # the course's: whose submission shows it says nothing
            if mistake not in self._repeated:
                self._tell_once(mistake, result.submission.student)
        roster = self._course.roster
        is_tried = self._is_reference(number, result.submission.assignment)
        # the sums of a class name them
        stranger = "" if self._of_class or is_tried else roster.stranger(result.submission)
        remarks = (
            result.trouble,
            result.no_item,
            roster.remark(result.submission),
            stranger,
            "" if is_tried else roster.other_teams(result.submission),
            *self._left_out(result),
            *result.outdated,
        )
        for remark in filter(None, remarks):
            self._tell_once(remark, result.submission.student)
        if not is_tried:
            self._graded.setdefault(result.submission.assignment, []).append(result.submission)
        self._reasons.graded(result)
        self._standings[result.scorecard.standing] += 1
        self._unchanged += _is_unchanged(result)
        self._students.update(result.submission.students)
        if result.graded_by not in {"", result.rubric.name}:
            key = result.submission.assignment, result.rubric.name
            self._graded_by.setdefault(key, Counter())[result.graded_by] += 1
        self._times.add(result, is_tried=is_tried)
        self._show(number, result)

    def _show(self, number: int, result: Graded) -> None:
        """Print the row or card of a grade, or keep its JSON."""
        if self._as_json and result.outdated:  # another grade counts
            self._refused += map(one_line, result.outdated)
        elif self._as_json:
            text = (result.results.folder / "score.json").read_text(encoding="utf-8")
            self._cards[number] = json.loads(text)
        elif self._many:
            echo(_row(result, self._width, sys.stdout, self._course.zone))
        else:
            show(result, self._course.zone, self._items)
            if line := not_run_again(result, self._course.zone):
                echo(f"    {line}")

    def _is_reference(self, number: int, assignment: str) -> bool:
        """Tell whether an upload is the assignment's own reference: no student's, and never late."""
        upload = self._uploads[number]
        reference = self._course.assignment_folder(assignment) / "reference"
        return isinstance(upload, Path) and upload.resolve() == reference.resolve()

    def _left_out(self, result: Graded) -> Iterator[str]:
        """Yield a line for each file left out that may be, or hold, one that is missing or asked for."""
        from grader.filenames import saved_as
        from grader.intake.formats import split_ending
        from grader.intake.identify import misnamed, missing
        from grader.intake.paths import shown
        from grader.intake.upload import packed

        of, accepts = result.submission, self._accepts(result.submission.assignment)
        where = f"{shown(of.archive)} ({of.student})"
        misnamed_files = misnamed(of.files, of.dropped, accepts)
        for path, meant in misnamed_files.items():
            remedy = saved_as(path, meant)
            do = "move" if Path(path).name == Path(meant).name else "rename"
            advice = f"if it is meant, {remedy}" if remedy else f"if that is meant, {do} it and grade again"
            yield f"{where}: {shown(path)} is not graded, and there is no {meant}; {advice}"
        for path in of.dropped:
            if path not in misnamed_files and any(f"{path} {LEFT_OUT}" in note for note in _notes(result)):
                why = "is not graded, and other files that were handed in may need it"
                advice = "if students may hand it in, name it in accepts of assignment.py and grade again"
                yield f"{where}: {shown(path)} {why}; {advice}"
        absent = ", ".join(missing(of.files, accepts)[:_LISTED])
        for archive in of.unread if absent else ():
            yield f"{where}: inside, {archive}; there is no {absent}: look whether that is in it"
        for path in of.dropped if absent else ():
            if packed(Path(path)) and not split_ending(path)[1]:  # others were looked into
                yield (
                    f"{where}: {shown(path)} inside is not unpacked, and there is no {absent}; "
                    "look whether that is in it"
                )

    def _tell_refused(self, problem: str, name: str, kind: type[Exception]) -> None:
        """Print why a submission was not graded; a mistake of the course once, whosesoever shows it."""
        if issubclass(kind, CourseError) and problem in self._repeated:
            return
        # a full disk is met with one submission; what else a machine lacks concerns all
        of_disk = issubclass(kind, OSError) or (kind is NotObservedError and str(self._out) in problem)
        prefix = f"{name}: " if of_disk and self._of_class and name not in problem else ""
        self._refused.append(one_line(prefix + problem))
        self._tell_once(problem, name, prefix)

    def _tell_once(self, line: str, name: str, prefix: str = "") -> None:
        """Print a line on a submission, or count it if it is there; in a class only folder and times differ.

        The line begins with `prefix`, which others of the same cause need not have.
        """
        cause = line
        if self._many:
            cause = self._folders.sub(lambda found: f"{found[1]}…/", line)
            cause = _LATER_RUN.sub(": a later run is recorded already", cause)
        if cause in self._repeated:
            self._repeated[cause].append(one_line(name))
            return
        self._repeated[cause] = []
        tell_line(prefix + line)

    def _senders(self, upload: Upload | str) -> tuple[str, ...]:
        """Return who sent an upload, as far as its name says; nobody for a file that is no archive."""
        from grader.intake.names import sender_of
        from grader.intake.receive import sender_of_upload
        from grader.intake.upload import packed

        if isinstance(upload, Path) and upload.suffix and upload.is_file() and not packed(upload):
            return ()
        try:
            roster = self._course.roster
            if isinstance(upload, str):
                sender = sender_of(upload, roster=roster)
            else:
                sender = sender_of_upload(upload, roster)
        except (UsageError, CourseError):
            return ()
        return sender.members or (sender.student,)

    def _same_files(self) -> Iterator[str]:
        """Yield a line on students with the same files, which are not those of starter or reference."""
        from grader.intake.receive import same_files

        for assignment, submissions in self._graded.items():
            folder = self._course.assignment_folder(assignment)
            for alike in same_files(submissions, self._course.roster, folder):
                students = ", ".join(alike)
                yield f"{assignment}: {students}: {SAME_FILES}, which costs nothing; look how that came about"

    def _sums(self) -> Iterator[str]:
        """Yield totals, and roster members without a submission."""
        unrecorded = self._reasons.unrecorded
        graded = self._standings.total() + unrecorded
        parts = [
            f"{self._standings[standing]} {what}"
            for standing, what in _WORDS.items()
            if self._standings[standing]
        ]
        parts += [f"{unrecorded} not recorded"] if unrecorded else []
        yield f"{counted(graded, 'submission')} graded" + (f": {', '.join(parts)}" if parts else "")
        if without := self._reasons.without_grade:
            yield f"{counted(without, 'submission')} without a grade; the lines above say why"
        if older := self._reasons.outdated:
            are = "is" if older == 1 else "are"
            yield f"{counted(older, 'submission')} {are} {OLDER}; the recorded grade counts"
        yield from self._course.roster.reconciled(self._students, self._ungraded)
        if self._unchanged:
            are, them = ("is", "it") if self._unchanged == 1 else ("are", "them")
            yield (
                f"{counted(self._unchanged, 'submission')} {are} unchanged, and nothing was run again for "
                f"{them}; --fresh runs {them} again"
            )
        if reason := self._reasons.line():
            yield reason


def not_run_again(graded: Graded, zone: tzinfo) -> str:
    """Say that this command ran nothing for a submission, and of when its results are; empty if it did."""
    if _is_unchanged(graded):
        return (
            f"Nothing was run again: the submission is unchanged. Its results are of {_began(graded, zone)}."
        )
    if graded.collected:
        return f"Nothing was run by this command: it collected results of {_began(graded, zone)}."
    return ""


def _is_unchanged(graded: Graded) -> bool:
    return not graded.ran and bool(graded.evidence.runs)


def _began(graded: Graded, zone: tzinfo) -> str:
    """Return when the last run began."""
    return local_time(graded.evidence.runs[-1].started_at, zone)


def _notes(result: Graded) -> Iterator[str]:
    """Yield the notes on all items of a submission, and on their cases."""
    for observation in result.evidence.observations.values():
        yield observation.note
        yield from (case.note for case in observation.cases)


def _is_late(total: Total) -> bool:
    """Tell whether lateness took points."""
    return total.late is not None and bool(total.late.share)


def _late_totals(card: Scorecard) -> Iterator[str]:
    """Yield the totals that lateness lowered, with whose they are where a team has others as well."""
    if len({total.adjusted for total in card.totals}) == 1:
        yield number(card.totals[0].adjusted)
        return
    yield from (f"{number(total.adjusted)} ({total.student})" for total in card.totals if _is_late(total))


def _row(graded: Graded, width: int, stream: TextIO, zone: tzinfo) -> str:
    """Format `✓ doejane_12345   18 / 21`, with open points or a hold, and of when it is if it was not run."""
    card = graded.scorecard
    sign = sign_of(_MARKS[card.standing], stream)
    amount = still_open(card)
    note = {
        Standing.FINAL: "",
        Standing.PROVISIONAL: f"  {amount} open" if amount else "  some items open",
        Standing.HELD: "  held: a person has to look",
    }[card.standing]
    figure = out_of(card.points.raw, card.points.possible)
    late = f"  {', '.join(_late_totals(card))} after lateness" if any(map(_is_late, card.totals)) else ""
    how = "not run again" if _is_unchanged(graded) else "collected" if graded.collected else ""
    of = f"  {how}, results of {_began(graded, zone)}" if how else ""
    return encodable(f"{sign} {one_line(card.student):{width}}  {figure}{late}{note}{of}", stream)
