"""The grading worksheet of Moodle, as it is downloaded, with grades filled in."""

from __future__ import annotations

import pytest

from grader.errors import UsageError
from grader.lms.moodle import MoodleWorksheet

SHEET = (
    '\ufeffIdentifier,"Full name","Email address",Status,Grade,"Maximum Grade","Grade can be changed",'
    '"Last modified (submission)","Last modified (grade)","Feedback comments"\r\n'
    '"Participant 101","Jane Doe",jane@uni.edu,"Submitted for grading",,10.00,Yes,'
    '"Monday, 23 December 2024, 10:10 PM",-,\r\n'
    '"Participant 102","Ben Roe",ben@uni.edu,"Submitted for grading - Graded",7.00,10.00,Yes,'
    '"Monday, 23 December 2024, 10:11 PM","Tuesday, 24 December 2024, 9:00 AM","<p>good</p>"\r\n'
    '"Participant 103","Cy Fox",cy@uni.edu,"No submission",,10.00,No,-,-,\r\n'
    '"Participant 104","Dan Li",dan@uni.edu,"No submission",,10.00,Yes,-,-,\r\n'
)
FILLED = SHEET.replace('"Submitted for grading",,10.00', '"Submitted for grading",8.67,10.00')


def test_grades_stand_in_the_column_and_nothing_else_changes(lms):
    grades = [lms.grade("jane", 26 / 3), lms.grade("ben", 7.0), lms.grade("cy")]
    people = lms.roster(
        {"student": "jane", "moodle_id": "101"},
        {"student": "ben", "email": "ben@uni.edu"},
        {"student": "cy", "email": "cy@uni.edu"},
        {"student": "dan", "moodle_id": "104"},
    )
    done = lms.fill(MoodleWorksheet(), SHEET, grades, people)
    assert done.text == FILLED
    assert lms.results_of(done) == {
        "jane": ("WRITTEN", ""),
        "ben": ("SAME", ""),
        "cy": ("UNCHANGED", "has a grade that cannot be changed there"),
        "dan": ("NO_GRADE", "is in the file and has no grade"),
    }
    assert done.remarks == ()


def test_a_submission_from_a_download_is_found_by_its_name_and_id_without_a_roster(lms):
    done = lms.fill(MoodleWorksheet(), SHEET, [lms.grade("janedoe_101", 26 / 3, lms_id="101")])
    assert done.text == FILLED


def test_further_columns_that_tell_one_student_are_used(lms):
    header = "Identifier,ID number,Username,Grade,Last modified (grade)"
    sheet = f"{header}\nParticipant 1,S1,,,\nParticipant 2,,ben,,\n"
    grades = [lms.grade("ann", 7), lms.grade("ben", 8)]
    done = lms.fill(MoodleWorksheet(), sheet, grades, lms.roster({"student": "ann", "sis_id": "s1"}))
    assert [row[3] for row in lms.table(done.text)[1:]] == ["7", "8"]


def test_a_decimal_comma_is_kept_and_quoted_where_it_must_be(lms):
    sheet = SHEET.replace("10.00", '"10,00"').replace("7.00", '"7,00"')
    grades = [lms.grade("janedoe_101", 26 / 3, lms_id="101"), lms.grade("benroe_102", 7, lms_id="102")]
    done = lms.fill(MoodleWorksheet(), sheet, grades)
    assert done.text == sheet.replace('grading",,', 'grading","8,67",')
    assert lms.results_of(done)["benroe_102"] == ("SAME", "")


@pytest.mark.parametrize("points", [11.0, -1.0])
def test_what_moodle_would_skip_is_held_back_and_named(lms, points):
    done = lms.fill(MoodleWorksheet(), SHEET, [lms.grade("janedoe_101", points, lms_id="101")])
    assert done.text == SHEET
    fate, note = lms.results_of(done)["janedoe_101"]
    assert fate == "HELD_BACK"
    assert note == f"the grade is {points:.0f}, and the range there is 0 to 10; enter it by hand"


def test_a_formula_that_moodle_reads_back_stays_and_is_named(lms):
    sheet = SHEET.replace("<p>good</p>", "=1+2")
    done = lms.fill(MoodleWorksheet(), sheet, [])
    assert done.text == sheet
    assert done.remarks == (
        "sheet.csv:3: Feedback comments: begins as a formula does, and stays since the platform reads it "
        "back; upload the file without opening it in a spreadsheet",
    )


@pytest.mark.parametrize("heading", ["Identifier", "Grade", "Last modified (grade)"])
def test_a_file_that_moodle_would_not_take_is_refused(lms, heading):
    with pytest.raises(UsageError, match="there is no column"):
        lms.fill(MoodleWorksheet(), SHEET.replace(f"{heading},", "x,").replace(f'"{heading}"', "x"), [])


def test_moodle_has_one_column_for_grades(lms):
    assert lms.fill(MoodleWorksheet(), SHEET, [], column="Grade").text == SHEET
    with pytest.raises(UsageError, match="--column 4242: Moodle reads only 'Grade'; leave it out"):
        lms.fill(MoodleWorksheet(), SHEET, [], column="4242")
