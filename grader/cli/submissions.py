"""Uploads that the arguments of `grader run` name."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from grader.errors import UsageError
from grader.model.magnitude import counted

if TYPE_CHECKING:
    from grader.config.course import Course
    from grader.config.times import Id, Times
    from grader.grading.submission import Request
    from grader.intake.upload import Upload
    from grader.model.roster import Roster

CLOCKS_DIFFER = timedelta(hours=1)
"""How far a platform's clock may be ahead of this machine's."""
NAMED = 5
"""Names that a line lists, or lines that tell of a name each, before they are cut short."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInput:
    """The uploads of a run."""

    uploads: tuple[Upload, ...]
    """The newest attempt of each student."""
    older: tuple[tuple[Upload, ...], ...]
    """The earlier attempts of each, the latest first."""
    several: bool
    """Whether one argument was a folder or zip of a class."""
    problems: tuple[str, ...]
    """A line for each part that is no submission or cannot be read."""
    unread: tuple[str, ...]
    """Names of these parts, which say who handed them in."""


def require_submissions(archives: Sequence[Path], out: Path, course: Course, student: str | None) -> None:
    """Refuse a folder that is no student's; print a line for one that may be a class's.

    Raises:
        UsageError: it is that of the course or of the results, or has folders called as students.
    """
    from grader.cli.echo import tell_line
    from grader.intake.download import class_in
    from grader.intake.paths import shown

    course_folder, results = map(os.path.realpath, (course.folder, out))
    for path in archives:
        place = os.path.realpath(path)
        if Path(course_folder).is_relative_to(place):
            what = "is the course itself" if place == course_folder else "holds the whole course"
            raise UsageError(f"{path}: {what}; name what students handed in, as in submissions/*")
        if Path(results).is_relative_to(place):
            raise UsageError(f"{path}: holds the results; name what students handed in, or another --out")
    if student or len(archives) > 1:  # several are a student's each, whatever lies in them
        return
    (folder,) = archives
    names, of_students = class_in(folder, _names(course.roster))
    listed = ", ".join([*map(shown, names[:NAMED]), *(["…"] if len(names) > NAMED else [])])
    if of_students:
        raise UsageError(
            f"{folder}: holds {listed}, called as students on the roster; name them, as in {folder}/*, or "
            "say by --student whose submission it is"
        )
    if names:
        tell_line(
            f"{folder}: is graded as one submission; if {listed} are one each, name them, as in {folder}/*"
        )


def _names(roster: Roster) -> set[str]:
    """Return the names of students and teams on the roster."""
    return {name for entry in roster.students for name in (entry.student, entry.team) if name}


def find_submissions(archives: Sequence[Path], out: Path, course: Course, resources: ExitStack) -> RunInput:
    """Expand archives, folders and downloads to uploads.

    Unpacked files lie below `out` while `resources` are open.

    Raises:
        SubmissionError, NotObservedError: a platform's zip cannot be taken.
        UsageError: `out` cannot be written.
    """
    from grader.grading.results import passing, sweep
    from grader.intake.attempts import attempts_of
    from grader.intake.download import spread
    from grader.intake.upload import group

    sweep(out)
    download = spread(archives, cache(lambda: resources.enter_context(passing(out))), _names(course.roster))
    attempts = attempts_of(group(download.uploads), course.roster)
    return RunInput(
        uploads=tuple(student.newest for student in attempts),
        older=tuple(student.older for student in attempts),
        several=download.several,
        problems=download.problems,
        unread=download.unread,
    )


def lies_in_future(time: datetime | None) -> bool:
    """Tell whether a time of submission has not come yet, by more than clocks may differ."""
    return time is not None and time > datetime.now(UTC) + CLOCKS_DIFFER


def timed(requests: Sequence[Request], file: Path, course: Course) -> list[Request]:
    """Set the submission time of each request from a list, by student, team or id.

    Raises:
        UsageError: the list cannot be read, a row is wrong (with every other row and unknown name), or a time
            was given beside it.
    """
    from grader.cli.echo import tell_line
    from grader.config.problem import closest
    from grader.config.times import WHO, id_of, read_times
    from grader.files import show_path
    from grader.grading.attempts import sender_of_request

    if any(request.submitted_at for request in requests):
        raise UsageError("--times: says when each was handed in; leave out --submitted-at")
    times = read_times(file, course.zone)
    ids = {
        student.student: [id_of(field, value) for field in WHO if (value := getattr(student, field))]
        for student in course.roster.students
    }
    timed_requests: list[Request] = []
    senders = [sender_of_request(request, course.roster) for request in requests]
    known = {
        id_of("student", name) for sender in senders if sender for name in (sender.student, *sender.members)
    }
    on_roster = {*chain.from_iterable(ids.values())}
    unknown = [each for each in times.places if each[0] == "student" and each not in known | on_roster]
    remarks: list[str] = []
    if ids:
        of_run = {value for _, value in known}
        remarks += [f"{show_path(file)}:{line}" for line in _nobody(unknown, times, course.roster, of_run)]
        unknown = []
    uploads = Counter(sender.student for sender in senders if sender)
    teams = _team_ids(times, course.roster)
    for request, sender in zip(requests, senders, strict=True):
        names = (sender.student, *sender.members) if sender else ()
        uploader = {id_of("canvas_id", sender.lms_id)} if sender and sender.lms_id else set()
        uploader |= {id_of("student", sender.uploader)} if sender and sender.uploader else set()
        of_names = (*map(partial(id_of, "student"), names), *chain(*(ids.get(name, ()) for name in names)))
        of_team = teams.get(sender.student.casefold(), ()) if sender else ()
        of_uploader = (*uploader, *chain(*(each for each in ids.values() if uploader & {*each})))
        of_sender = (*of_uploader, *of_names, *of_team)
        # of several uploads of a team each is as late as its uploader
        is_own = sender and sender.members and of_uploader and uploads[sender.student] > 1
        time = times.of(of_uploader) or times.of(of_team) if is_own else times.of(of_sender)
        for name in () if any(each in times.places for each in of_sender) else names:
            if near := closest(name.casefold(), (value for _, value in unknown)):
                remarks.append(f"{show_path(file)}: has no time of {name}; is that meant by {near}?")
        timed_requests.append(replace(request, submitted_at=time, in_future=lies_in_future(time)))
    if times.problems:
        raise UsageError(*times.problems, *remarks)
    for remark in remarks:
        tell_line(remark)
    return timed_requests


def _team_ids(times: Times, roster: Roster) -> dict[str, list[Id]]:
    """Return by each team, as `ann+ben` without capitals, the names in a list of times that are its own."""
    students = {student.student.casefold() for student in roster.students}
    of_teams: dict[str, list[Id]] = {}
    for field, name in times.places:
        if field == "student" and name not in students:
            of_teams.setdefault(roster.hands_in_as(name).casefold(), []).append((field, name))
    return of_teams


def _nobody(unknown: Sequence[Id], times: Times, roster: Roster, of_run: Container[str]) -> Iterator[str]:
    """Yield a line for each name of a list of times that is nobody's on the roster, with who may be meant.

    Those without a time are meant before others, and of them first who has a submission in this run.
    """
    from grader.config.problem import closest, suggestion
    from grader.config.times import id_of
    from grader.config.type_words import quoted

    everybody = _names(roster)
    untimed = {name for name in everybody if id_of("student", name) not in times.places}
    names = {name.casefold() for name in everybody}
    nobody = [each for each in unknown if not all(part in names for part in each[1].split("+"))]
    for each in nobody[:NAMED]:
        groups = ({name for name in untimed if name.casefold() in of_run}, untimed)
        among = next((group for group in groups if closest(each[1], group)), everybody)
        advice = suggestion(each[1], among)
        yield f"{times.places[each]}: student: {quoted(each[1])}: nobody on the roster is called so; {advice}"
    if more := nobody[NAMED:]:
        whose = "is" if len(more) == 1 else "are"
        yield f" {counted(len(more), 'more name')} {whose} nobody's on the roster"
