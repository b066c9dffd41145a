"""The plan of a posting: who gets what, who does not, and why."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

import pytest

from grader.contracts.exporter import Grade
from grader.contracts.platform import Person, PlatformGrade, Target
from grader.errors import UsageError
from grader.lms import marker
from grader.lms.posting import DesiredGrade, PostRules, plan
from grader.model.roster import Roster, Student
from grader.model.score import Standing

TARGET = Target(key="lms x 1 2", title="HW1", possible=Decimal(10))


def desired(points=7.5, standing=Standing.FINAL, **keys):
    of_grade = {name: keys.pop(name) for name in ("lateness",) if name in keys}
    grade = Grade(student="ann", points=points, possible=10.0, standing=standing, **of_grade)
    return DesiredGrade(grade=grade, **keys)


def present(points=None, *, row=0, id="11", login="ann", **keys):  # noqa: A002 - the field's name
    person = Person(row=row, name="Doe, Ann", id=id, ids=(("canvas_id", id), ("student", login)))
    number = None if points is None else Decimal(str(points))
    return PlatformGrade(person=person, points=number, shown="" if number is None else str(number), **keys)


def line(want, have, target=TARGET, **rules):
    (result,) = plan({"ann": want}, target, [have], Roster(), PostRules(**rules))
    return result


def marker_of(points, number=1):
    earlier = ()
    for _ in range(number - 1):
        earlier += (marker.following(earlier, TARGET.key, "11", Decimal(0)),)
    return marker.following(earlier, TARGET.key, "11", Decimal(str(points)))


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"points": 4.0, "shown": "4"}, "points must be a Decimal, and are 4.0"),
        ({"points": Decimal(4)}, "`shown` must say the points as people see them"),
        ({"markers": ("7 of 10 points.\n\n[grader 1.0123456789abcdef]",)}, "use markers_in"),
    ],
)
def test_a_platform_that_would_have_a_grade_replaced_or_sent_again_is_told_so(keys, says):
    with pytest.raises((TypeError, ValueError), match=re.escape(says)):
        PlatformGrade(person=present().person, **keys)


def test_a_student_without_a_grade_gets_the_points_and_a_comment():
    result = line(desired(page=Path("report.html")), present())
    assert result.outcome.name == "WRITTEN"
    assert (result.change.id, result.change.points) == ("11", Decimal("7.5"))
    assert result.change.comment == f"7.5 of 10 points. The report is attached.\n\n{marker_of(7.5)}"
    assert result.change.page == Path("report.html")


@pytest.mark.parametrize("standing", [Standing.PROVISIONAL, Standing.HELD])
def test_a_comment_says_what_lateness_costs_and_that_points_may_still_come(standing):
    want = desired(standing=standing, lateness="Handed in 1 day late: 20 % off.")
    comment = line(want, present(), include_provisional=True).change.comment
    assert comment.startswith("7.5 of 10 points. Handed in 1 day late: 20 % off. Points are still open.\n")


@pytest.mark.parametrize(
    ("have", "rules", "outcome", "sent"),
    [
        # another's grade
        (present(5), {}, "UNCHANGED", False),
        (present(5), {"overwrite": True}, "REPLACED", True),
        (present(9), {"overwrite": True}, "UNCHANGED", False),
        (present(9), {"overwrite": True, "lower": True}, "REPLACED", True),
        (present(9), {"lower": True}, "UNCHANGED", False),
        (present(7.5), {"comment": False}, "SAME", False),
        (present(7.5), {}, "SAME", True),
        # of our account, and nothing says that it was grader
        (present(5, by_us=True), {}, "UNCHANGED", False),
        # ours by its marker
        (present(5, by_us=True, markers=(marker_of(5),)), {}, "REPLACED", True),
        (present(9, by_us=True, markers=(marker_of(9),)), {}, "UNCHANGED", False),
        (present(9, by_us=True, markers=(marker_of(9),)), {"lower": True}, "REPLACED", True),
        (present(7.5, by_us=True, markers=(marker_of(7.5),)), {}, "SAME", False),
        # a person changed it after us
        (present(6, by_us=True, markers=(marker_of(5),)), {}, "UNCHANGED", False),
        (present(5, markers=(marker_of(5),)), {}, "UNCHANGED", False),
        # no number
        (PlatformGrade(person=present().person, shown="B+"), {}, "UNCHANGED", False),
        (
            PlatformGrade(person=present().person, settled="is excused there"),
            {"overwrite": True},
            "UNCHANGED",
            False,
        ),
    ],
)
def test_who_gets_the_grade(have, rules, outcome, sent):
    result = line(desired(), have, **rules)
    assert (result.outcome.name, result.change is not None) == (outcome, sent), result.note


def test_what_the_gradebook_says_was_posted_is_ours_only_while_it_stands_there():
    want = desired(posted=(Decimal(5), Decimal(6)))
    assert line(want, present(5, by_us=True)).outcome.name == "REPLACED"
    assert line(want, present(6, by_us=True)).outcome.name == "REPLACED"
    assert line(want, present(4, by_us=True)).outcome.name == "UNCHANGED"
    assert line(want, present(5)).outcome.name == "UNCHANGED"


@pytest.mark.parametrize("standing", [Standing.PROVISIONAL, Standing.HELD])
def test_what_is_open_or_held_waits_until_told(standing):
    assert line(desired(standing=standing), present()).outcome.name == "HELD_BACK"
    assert line(desired(standing=standing), present(), include_provisional=True).outcome.name == "WRITTEN"


def test_another_maximum_stops_everything_or_is_converted():
    target = Target(key="k", title="HW1", possible=Decimal(20))
    with pytest.raises(UsageError, match="the maximum is 20 there, and 10 in the rubric"):
        line(desired(), present(), target)
    assert line(desired(), present(), target, scale=True).change.points == Decimal(15)
    assert line(desired(26 / 3), present(), digits=1).change.points == Decimal("8.7")


def test_where_nothing_can_be_posted_the_reason_is_the_error():
    with pytest.raises(UsageError, match="HW1: is not published"):
        line(desired(), present(), Target(key="k", title="HW1", refusal="is not published; publish it"))


def test_a_bounded_platform_gets_no_grade_above_its_maximum():
    target = Target(key="k", title="HW1", possible=Decimal(10), bounded=True)
    assert line(desired(11.0), present(), target).outcome.name == "HELD_BACK"
    assert line(desired(11.0), present()).outcome.name == "WRITTEN"


def test_the_comment_of_points_that_come_again_is_said_again_with_a_number_of_its_own():
    markers = (marker_of(7.5), marker_of(8, number=2))
    result = line(desired(), present(8, by_us=True, markers=markers), lower=True)
    assert result.change.marker not in markers
    assert result.change.marker == marker_of(7.5, number=3)


def test_a_student_whose_page_is_not_there_gets_the_grade_and_the_comment_later():
    result = line(desired(no_comment="no page"), present())
    assert (result.change.points, result.change.comment, result.note) == (Decimal("7.5"), "", "no page")
    assert line(desired(no_comment="no page"), present(7.5)).change is None


def test_rubric_points_are_sent_if_they_differ_but_never_over_another_s():
    want = desired(rubric={"c1": Decimal(3)})
    assert line(want, present(), comment=False).change.rubric == {"c1": Decimal(3)}
    points = {"c1": Decimal(3), "c2": Decimal(1)}
    assert line(want, present(7.5, rubric=points), comment=False).change is None
    other = {"c1": Decimal(2)}
    assert line(want, present(7.5, rubric=other), comment=False).change is None
    assert line(want, present(7.5, rubric=other), comment=False, overwrite=True).change.points is None


def test_everyone_is_named_who_is_not_found_or_has_no_grade_or_is_two():
    wants = {
        name: DesiredGrade(grade=Grade(student=name, points=1.0, possible=10.0, standing=Standing.FINAL))
        for name in ("ann", "ben", "zoe")
    }
    people = [
        present(login="ann", id="11"),
        present(login="cy", id="12", row=1),
        present(login="x", id="13", row=2),
        present(login="ben", id="14", row=3),
    ]
    roster = Roster(students=(Student(student="ann", canvas_id="14"),), file="roster.csv")
    lines = plan(wants, TARGET, people, roster, PostRules())
    assert [(each.who, each.outcome.name, each.change is None) for each in lines] == [
        ("Doe, Ann (11)", "IN_DOUBT", True),
        ("Doe, Ann (12)", "NO_GRADE", True),
        ("Doe, Ann (13)", "NO_GRADE", True),
        ("Doe, Ann (14)", "IN_DOUBT", True),
        ("ann", "NO_ROW", True),
        ("ben", "NO_ROW", True),
        ("zoe", "NO_ROW", True),
    ]
