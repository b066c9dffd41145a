"""A class in its gradebook, through the installed command: record, show, history, export, a copy."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from grader.errors import NotObservedError
from grader.gradebook.book import Gradebook
from tests.cli.conftest import DOUBLE, SQUARE

WRONG = "def double(x): return x + 1\ndef square(x): return x * x"


@pytest.fixture
def book(course):
    return course.cwd / "gradebook.db"


def said(done) -> str:
    """The only line of the error output."""
    (line,) = done.stderr.splitlines()
    return line


def shown(course, *arguments):
    done = course.run(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def table(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_times_are_by_the_clock_of_the_course_and_of_utc_where_that_cannot_be_read(course, book):
    course.write("course.yaml", "title: A tiny course\ntime_zone: Asia/Tokyo\n")
    course.run("run", course.submit("ann"), "--gradebook", str(book))
    for command in ("show", "history"):
        assert re.search(r"\d\d:\d\d JST", course.run(command, "ann").stdout)
    course.write("course.yaml", "title: [\n")
    for command in ("show", "history"):
        assert re.search(r"\d\d:\d\d UTC", course.run(command, "ann").stdout)


def test_a_class_whose_grades_cannot_be_recorded_is_graded_still(course, book, monkeypatch):
    def full(*_, **__):
        raise NotObservedError(f"{book}: its disk is full; make room there, and try again")

    course.write("course.yaml", "title: x\nroster: roster.csv\n")
    course.write("roster.csv", "student\nann\nben\n")
    monkeypatch.setattr(Gradebook, "record", full)
    done = course.run("run", course.submit("ann"), course.submit("ben"), "--gradebook", str(book))
    later = "is graded, but not recorded; add it later by grader record and the results folder"
    assert done.returncode == 5
    assert done.stderr.splitlines() == [
        f"grader: {book}: its disk is full; make room there, and try again",
        f"grader: ann, tiny: {later}",
        f"grader: ben, tiny: {later}",
        "grader: the same of 1 more submission (ben.tar.gz): "
        f"{book}: its disk is full; make room there, and try again",
        "2 submissions graded: 2 not recorded",
        "exit code 5: 2 submissions graded, but not recorded",
    ]


def test_a_stored_card_names_the_time_zone_as_the_run_did(course, book):
    course.write("course.yaml", "title: x\ntime_zone: Europe/Berlin\nextensions: {ann: {tiny: 2d}}\n")
    course.rubric(DOUBLE, due="2024-11-27T23:59:00+01:00", late={"per_day": "10%", "at_most": "5d"})
    run = "run", course.submit("ann"), "--submitted-at", "2024-11-28T01:00:00+01:00"
    handed_in = "Handed in 2024-11-28 01:00 CET; "
    deadline = "the deadline with the extension of 2 days is 2024-11-29 23:59 CET."
    for command in (run, ("show", "ann")):
        card = course.run(*command, "--gradebook", str(book))
        assert handed_in + deadline in " ".join(card.stdout.split()), card.stderr
    for_gradescope = "export", "gradescope", "tiny", "--out", "gs", "--gradebook", str(book)
    assert course.run(*for_gradescope).returncode == 0
    assert handed_in + deadline in (course.cwd / "gs" / "ann.json").read_text()


def test_a_run_keeps_its_marks_and_they_can_be_shown(course, book):
    archives = course.submit("ann"), course.submit("ben", WRONG)
    done = course.run("run", *archives, "--gradebook", str(book))
    assert (done.returncode, done.stderr) == (0, "2 submissions graded: 2 final\n")
    done = course.run("show", "ben")
    assert (done.returncode, done.stderr) == (0, "")
    assert "double doubles" in done.stdout
    assert "2 / 3" in done.stdout
    (mark,) = shown(course, "show", "ben", "--json")
    assert (mark["student"], mark["points"]["raw"], mark["final"]) == ("ben", 2, 2)
    assert {item["id"]: item["points"] for item in mark["items"]} == {"double": 0, "square": 2}
    run = course.records("ben")[0]["run"]
    assert mark["run"] == {"id": run["id"], "began": run["started_at"]}


def test_without_a_gradebook_a_run_writes_none(course, book):
    course.run("run", course.submit())
    assert not book.exists()


def test_the_gradebook_may_be_named_once_for_all_commands(course, tmp_path):
    environment = {"GRADER_GRADEBOOK": str(tmp_path / "of_the_class.db")}
    course.run("run", course.submit(), **environment)
    assert course.run("show", "ann", **environment).returncode == 0
    assert said(course.run("show", "ann")).startswith("grader: gradebook.db: there is no gradebook")


def test_results_are_recorded_as_the_run_would_have_and_only_once(course, book):
    course.run("run", course.submit("ann"), course.submit("ben", WRONG))
    done = course.run("record", str(course.out))
    assert (done.returncode, said(done)) == (0, "gradebook.db: 2 grades recorded, 0 recorded already")
    (mark,) = shown(course, "show", "ben", "--json")
    assert mark["points"]["raw"] == 2
    assert (
        said(course.run("record", str(course.out))) == "gradebook.db: 0 grades recorded, 2 recorded already"
    )
    course.run("run", course.submit("ann"), "--gradebook", str(book))
    assert len(shown(course, "history", "ann", "--json")) == 1, "the run says the same"


@pytest.mark.slow
def test_results_of_changed_files_or_of_another_grader_keep_their_recorded_grades(course):
    course.run("run", course.submit("ann"), "--gradebook", "gradebook.db")
    course.run("run", course.submit("bob"), "--gradebook", "gradebook.db")
    before = course.run("show", "ann", "--json").stdout
    inputs = course.folder / "assignments/tiny/inputs.py"
    text = inputs.read_text()
    inputs.write_text(f"{text}\n# edited\n")
    done = course.run("record", str(course.out))
    assert done.returncode == 5
    assert done.stderr.splitlines() == [
        "grader: 2 grades are not recorded, for files of the course were changed since double, square were "
        "observed; run these submissions again: ann, bob",
        "gradebook.db: 0 grades recorded, 0 recorded already, 2 to be run again",
    ]
    assert course.run("show", "ann", "--json").stdout == before
    inputs.write_text(text)
    for file in course.out.glob("tiny/*/evidence.jsonl"):
        file.write_text(
            file.read_text().replace('"grader":"', '"grader":"0.0.').replace('"digest":"', '"digest":"x')
        )
    done = course.run("record", str(course.out), "--json")
    (refused,) = json.loads(done.stdout)["refused"]
    assert "for grader 0.0." in refused


def test_points_by_hand_and_a_new_submission_are_history(course, book):
    style = {"id": "style", "title": "Readable", "points": 4, "check": "manual"}
    files = {"id": "files", "title": "f", "points": 1, "check": "files", "required": ["work.py"]}
    course.rubric(style, files)
    points = course.cwd / "points.csv"
    results = ("--results", str(course.out))
    course.run("run", course.submit(), "--gradebook", str(book))
    course.run("manual", "export", "--out", str(points), *results)
    rows = table(points.read_text(encoding="utf-8-sig"))
    with points.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerow(rows[0] | {"points": "3", "comment": "tidy"})
    course.run("manual", "import", str(points), "--by", "Ada", *results)
    assert course.run("record", str(course.out)).returncode == 0
    course.run("run", course.submit(code="def other(): pass"), "--gradebook", str(book))

    told = shown(course, "history", "ann", "--json")
    scores = [(e["details"]["how"], e["details"]["raw"]) for e in told if e["what"] == "score"]
    assert scores == [("run", 1), ("record", 4), ("run", 1)]
    (given,) = [event["details"] for event in told if event["what"] == "points"]
    assert (given["by"], given["points"], given["comment"]) == ("Ada", 3, "tidy")
    done = course.run("history", "ann")
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line.split("  ")[2] for line in done.stdout.splitlines()]
    assert "Ada gave 3 of 4 for style: tidy" in [line.partition(" [")[0] for line in lines]
    assert [line.partition(" (")[0] for line in lines if "submission" in line] == [
        "run: 1 / 5, provisional",
        "record: 4 / 5, final",
        "run: 1 / 5, provisional",
    ]


def test_a_run_of_single_items_replaces_no_grade(course, book):
    archive = course.submit("ann")
    course.run("run", archive, "--gradebook", str(book))
    shutil.rmtree(course.out)
    part = course.run("run", archive, "--gradebook", str(book), "--item", "square")
    assert "1 grade not recorded, for --item left out what nobody has looked at; run all items" in part.stderr
    (grade,) = json.loads(course.run("export", "json", "tiny").stdout)
    assert (grade["standing"], grade["points"]["raw"]) == ("final", 3)
    course.run("run", archive, "--gradebook", str(book))
    again = course.run("run", archive, "--gradebook", str(book), "--item", "square")
    assert "not recorded" not in again.stderr, "here all items were looked at"


def test_the_class_is_a_table_with_a_column_for_each_item(course, book):
    course.write("course.yaml", "title: x\nroster: roster.csv\n")
    course.write("roster.csv", "student\nann\nzoe\n")
    course.run("run", course.submit("ann"), "--gradebook", str(book))
    assert said(course.run("export", "csv", "tiny")) == "gradebook.db: 1 student has a grade in tiny"
    course.run("run", course.submit("bo+cy"), "--gradebook", str(book), "--item", "square")
    done = course.run("export", "csv", "tiny")
    assert (done.returncode, said(done)) == (0, "gradebook.db: 3 students have a grade in tiny")
    rows = table(done.stdout)
    assert list(rows[0])[:5] == ["Student", "Submitted as", "Standing", "double", "square"]
    assert [(r["Student"], r["Submitted as"], r["double"], r["square"], r["Final"]) for r in rows] == [
        ("ann", "ann", "1.0", "2.0", "3.0"),
        ("bo", "bo+cy", "", "2.0", ""),
        ("cy", "bo+cy", "", "2.0", ""),
        ("zoe", "", "", "", ""),
    ]
    assert rows[3]["Standing"] == "no grade"

    file = course.cwd / "class.csv"
    assert course.run("export", "csv", "tiny", "--out", str(file)).returncode == 0
    content = file.read_bytes()
    assert content.startswith(b"\xef\xbb\xbfStudent,"), "spreadsheets look for the mark"
    assert content.count(b"\r\n") == 5
    assert table(content.decode("utf-8-sig")) == rows


@pytest.mark.slow
def test_the_table_has_the_items_of_every_rubric_that_was_used_and_no_formula(course, book):
    course.run("run", course.submit("-ann", name="work.py"), "--student", "ann", "--gradebook", str(book))
    course.rubric({"id": "files", "title": "f", "points": 1, "check": "files", "required": ["work.py"]})
    course.run("run", course.submit("ben"), "--gradebook", str(book))
    with closing(sqlite3.connect(book)) as opened:
        card = opened.execute("SELECT card FROM scores WHERE id = 2").fetchone()[0]
        row = (3, card.replace('"ben"', '"=cmd"'))
        opened.execute(
            "INSERT INTO scores SELECT ?, attempt, ?, how, grader, at, account FROM scores WHERE id = 2", row
        )
        opened.execute("INSERT INTO totals VALUES (3, 'tiny', '=cmd', 1, 1)")
        opened.commit()
    rows = table(course.run("export", "csv", "tiny").stdout)
    assert [(r["Student"], r["files"], r["double"]) for r in rows] == [
        ("'=cmd", "1.0", ""),
        ("ann", "", "1.0"),
        ("ben", "1.0", ""),
    ]


def test_the_class_is_a_list_for_programs(course, book):
    course.run("run", course.submit("ann"), course.submit("ben"), "--gradebook", str(book))
    marks = shown(course, "export", "json")
    assert [mark["student"] for mark in marks] == ["ann", "ben"]
    assert marks[0] == shown(course, "show", "ann", "--json")[0]
    done = course.run("export", "json", "other")
    assert (done.returncode, done.stdout) == (2, "")
    assert said(done) == "grader: gradebook.db: has no grade in 'other'; there are tiny (1 assignment in all)"


@pytest.mark.parametrize("content", ["a text", "a database of another program"])
def test_a_copy_replaces_nothing_but_a_gradebook(course, book, tmp_path, content):
    course.run("run", course.submit("ann"), "--gradebook", str(book))
    copy = tmp_path / "kept"
    if content == "a text":
        copy.write_text("hello\n")
    else:
        with closing(sqlite3.connect(copy)) as other:
            other.execute("CREATE TABLE places (name TEXT)")
    before = copy.read_bytes()
    done = course.run("export", "backup", str(copy))
    assert (done.returncode, said(done)) == (
        2,
        f"grader: {copy}: is there, and no gradebook; name another file for the copy",
    )
    assert copy.read_bytes() == before
    assert sorted(file.name for file in tmp_path.glob("*kept*")) == ["kept"]
    copy.write_text("")  # as mktemp makes it
    for _ in range(2):  # as a copy of each night replaces that of a week before
        assert course.run("export", "backup", str(copy)).returncode == 0


def test_a_copy_is_a_gradebook(course, book, tmp_path):
    course.run("run", course.submit("ann"), "--gradebook", str(book))
    copy = tmp_path / "copy.db"
    done = course.run("export", "backup", str(copy))
    assert (done.returncode, said(done)) == (0, f"{copy}: written; it is a gradebook like gradebook.db")
    assert shown(course, "show", "ann", "--json", "--gradebook", str(copy))
    done = course.run("export", "backup", str(book), "--gradebook", str(book))
    assert (done.returncode, said(done)) == (
        2,
        f"grader: {book}: is the gradebook itself; name another file for the copy",
    )


def test_who_comes_with_an_earlier_run_is_kept_out_and_told(course, book, tmp_path):
    course.run("run", course.submit("ann"))
    evidence = course.results() / "evidence.jsonl"
    began = course.records()[0]["run"]["started_at"]
    earlier = tmp_path / "earlier" / "tiny" / "ann"
    earlier.mkdir(parents=True)
    (earlier / "evidence.jsonl").write_text(evidence.read_text().replace(began, "2024-01-01T00:00:00+00:00"))
    course.run("record", str(course.out))
    done = course.run("record", str(tmp_path / "earlier"))
    assert done.returncode == 5
    first, last = done.stderr.splitlines()
    assert "ann, tiny: a later run is recorded already" in first
    assert last == "gradebook.db: 0 grades recorded, 0 recorded already, 1 refused"


@pytest.mark.parametrize(
    ("before", "times"),
    [
        (
            "2026-07-01T11:59:30+00:00",
            "begun 2026-07-01 15:00 IDT, with 3 / 3; this one 2026-07-01 14:59 IDT, ",
        ),
        (
            "2026-07-01T12:00:29+00:00",
            "begun 2026-07-01 15:00:30 IDT, with 3 / 3; this one 2026-07-01 15:00:29 IDT, ",
        ),
    ],
)
def test_times_of_two_runs_are_those_of_the_course(course, book, tmp_path, before, times):
    course.write("course.yaml", "title: x\ntime_zone: Asia/Jerusalem\n")
    course.run("run", course.submit("ann"))
    began, text = course.records()[0]["run"]["started_at"], (course.results() / "evidence.jsonl").read_text()
    for place, time in (("later", "2026-07-01T12:00:30+00:00"), ("earlier", before)):
        folder = tmp_path / place / "tiny" / "ann"
        folder.mkdir(parents=True)
        (folder / "evidence.jsonl").write_text(text.replace(began, time))
        done = course.run("record", str(tmp_path / place))
    assert f"a later run is recorded already ({times}with 3 / 3)" in done.stderr


def test_a_run_whose_mark_is_kept_out_says_so_and_leaves_its_results(course, book):
    course.run("run", course.submit("ann"))
    evidence = course.results() / "evidence.jsonl"
    began, text = course.records()[0]["run"]["started_at"], evidence.read_text()
    evidence.write_text(text.replace(began, "2999-01-01T00:00:00+00:00"))
    course.run("record", str(course.out))
    evidence.unlink()
    done = course.run("run", course.submit("ann"), course.submit("ben"), "--gradebook", str(book))
    assert done.returncode == 5
    assert "ann, tiny: a later run is recorded already" in done.stderr.splitlines()[0]
    assert course.points() == {"double": 1, "square": 2}
    assert [mark["student"] for mark in shown(course, "export", "json")] == ["ann", "ben"]


def test_of_an_archive_that_does_not_count_its_points_and_those_that_count_are_told(course, book):
    course.write("course.yaml", "title: A tiny course\nroster: roster.csv\n")
    course.write("roster.csv", "student\nann\nben\n")
    right = course.submit("ann")
    text = Path(right).read_bytes()
    course.run("run", right, "--gradebook", str(book))
    evidence = course.results() / "evidence.jsonl"
    began = course.records()[0]["run"]["started_at"]
    old = evidence.read_text().replace(began, "2001-01-01T00:00:00+00:00")
    wrong = course.submit("ann", "def double(x): return x\ndef square(x): return x * x")
    course.run("run", wrong, "--gradebook", str(book))
    Path(right).write_bytes(text)
    evidence.write_text(old)
    done = course.run("run", right, course.submit("ben"), "--gradebook", str(book))
    first, *rest = done.stderr.splitlines()
    assert ", with 2 / 3; this one 2001-01-01 00:00 UTC, with 3 / 3), and this one stands" in first
    assert rest == [
        "1 submission graded: 1 final",
        "1 submission is older than what is recorded; the recorded grade counts",
        "exit code 5: 1 submission older than what is recorded",
    ]


def test_a_class_whose_later_runs_are_recorded_is_told_so_once(course, book):
    names = [f"s{number}" for number in range(6)]
    archives = [course.submit(name) for name in names]
    course.run("run", *archives)
    old = {name: (course.results(name) / "evidence.jsonl").read_text() for name in names}
    course.run("run", *archives, "--fresh", "--gradebook", str(book))
    for name, text in old.items():  # of another second, however fast this machine is
        earlier = re.sub('"started_at":"[0-9]{4}', '"started_at":"2001', text)
        (course.results(name) / "evidence.jsonl").write_text(earlier)
    done = course.run("run", *archives, "--gradebook", str(book), "--json")
    assert done.returncode == 0, "nothing was run, and what counts is of the same files"
    lines = [line for line in done.stderr.splitlines() if "a later run is recorded already" in line]
    assert len(lines) == 2
    assert "the same of 5 more submissions" in lines[1]
    end = "gradebook.db: a later run is recorded already, and this one stands in the history alone; "
    assert end in lines[1]
    assert {key: len(value) for key, value in json.loads(done.stdout).items()} == {"scores": 0, "refused": 6}


def test_a_run_that_repeats_nothing_after_an_appeal_is_told_and_ends_with_0(course, book):
    """As each night, into the folder of before: the grade that counts is that of the appeal."""
    archive, first = course.submit("ann"), course.out
    course.run("run", archive)
    evidence = course.results() / "evidence.jsonl"
    earlier = re.sub('"started_at":"[0-9]{4}', '"started_at":"2001', evidence.read_text())
    evidence.write_text(earlier)  # of another second, however fast this machine is
    course.run("record", str(first))
    course.out = course.cwd / "appeal"
    assert course.run("run", archive, "--fresh", "--gradebook", str(book)).returncode == 0
    course.out = first
    done = course.run("run", archive, "--gradebook", str(book))
    assert (done.returncode, "Nothing was run again" in done.stdout) == (0, True)
    assert "ann, tiny: a later run is recorded already" in said(done)
    assert len(course.run("history", "ann").stdout.splitlines()) == 2
    course.submit("ann", WRONG)
    assert course.run("run", archive, "--gradebook", str(book)).returncode == 0, "other files count, once run"
    course.out = course.cwd / "appeal"
    course.submit("ann")
    done = course.run("run", archive, "--gradebook", str(book))
    assert done.returncode == 5, "what counts is of other files"
    assert "ann, tiny: a later run is recorded already" in said(done)


def test_a_run_that_cannot_keep_its_marks_says_so_before_it_grades(course, book):
    book.write_text("a file")
    done = course.run("run", course.submit(), "--gradebook", str(book))
    assert (done.returncode, said(done)) == (2, "grader: gradebook.db: is no gradebook; name another")
    assert not course.out.exists()


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["show", "anm"], "gradebook.db: has no grade of 'anm'; did you mean ann?"),
        (
            ["show", "ann", "--assignment", "hw9"],
            "gradebook.db: has no grade in 'hw9'; there are tiny (1 assignment in all)",
        ),
        (["history", "zoe"], "gradebook.db: has no grade of 'zoe'; there are ann (1 student in all)"),
        (["record", "nowhere"], "nowhere: there is no such results folder; grade first, or name another"),
        (["export", "csv", "tiny", "--out", "no/where.csv"], "--out no/where.csv: cannot be written"),
        (["export", "backup", "no/where.db"], "no/where.db: cannot be written"),
    ],
    ids=" ".join,
)
def test_what_is_not_there_is_said_in_a_line(course, book, arguments, line):
    course.run("run", course.submit("ann"), "--gradebook", str(book))
    done = course.run(*arguments)
    assert done.returncode in {2, 5}
    assert line in said(done)


def test_without_sqlalchemy_a_line_says_what_to_install_and_a_run_needs_none(course, tmp_path):
    blocked = tmp_path / "blocked.py"
    blocked.write_text(
        "import sys\nsys.modules['sqlalchemy'] = None\n"
        "sys.argv = ['grader', *sys.argv[1:]]\nfrom grader.cli.main import main\nmain()\n"
    )

    def run(*arguments):
        import subprocess

        return subprocess.run(
            [sys.executable, str(blocked), *arguments],
            env=course.environment,
            cwd=course.cwd,
            capture_output=True,
            text=True,
            check=False,
        )

    for arguments in (["show", "ann"], ["run", course.submit(), "--gradebook", "g.db"]):
        done = run(*arguments)
        assert done.returncode == 2
        assert said(done) == (
            f"grader: a gradebook needs SQLAlchemy; {sys.executable} -m pip install 'gpu-grader[gradebook]'"
        )
    done = run("run", course.submit(), "--out", str(course.out))
    assert (done.returncode, done.stderr) == (0, "")


def test_history_names_the_time_of_submission_where_it_is_another(course, book):
    archive = course.submit("ann")
    course.run("run", archive, "--gradebook", str(book))
    for day in (1, 2, 2):
        times = course.cwd / "times.csv"
        times.write_text(f"student,submitted_at\nann,2026-01-0{day}T10:00:00+00:00\n")
        course.run("run", archive, "--times", str(times), "--gradebook", str(book))
    lines = [line.partition(" [")[0] for line in course.run("history", "ann").stdout.splitlines()]
    assert "handed in" not in lines[0]
    assert lines[1].endswith(", handed in 2026-01-01 10:00 UTC")
    assert lines[2].endswith(", handed in 2026-01-02 10:00 UTC (before: 2026-01-01 10:00 UTC)")
    assert not any("handed in" in line for line in lines[3:])


def test_a_machine_that_lacks_something_takes_no_recorded_grade_away(course, book, tmp_path):
    library = tmp_path / "library"
    library.write_text("here")
    course.write(
        "assignments/tiny/expected.py",
        f"""
        def double(x): return x + x
        def square(x): return open({str(library)!r}) and x**2
        """,
    )
    archives = [course.submit(name) for name in ("ann", "ben", "cem", "dan", "eve", "fay")]
    assert course.run("run", *archives, "--gradebook", str(book)).returncode == 0
    library.unlink()
    course.out = tmp_path / "elsewhere_results"
    done = course.run("run", archives[0], "--gradebook", str(book))
    assert done.returncode != 0
    line = "grader: ann, tiny: 3 / 3, final, is recorded and stays: 2 points could not be observed here"
    assert line in done.stderr.splitlines()
    (grade,) = shown(course, "show", "ann", "--json")
    assert (grade["points"]["raw"], grade["final"]) == (3, 3)
    names = "ann, ben, cem, dan, eve, …; grader history STUDENT shows one"
    line = f"grader: 6 recorded grades stay where points were not observed: {names}"
    done = course.run("run", *archives, "--gradebook", str(book), "--fresh")
    assert line in done.stderr.splitlines()
    assert line in course.run("record", str(course.out), "--gradebook", str(book)).stderr.splitlines()
    assert {grade["final"] for grade in shown(course, "export", "json")} == {3}


def test_of_several_attempts_the_best_is_one_that_was_decided_elsewhere(course, book, tmp_path):
    library = tmp_path / "library"
    library.write_text("here")
    course.write(
        "assignments/tiny/expected.py",
        f"""
        def double(x): return x + x
        def square(x): return open({str(library)!r}) and x**2
        """,
    )
    course.rubric(DOUBLE, SQUARE, attempts="best")
    course.submit("ann_12_1_hw")
    course.submit("ann_12_2_hw-1", "def double(x): return 2 * x\ndef square(x): return x")
    for fresh in ((), ("--fresh",)):
        done = course.run("run", str(course.submissions_folder), "--gradebook", str(book), *fresh)
        assert "ann_12_1_hw.tar.gz: counts, the best of 2 attempts, with 3 points" in done.stderr
        (grade,) = shown(course, "export", "json")
        assert (grade["points"]["raw"], grade["final"]) == (3, 3)
        course.out = tmp_path / "elsewhere_results"
        library.unlink(missing_ok=True)
    assert "is recorded and stays: 2 points could not be observed here" in done.stderr


def test_a_team_is_shown_by_its_members_and_by_its_name_on_the_roster(course, book):
    course.write("course.yaml", "title: A tiny course\nroster: roster.csv\n")
    course.write("roster.csv", "student,team\nann,red\nben,red\ncem,\n")
    course.run("run", course.submit("red"), course.submit("cem"), "--gradebook", str(book))
    for name in ("red", "ann+ben", "ben+ann"):
        card = course.run("show", name)
        assert (card.returncode, card.stdout.count("double doubles")) == (0, 1)
        assert [grade["student"] for grade in shown(course, "show", name, "--json")] == ["ann", "ben"]
        (event,) = shown(course, "history", name, "--json")
        assert event["details"]["submitted_as"] == "ann+ben"
    line = "grader: gradebook.db: has no grade of 'ann+cem' together; name one of its members: ann, cem"
    for command in ("show", "history"):
        assert said(course.run(command, "ann+cem")) == line
    course.write("course.yaml", "title: [\n")
    for command in ("show", "history"):
        assert course.run(command, "ann+ben").returncode == 0
