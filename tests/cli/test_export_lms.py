"""Marks for learning platforms, through the installed command."""

from __future__ import annotations

import csv
import io
import json
import shlex
import shutil
from pathlib import Path

import pytest

WRONG = "def double(x): return x + 1\ndef square(x): return x * x"
CANVAS = (
    "\ufeffStudent,ID,SIS Login ID,Section,Tiny (42)\r\n"
    "    Points Possible,,,,3\r\n"
    '"Doe, Ann",11,adoe,S,\r\n'
    '"Roe, Ben",12,broe,S,1\r\n'
    '"Fox, Cy",13,cfox,S,\r\n'
)
PRINTED = CANVAS.replace("\r\n", "\n")
"""As Python reads it from a command."""
MOODLE = (
    "Identifier,Full name,Grade,Maximum Grade,Last modified (grade)\n"
    'Participant 7,Ann Doe,,"3,00",-\n'
    'Participant 8,Ben Roe,"1,00","3,00",-\n'
)
ASSIGNMENT = """
from grader.api import Assignment, hookimpl

@hookimpl
def grader_assignments():
    return [Assignment(name="{}", title="{}", accepts=("work.py",))]
"""
BREAKS = {"id": "breaks", "title": "It breaks", "points": 1, "check": "breaks"}
DOUBLE = {
    "id": "double",
    "title": "double doubles",
    "points": 1,
    "check": "matches_reference",
    "of": "work.double",
    "inputs": "numbers",
}


@pytest.fixture
def marked(course, kept):
    """A class of two in a gradebook, with a roster."""
    course.write("course.yaml", "title: x\nroster: roster.csv\n")
    course.write("roster.csv", "student,canvas id,moodle id,email\nann,11,7,ann@uni.edu\nben,12,8,\n")
    submissions = course.submit("ann"), course.submit("ben", WRONG)
    course.run_once(kept, "run", *submissions, "--gradebook", "gradebook.db")
    return course


def sheet(course, text) -> str:
    file = course.cwd / "sheet.csv"
    file.write_bytes(text.encode())
    return str(file)


def test_the_gradebook_of_canvas_is_filled(marked):
    filled = marked.cwd / "filled.csv"
    done = marked.run("export", "canvas", "tiny", "--sheet", sheet(marked, CANVAS), "--out", str(filled))
    assert done.returncode == 0
    assert done.stdout == ""
    assert done.stderr.splitlines() == [
        "ben: 1 is there, and the grade is 2; --overwrite replaces it",
        "Fox, Cy (13): is in the file and has no grade",
        "1 written into Tiny (42), 1 unchanged, 1 without a grade",
    ]
    assert filled.read_bytes() == CANVAS.replace("adoe,S,", "adoe,S,3").encode()
    assert (marked.cwd / "sheet.csv").read_bytes() == CANVAS.encode()


def test_the_file_as_it_was_given_is_not_written_over(marked):
    given = sheet(marked, CANVAS)
    done = marked.run("export", "canvas", "tiny", "--sheet", given, "--out", given)
    assert (done.returncode, Path(given).read_bytes()) == (2, CANVAS.encode())
    assert "is the --sheet, which stays as it was given; name another file" in done.stderr


def test_the_worksheet_of_moodle_is_filled_on_standard_output(marked):
    filled = MOODLE.replace("Ann", "Änn")
    arguments = ("--sheet", sheet(marked, filled), "--overwrite")
    done = marked.run("export", "moodle", "tiny", *arguments, PYTHONIOENCODING="latin-1")
    assert done.returncode == 0
    assert done.stdout == filled.replace("Doe,,", "Doe,3,").replace('"1,00"', '"2"')
    assert done.stderr.splitlines() == [
        "ben: 1,00 was there, now it is 2",
        "1 written into Grade, 1 replaced",
    ]


def test_what_is_open_comes_only_when_told_and_rounding_is_said(marked):
    waits = {"id": "style", "title": "Readable", "points": 2, "check": "manual"}
    marked.rubric(DOUBLE | {"points": 1.005}, waits | {"points": 1.995})
    assert marked.run("rescore", "tiny", "--apply").returncode == 0
    assert marked.run("run", marked.submit("ann"), "--gradebook", "gradebook.db").returncode == 0
    arguments = ("export", "canvas", "tiny", "--sheet", sheet(marked, CANVAS))
    done = marked.run(*arguments)
    assert done.stdout == PRINTED
    assert "ann: is not final: points are still open" in done.stderr.splitlines()
    done = marked.run(*arguments, "--include-provisional")
    assert done.stdout == PRINTED.replace("adoe,S,", "adoe,S,1.01")
    assert done.stderr.splitlines()[-1].endswith("1 rounded to 2 decimals")


def test_members_of_a_team_each_have_their_row(course):
    assert course.run("run", course.submit("cfox+adoe"), "--gradebook", "gradebook.db").returncode == 0
    done = course.run("export", "canvas", "tiny", "--sheet", sheet(course, CANVAS))
    assert done.stdout == PRINTED.replace("adoe,S,", "adoe,S,3").replace("cfox,S,", "cfox,S,3")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ["canvas", "tiny", "--sheet", "no.csv"],
            "--sheet no.csv: cannot be read (No such file or directory)",
        ),
        (
            ["canvas", "hw9", "--sheet", "sheet.csv"],
            "gradebook.db: has no grade in 'hw9'; there are tiny (1 assignment in all)",
        ),
        (["moodle", "tiny", "--sheet", "sheet.csv"], "sheet.csv:1: there is no column 'Identifier'; "),
        (
            ["canvas", "tiny", "--sheet", "sheet.csv", "--column", "41"],
            "--column 41: is no assignment of sheet.csv; there are Tiny (42)",
        ),
    ],
)
def test_what_cannot_be_is_said_in_a_line_and_nothing_is_written(marked, arguments, line):
    sheet(marked, CANVAS)
    filled = marked.cwd / "filled.csv"
    done = marked.run("export", *arguments, "--out", str(filled))
    assert done.returncode == 2
    (said,) = done.stderr.splitlines()
    assert line in said
    assert not filled.exists()


@pytest.fixture
def beside(marked):
    """The class, in a course with other assignments: two with numbers, and one with a title of its own."""
    titles = {"embed": "Embedding, positions and training", "hw1": "Homework 1", "hw2": "Layers using torch"}
    for name, title in titles.items():
        marked.write(f"assignments/{name}/assignment.py", ASSIGNMENT.format(name, title))
    return marked


@pytest.mark.parametrize(
    ("heading", "other"),
    [
        ("Embed (77)", "embed"),
        ("embedding (77)", "embed"),
        ("Positions, training (77)", "embed"),
        ("Week of layers (77)", "hw2"),
        ("Tiny (77)", ""),
        ("Tiny embed (77)", ""),
        ("Exercise 2 (77)", ""),
        ("Final project (77)", ""),
    ],
)
def test_a_column_that_fits_another_assignment_is_filled_only_when_named(beside, heading, other):
    filled = beside.cwd / "filled.csv"
    arguments = (
        *("export", "canvas", "tiny", "--out", str(filled)),
        *("--sheet", sheet(beside, CANVAS.replace("Tiny (42)", f'"{heading}"'))),
    )
    done = beside.run(*arguments)
    if other:
        (line,) = done.stderr.splitlines()
        assert (done.returncode, filled.exists()) == (2, False)
        assert f"sheet.csv: {heading}: is {other}'s by its title, not tiny's; " in line
        assert line.endswith(f"name a table of tiny, or give --column {shlex.quote(heading)}")
        done = beside.run(*arguments, "--column", heading)
    assert (done.returncode, filled.exists()) == (0, True)
    assert done.stderr.splitlines()[-1].startswith(f"1 written into {heading}, ")


def test_numbers_tell_assignments_apart_that_have_them(beside):
    folders = beside.folder / "assignments"
    shutil.copytree(folders / "tiny", folders / "tiny2")
    beside.write("assignments/tiny2/assignment.py", ASSIGNMENT.format("tiny2", "The second"))
    beside.rubric(DOUBLE)
    beside.write("assignments/tiny3/assignment.py", ASSIGNMENT.format("tiny3", "The third"))
    renamed = json.loads((beside.folder / "rubrics/tiny.yaml").read_text()) | {"assignment": "tiny2"}
    beside.write("rubrics/tiny2.yaml", json.dumps(renamed))
    archive = beside.submit("ann")
    assert beside.run("run", archive, "--assignment", "tiny2", "--gradebook", "gradebook.db").returncode == 0
    for heading, code in (("Tiny 3 (5)", 2), ("HW 03 (5)", 2), ("Tiny 2 (5)", 0), ("Tiny (5)", 0)):
        table = CANVAS.replace("Tiny (42)", heading).replace(",,,,3", ",,,,1")
        done = beside.run("export", "canvas", "tiny2", "--sheet", sheet(beside, table))
        assert done.returncode == code, (heading, done.stderr)


@pytest.mark.parametrize(
    ("ids", "line"),
    [
        ("embed: 42", "Tiny (42): is embed's by course.yaml, not tiny's; "),
        ("embed: 7, tiny: 41", "Tiny (42): is not tiny's, which is 41 by course.yaml; "),
        ("embed: 7, tiny: 42", ""),
        ("embed: 7", ""),
    ],
)
def test_the_ids_of_course_yaml_go_before_titles(beside, ids, line):
    settings = (
        f"title: x\nroster: roster.csv\ncanvas: {{url: 'https://c.edu', course: 1, assignments: {{{ids}}}}}\n"
    )
    beside.write("course.yaml", settings)
    done = beside.run("export", "canvas", "tiny", "--sheet", sheet(beside, CANVAS))
    assert (done.returncode, line in done.stderr) == (2 if line else 0, True)
    beside.write("course.yaml", settings.replace("42", "43").replace("tiny: 41", "tiny: 42"))
    table = CANVAS.replace("Tiny", "Embed")
    done = beside.run("export", "canvas", "tiny", "--sheet", sheet(beside, table))
    assert done.returncode == (0 if "tiny: 41" in ids else 2)


def test_another_assignment_is_told_before_its_maximum(beside):
    settings = (
        "title: x\nroster: roster.csv\n"
        "canvas: {url: 'https://c.edu', course: 1, assignments: {embed: 42, tiny: 7}}\n"
    )
    beside.write("course.yaml", settings)
    table = CANVAS.replace(",,,,3", ",,,,10")
    assert table != CANVAS
    export = "export", "canvas", "tiny", "--sheet", sheet(beside, table)
    owner = "Tiny (42): is embed's by course.yaml, not tiny's; name a "
    (line,) = beside.run(*export).stderr.splitlines()
    assert f"{owner}table of tiny" in line
    lines = beside.run(*export, "--column", "42").stderr.splitlines()
    assert len(lines) == 2
    assert lines[0].endswith(f"{owner}column of tiny")
    assert lines[1].endswith("make them alike, or convert with --scale")


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("Grades-GPU 26-Embed-77.csv", "is embed's by the file's name, not tiny's; "),
        ("Noten-GPU-Embed-red-77 (1).csv", "is embed's by the file's name, not tiny's; "),
        ("Grades-GPU-Anything-99.csv", "is embed's by course.yaml, not tiny's; "),
        ("Grades-GPU-Tiny-77.csv", ""),
        ("worksheet.csv", ""),
    ],
)
def test_a_worksheet_of_moodle_tells_its_assignment_by_the_name_of_its_file(beside, file, line):
    settings = "title: x\nroster: roster.csv\nmoodle: {url: 'https://m.edu', assignments: {embed: 99}}\n"
    beside.write("course.yaml", settings)
    (beside.cwd / file).write_text(MOODLE)
    arguments = ("export", "moodle", "tiny", "--sheet", file)
    done = beside.run(*arguments)
    assert (done.returncode, done.stdout == "") == ((2, True) if line else (0, False))
    if line:
        assert done.stderr.splitlines() == [
            f"grader: {file}: {line}name a table of tiny, or give --column Grade"
        ]
        done = beside.run(*arguments, "--column", "Grade")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (0, "1 written into Grade, 1 unchanged")


class Harness:
    """Gradescope's folders around one submission."""

    def __init__(self, course, folder: Path) -> None:
        self._course, self.folder = course, folder
        self.results = folder / "results" / "results.json"
        (folder / "submission").mkdir(parents=True)
        self.results.parent.mkdir()
        self.results.write_text("what an earlier run left")
        self.say(users=[{"id": 5, "email": "Ann@uni.edu", "name": "Ann"}])

    def say(self, **said):
        (self.folder / "submission_metadata.json").write_text(
            json.dumps({"created_at": "2024-12-23T22:10:00.123456-08:00", **said})
        )

    def submit(self, code, name="work.py"):
        (self.folder / "submission" / name).write_text(code)

    def run(self, *arguments):
        return self._course.run("gradescope", "--autograder", str(self.folder), *arguments)

    def read(self):
        return json.loads(self.results.read_text())

    def student(self):
        (folder,) = (self.folder / "grader" / "tiny").iterdir()
        return folder.name


@pytest.fixture
def harness(course, tmp_path):
    return Harness(course, tmp_path / "autograder")


def test_inside_gradescope_a_submission_gets_its_results(course, harness):
    harness.submit(WRONG)
    done = harness.run()
    assert done.returncode == 0
    read = harness.read()
    assert (read["score"], read["visibility"]) == (2, "visible")
    assert [(test["name"], test["status"]) for test in read["tests"]] == [
        ("double doubles", "failed"),
        ("square squares", "passed"),
    ]
    assert harness.student() == "ann"
    submission = next(
        record["submission"]
        for line in (harness.folder / "grader" / "tiny" / "ann" / "evidence.jsonl").read_text().splitlines()
        if "submission" in (record := json.loads(line))
    )
    assert submission["submitted_at"].startswith("2024-12-23T22:10:00.123456-08:00")


def test_inside_gradescope_times_are_by_the_clock_of_the_course(course, harness):
    course.write("course.yaml", "title: x\ntime_zone: Europe/Berlin\nextensions: {ann: {tiny: 2d}}\n")
    course.rubric(DOUBLE, due="2024-12-23T23:59:00+01:00", late={"per_day": "10%", "at_most": "5d"})
    harness.submit(WRONG)
    assert harness.run().returncode == 0
    assert "2024-12-24 07:10 CET" in harness.read()["output"]


def test_inside_gradescope_an_option_that_was_given_is_not_advised(course, harness):
    course.rubric(DOUBLE, due="2024-12-23T23:59:00+01:00", late={"per_day": "10%", "at_most": "5d"})
    harness.submit(WRONG)
    harness.say(users=[{"id": 5, "email": "ann@uni.edu", "name": "Ann"}], created_at="")
    assert "or --include-untimed takes nothing off" in harness.run().stderr
    done = harness.run("--include-untimed")
    assert (harness.read()["visibility"], "--include-untimed" in done.stderr) == ("visible", False)


def test_inside_gradescope_nothing_of_a_hidden_item_is_told(course, harness):
    course.rubric(DOUBLE, DOUBLE | {"id": "secret", "title": "A secret", "visible": "never"})
    harness.submit(WRONG)
    done = harness.run()
    assert done.returncode == 0
    text = harness.results.read_text()
    assert "ecret" not in text
    assert "ecret" not in done.stdout + done.stderr
    assert len(harness.read()["tests"]) == 1


def test_inside_gradescope_an_archive_that_stands_alone_is_the_submission(course, harness):
    shutil.copy(course.submit("anything"), harness.folder / "submission" / "hw.tar.gz")
    assert harness.run().returncode == 0
    assert harness.read()["score"] == 3


def test_inside_gradescope_a_refusal_has_its_reason_and_no_points(harness):
    harness.submit("x = 1", name="other.py")
    done = harness.run()
    assert done.returncode == 6
    read = harness.read()
    assert (read["score"], read["visibility"]) == (0, "visible")
    assert read["output"] in done.stderr


def test_inside_gradescope_a_mistake_of_the_course_leaves_no_results(course, harness):
    course.write("rubrics/tiny.yaml", "points: many")
    harness.submit(WRONG)
    assert harness.run().returncode == 4
    assert not harness.results.exists()


def test_inside_gradescope_what_could_not_be_observed_is_for_staff_alone(course, harness):
    course.rubric(DOUBLE, BREAKS)
    harness.submit("def double(x): return 2 * x")
    assert harness.run().returncode == 4
    assert harness.read()["visibility"] == "hidden"
    assert harness.run("--include-provisional").returncode == 4
    assert harness.read()["visibility"] == "visible"
    assert "score" not in harness.read()["tests"][1]


LATE = {"due": "2024-12-23T12:00:00+02:00", "late": {"per_day": "10%"}}


def test_inside_gradescope_a_late_rule_without_a_time_is_for_staff_alone(course, harness):
    course.rubric(DOUBLE, **LATE)
    harness.submit("def double(x): return 2 * x")
    harness.say(users=[{"id": 5, "email": "ann@uni.edu"}], created_at=None)
    done = harness.run()
    assert done.returncode == 0
    assert "grader: ann: has no time of submission, and the rubric a late rule" in done.stderr
    assert harness.read()["visibility"] == "hidden"
    assert harness.run("--include-untimed").returncode == 0
    assert harness.read()["visibility"] == "visible"


def test_inside_gradescope_a_format_that_is_not_supported_is_told_as_elsewhere(course, harness):
    (harness.folder / "submission" / "hw1.rar").write_bytes(b"Rar!\x1a\x07\0")
    done = harness.run()
    line = "hw1.rar: is a RAR archive; pack the files as .tar.gz or .zip"
    assert (done.returncode, done.stderr) == (6, f"grader: {line}\n")
    assert line in harness.read()["output"]
    archive = course.submissions_folder / "ann.rar"
    archive.write_bytes(b"Rar!\x1a\x07\0")
    assert course.run("run", str(archive)).stderr == f"grader: {line}\n".replace("hw1", "ann")


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("users", "student"),
    [
        ([{"id": 5, "email": "x@y.z", "sid": "s11"}], "ann"),
        ([{"id": 5, "email": "b.roe+hw@uni.edu"}], "b.roe_hw"),
        ([{"id": 5, "email": "-@uni.edu", "sid": None}], "user_5"),
        ([{"id": 5, "email": "b@x.edu"}, {"id": 4, "email": "a@x.edu"}], "a+b"),
        ([{"id": 5, "email": "b@x.edu"}, {"id": 4, "email": "b@y.edu"}], "user_4+user_5"),
    ],
)
def test_inside_gradescope_the_roster_names_the_student_or_else_the_address(course, harness, users, student):
    course.write("course.yaml", "title: x\nroster: roster.csv\n")
    course.write("roster.csv", "student,sis id,email\nann,S11,ann@uni.edu\n")
    harness.submit(WRONG)
    harness.say(users=users)
    assert harness.run().returncode == 0
    assert harness.student() == student


@pytest.mark.parametrize(
    "text", ["", "[]", '{"users": 1}', '{"users": []}', '{"users": [{"email": ""}]}', None]
)
def test_inside_gradescope_what_is_no_harness_is_said_in_a_line(harness, text):
    file = harness.folder / "submission_metadata.json"
    if text is None:
        file.unlink()
    else:
        file.write_text(text)
    done = harness.run()
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"grader: {file}: ")


def test_inside_gradescope_results_that_cannot_be_written_are_said_before_anything_runs(harness):
    harness.submit(WRONG)
    harness.results.unlink()
    harness.results.mkdir()
    done = harness.run()
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"grader: {harness.results}: cannot be removed (Is a directory)")
    assert not (harness.folder / "grader").exists()


def test_the_results_of_a_class_lie_in_a_folder_for_an_autograder_to_fetch(marked):
    out = marked.cwd / "out"
    done = marked.run("export", "gradescope", "tiny", "--out", str(out))
    assert (done.returncode, done.stderr) == (0, f"{out}: 2 written\n")
    assert {path.name for path in out.iterdir()} == {"ann.json", "ben.json"}
    assert [json.loads((out / f"{who}.json").read_text())["score"] for who in ("ann", "ben")] == [3, 2]

    marked.rubric(DOUBLE, {"id": "style", "title": "Readable", "points": 2, "check": "manual"})
    done = marked.run("export", "gradescope", "tiny", "--out", str(out))
    assert done.stderr.splitlines()[0] == (
        "ann: was graded by an earlier rubric tiny; run grader rescore tiny"
    )
    assert list(out.iterdir()) == []
    assert marked.run("run", marked.submit("ann"), "--gradebook", "gradebook.db").returncode == 0
    done = marked.run("export", "gradescope", "tiny", "--out", str(out))
    assert done.stderr.splitlines()[0] == "ann: is provisional and held back"
    marked.run("export", "gradescope", "tiny", "--out", str(out), "--include-provisional")
    assert json.loads((out / "ann.json").read_text())["score"] == 1


def test_nothing_is_exported_to_which_the_late_rule_could_not_be_applied(marked):
    marked.rubric(DOUBLE, **LATE)
    assert marked.run("run", marked.submit("ann"), "--gradebook", "gradebook.db").returncode == 0
    out = marked.cwd / "out"
    arguments = ("export", "gradescope", "tiny", "--out", str(out))
    assert "ann: has no time of submission, and the rubric a late rule" in marked.run(*arguments).stderr
    assert not (out / "ann.json").exists()
    marked.run(*arguments, "--include-untimed")
    read = json.loads((out / "ann.json").read_text())
    assert (read["score"], read["visibility"]) == (1, "visible")
    arguments = ("export", "moodle", "tiny", "--sheet", sheet(marked, MOODLE), "--scale")
    assert "ann: has no time of submission" in marked.run(*arguments).stderr
    done = marked.run(*arguments, "--include-untimed")
    assert "ann: has no time" not in done.stderr
    assert next(csv.DictReader(io.StringIO(done.stdout)))["Grade"] == "3"


def test_both_tables_are_read_as_any_program_reads_them(marked):
    done = marked.run("export", "moodle", "tiny", "--sheet", sheet(marked, MOODLE))
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [row["Grade"] for row in rows] == ["3", "1,00"]


def test_the_class_table_has_times_by_the_clock_of_the_course(course):
    course.write("course.yaml", "title: x\ntime_zone: Europe/Berlin\n")
    at = ("--submitted-at", "2024-12-23T22:59:00Z")
    assert course.run("run", course.submit(), *at, "--gradebook", "gradebook.db").returncode == 0
    table = course.run("export", "csv", "tiny").stdout
    assert "2024-12-23T23:59:00+01:00" in table
    assert "22:59:00" not in table
