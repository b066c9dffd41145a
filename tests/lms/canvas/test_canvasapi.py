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
    comments = [(comment["user"], comment["comment"], comment["files"]) for comment in canvas.comments]
    grades = {
        number: (submission["entered_score"], submission["rubric_assessment"])
        for number, submission in canvas.records.items()
    }
    return grades, sorted(comments)


def test_one_by_one_with_page_and_rubric(loopback_canvas, canvas, poster, poster_for, theirs, tmp_path):
    page = tmp_path / "report.html"
    page.write_bytes(b"<p>all right</p>")
    canvas.assignment["rubric"] = CRITERIA
    with loopback_canvas.LoopbackCanvas() as other:
        other.assignment["rubric"] = CRITERIA
        ours = poster_for(other, {"s001": 7.5, "s002": 9.0, "s003": 3.25})
        for each in (ours, poster):
            each.desired["s001"] = replace(each.desired["s001"], page=page, rubric={"_c1": Decimal("2.5")})
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


def without_markers(visible):
    grades, comments = visible
    return grades, [(user, text.split("[grader")[0], files) for user, text, files in comments]


def test_many_at_once(canvas, poster, theirs):
    changes = [line.change for line in poster.plan(comment=False)]
    data = {int(change.id): {"posted_grade": str(change.points)} for change in changes}
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
        grades = {f"s{number:03}": float(number) for number in range(1, 11)}
        poster = poster_for(canvas, grades)
        poster.post()
        course = canvasapi.Canvas(canvas.url, loopback_canvas.TOKEN).get_course(loopback_canvas.COURSE)
        assignment = course.get_assignment(loopback_canvas.ASSIGNMENT)
        submissions = list(assignment.get_submissions(include=["submission_comments", "rubric_assessment"]))
        users = list(course.get_users(enrollment_type=["student"], include=["email"]))
        ours = poster.client().grades()
        assert [grade.person.id for grade in ours] == [str(grade.id) for grade in users]
        assert [grade.points for grade in ours] == [
            None if submission.score is None else Decimal(str(submission.score)) for submission in submissions
        ]
        assert [len(grade.markers) for grade in ours] == [
            len(grade.submission_comments) for grade in submissions
        ]
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
    poster.desired["s001"] = replace(poster.desired["s001"], rubric={"_nine": Decimal(1)})
    receipts = poster.post()
    assert {receipt.answer.name for receipt in receipts.values()} == {"REFUSED"}
    assert set(canvas.scores().values()) == {None}
