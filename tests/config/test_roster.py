"""The roster: as people write it and as learning platforms export it, and every mistake in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.config.course import Course, load_course
from grader.errors import CourseError, UsageError
from grader.intake.names import sender_named
from grader.model.roster import Student
from grader.model.submission import Submission


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "course.yaml").write_text("title: x\nroster: roster.csv\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


NAMES = "letters A-Z, digits and . _ -, not a dot or hyphen first, 64 at most"


def course(folder: Path, *rows: str, encoding: str = "utf-8", end: str = "\n") -> Course:
    (folder / "roster.csv").write_bytes("".join(row + end for row in rows).encode(encoding))
    return load_course(folder)


def problems(folder: Path, *rows: str) -> tuple[str, ...]:
    with pytest.raises(CourseError) as caught:
        course(folder, *rows)
    return caught.value.problems


def test_a_course_without_a_roster_has_nobody_on_it(folder: Path) -> None:
    (folder / "course.yaml").write_text("title: x\n")
    assert load_course(folder).roster.students == ()
    assert load_course(folder).roster.by_id == {}


def test_a_roster_says_who_has_which_id(folder: Path) -> None:
    found = course(
        folder,
        "student,canvas id,SIS_ID,Moodle-ID,E-mail,name,section,remark",
        'jdoe,12345,S-207797,Participant 4711,j@x.edu,"Doe, Jane",A,ill in May',
        "",
        "bob,12346",
    ).roster
    jane = Student(
        student="jdoe",
        canvas_id="12345",
        sis_id="S-207797",
        moodle_id="4711",
        email="j@x.edu",
        name="Doe, Jane",
        section="A",
    )
    assert found.students == (jane, Student(student="bob", canvas_id="12346"))
    assert found.by_id == {"12345": "jdoe", "4711": "jdoe", "12346": "bob"}


@pytest.mark.parametrize(("delimiter", "end"), [(",", "\r\n"), (";", "\r\n"), ("\t", "\n")])
def test_a_roster_is_read_as_spreadsheets_write_it(folder: Path, delimiter: str, end: str) -> None:
    rows = (f"Student{delimiter}Canvas ID", f' jdoe {delimiter}"12345"', delimiter)
    found = course(folder, *rows, encoding="utf-8-sig", end=end).roster
    assert found.students == (Student(student="jdoe", canvas_id="12345"),)


def test_exports_of_platforms_are_read_once_a_column_names_the_student(folder: Path) -> None:
    canvas = course(
        folder,
        "Name,ID,SIS User ID,SIS Login ID,Section,HW1 (4242)",
        ",,,,,Manual Posting",
        "    Points Possible,,,,,10",
        '"Doe, Jane",12345,S1,jdoe,Lab 1,',
    )
    (jane,) = canvas.roster.students
    assert (jane.student, jane.canvas_id, jane.sis_id, jane.section) == ("jdoe", "12345", "S1", "Lab 1")
    moodle = course(
        folder,
        "Identifier,Full name,Email address,Username,Status",
        "Participant 4711,Jane Doe,j@x.edu,jdoe,Submitted",
    )
    assert moodle.roster.by_id == {"4711": "jdoe"}


def test_whoever_of_a_team_hands_in_hands_in_for_all_of_it(folder: Path) -> None:
    found = course(folder, "student,canvas id,team", "cem,3,", "bob,2,red", "ann,1,red", "dan,,red", "eve,5,")
    assert found.roster.by_id == {"1": "ann+bob+dan", "2": "ann+bob+dan", "3": "cem", "5": "eve"}


def test_every_mistake_of_a_roster_is_located(folder: Path) -> None:
    assert problems(
        folder,
        "student,canvas id,moodle id,sis id,email",
        'jdoe,12345,1,S1,"j@x.edu"',
        ",12346,,,",
        "Doe Jane,1.23E+16,,,",
        "jdoe,12345,2,S1,J@x.edu",
        "kim,2,12345,,",
        '"a',
        'b",9,,,',
        "bob\t\x1b,,Gast,,",
    ) == (
        "roster.csv:3: student: missing; give the name that results are kept under",
        f'roster.csv:4: student: must be {NAMES}, got "Doe Jane"',
        "roster.csv:4: canvas id: must be letters and digits, in a column that the spreadsheet keeps as "
        'text, got "1.23E+16"',
        'roster.csv:5: student: "jdoe" is listed twice, also in line 2; give it once',
        'roster.csv:5: canvas id: "12345" is listed twice, also in line 2 for jdoe; give it once',
        'roster.csv:5: sis id: "S1" is listed twice, also in line 2 for jdoe; give it once',
        'roster.csv:5: email: "J@x.edu" is listed twice, also in line 2 for jdoe; give it once',
        'roster.csv:6: canvas id: "2" is listed twice, also in line 5 for jdoe; give it once',
        'roster.csv:6: moodle id: "12345" is listed twice, also in line 2 for jdoe; give it once',
        rf'roster.csv:7: student: must be {NAMES}, got "a\nb"',
        rf'roster.csv:9: student: must be {NAMES}, got "bob\t\u001b"',
    )


def test_columns_are_there_once_and_one_of_them_names_the_student(folder: Path) -> None:
    assert problems(folder, "Name,ID,Canvas_ID,section", "Jane,1,1,A") == (
        'roster.csv:1: the columns "ID" and "Canvas_ID" are both for canvas id; rename one or take it out',
        "roster.csv:1: there is no column student; give one with the names that results are kept under; the "
        'first line is to name the columns, and has "Name", "ID", "Canvas_ID", "section"',
    )
    assert problems(folder, "Student,ID,SIS Login ID", '"Doe, Jane",1,jdoe') == (
        'roster.csv:1: the columns "Student" and "SIS Login ID" are both for student; '
        "rename one or take it out",
    )
    (line,) = problems(folder)
    assert line.startswith("roster.csv:1: there is no column student")


@pytest.mark.parametrize(
    ("heading", "meant"),
    [
        ("canvasid", "canvas id"),
        ("Canvas.ID", "canvas id"),
        ("canavs_id", "canvas id"),
        ("moodle idd", "moodle id"),
        ("e.mail", "email"),
        ("emial", "email"),
        ("sectiom", "section"),
        ("teams", "team"),
        ("tema", "team"),
        ("teem", "team"),
        ("tean", "team"),
        ("tesm", "team"),
        ("tram", "team"),
        ("nane", "name"),
        ("canvas jd", "canvas id"),
        ("fname", ""),
        ("Lname", ""),
        ("uname", ""),
        ("mail", "email"),
        ("user name", ""),  # the column student is there
        ("term", ""),
        ("SID", ""),
        ("Surname", ""),
        ("Last name", ""),
        ("Group 1", ""),  # one of several, of which none is meant
        ("Email2", ""),
        ("Groups", ""),  # in exports of Moodle
        ("Sections", ""),  # of Gradescope
        ("Integration ID", ""),  # of Canvas
        ("HW1 (4242)", ""),
    ],
)
def test_a_heading_with_a_slip_is_told_with_the_one_that_is_meant(
    folder: Path, heading: str, meant: str
) -> None:
    rows = f"student,{heading}", "jdoe,1"
    if meant:
        assert problems(folder, *rows) == (
            f'roster.csv:1: unknown column "{heading}"; did you mean {meant}?',
        )
        told = course(folder, f"student,{heading},{meant}", "jdoe,1,1").roster
        assert len(told.students) == 1, "what is meant is there, so this is another column"
    else:
        assert course(folder, *rows).roster.students == (Student(student="jdoe"),)


EXPORTED = """
    ID;SIS User ID;Integration ID;Root Account;Notes;Current Score;Final Score;Final Grade
    Unposted Final Score;Override Score;canvas_user_id;user_id;sections;group_name;canvas_group_id
    group_id;First name;Last name;Surname;ID number;Institution;Department;Email address;Groups
    Roles;Country;City/town;Identifier;Full name;Status;Grade;Maximum grade;Marker;Online text
    Due date;Last modified (submission);Last modified (grade);Feedback comments
    Last access to course;Last downloaded from this course;Phone;Description;SID;Section Name
    Sections;Role;Total Score;Max Points;Submission ID;Submission Time;Lateness (H:M:S);View Count
    Submission Count;Lab 1;Lab 1 - Max Points;Term;Late;Date;Time;Note;Type;Test;Exam;Year;Lab
    Rank;Mark;Seat
"""
"""Headings in exports of Canvas (gradebook, groups), Moodle (participants, grading worksheet) and Gradescope
(roster, grades), and short ones that people add."""


@pytest.mark.parametrize("heading", EXPORTED.strip().replace("\n", ";").split(";"))
def test_a_heading_that_platforms_export_is_no_slip(folder: Path, heading: str) -> None:
    assert course(folder, f"student,{heading.strip()}", "jdoe,1").roster.students[0].student == "jdoe"


def test_a_slip_in_the_one_column_that_must_be_there_is_one_line(folder: Path) -> None:
    assert problems(folder, "studnet,team", "jdoe,red") == (
        'roster.csv:1: unknown column "studnet"; did you mean student?',
    )


def test_a_canvas_id_that_is_no_number_though_the_others_are_is_told(folder: Path) -> None:
    header = "student,Canvas_ID"
    assert problems(folder, header, "ann,101", "ben,1O2", "cem,", "dan,103", "eva,101") == (
        'roster.csv:3: Canvas_ID: "1O2" is no number, as the others are; correct it',
        'roster.csv:6: Canvas_ID: "101" is listed twice, also in line 2 for ann; give it once',
    )
    assert len(course(folder, header, "ann,101", "ben,b2").roster.students) == 2, "one says nothing"
    assert len(course(folder, header, "ann,a1", "ben,b2", "cem,103", "dan,104").roster.students) == 4


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            ("student,section,team", "ann,A,red", "ben,A;red"),
            '3: "A;red" holds a semicolon, and the row has 2 of 3 cells; put a comma between cells, as the '
            "first line does",
        ),
        (
            ("student;section;team", "ann;A,red"),
            '2: "A,red" holds a comma, and the row has 2 of 3 cells; put a '
            "semicolon between cells, as the first "
            "line does",
        ),
        (
            ("student\tsection\tteam", "ann,A,red"),
            '2: "ann,A,red" holds a comma, and the row has 1 of 3 cells; put a '
            "tab between cells, as the first "
            "line does",
        ),
        (("student;name;team", "ann;Doe, Ann"), ""),
        (("student,section,team", "ann,A;B,red", "ben"), ""),
        (("student,section", "ann;A;red"), "2: student: must be"),
    ],
)
def test_a_row_that_has_the_separator_of_another_table_is_told(
    folder: Path, rows: tuple[str, ...], message: str
) -> None:
    if message:
        (line,) = problems(folder, *rows)
        assert line.startswith(f"roster.csv:{message}")
    else:
        course(folder, *rows)


def test_a_row_that_lacks_a_cell_is_told_where_the_table_writes_empty_ones(folder: Path) -> None:
    header = "student,name,section,team"
    told = 'has 3 cells, and the heading 4, so that "team" would be empty; put a comma behind each cell that '
    (line,) = problems(folder, header, "ann,Ann Ash,A,", "gus,Gus Gum,blue", "hal,Hal Hut,A,blue")
    assert line == f"roster.csv:3: {told}is empty"
    (line,) = problems(folder, header, "ann,Ann Ash,A,red", "gus,Gus Gum,red", "hal,Hal Hut")
    assert line.startswith(f"roster.csv:3: {told}"), "red is a team; hal's row may end where it does"
    (line,) = problems(folder, header, "ann,Ann Ash,A,", "hal")
    assert 'has 1 cell, and the heading 4, so that "name" and "section" and "team" would' in line


def test_a_comma_in_a_name_without_quotes_is_told(folder: Path) -> None:
    assert problems(folder, "student,name", "jdoe,Doe, Jane", "bob,Bob,,", "ann") == (
        "roster.csv:2: has 3 cells, and the heading 2; put a text with a comma in quotes",
    )
    assert problems(folder, "student;name", "jdoe;Doe;Jane") == (
        "roster.csv:2: has 3 cells, and the heading 2; put a text with a semicolon in quotes",
    )


def test_a_comma_in_a_name_is_told_where_the_cells_that_it_moves_end_with_an_empty_one(folder: Path) -> None:
    rows = ("ann,Ann Ash,A,", "gus,Gum, Gus,B,", "hao,Hazel, Hao,B,", "fay,Fir, Fay,B,")
    told = "has 5 cells, and the heading 4; put a text with a comma in quotes"
    assert problems(folder, "student,name,section,team", *rows) == tuple(
        f"roster.csv:{line}: {told}" for line in (3, 4, 5)
    ), "nobody is in a team B"
    (folder / "course.yaml").write_text("title: x\nroster: roster.csv\nextensions: {gus: {}}\n")
    with pytest.raises(CourseError) as caught:
        load_course(folder)
    assert len(caught.value.problems) == 3, "gus is on the roster"


def test_a_comma_in_a_name_without_a_blank_is_told_where_other_rows_have_the_cells_of_the_heading(
    folder: Path,
) -> None:
    rows = ("ann,Ann Ash,A,", "", "gus,Gum,Gus,B,", "hao,Hazel,Hao,B,")
    told = "has 5 cells, and the heading 4; put a text with a comma in quotes, or take the last comma out"
    assert problems(folder, "student,name,section,team", *rows) == tuple(
        f"roster.csv:{line}: {told}" for line in (4, 5)
    ), "gus is in no team B"
    students = course(folder, "student,name,team", "ann,Ann Ash,red,", "", "ben,Ben Bay,,").roster.students
    assert [student.team for student in students] == ["red", ""], "a comma ends each row but the first"


def test_empty_cells_behind_the_last_column_move_nothing(folder: Path) -> None:
    (ann,) = course(folder, "student,name,team", "ann,Ann Ash,red,,").roster.students
    assert ann.team == "red"
    (ann,) = course(folder, "student, name, team", "ann, Ann Ash, red,").roster.students
    assert (ann.name, ann.team) == ("Ann Ash", "red"), "a blank behind each comma is the table's habit"


def test_a_workbook_is_told_to_be_one(folder: Path) -> None:
    (folder / "roster.csv").write_bytes(b"PK\x03\x04\x14\x00")
    with pytest.raises(CourseError, match=r"^roster.csv: is a spreadsheet's own file and no CSV; save it as"):
        load_course(folder)


def test_a_roster_that_is_no_table_is_one_line_beside_those_of_course_yaml(folder: Path) -> None:
    (folder / "course.yaml").write_text("title: x\nroster: roster.csv\ntime_zone: Mars\n")
    with pytest.raises(CourseError) as caught:
        load_course(folder)
    missing, _ = caught.value.problems
    assert missing == (
        "course.yaml:2:1: roster: roster.csv cannot be read (No such file or directory); "
        "name a CSV file beside course.yaml"
    )
    (folder / "course.yaml").write_text("title: x\nroster: roster.csv\n")
    assert problems(folder, "student", '"jdoe" x') == (
        "roster.csv:2: is no CSV (',' expected after '\"'); save it again as CSV UTF-8",
    )
    (folder / "roster.csv").write_bytes(b"student\n\xff\n")
    with pytest.raises(CourseError, match=r"^roster.csv: is not UTF-8; save it as CSV UTF-8$"):
        load_course(folder)


@pytest.mark.parametrize("later", ["bob,Bob", 'bob,"Bob"', '"bob","Bob"\ncem,Cem'])
def test_a_quote_that_is_not_closed_is_told_where_it_opens(folder: Path, later: str) -> None:
    why = "is no CSV (a quote opens in this line and is not closed); close it, or take it out"
    assert problems(folder, "student,name", 'ann,"Ann', later, "dee,Dee") == (f"roster.csv:2: {why}",)
    assert problems(folder, "sep=,", "student,name", 'ann,"Ann', later) == (f"roster.csv:3: {why}",)


@pytest.mark.parametrize("other", ["Red ", " RED", "rEd"])
def test_teams_that_differ_in_capitals_and_space_alone_are_one(folder: Path, other: str) -> None:
    roster = course(folder, "student,team", "ann,red", f"bob,{other}", "cem,reds").roster
    assert [entry.team for entry in roster.students] == ["red", "red", "reds"]
    assert roster.hands_in_as("bob") == "ann+bob"
    assert roster.hands_in_as(other) == "ann+bob"


def test_the_line_of_each_student_and_the_team_as_a_whole_are_known(folder: Path) -> None:
    roster = course(folder, "student,team", "ann,red", "bob,red", "", "cem,", "dee,blue").roster
    assert roster.lines == {"ann": 2, "bob": 3, "cem": 5, "dee": 6}
    assert roster.teams == {"red": ("ann", "bob"), "blue": ("dee",)}
    assert roster.team_of(("bob", "ann")) == "red"
    assert roster.team_of(("ann", "cem")) == roster.team_of(("ann",)) == roster.team_of(("cem",)) == ""


@pytest.mark.parametrize(
    "name",
    ["jdoe", "a.b-c_1", "_x", "bob+ann", "x" * 64, "x" * 65, "a b", "..", "-a", "é", "a/b", "+a", "a+"],
)
def test_a_roster_takes_the_names_that_a_submission_can_have(folder: Path, name: str) -> None:
    try:
        sender_named(name, "")
    except UsageError:
        assert "got" in problems(folder, "student", name)[0]
    else:
        assert course(folder, "student", name).roster.students == (Student(student=name),)


def test_a_submission_whose_id_is_of_nobody_is_remarked_on(folder: Path) -> None:
    def submission(lms_id: str | None) -> Submission:
        archive = "doe\x1bjane_9_1_hw1.zip"
        return Submission(
            student="doejane_9", assignment="hw1", archive=archive, digest="d", files=(), lms_id=lms_id
        )

    roster = course(folder, "student,canvas id", "jdoe,12345").roster
    assert roster.remark(submission("9")) == (
        r"doe\x1bjane_9_1_hw1.zip: id 9 is not on the roster (roster.csv), so the student is called "
        "doejane_9; add the id there, or give --student NAME"
    )
    assert roster.remark(submission("12345")) == ""
    assert roster.remark(submission(None)) == ""
    without_ids = course(folder, "student", "jdoe").roster
    assert without_ids.remark(submission("9")) == ""


def test_a_name_that_is_not_on_the_roster_is_held_against_those_who_sent_nothing(folder: Path) -> None:
    roster = course(folder, "student", "alice", "bob", "zoe.long").roster
    assert list(roster.reconciled(["alice", "Bob", "alicia"], ["zoelong"])) == [
        "roster.csv: 2 students without a submission in this run: bob, zoe.long",
        "roster.csv: 3 students not on it: Bob (is bob meant?), alicia, zoelong (is zoe.long meant?)",
    ]


def test_a_name_with_two_letters_exchanged_is_held_against_those_who_sent_nothing(folder: Path) -> None:
    roster = course(folder, "student,team", "ann,", "bne,", "cem,red", "dana,red").roster
    assert list(roster.reconciled(["ann", "ben", "rde"])) == [
        "roster.csv: 3 students without a submission in this run: bne, cem, dana",
        "roster.csv: 2 students not on it: ben (is bne meant?), rde (is team red meant?)",
    ]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (("ana,red", "ben,rde"), "3: team rde has ben alone, and team red has ana"),
        (("ana,red", "ben,blue", "cem,rde", "dan,blue"), "4: team rde has cem alone, and team red has ana"),
        (("ana,green", "ben,gren", "cem,green", "dan,blue", "eva,blue", "fay,blue"), "3: team gren has ben"),
        (("ana,green", "ben,gren", "cem,green", "dan,blue", "eva,blue"), ""),
        (("ana,red", "ben,rdd"), "3: team rdd has ben alone, and team red has ana"),
        (("ana,red", "ben,bed", "cem,blue", "dan,blue"), "3: team bed has ben alone, and team red has ana"),
        (("ana,blue", "ben,blux", "cem,gold", "dan,gold"), "2: team blue has ana alone, and team blux"),
        (("ana,rde", "ben,red", "cem,ode", "dan,ode"), "2: team rde has ana alone, and team red has ben"),
        (("ana,red", "ben,bed", "cem,blue"), ""),
        (("ana,red", "ben,bed", "cem,red", "dan,bed"), ""),
        (("ana,red", "ben,bed", "cem,red"), ""),
        (("ana,A1", "ben,A2", "cem,gold", "dan,gold"), ""),
        (("ana,B1", "ben,b2", "cem,gold", "dan,gold"), ""),
        (("ana,A", "ben,B", "cem,gold", "dan,gold"), ""),
        (("ana,team 1", "ben,team 2"), ""),
        (("ana,team a", "ben,team b", "cem,team c"), ""),
        (("anna,anna", "anne,anne"), ""),
        (("ana,red", "ben,rde", "cem,red", "dan,rde"), ""),
    ],
)
def test_a_team_of_one_that_may_be_a_slip_of_the_pen_is_told(
    folder: Path, rows: tuple[str, ...], message: str
) -> None:
    lines = list(course(folder, "student,team", *rows).roster.misspelt_teams())
    assert len(lines) == (1 if message else 0)
    assert all(line.startswith(f"roster.csv:{message}") for line in lines)
