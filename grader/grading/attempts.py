"""Which of a student's attempts counts, and in what order they are graded."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from grader.errors import GraderError, OutdatedError
from grader.grading.grade import Grading
from grader.grading.score import Graded
from grader.grading.submission import GRADED_LAST, Recorded, Request
from grader.intake.names import Sender
from grader.intake.receive import sender_of_upload
from grader.intake.upload import Upload
from grader.model.magnitude import counted
from grader.model.roster import Roster

Results = Iterator[tuple[int, Graded | Exception]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One attempt that has a score."""

    request: Request
    graded: Graded
    recorded: float = 0.0
    """The points of its recorded grade, which stays where this command leaves points open."""

    @property
    def points(self) -> float:
        """After the late rule; of a team the most that anybody has."""
        points = max(total.adjusted for total in self.graded.scorecard.totals)
        return points if self.graded.final else max(points, self.recorded)


class Attempts:
    """Grades submissions of which several may be attempts of one student."""

    def __init__(
        self,
        grading: Grading,
        roster: Roster,
        tell: Callable[[str], None],
        *,
        recorded: Recorded | None = None,
    ) -> None:
        """`roster` says who hands in together and who has which platform id, `tell` shows a person a line."""
        self._grading, self._roster, self._tell = grading, roster, tell
        self._recorded = recorded

    def grade(self, requests: Sequence[Request], older: Sequence[tuple[Upload, ...]]) -> Results:
        """Yield the score of each request: that of the newest attempt, or of the best if the rubric says so.

        `older` has the earlier attempts of each, the later first. The newest are graded first. Where the best
        counts, all uploads of a student or team contend, whoever of the team handed them in. The best is
        graded last, with what was observed of it before, so that it is what the results folder holds and
        whoever listens hears of.
        """
        contests: dict[int, list[Candidate]] = {}
        contest_of: dict[int, int] = {}
        """By the number of a request that of the first one of the same student and assignment."""
        first_of: dict[tuple[str, str], int] = {}
        names = _names([request.archive for request in requests])
        senders = [sender_of_request(request, self._roster) for request in requests]
        uploads = Counter(sender.student for sender in senders if sender)
        newest = {
            number: replace(
                request,
                one_of_several=bool(older[number]) or (sender is not None and uploads[sender.student] > 1),
                chosen=_chosen("the newest", older[number]),
            )
            for number, (request, sender) in enumerate(zip(requests, senders, strict=True))
        }
        for number, result in self._grade(newest):
            contends = newest[number].one_of_several
            if contends and isinstance(result, Graded) and result.rubric.attempts == "best":
                work = result.submission.student, result.submission.assignment
                contest_of[number] = first_of.setdefault(work, number)
                candidate = self._candidate(requests[number], result)
                contests.setdefault(contest_of[number], []).append(candidate)
                continue
            self._tell_which(names[number], older[number], result)
            yield number, result
        for place in range(max((len(older[number]) for number in contest_of), default=0)):
            attempts = {
                number: replace(requests[number], archive=older[number][place], one_of_several=True)
                for number in contest_of
                if place < len(older[number])
            }
            for number, result in self._grade(attempts):
                contest = contests[contest_of[number]]
                if isinstance(result, GraderError):
                    for problem in result.problems:
                        self._tell(f"{problem}; {_counts(contest[0].request)}")
                elif isinstance(result, Exception):
                    yield number, result
                else:
                    contest.append(self._candidate(attempts[number], result))
        yield from self._grade_best(contests)

    def _candidate(self, request: Request, graded: Graded) -> Candidate:
        recorded = self._recorded.points_of(graded.submission) if self._recorded else 0.0
        return Candidate(request=request, graded=graded, recorded=recorded)

    def _tell_which(self, newest: str, older: Sequence[Upload], result: Graded | Exception) -> None:
        """Say which of several uploads counts, and why."""
        if isinstance(result, Exception):
            for upload in older:
                self._tell(f"{upload.name}: is an older attempt; {newest} counts")
        elif chosen := result.submission.chosen:
            unknown = GRADED_LAST in chosen
            order = "; their names give no order in time: leave out what is not to count" if unknown else ""
            self._tell(f"{newest}: counts, {chosen}{order}")

    def _grade_best(self, contests: Mapping[int, Sequence[Candidate]]) -> Results:
        """Grade the best of each, of equal ones the newest, from what was observed of it by now."""
        bests = {number: max(of, key=lambda candidate: candidate.points) for number, of in contests.items()}
        requests = {}
        for number, best in bests.items():
            others = [other.request.archive for other in contests[number] if other is not best]
            chosen = _chosen(f"the best, with {counted(best.points, 'point')}", others)
            requests[number] = replace(best.request, fresh=False, one_of_several=False, chosen=chosen)
        for number, result in self._grade(requests):
            if isinstance(result, Exception):
                yield number, result
                continue
            if chosen := result.submission.chosen:
                self._tell(f"{result.submission.archive}: counts, {chosen}")
            first = bests[number].graded  # before it was graded once more
            graded_by = contests[number][0].graded.graded_by
            yield (
                number,
                replace(
                    result,
                    ran=first.ran,
                    collected=first.collected,
                    graded_by=graded_by,
                    time_before=first.time_before,
                    no_item=first.no_item,
                ),
            )

    def _grade(self, requests: Mapping[int, Request]) -> Results:
        """Grade requests by their numbers, in as few waves as no student is in twice.

        Each is told which other uploads of its student were graded in earlier waves. One that the gradebook
        does not take, because it has a later run, waits for the uploads that follow: if one of them counts,
        as in a command that is repeated, nothing is wrong.
        """
        numbers = list(requests)
        names = dict(zip(numbers, _names([each.archive for each in requests.values()]), strict=True))
        graded: dict[str, dict[str, tuple[str, ...]]] = {}
        outdated: dict[tuple[str, str], list[tuple[int, Graded]]] = {}
        in_waves, timed = waves(list(requests.values()), self._roster)
        for position, wave in enumerate(in_waves, start=1):
            of_wave = [
                replace(
                    self._after(requests[numbers[place]], graded, timed), followed=position < len(in_waves)
                )
                for place in wave
            ]
            with closing(self._grading.grade(of_wave)) as results:
                for place, result in results:
                    number = numbers[wave[place]]
                    if isinstance(result, Exception):
                        yield number, result
                        continue
                    submission = result.submission
                    uploads = graded.setdefault(submission.student, {})
                    before = uploads.get(submission.assignment, ())
                    uploads[submission.assignment] = (*before, names[number])
                    key = submission.student, submission.assignment
                    if result.outdated and position < len(in_waves):
                        outdated.setdefault(key, []).append((number, result))
                        continue
                    for earlier, of_earlier in outdated.pop(key, ()):
                        yield earlier, replace(of_earlier, outdated=())
                    yield number, result
        for number, result in chain.from_iterable(outdated.values()):
            yield number, result if result.superseded else OutdatedError(*result.outdated)

    def _after(
        self, request: Request, graded: Mapping[str, Mapping[str, tuple[str, ...]]], timed: Collection[str]
    ) -> Request:
        """Return a request that knows the uploads of its student which were graded before."""
        sender = sender_of_request(request, self._roster) if graded else None
        if sender is None:
            return request
        return replace(
            request, earlier=dict(graded.get(sender.student, {})), in_order=sender.student in timed
        )


def _names(uploads: Sequence[Upload]) -> list[str]:
    """Return the names of uploads; of files with the same name from where their folders differ."""
    by_name: dict[str, list[Path]] = {}
    for upload in uploads:
        if isinstance(upload, Path):
            by_name.setdefault(upload.name, []).append(upload.absolute())
    common = {name: os.path.commonpath([path.parent for path in paths]) for name, paths in by_name.items()}
    return [
        str(upload.absolute().relative_to(common[upload.name])) if isinstance(upload, Path) else upload.name
        for upload in uploads
    ]


def waves(requests: Sequence[Request], roster: Roster) -> tuple[list[list[int]], frozenset[str]]:
    """The places of requests, in as few waves as no student is in twice: they would share a folder.

    Where the time of each upload of a student is known, they are in that order; these students are named.
    """
    uploads: dict[str, list[int]] = {}
    for number, request in enumerate(requests):
        sender = sender_of_request(request, roster)
        uploads.setdefault(sender.student if sender else "", []).append(number)
    timed = set()
    for student, numbers in uploads.items():
        times = {number: requests[number].submitted_at for number in numbers}
        if None not in times.values() and len({*times.values()}) == len(numbers):
            numbers.sort(key=times.get)  # type: ignore[arg-type]  # all are known
            timed.add(student)
    longest = max(map(len, uploads.values()), default=0)
    places = [sorted(of[turn] for of in uploads.values() if turn < len(of)) for turn in range(longest)]
    return places, frozenset(timed)


def sender_of_request(request: Request, roster: Roster) -> Sender | None:
    """Return the sender; None if nothing says who it is, which is reported when the upload is opened."""
    try:
        return sender_of_upload(request.archive, roster, request.student)
    except GraderError:
        return None


def _chosen(which: str, others: Sequence[Upload]) -> str:
    """Return `the best of 3 attempts, with 3 points, before hw-2.zip`; empty if there are no others."""
    if not others:
        return ""
    which, comma, how = which.partition(",")
    names = ", ".join(other.name for other in others)
    return f"{which} of {len(others) + 1} attempts{comma}{how}, before {names}"


def _counts(request: Request) -> str:
    return f"{request.archive.name} counts"
