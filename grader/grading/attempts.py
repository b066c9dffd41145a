"""Which of a student's attempts counts, and in what order they are graded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from grader.errors import GraderError
from grader.grading.grade import Grading
from grader.grading.score import Graded
from grader.grading.submission import Request
from grader.intake.names import Sender
from grader.intake.receive import sender_of_upload
from grader.intake.upload import Upload

Results = Iterator[tuple[int, Graded | Exception]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One attempt that has a score."""

    request: Request
    graded: Graded

    @property
    def points(self) -> float:
        """After the late rule; of a team the most that anybody has."""
        return max(total.adjusted for total in self.graded.scorecard.totals)


class Attempts:
    """Grades submissions of which several may be attempts of one student."""

    def __init__(self, grading: Grading, roster: Mapping[str, str], tell: Callable[[str], None]) -> None:
        """`roster` says which student has which id of a platform, `tell` shows a line to a person."""
        self._grading, self._roster, self._tell = grading, roster, tell

    def grade(self, requests: Sequence[Request], older: Sequence[tuple[Upload, ...]]) -> Results:
        """Yield the score of each request: that of the newest attempt, or of the best if the rubric says so.

        `older` has the earlier attempts of each, the later first. The newest are graded first. The best is
        graded last, with what was observed of it before, so that it is what the results folder holds and
        whoever listens hears of.
        """
        contests: dict[int, list[Candidate]] = {}
        newest = {
            number: replace(request, one_of_several=bool(older[number]))
            for number, request in enumerate(requests)
        }
        for number, result in self._grade(newest):
            if older[number] and not isinstance(result, Exception) and result.rubric.attempts == "best":
                contests[number] = [Candidate(request=requests[number], graded=result)]
                continue
            for submission in older[number]:
                self._tell(f"{submission.name}: is an older attempt; {_counts(requests[number])}")
            yield number, result
        for place in range(max((len(older[number]) for number in contests), default=0)):
            attempts = {
                number: replace(requests[number], archive=older[number][place], one_of_several=True)
                for number in contests
                if place < len(older[number])
            }
            for number, result in self._grade(attempts):
                if isinstance(result, GraderError):
                    for problem in result.problems:
                        self._tell(f"{problem}; {_counts(contests[number][0].request)}")
                elif isinstance(result, Exception):
                    yield number, result
                else:
                    contests[number].append(Candidate(request=attempts[number], graded=result))
        bests = {number: self._best(candidates) for number, candidates in contests.items()}
        requests_of_bests = {
            number: replace(best.request, fresh=False, one_of_several=False) for number, best in bests.items()
        }
        for number, result in self._grade(requests_of_bests):
            if isinstance(result, Exception):
                yield number, result
                continue
            first = bests[number].graded  # before it was graded once more
            yield (
                number,
                replace(
                    result,
                    ran=first.ran,
                    collected=first.collected,
                    graded_by=contests[number][0].graded.graded_by,
                ),
            )

    def _grade(self, requests: Mapping[int, Request]) -> Results:
        """Grade requests by their numbers, in as few waves as no student is in twice."""
        numbers = list(requests)
        for wave in waves([request.archive for request in requests.values()], self._roster):
            with closing(self._grading.grade([requests[numbers[place]] for place in wave])) as results:
                for place, result in results:
                    yield numbers[wave[place]], result

    def _best(self, candidates: Sequence[Candidate]) -> Candidate:
        """Return the best, of equal ones the newest."""
        best = max(candidates, key=lambda candidate: candidate.points)
        others = [candidate.request.archive.name for candidate in candidates if candidate is not best]
        if others:
            self._tell(f"{best.request.archive.name}: is the best attempt, before {', '.join(others)}")
        return best


def waves(submissions: Sequence[Upload], roster: Mapping[str, str]) -> list[list[int]]:
    """The places of archives, in as few waves as no student is in twice: they would share a folder."""
    students: list[set[str]] = []
    places: list[list[int]] = []
    for number, submission in enumerate(submissions):
        sender = sender_named_by(submission, roster)
        student = sender.student if sender else ""
        wave = next((n for n, names in enumerate(students) if student not in names), len(places))
        if wave == len(places):
            students.append(set())
            places.append([])
        students[wave].add(student)
        places[wave].append(number)
    return places


def sender_named_by(submission: Upload, roster: Mapping[str, str]) -> Sender | None:
    """Return the sender; None if its name does not say, which is reported when it is opened."""
    try:
        return sender_of_upload(submission, roster)
    except GraderError:
        return None


def _counts(request: Request) -> str:
    return f"{request.archive.name} counts"
