"""Stand-ins with everybody of a course in one assignment, for `grader post --rehearse`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from grader.contracts.platform import PlatformOptions, PlatformStandIn
from grader.lms.loopback import canvas as of_canvas
from grader.lms.loopback import moodle as of_moodle
from grader.model.magnitude import counted

if TYPE_CHECKING:
    from grader.model.roster import Student

_FIRST_MADE_UP = 10**9
"""Numbers of students whose number on the platform nobody knows."""
_TITLE = "Rehearsal"


@contextmanager
def canvas(
    options: Any, assignment: str, students: Sequence[Student], possible: float
) -> Iterator[PlatformStandIn]:
    """Play a Canvas; `options` makes its keys in `course.yaml`."""
    numbers = _numbers([student.canvas_id for student in students])
    with of_canvas.LoopbackCanvas(students=0, page_most=50) as server:
        server.assignment |= {"name": _TITLE, "points_possible": possible}
        _enroll(server, numbers, students, sis_id="sis_user_id")

        def arrived() -> Mapping[str, str]:
            return {
                student.student: _words(server.scores()[number], server.comments_of(number))
                for number, student in zip(numbers, students, strict=True)
                if server.scores()[number] is not None or server.comments_of(number)
            }

        keys: PlatformOptions = options(
            url=server.url, course=of_canvas.COURSE, assignments={assignment: of_canvas.ASSIGNMENT}
        )
        yield PlatformStandIn(options=keys, token=of_canvas.TOKEN, arrived=arrived)


@contextmanager
def moodle(
    options: Any, assignment: str, students: Sequence[Student], possible: float
) -> Iterator[PlatformStandIn]:
    """Play a Moodle; `options` makes its keys in `course.yaml`."""
    numbers = _numbers([""] * len(students))
    with of_moodle.LoopbackMoodle(students=0) as server:
        server.assignment |= {"name": _TITLE, "grade": possible}
        _enroll(server, numbers, students, sis_id="idnumber")

        def arrived() -> Mapping[str, str]:
            return {
                student.student: _words(server.scores()[number], [server.comments.get(number, "")])
                for number, student in zip(numbers, students, strict=True)
                if number in server.grades
            }

        keys: PlatformOptions = options(url=server.url, assignments={assignment: of_moodle.MODULE})
        yield PlatformStandIn(options=keys, token=of_moodle.TOKEN, arrived=arrived)


def _numbers(known: Sequence[str]) -> list[int]:
    """Return the number of each student on the platform, made up where none is known."""
    return [int(number) if number.isdigit() else _FIRST_MADE_UP + place for place, number in enumerate(known)]


def _enroll(
    server: of_canvas.LoopbackCanvas | of_moodle.LoopbackMoodle,
    numbers: Sequence[int],
    students: Sequence[Student],
    *,
    sis_id: str,
) -> None:
    """Enrol students with the ids that the roster has of them; the platform calls one of these `sis_id`."""
    for number, student in zip(numbers, students, strict=True):
        server.enroll(number, student.student)
        ids = {sis_id: student.sis_id, "email": student.email}
        server.users[number] |= {name: value for name, value in ids.items() if value}


def _words(points: float | None, comments: Sequence[str]) -> str:
    """Return `3 points, comment: Graded: 3 / 3`."""
    first = next((comment.splitlines()[0] for comment in reversed(comments) if comment), "")
    graded = "" if points is None else counted(points, "point")
    return ", ".join(filter(None, (graded, first and f"comment: {first}")))
