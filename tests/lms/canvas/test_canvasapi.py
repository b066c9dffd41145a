"""The independent package canvasapi drives the same server to the same outcome, and reads what we read.

So neither our client nor the server follows only our own reading of the documentation.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

pytestmark = pytest.mark.filterwarnings("ignore:.*HTTP URLs:UserWarning")
CRITERIA = [{"id": "_c1", "points": 4, "description": "Right"}]


@pytest.fixture
def theirs(canvas, loopback_canvas):
    """The assignment, as canvasapi has it."""
    import canvasapi

    course = canvasapi.Canvas(canvas.url, loopback_canvas.TOKEN).get_course(loopback_canvas.COURSE)
    return course.get_assignment(loopback_canvas.ASSIGNMENT)


def state(canvas):
    """All that a person could see."""
    comments = [(one["user"], one["comment"], one["files"]) for one in canvas.comments]
    held = {number: (one["entered_score"], one["rubric_assessment"]) for number, one in canvas.held.items()}
    return held, sorted(comments)


def test_one_by_one_with_page_and_rubric(loopback_canvas, canvas, poster, poster_for, theirs, tmp_path):
    page = tmp_path / "report.html"
    page.write_bytes(b"<p>all right</p>")
    canvas.assignment["rubric"] = CRITERIA
    with loopback_canvas.LoopbackCanvas() as other:
        other.assignment["rubric"] = CRITERIA
        ours = poster_for(other, {"s001": 7.5, "s002": 9.0, "s003": 3.25})
        for one in (ours, poster):
            one.wanted["s001"] = replace(one.wanted["s001"], page=page, rubric={"_c1": Decimal("2.5")})
        ours.post()
        # markers have the server's port in them
        lines = [line.change for line in poster.plan()]
        for change in lines:
            submission = theirs.get_submission(int(change.id), include=["submission_comments"])
            comment = {"text_comment": change.comment}
            if change.page is not None:
                ok, file = upload(theirs, change)
                assert ok
                comment["file_ids"] = [file["id"]]
            submission.edit(
                submission={"posted_grade": str(change.points)},
                comment=comment,
                rubric_assessment={name: {"points": str(of)} for name, of in change.rubric.items()},
            )
        assert without_markers(state(canvas)) == without_markers(state(other))
        assert other.violations == []
    assert poster.post() == {}


def upload(assignment, change):
    from canvasapi.upload import Uploader

    path = (
        f"courses/{assignment.course_id}/assignments/{assignment.id}/submissions/{change.id}/comments/files"
    )
    return Uploader(assignment._requester, path, change.page).start()


def without_markers(found):
    held, comments = found
    return held, [(user, text.split("[grader")[0], files) for user, text, files in comments]


def test_many_at_once(canvas, poster, theirs):
    changes = [line.change for line in poster.plan(comment=False)]
    data = {int(one.id): {"posted_grade": str(one.points)} for one in changes}
    progress = theirs.submissions_bulk_update(grade_data=data)
    states = [progress.workflow_state]
    while states[-1] not in {"completed", "failed"}:
        progress = progress.query()
        states.append(progress.workflow_state)
    assert states == ["queued", "running", "completed"]
    assert canvas.scores() == {101: 7.5, 102: 9.0, 103: 3.25}
    assert poster.post(comment=False) == {}


def test_both_read_the_same(loopback_canvas, poster_for):
    import canvasapi

    with loopback_canvas.LoopbackCanvas(students=23, page_most=4) as canvas:
        marks = {f"s{number:03}": float(number) for number in range(1, 11)}
        poster = poster_for(canvas, marks)
        poster.post()
        course = canvasapi.Canvas(canvas.url, loopback_canvas.TOKEN).get_course(loopback_canvas.COURSE)
        assignment = course.get_assignment(loopback_canvas.ASSIGNMENT)
        submissions = list(assignment.get_submissions(include=["submission_comments", "rubric_assessment"]))
        users = list(course.get_users(enrollment_type=["student"], include=["email"]))
        ours = poster.client().grades()
        assert [one.person.id for one in ours] == [str(one.id) for one in users]
        assert [one.points for one in ours] == [
            None if one.score is None else Decimal(str(one.score)) for one in submissions
        ]
        assert [len(one.markers) for one in ours] == [len(one.submission_comments) for one in submissions]
        assert canvas.violations == []


def test_both_are_refused_alike(canvas, poster, theirs):
    from canvasapi.exceptions import BadRequest, Forbidden, ResourceDoesNotExist

    canvas.assignment["rubric"] = CRITERIA
    with pytest.raises(BadRequest):
        theirs.get_submission(101).edit(rubric_assessment={"_nine": {"points": "1"}})
    with pytest.raises(ResourceDoesNotExist):
        theirs.get_submission(999)
    canvas.assignment["moderated_grading"] = True
    with pytest.raises(Forbidden):
        theirs.get_submission(101).edit(submission={"posted_grade": "1"})
    poster.wanted["s001"] = replace(poster.wanted["s001"], rubric={"_nine": Decimal(1)})
    told = poster.post()
    assert {one.answer.name for one in told.values()} == {"REFUSED"}
    assert set(canvas.scores().values()) == {None}
