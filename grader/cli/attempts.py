"""Which of a student's attempts counts, and in what order they are graded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from grader.cli.echo import echo
from grader.cli.hand_ins import turns
from grader.errors import GraderError

if TYPE_CHECKING:
    from grader.config.course import Course
    from grader.exams import Request
    from grader.intake.hand_in import HandIn
    from grader.pipeline import Graded
    from grader.plugins import Plugins


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One attempt that has a mark."""

    request: Request
    graded: Graded

    @property
    def points(self) -> float:
        """After the late rule; of a team the most that anybody has."""
        return max(total.adjusted for total in self.graded.scorecard.totals)


class SideBySide:
    """Grades hand-ins side by side, in as few turns as no student is in twice."""

    def __init__(self, course: Course, plugins: Plugins, at_once: int) -> None:
        self._course, self._plugins, self._at_once = course, plugins, at_once

    def __call__(self, requests: Mapping[int, Request]) -> Iterator[tuple[int, Graded | Exception]]:
        """The marks, or why there are none, as they come; by the numbers of the requests."""
        from grader.cuda.gpus import gpus
        from grader.lanes import grade_all

        numbers = list(requests)
        for turn in turns([request.archive for request in requests.values()], self._course):
            asked = [requests[numbers[place]] for place in turn]
            at_once = min(self._at_once, len(asked))
            lanes = grade_all(asked, self._course, self._plugins, at_once=at_once, gpus=len(gpus()))
            with closing(lanes):
                for place, result in lanes:
                    yield numbers[turn[place]], result


def best_of(
    requests: Sequence[Request], older: Sequence[tuple[HandIn, ...]], grade: SideBySide
) -> Iterator[tuple[int, Graded | Exception]]:
    """The mark of each hand-in; of attempts that of the newest, or of the best if the rubric says so.

    The newest are graded first. The best is always graded last, with what it observed before, so that it is
    what the results folder holds and whoever listens hears of.
    """
    contests: dict[int, list[Candidate]] = {}
    first = (replace(one, one_of_several=bool(older[number])) for number, one in enumerate(requests))
    for number, result in grade(dict(enumerate(first))):
        if older[number] and not isinstance(result, Exception) and result.rubric.attempts == "best":
            contests[number] = [Candidate(request=requests[number], graded=result)]
            continue
        for hand_in in older[number]:
            echo(f"grader: {hand_in.name}: is an older attempt; {_counts(requests[number])}", err=True)
        yield number, result
    for place in range(max((len(older[number]) for number in contests), default=0)):
        turn = {
            number: replace(requests[number], archive=older[number][place], one_of_several=True)
            for number in contests
            if place < len(older[number])
        }
        for number, result in grade(turn):
            if isinstance(result, GraderError):
                for problem in result.problems:
                    echo(f"grader: {problem}; {_counts(contests[number][0].request)}", err=True)
            elif isinstance(result, Exception):
                yield number, result
            else:
                contests[number].append(Candidate(request=turn[number], graded=result))
    yield from grade({number: _best(candidates) for number, candidates in contests.items()})


def _best(candidates: Sequence[Candidate]) -> Request:
    """The best, of equal ones the newest, to be graded from what is known of it."""
    best = max(candidates, key=lambda candidate: candidate.points)
    others = [candidate.request.archive.name for candidate in candidates if candidate is not best]
    if others:
        name = best.request.archive.name
        echo(f"grader: {name}: is the best attempt, before {', '.join(others)}", err=True)
    return replace(best.request, fresh=False, one_of_several=False)


def _counts(request: Request) -> str:
    return f"{request.archive.name} counts"
