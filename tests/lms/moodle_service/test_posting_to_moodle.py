"""Grades get to Moodle once each, and nothing that people did there is lost."""

from __future__ import annotations

import random
import re

import pytest

from grader.errors import UsageError
from grader.model.roster import Roster, Student

SAVE = "mod_assign_save_grade"
RIGHT = {101: 7.5, 102: 9.0, 103: 3.25}
THERE = dict.fromkeys(("s001", "s002", "s003"), "there")
OURS = r"<p>%s of 10 points\. \[grader %d\.[0-9a-f]{16}\]</p>"


def at(moodle, function, *faults):
    """Have these faults happen, one after the other, when a function is called."""
    script = list(faults)

    def choose(request):
        return script.pop(0) if script and f"wsfunction={function}&".encode() in request.body else None

    moodle.chooser = choose


def test_grades_and_comments_get_there_and_then_nothing_is_left_to_do(moodle, poster):
    assert poster.answers() == THERE
    assert moodle.scores() == RIGHT
    assert re.fullmatch(OURS % ("7.5", 1), moodle.comments[101])
    assert poster.fates() == dict.fromkeys(poster.points, "SAME")
    assert poster.post() == {}
    assert moodle.count(SAVE) == 3


def test_a_plan_changes_nothing(moodle, poster):
    assert poster.fates() == dict.fromkeys(poster.points, "WRITTEN")
    assert moodle.count(SAVE) == 0
    assert (moodle.grades, moodle.comments) == ({}, {})


@pytest.mark.parametrize("grade", [None, "", "-1.00000", "-1"])
def test_what_moodle_calls_no_grade_is_none(moodle, poster, grade):
    moodle.grade(101, grade)
    assert poster.fates()["s001"] == "WRITTEN"


def test_a_new_grade_replaces_our_comment_and_not_what_a_person_wrote(moodle, poster):
    moodle.comments[101] = '<p>Well done, see <img src="@@PLUGINFILE@@/a.png"></p>'
    poster.post()
    assert re.fullmatch(
        re.escape(moodle.comments[101].partition("\n")[0]) + "\n" + OURS % ("7.5", 1), moodle.comments[101]
    )
    assert moodle.comments[101].startswith('<p>Well done, see <img src="@@PLUGINFILE@@/a.png"></p>\n')
    poster.points["s001"] = 8.0
    assert poster.answers() == {"s001": "there"}
    first, second = moodle.comments[101].split("\n")
    assert "@@PLUGINFILE@@" in first
    assert re.fullmatch(OURS % ("8", 2), second)


@pytest.mark.parametrize(
    "comment", ["<p>See <a href='@@PLUGINFILE@@/x'>x</a></p>\r\n ", "a < b\nand so on", " "]
)
def test_a_grade_alone_leaves_the_comment_byte_for_byte(moodle, poster, comment):
    moodle.comments[101] = comment
    poster.post(comment=False)
    assert moodle.scores() == RIGHT
    assert moodle.comments == {101: comment, 102: "", 103: ""}


def test_a_plain_comment_stays_readable_beside_ours(moodle, poster):
    moodle.comments[101] = "Is 1 < 2?\nYes."
    poster.post()
    assert moodle.comments[101].startswith("<p>Is 1 &lt; 2?<br>Yes.</p>\n<p>7.5 of 10")


def test_a_persons_grade_stays_also_where_moodle_does_not_list_it(moodle, poster):
    for number in (101, 102):
        moodle.grade(number, 2.0)
    moodle.never_there = {102}
    assert poster.answers() == {"s003": "there"}
    assert moodle.scores() == {101: 2.0, 102: 2.0, 103: 3.25}
    assert poster.answers(overwrite=True) == {"s001": "there", "s002": "there"}
    assert moodle.scores() == RIGHT


def test_our_own_grade_is_raised_and_only_lowered_when_told(moodle, poster):
    poster.post()
    poster.points |= {"s001": 8.0, "s002": 1.0}
    assert poster.answers() == {"s001": "there"}
    assert poster.answers(lower=True) == {"s002": "there"}
    assert moodle.scores() == {101: 8.0, 102: 1.0, 103: 3.25}


def test_a_grade_that_moodle_does_not_keep_is_told_and_tried_no_more(moodle, poster):
    moodle.locked = {102}
    receipts = poster.post()
    assert {who: receipt.answer.value for who, receipt in receipts.items()} == {**THERE, "s002": "refused"}
    assert "locked or overridden" in receipts["s002"].message
    assert moodle.count(SAVE) == 3


def test_who_was_graded_since_the_plan_keeps_that(moodle, poster):
    service = poster.service()
    changes = [line.change for line in poster.plan(service)]
    moodle.grade(102, 10.0)
    receipts = {receipt.student: receipt for receipt in service.apply(changes)}
    assert receipts["s002"].answer == "refused"
    assert receipts["s002"].message == "was graded there meanwhile: now it is 10"
    assert moodle.scores() == RIGHT | {102: 10.0}


@pytest.mark.parametrize(
    ("fault", "saves"),
    [
        ("drop_before", 4),
        ("drop_after", 3),
        ("500", 4),
        ("502", 4),
        ("500_after", 3),
        ("500_between", 4),
        ("half", 3),
        ("garbage", 3),
        ("429", 4),
    ],
)
def test_a_lost_answer_is_looked_for_and_sent_again_only_if_it_is_not_there(moodle, poster, fault, saves):
    at(moodle, SAVE, fault)
    assert poster.answers() == THERE
    assert moodle.scores() == RIGHT
    assert all(text.count("[grader ") == 1 for text in moodle.comments.values())
    performed = saves - (fault in {"drop_before", "500", "502", "429"})
    assert (moodle.count(SAVE), len(moodle.saved)) == (performed, performed)


@pytest.mark.parametrize("fault", ["drop_before", "drop_after", "500", "502", "half", "garbage", "429"])
def test_what_is_read_is_read_again(moodle, poster, fault):
    for function in (
        "core_webservice_get_site_info",
        "mod_assign_get_submission_status",
        "mod_assign_get_grades",
    ):
        at(moodle, function, fault)
        poster.plan()
    assert poster.slept == [1.0, 1.0, 1.0]


def test_what_stays_lost_is_unknown_and_the_next_run_sends_it(moodle, poster):
    at(moodle, SAVE, *["drop_before"] * 5)
    assert poster.answers() == {**THERE, "s001": "unknown"}
    assert poster.answers() == {"s001": "there"}
    assert moodle.scores() == RIGHT


def test_a_refusal_is_of_one_student(moodle, poster):
    service = poster.service()
    changes = [line.change for line in poster.plan(service)]
    del moodle.users[102]
    receipts = {receipt.student: receipt for receipt in service.apply(changes)}
    assert {who: receipt.answer.value for who, receipt in receipts.items()} == {**THERE, "s002": "refused"}
    assert receipts["s002"].message == "The user is not in this course"


def test_a_grade_that_moodle_refuses_is_not_sent_again(moodle, poster):
    moodle.refused = {102}
    receipts = poster.post()
    assert {who: receipt.answer.value for who, receipt in receipts.items()} == {**THERE, "s002": "refused"}
    assert "do not currently have permissions" in receipts["s002"].message
    assert moodle.count(SAVE) == 3


def test_a_grade_that_a_person_confirmed_is_theirs(moodle, poster):
    poster.post()
    moodle.grade(101, 7.5)
    poster.points["s001"] = 8.0
    assert poster.fates() == {"s001": "UNCHANGED", "s002": "SAME", "s003": "SAME"}


def test_what_moodle_would_not_take_is_held_back(moodle, poster):
    poster.points |= {"s001": 10.5, "s002": -1.0}
    assert poster.answers() == {"s003": "there"}
    assert moodle.scores() == {103: 3.25}


def test_a_grade_of_somebody_anonymous_is_seen_although_the_gradebook_lacks_it(moodle, poster):
    moodle.assignment["blindmarking"] = 1
    people = Roster(students=(Student(student="s001", moodle_id="5101"),), file="roster.csv")
    poster.points = {"s001": 7.5}
    service = poster.service()
    changes = [line.change for line in poster.plan(service, roster=people, comment=False) if line.change]
    assert [receipt.answer.value for receipt in service.apply(changes)] == ["there"]
    assert moodle.saved == [(101, 7.5)]


def test_anonymous_students_are_found_by_the_number_of_the_participant_alone(moodle, poster):
    moodle.assignment["blindmarking"] = 1
    assert set(poster.fates().values()) == {"NO_GRADE", "NO_ROW"}
    people = Roster(students=(Student(student="s001", moodle_id="5101"),), file="roster.csv")
    fates = {line.who: line.outcome.name for line in poster.plan(roster=people)}
    assert fates["s001"] == "WRITTEN"
    assert "anonymous" in poster.service().target().remarks[0]
    moodle.assignment["revealidentities"] = 1
    assert poster.fates() == dict.fromkeys(poster.points, "WRITTEN")


def test_members_of_a_team_each_get_their_own_grade(moodle, poster):
    moodle.assignment["teamsubmission"] = 1
    moodle.never_there = {101, 102, 103}
    assert poster.answers() == THERE
    assert moodle.scores() == RIGHT
    assert "each member" in poster.service().target().remarks[0]


def test_where_comments_are_off_grades_go_without(moodle, poster):
    moodle.comments_enabled = "0"
    assert not poster.service().target().takes_comments
    assert poster.answers() == THERE
    assert moodle.comments == {}
    assert "comments are off" in poster.service().target().remarks[0]


def test_a_student_who_cannot_be_looked_at_is_left_with_the_reason(moodle, poster):
    perform = moodle._submission_status
    moodle._submission_status = lambda form, between: perform(
        form | {"userid": "5"} if form["userid"] == "102" else form, between
    )
    (line,) = [line for line in poster.plan() if line.who == "s002"]
    assert (line.outcome.name, line.note) == (
        "UNCHANGED",
        "cannot be read there (The user is not in this course)",
    )


def test_other_points_than_the_rubric_s_are_refused_or_converted(moodle, poster):
    moodle.assignment["grade"] = 30
    with pytest.raises(UsageError, match="the maximum is 30 there, and 10 in the rubric"):
        poster.plan()
    poster.post(scale=True)
    assert moodle.scores() == {number: 3 * points for number, points in RIGHT.items()}


def test_thirds_are_there_once_they_are_there(moodle, poster):
    poster.points = {"s001": 20 / 3}
    assert poster.answers(digits=5) == {"s001": "there"}
    assert poster.fates(digits=5)["s001"] == "SAME"


@pytest.mark.quick(2)
@pytest.mark.parametrize("seed", range(6))
def test_in_a_storm_everyone_gets_exactly_their_grade(server, seed):
    chance = random.Random(seed)
    kinds = ("drop_before", "drop_after", "500", "502", "500_after", "500_between", "half", "garbage", "429")
    with server.Moodle(students=25) as moodle:
        grades = {user["username"]: round(chance.uniform(0, 10), 2) for user in moodle.users.values()}
        poster = server.Poster(moodle, grades)
        by_hand = chance.sample(sorted(moodle.users), 5)
        for number in by_hand:
            moodle.grade(number, 9.99)
            moodle.comments[number] = "<p>By a person</p>"
        moodle.chooser = lambda request: chance.choice(kinds) if chance.random() < 0.2 else None
        while "unknown" in poster.answers().values():
            pass
        moodle.chooser = lambda request: None
        assert poster.post() == {}
        expected = {number: grades[user["username"]] for number, user in moodle.users.items()}
        expected |= dict.fromkeys(by_hand, 9.99)
        assert moodle.scores() == pytest.approx(expected)
        for number in moodle.users:
            assert moodle.comments[number].count("[grader ") == (number not in by_hand)
        assert {number: moodle.comments[number] for number in by_hand} == dict.fromkeys(
            by_hand, "<p>By a person</p>"
        )
        assert moodle.violations == []
