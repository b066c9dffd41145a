"""The gradebook of Canvas, as formats of learning platforms describe it, with grades filled in."""

from __future__ import annotations

import pytest

from grader.errors import UsageError
from grader.lms.canvas_csv import CanvasCsv
from grader.model.score import Standing

SHEET = """\
Student,ID,SIS User ID,SIS Login ID,Section,HW1 (4242),HW2 (4243),Current Score
,,,,,Manual Posting,,(read only)
    Points Possible,,,,,10,5,(read only)
"Doe, Jane",12345,S1,jdoe,"CS 1, CS 2",,4,80
"Roe, Ben",12346,S2,broe@uni.edu,CS 1,6,,
"Fox, Cy",12347,S3,cfox,CS 1,EX,,
"Poe, Eve",12348,S4,epoe,CS 1,N/A,,
"Li, Dan",12349,S5,dli,CS 1,,,
"Student, Test",99999,,abc,CS 1,,,
"""
FILLED = """\
Student,ID,SIS User ID,SIS Login ID,Section,HW1 (4242),HW2 (4243),Current Score
,,,,,Manual Posting,,(read only)
    Points Possible,,,,,10,5,(read only)
"Doe, Jane",12345,S1,jdoe,"CS 1, CS 2",7.5,4,80
"Roe, Ben",12346,S2,broe@uni.edu,CS 1,6,,
"Fox, Cy",12347,S3,cfox,CS 1,EX,,
"Poe, Eve",12348,S4,epoe,CS 1,N/A,,
"Li, Dan",12349,S5,dli,CS 1,8.67,,
"Student, Test",99999,,abc,CS 1,,,
"""


@pytest.fixture
def done(lms):
    grades = [
        lms.grade("jane", 7.5),
        lms.grade("ben", 9.0),
        lms.grade("cfox", 9.0),
        lms.grade("epoe", 9.0),
        lms.grade("dli", 26 / 3),
        lms.grade("zoe", 1.0),
    ]
    people = lms.roster(
        {"student": "jane", "canvas_id": "12345"}, {"student": "ben", "email": "BRoe@uni.edu"}
    )
    return lms.fill(CanvasCsv(), SHEET, grades, people, column="4242")


def test_grades_stand_in_the_column_and_nothing_else_changes(done):
    assert done.text == FILLED
    assert done.rounded == 1


def test_everyone_who_did_not_get_their_grade_is_named(done, lms):
    assert lms.results_of(done) == {
        "jane": ("WRITTEN", ""),
        "ben": ("UNCHANGED", "6 is there, and the grade is 9; --overwrite replaces it"),
        "cfox": ("UNCHANGED", "is excused there; take that back first if a grade shall stand there"),
        "epoe": ("UNCHANGED", "is not assigned this there; assign it first"),
        "dli": ("WRITTEN", ""),
        "Student, Test (99999)": ("NO_GRADE", "is in the file and has no grade"),
        "zoe": ("NO_ROW", "has a grade, but no row of the file is surely theirs; have they left the course?"),
    }


def test_not_even_overwriting_replaces_what_is_excused(lms):
    done = lms.fill(CanvasCsv(), SHEET, [lms.grade("cfox")], column="4242", overwrite=True)
    assert done.text == SHEET


def test_a_submission_from_a_download_is_found_by_its_name_and_id_without_a_roster(lms):
    grades = [lms.grade("doejane_12345", lms_id="12345")]
    done = lms.fill(CanvasCsv(), SHEET, grades, column="HW1 (4242)")
    assert lms.table(done.text)[3][5] == "7.5"


def test_the_id_of_another_platform_is_nobodys(lms):
    grades = [lms.grade("foxcy_12345", lms_id="12345"), lms.grade("12346", lms_id="")]
    done = lms.fill(CanvasCsv(), SHEET, grades, column="4242")
    assert done.text == SHEET


def test_an_id_of_ours_that_looks_like_one_of_canvas_is_none(lms):
    sheet = "Student,ID,Section,HW1 (1)\n王小明,77,a,\n"
    assert lms.fill(CanvasCsv(), sheet, [lms.grade("77")]).text == sheet
    assert lms.fill(CanvasCsv(), sheet, [lms.grade("77", lms_id="77")]).text == sheet.replace("a,", "a,7.5")


def test_one_person_under_two_names_is_in_doubt_if_both_have_a_grade(lms):
    people = lms.roster({"student": "jane", "canvas_id": "12345"})
    before = lms.grade("doejane_12345", 5.0, lms_id="12345")
    done = lms.fill(CanvasCsv(), SHEET, [before], people, column="4242")
    assert lms.table(done.text)[3][5] == "5"
    done = lms.fill(CanvasCsv(), SHEET, [before, lms.grade("jane")], people, column="4242")
    assert done.text == SHEET
    note = "its ids are of doejane_12345 and of jane; correct the roster"
    assert lms.results_of(done)["Doe, Jane (12345)"] == ("IN_DOUBT", note)


@pytest.mark.parametrize("name", ["Müller, Jörg", "王小明", "Łoś, Æ"])
def test_a_name_that_is_not_ascii_is_found_as_the_download_spells_it(lms, name):
    from grader.intake.names import sender_of

    sheet = f'Student,ID,Section,HW1 (1)\n"{name}",77,a,\n'
    ascii_only = "".join(c for c in name.lower() if c.isalnum() and c.isascii())
    whole = "".join(c for c in name.lower() if c.isalnum())
    for spelled in (ascii_only, whole):
        student = sender_of(f"{spelled}_77_1_work.zip").student
        done = lms.fill(CanvasCsv(), sheet, [lms.grade(student, lms_id="77")])
        assert lms.table(done.text)[1][3] == "7.5", spelled


def test_more_than_the_maximum_is_taken(lms):
    done = lms.fill(CanvasCsv(), SHEET, [lms.grade("dli", 11.5)], column="4242")
    assert lms.table(done.text)[7][5] == "11.5"


def test_another_maximum_is_refused_or_converted(lms):
    grades = [lms.grade("jdoe", 3.0), lms.grade("dli", 10.0, standing=Standing.PROVISIONAL)]
    with pytest.raises(UsageError) as caught:
        lms.fill(CanvasCsv(), SHEET, grades, column="4243", overwrite=True)
    assert caught.value.problems == (
        "sheet.csv:3: the maximum is 5 there, and 10 in the rubric; make them alike, or convert with --scale",
    )
    done = lms.fill(CanvasCsv(), SHEET, grades, column="4243", overwrite=True, scale=True)
    assert lms.table(done.text)[3][6] == "1.5"
    assert lms.results_of(done)["jdoe"] == ("REPLACED", "4 was there, now it is 1.5, which is less")


@pytest.mark.parametrize(
    ("sheet", "column", "line"),
    [
        (SHEET, "", "sheet.csv:1: has several assignments; name one by --column: HW1 (4242), HW2 (4243)"),
        (SHEET, "HW1", "--column HW1: is no assignment of sheet.csv; there are HW1 (4242), HW2 (4243)"),
        (SHEET, "Section", "--column Section: is no assignment of sheet.csv; there are HW1 (4242), "),
        ("Student,ID,Section,HW1\n", "", "there is no column of an assignment, as in 'HW1 (4242)'"),
        (
            "Student,ID,HW1 (1)\n",
            "",
            "sheet.csv:1: there is no column 'Section'; there are HW1 (1), ID, Student",
        ),
        (
            "Student,ID,Section,HW1 (1)\n    Points Possible,,,(read only)\n",
            "",
            "sheet.csv:1: HW1 (1): is read only in Canvas; name another column",
        ),
    ],
)
def test_no_column_is_made_up_for_canvas_would_make_an_assignment_of_it(lms, sheet, column, line):
    with pytest.raises(UsageError) as caught:
        lms.fill(CanvasCsv(), sheet, [lms.grade()], column=column)
    assert line in caught.value.problems[0]


def test_ids_of_two_students_and_two_rows_of_one_student_are_in_doubt(lms):
    people = lms.roster(
        {"student": "jane", "canvas_id": "12345", "sis_id": "S5"}, {"student": "ben", "sis_id": "S1"}
    )
    grades = [lms.grade("jane"), lms.grade("ben")]
    done = lms.fill(CanvasCsv(), SHEET, grades, people, column="4242")
    assert done.text == SHEET
    results = lms.results_of(done)
    assert results["Doe, Jane (12345)"] == ("IN_DOUBT", "its ids are of ben and of jane; correct the roster")
    assert results["Li, Dan (12349)"][0] == "IN_DOUBT", "what is of jane in another row is not given to Dan"
    assert {results["jane"][0], results["ben"][0]} == {"NO_ROW"}

    twice = lms.roster({"student": "jane", "canvas_id": "12345", "email": "broe@uni.edu"})
    done = lms.fill(CanvasCsv(), SHEET, [lms.grade("jane")], twice, column="4242", overwrite=True)
    assert done.text == SHEET
    results = lms.results_of(done)
    for who in ("Doe, Jane (12345)", "Roe, Ben (12346)"):
        assert results[who][0] == "IN_DOUBT"
    assert results["jane"][0] == "NO_ROW"
