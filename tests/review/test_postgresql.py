"""A team on PostgreSQL: two programs on one database lose no points, and see each other's."""

from __future__ import annotations

import threading

from grader.config.course import find_course
from grader.config.points_file import PointsGiven
from grader.gradebook.book import Gradebook
from grader.plugins import Plugins
from grader.review.class_index import ClassIndex
from grader.review.demo import ASSIGNMENT, fill, write_course
from grader.review.desk import Desk
from grader.review.judging import Conflict, Judging, Saved, clock
from grader.review.people import Reviewer
from tests.gradebook.test_postgresql import location, pytestmark, server  # noqa: F401 - fixtures and marks
from tests.review.conftest import forget_course_code


def test_of_two_programs_at_once_one_writes_first_and_the_other_sees_it(location, tmp_path):  # noqa: F811
    write_course(tmp_path / "course")
    course = find_course(tmp_path / "course", {}, tmp_path)
    forget_course_code()
    desk = Desk(ASSIGNMENT, course, Plugins(course.folder), course.rubric_for(ASSIGNMENT))
    with Gradebook(location, create=True) as one, Gradebook(location) as two:
        fill(one, desk, tmp_path / "results")
        queue = ClassIndex(one, desk).refresh().queue(desk.items["writing"])
        outcomes: dict[str, list[Saved | Conflict]] = {"Bob": [], "Cem": []}
        barrier = threading.Barrier(2)

        def grade(book: Gradebook, name: str, points: float) -> None:
            judging, person = Judging(book, desk), Reviewer(name=name, role="assistant")
            for entry in queue:
                record = PointsGiven(
                    item="writing",
                    points=points,
                    possible=2.0,
                    by=name,
                    at=clock(),
                    criteria=(),
                    submission=entry.submission.digest,
                )
                barrier.wait(60)
                outcomes[name].append(judging.give(entry, record, person, after=0))

        threads = [
            threading.Thread(target=grade, args=(one, "Bob", 1.0)),
            threading.Thread(target=grade, args=(two, "Cem", 2.0)),
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for bob, cem in zip(outcomes["Bob"], outcomes["Cem"], strict=True):
            assert {type(bob), type(cem)} == {Saved, Conflict}
        index = ClassIndex(two, desk).refresh()
        for entry, bob in zip(queue, outcomes["Bob"], strict=True):
            points = 1.0 if isinstance(bob, Saved) else 2.0
            assert index.judgement(entry, "writing").record.points == points
            assert index.entry(entry.number).line("writing").points == points
    forget_course_code()
