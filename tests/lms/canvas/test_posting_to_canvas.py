"""Grades and comments get to Canvas once each, whatever happens to requests."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from grader.contracts.platform import Answer
from grader.errors import NotObservedError, UsageError


def answers(receipts):
    return {student: receipt.answer for student, receipt in receipts.items()}


def all_there(*students):
    return dict.fromkeys(students, Answer.THERE)


def test_a_plan_changes_nothing(canvas, poster):
    lines = poster.plan()
    assert [(line.who, line.now, line.new, line.outcome.name) for line in lines] == [
        ("s001", "", "7.5", "WRITTEN"),
        ("s002", "", "9", "WRITTEN"),
        ("s003", "", "3.25", "WRITTEN"),
    ]
    assert {method for method, _ in canvas.requests} == {"GET"}


def test_grades_and_comments_get_there_and_a_second_run_has_nothing_to_do(canvas, poster):
    assert answers(poster.post()) == all_there("s001", "s002", "s003")
    assert canvas.scores() == {101: 7.5, 102: 9.0, 103: 3.25}
    (comment,) = canvas.comments_of(101)
    assert comment.startswith("7.5 of 10 points.\n\n[grader 1.")
    assert poster.post() == {}
    assert len(canvas.comments) == 3


def test_grades_alone_go_together(canvas, poster):
    assert answers(poster.post(comment=False)) == all_there("s001", "s002", "s003")
    assert canvas.scores() == {101: 7.5, 102: 9.0, 103: 3.25}
    assert [method for method, _ in canvas.requests if method != "GET"] == ["POST"]
    assert canvas.comments == []


@pytest.mark.quick(6)
@pytest.mark.parametrize(
    "fault",
    [
        "drop_before",
        "drop_after",
        "500",
        "502",
        "500_after",
        "500_between",
        "half",
        "garbage",
        "429",
        "403_rate",
    ],
)
@pytest.mark.parametrize("comment", [True, False])
def test_a_fault_at_any_one_request_neither_loses_nor_doubles_anything(
    loopback_canvas, poster_for, fault, comment
):
    place = 0
    while True:
        with loopback_canvas.LoopbackCanvas(students=3) as canvas:
            poster = poster_for(canvas, {"s001": 7.5, "s002": 9.0, "s003": 3.25})
            canvas.chooser = lambda _: fault if len(canvas.requests) == place + 1 else None  # noqa: B023
            poster.post(comment=comment)
            assert canvas.violations == []
            assert canvas.scores() == {101: 7.5, 102: 9.0, 103: 3.25}
            assert len(canvas.comments) == (3 if comment else 0)
            assert len(canvas.graded) == 3
            if len(canvas.requests) <= place:
                break
        place += 1
    assert place > 5


def test_what_stands_on_canvas_is_left_as_the_rules_say(canvas, poster):
    canvas.grade(101, 9.0)
    canvas.records[102]["excused"] = True
    lines = {line.who: (line.outcome.name, line.now) for line in poster.plan()}
    assert lines == {"s001": ("UNCHANGED", "9"), "s002": ("UNCHANGED", "excused"), "s003": ("WRITTEN", "")}
    assert answers(poster.post()) == all_there("s003")
    assert canvas.scores() == {101: 9.0, 102: None, 103: 3.25}
    assert answers(poster.post(overwrite=True)) == {}
    assert answers(poster.post(overwrite=True, lower=True)) == all_there("s001")
    assert canvas.scores()[101] == 7.5


def test_our_own_grade_is_raised_and_not_lowered_and_a_persons_change_stays(canvas, poster_for):
    poster = poster_for(canvas, {"s001": 5.0, "s002": 5.0, "s003": 5.0})
    poster.post()
    canvas.grade(103, 6.0)
    after = poster_for(
        canvas, {"s001": 7.0, "s002": 4.0, "s003": 7.0}
    )  # also without the gradebook of before
    for each in (after, poster):
        after.posted = each.posted
        assert [line.outcome.name for line in after.plan()] == ["REPLACED", "UNCHANGED", "UNCHANGED"]
    after.post()
    assert canvas.scores() == {101: 7.0, 102: 5.0, 103: 6.0}
    assert [text.splitlines()[0] for text in canvas.comments_of(101)] == [
        "5 of 10 points.",
        "7 of 10 points.",
    ]


def test_a_grade_alone_is_raised_by_what_the_gradebook_knows(canvas, poster_for):
    poster = poster_for(canvas, {"s001": 5.0, "s002": 5.0, "s003": 5.0})
    poster.post(comment=False)
    after = poster_for(canvas, {"s001": 7.0, "s002": 7.0, "s003": 7.0})
    assert {line.outcome.name for line in after.plan(comment=False)} == {"UNCHANGED"}
    after.posted = poster.posted
    assert {line.outcome.name for line in after.plan(comment=False)} == {"REPLACED"}


def test_a_marker_in_a_students_comment_counts_for_nothing(canvas, poster):
    (line, *_) = poster.plan()
    canvas.comment(101, line.change.comment, author=101)
    canvas.grade(102, 1.0)
    (_, other, _) = poster.plan(overwrite=True)
    canvas.comment(102, other.change.comment, author=102)
    assert [line.outcome.name for line in poster.plan()] == ["WRITTEN", "UNCHANGED", "WRITTEN"]
    poster.post()
    assert len(canvas.comments_of(101)) == 2


def test_a_comment_that_canvas_shows_under_another_name_is_not_sent_again(canvas, poster):
    say = canvas.comment
    canvas.comment = lambda number, text, **keys: say(number, text, author=1_000_900, **keys)
    assert answers(poster.post()) == all_there("s001", "s002", "s003")
    assert len(canvas.comments) == 3


def test_who_was_graded_or_excused_between_plan_and_apply_is_left(canvas, poster):
    client = poster.client()
    changes = [line.change for line in poster.plan(client)]
    canvas.grade(101, 2.0)
    canvas.records[102]["excused"] = True
    receipts = {receipt.student: (receipt.answer.name, receipt.message) for receipt in client.apply(changes)}
    assert receipts == {
        "s001": ("REFUSED", "was graded there meanwhile: now it is 2"),
        "s002": ("REFUSED", "was excused there meanwhile"),
        "s003": ("THERE", ""),
    }
    assert canvas.scores() == {101: 2.0, 102: None, 103: 3.25}


def test_who_was_graded_while_an_answer_was_lost_is_left_by_the_bulk_too(canvas, poster):
    def choose(request):
        if request.command == "POST":
            canvas.chooser = lambda _: None
            canvas.grade(102, 2.0)
            return "drop_before"
        return None

    canvas.chooser = choose
    receipts = poster.post(comment=False)
    assert {who: receipt.answer.name for who, receipt in receipts.items()} == {
        "s001": "THERE",
        "s002": "REFUSED",
        "s003": "THERE",
    }
    assert canvas.scores() == {101: 7.5, 102: 2.0, 103: 3.25}


def test_the_page_is_attached_in_three_steps_without_the_token(canvas, poster, tmp_path):
    page = tmp_path / "report.html"
    page.write_bytes("<p>Ännä</p>\r\n--x\r\n".encode() * 100)
    poster.desired["s001"] = replace(poster.desired["s001"], page=page)
    faults = iter([None] * 12 + ["drop_after", "drop_before", "500", "500_after"])
    canvas.chooser = lambda _: next(faults, None)
    assert answers(poster.post()) == all_there("s001", "s002", "s003")
    (comment,) = [comment for comment in canvas.comments if comment["user"] == 101]
    assert comment["comment"].startswith("7.5 of 10 points. The report is attached.")
    assert comment["files"] == (("report.html", page.read_bytes()),)


def test_a_page_that_cannot_be_read_leaves_the_student_without_anything(canvas, poster, tmp_path):
    poster.desired["s001"] = replace(poster.desired["s001"], page=tmp_path / "gone.html")
    receipts = poster.post()
    assert (receipts["s001"].answer, receipts["s002"].answer) == (Answer.REFUSED, Answer.THERE)
    assert "gone.html: cannot be read" in receipts["s001"].message
    assert canvas.scores() == {101: None, 102: 9.0, 103: 3.25}


CRITERIA = [{"id": "_c1", "points": 4, "description": "Right"}, {"id": "_c2", "points": 6}]


@pytest.mark.parametrize("comment", [True, False])
def test_points_of_criteria_stand_in_canvas_rubric(canvas, poster, comment):
    canvas.assignment["rubric"] = CRITERIA
    for who, grade in poster.desired.items():
        poster.desired[who] = replace(grade, rubric={"_c1": Decimal("2.5"), "_c2": Decimal(5)})
    faults = iter([None] * 8 + ["drop_after"])
    canvas.chooser = lambda _: next(faults, None)
    assert answers(poster.post(comment=comment)) == all_there("s001", "s002", "s003")
    points = {"_c1": {"points": 2.5}, "_c2": {"points": 5.0}}
    assert [submission["rubric_assessment"] for submission in canvas.records.values()] == [points] * 3
    assert poster.post(comment=comment) == {}
    assert len(canvas.comments) == (3 if comment else 0)


def test_criteria_that_canvas_does_not_know_are_refused_in_its_words(canvas, poster):
    canvas.assignment["rubric"] = CRITERIA
    poster.desired["s001"] = replace(poster.desired["s001"], rubric={"_nine": Decimal(1)})
    receipts = poster.post()
    assert (receipts["s001"].answer, receipts["s001"].message) == (
        Answer.REFUSED,
        "invalid rubric_assessment",
    )


def test_a_rubric_that_decides_the_grade_gets_no_points(canvas, poster):
    canvas.assignment |= {"rubric": CRITERIA, "use_rubric_for_grading": True}
    target = poster.client().target()
    assert target.criteria == {}
    assert "is graded by its rubric" in target.remarks[0]


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"published": False}, "is not published"),
        ({"grading_type": "pass_fail"}, "is not graded in points"),
        ({"moderated_grading": True, "grades_published": False}, "is moderated, and its grades"),
        ({"anonymize_students": True}, "hides in Canvas who is who"),
        (
            {"group_category_id": 5, "grade_group_students_individually": False},
            "gives grades to whole groups",
        ),
    ],
)
def test_an_assignment_that_takes_no_grades_stops_the_plan(canvas, poster, facts, why):
    canvas.assignment |= facts
    with pytest.raises(UsageError, match=f"HW1: {why}"):
        poster.plan()


def test_a_moderated_assignment_refuses_and_says_so(loopback_canvas, poster_for):
    with loopback_canvas.LoopbackCanvas(students=8) as canvas:
        canvas.assignment["moderated_grading"] = True
        poster = poster_for(canvas, {f"s{number:03}": 1.0 for number in range(1, 9)})
        assert "is moderated" in poster.client().target().remarks[0]
        with pytest.raises(NotObservedError, match="this account may not do that"):
            poster.post()
        assert [method for method, _ in canvas.requests].count("PUT") == 5
        assert set(canvas.scores().values()) == {None}


def test_who_is_enrolled_and_not_assigned_and_who_is_unknown_is_named(canvas, poster_for):
    del canvas.records[102]
    poster = poster_for(canvas, {"s001": 1.0, "s002": 1.0, "zoe": 1.0})
    lines = [(line.who, line.outcome.name) for line in poster.plan()]
    assert lines == [
        ("s001", "WRITTEN"),
        ("s002", "UNCHANGED"),
        ("s003, Student (103)", "NO_GRADE"),
        ("zoe", "NO_ROW"),
    ]


def test_somebody_who_leaves_between_plan_and_apply_is_refused_alone(canvas, poster):
    client = poster.client()
    changes = [line.change for line in poster.plan(client, comment=False)]
    del canvas.records[102]
    receipts = {receipt.student: receipt.answer for receipt in client.apply(changes)}
    assert receipts == {"s001": Answer.THERE, "s002": Answer.REFUSED, "s003": Answer.THERE}


def test_what_canvas_takes_off_for_lateness_is_said_and_compared_with_nothing(canvas, poster):
    poster.post()
    canvas.records[101]["points_deducted"] = 1.5
    (line, *_) = poster.plan()
    assert (line.outcome.name, line.now, line.note) == ("SAME", "7.5", "Canvas takes 1.5 off for lateness")


def test_a_course_or_an_assignment_that_is_not_there_is_one_line(canvas, poster, loopback_canvas):
    def perform(request, *, between):
        raise loopback_canvas.missing()

    canvas.perform = perform
    with pytest.raises(NotObservedError, match="is not to be had"):
        poster.plan()


def test_what_canvas_may_still_be_at_work_on_is_not_sent_again(canvas, poster):
    faults = iter(["504_late"])
    canvas.chooser = lambda request: next(faults, None) if request.command == "PUT" else None
    receipts = poster.post()
    assert answers(receipts) == {"s001": Answer.UNKNOWN, "s002": Answer.THERE, "s003": Answer.THERE}
    assert receipts["s001"].message == "it answered 504; run it again to look"
    assert poster.post() == {}
    assert len(canvas.comments_of(101)) == 1


def test_a_job_that_does_not_end_is_left_in_doubt(canvas, poster):
    canvas._progress = lambda _, job: canvas._job(job)
    receipts = poster.post(comment=False)
    assert {(receipt.answer, receipt.message) for receipt in receipts.values()} == {
        (Answer.UNKNOWN, "Canvas is still at work; run it again to look")
    }
    assert sum(poster.slept) > 600


def test_a_change_whose_answer_is_lost_again_and_again_is_in_doubt(canvas, poster):
    canvas.chooser = lambda request: "drop_before" if request.command == "PUT" else None
    receipts = poster.post()
    assert {receipt.answer for receipt in receipts.values()} == {Answer.UNKNOWN}
    assert all(receipt.message.endswith("run it again to look") for receipt in receipts.values())
    canvas.chooser = lambda _: None
    assert answers(poster.post()) == all_there("s001", "s002", "s003")
    assert len(canvas.comments) == 3


def test_a_token_that_ends_in_the_middle_ends_the_run_and_the_next_one_completes_it(
    canvas, poster, loopback_canvas
):
    client, perform = poster.client(), canvas.perform
    changes = [line.change for line in poster.plan(client)]

    def revoked(request, *, between):
        error = {"errors": [{"message": "Revoked access token."}]}
        raise loopback_canvas.Trouble(401, error, **{"WWW-Authenticate": "Bearer"})

    receipts = client.apply(changes)
    assert next(receipts).answer is Answer.THERE
    canvas.perform = revoked
    with pytest.raises(UsageError, match="does not accept the token"):
        next(receipts)
    canvas.perform = perform
    assert answers(poster.post()) == all_there("s002", "s003")
    assert len(canvas.comments) == 3


def test_a_401_without_a_word_of_the_token_is_about_permission(canvas, poster, loopback_canvas):
    def older(request, *, between):
        raise loopback_canvas.Trouble(
            401, {"status": "unauthorized", "errors": [{"message": "not authorized"}]}
        )

    canvas.perform = older
    with pytest.raises(NotObservedError, match=r"this account may not do that \(not authorized\)"):
        poster.plan()
