"""`grader manual` from the first run to the last: export, fill in, import, run again."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

STYLE = {"id": "style", "title": "=HYPERLINK(1)", "points": 4, "check": "manual", "asks": "Readable?"}
STYLE["reads"] = "w*.py"
FILES = {"id": "files", "title": "work.py is there", "points": 1, "check": "files", "required": ["work.py"]}
RULES = {
    "id": "rules",
    "title": "no eval",
    "points": 1,
    "check": "source",
    "file": "work.py",
    "forbid": ["eval"],
}


class Table:
    def __init__(self, course) -> None:
        self.course = course
        self.path: Path = course.cwd / "points.csv"

    def export(self) -> list[dict[str, str]]:
        done = self.course.run("manual", "export", "--out", str(self.path), "--results", str(self.course.out))
        assert (done.returncode, done.stdout) == (0, "")
        with self.path.open(encoding="utf-8-sig", newline="") as file:
            return list(csv.DictReader(file))

    def save(self, rows) -> None:
        with self.path.open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            writer.writerows(rows)

    def load(self):
        options = ("--by", "Ada", "--results", str(self.course.out))
        return self.course.run("manual", "import", str(self.path), *options)


@pytest.fixture
def table(course):
    course.rubric(STYLE, FILES)
    return Table(course)


def item(course, student="ann"):
    card = json.loads((course.results(student) / "score.json").read_text())
    lines = card.get("lines") or card["items"]
    return next(line for line in lines if "style" in {line.get("item"), line.get("id")})


def test_an_export_counts_what_waits_for_a_person(course, table):
    course.run("run", course.submit("ann"))
    options = "--out", str(table.path), "--results", str(course.out)
    done = course.run("manual", "export", *options)
    assert done.stderr == f"{table.path}: 1 item, 1 of them waits for a person\n"
    table.path.unlink()
    course.run("run", course.submit("ann"), course.submit("bob"))
    done = course.run("manual", "export", *options)
    assert done.stderr.endswith(": 2 items, 2 of them wait for a person\n")


def test_one_results_folder_that_cannot_be_written_keeps_no_other_points_back(course, table):
    archives = [course.submit("ann"), course.submit("bob")]
    course.run("run", *archives)
    table.save([row | {"points": "3"} for row in table.export()])
    score = course.results("ann") / "score.json"
    score.unlink()
    score.mkdir()
    done = table.load()
    assert done.returncode == 5
    assert "score.json" in done.stderr
    assert "import the table again" in done.stderr
    assert item(course, "bob")["points"] == 3
    score.rmdir()
    assert table.load().returncode == 0
    assert item(course, "ann")["points"] == 3, "nothing in the table has changed"


def test_points_wait_come_in_as_a_table_and_count_at_once(course, table):
    archives = [course.submit("ann"), course.submit("bob")]
    assert course.run("run", *archives).returncode == 0
    assert item(course)["reason"] == "waits for a person"
    assert course.observed() == ["files"]

    rows = table.export()
    assert [(row["student"], row["item"], row["points"]) for row in rows] == [
        ("ann", "style", ""),
        ("bob", "style", ""),
    ]
    assert (rows[0]["title"], rows[0]["asks"], rows[0]["possible"]) == ("'=HYPERLINK(1)", "Readable?", "4")
    assert rows[0]["document"] == "tiny/ann/workspace/work.py"
    assert rows[0]["submission"].startswith("sha256:"), "digits alone may be a number to a spreadsheet"
    of_before = {"submission": rows[0]["submission"].removeprefix("sha256:")}
    table.save([rows[0] | {"points": "2,5", "comment": "tidy"} | of_before, rows[1]])
    filled = table.path.read_bytes()
    refused = course.run("manual", "export", "--out", str(table.path), "--results", str(course.out))
    assert (refused.returncode, refused.stderr) == (
        2,
        f"grader: --out {table.path}: has rows that were filled in and are not imported (ann style); "
        "import it first, or name another file\n",
    )
    assert table.path.read_bytes() == filled
    before = course.records()
    done = table.load()
    assert (done.returncode, done.stderr.split(": ")[1]) == (0, "1 new judgement saved\n")
    judged = (2.5, "a person gave 2.5 of 4: tidy")
    assert (item(course)["points"], item(course)["reason"]) == judged, "without another run"
    assert "a person gave 2.5 of 4: tidy" in (course.results() / "feedback" / "report.html").read_text()

    assert course.run("run", *archives).returncode == 0
    assert course.records() == before, "nothing is observed again for it"
    assert (item(course)["points"], item(course)["reason"]) == judged
    assert item(course, "bob")["reason"] == "waits for a person"

    assert [(row["student"], row["points"], row["comment"]) for row in table.export()] == [
        ("ann", "2.5", "tidy"),
        ("bob", "", ""),
    ]
    assert "0 new judgements" in table.load().stderr


def test_an_account_without_a_name_gives_points_under_its_number(course, table, monkeypatch):
    """As in a container that was started as any number."""
    from grader.cli.review import parse_people

    def nameless(number):
        raise KeyError(f"getpwuid(): uid not found: {number}")

    monkeypatch.setattr("pwd.getpwuid", nameless)
    course.run("run", course.submit("ann"))
    table.save([table.export()[0] | {"points": "2"}])
    done = course.run("manual", "import", str(table.path), "--results", str(course.out))
    assert (done.returncode, done.stderr.split(": ")[1]) == (0, "1 new judgement saved\n")
    (line,) = (course.results() / "manual.jsonl").read_text().splitlines()
    assert json.loads(line)["by"] == str(os.getuid())
    for variable in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(variable, raising=False)
    assert [person.name for person in parse_people(())] == [str(os.getuid())]


@pytest.mark.parametrize(
    ("reads", "missing"),
    [("more.py", "more.py was not handed in"), ("m*.py", "no m*.py was handed in"), ("work.py", "")],
)
def test_a_file_that_a_person_reads_and_nobody_handed_in_is_named(course, table, reads, missing):
    course.rubric(STYLE | {"reads": reads})
    assert course.run("run", course.submit("ann"), "--gradebook", "book.db").returncode == 0
    waits = f"waits for a person: {missing}" if missing else "waits for a person"
    assert item(course)["reason"] == waits
    assert waits in (course.results() / "feedback" / "report.html").read_text()
    (row,) = table.export()
    assert row["now"] == waits
    assert bool(row["document"]) is not bool(missing)
    assert "reason" not in course.run("rescore", "tiny", "--gradebook", "book.db").stdout


@pytest.mark.parametrize("column", ["comment", "reason"])
def test_a_row_with_a_text_and_without_points_is_named(course, table, column):
    course.run("run", *(course.submit(f"s{number}") for number in range(6)))
    rows = table.export()
    table.save([row | {column: "look at it again"} for row in rows])
    done = table.load()
    assert (done.returncode, done.stderr.splitlines()) == (
        0,
        [
            f"grader: {table.path}: 6 rows with a text and without points, not saved (row 2: s0, style, "
            "row 3: s1, style, row 4: s2, style, row 5: s3, style, …); give points there as well, and "
            "import the table again",
            f"{table.path}: 0 new judgements saved",
        ],
    )
    table.save([row | {"points": "1"} for row in rows])
    assert "without points" not in table.load().stderr


@pytest.mark.parametrize("points", ["2", "2,0", "2.00"])
def test_points_that_were_imported_without_the_gradebook_come_into_it_with_the_same_table(
    course, table, points
):
    book = str(course.cwd / "book.db")
    assert course.run("run", course.submit("ann"), "--gradebook", book).returncode == 0
    rows = [row | {"points": points} for row in table.export()]
    table.save(rows)
    assert table.load().returncode == 0
    assert points_rows(course) == []
    assert import_into_book(course, table, rows).returncode == 0
    assert points_rows(course) == [("Ada", 2.0)]
    before = course.run("history", "ann", "--gradebook", book).stdout
    assert import_into_book(course, table, rows).returncode == 0
    assert course.run("history", "ann", "--gradebook", book).stdout == before


def test_an_item_that_is_skipped_waits_for_nobody(course, table):
    missing = FILES | {"required": ["more.py"]}
    course.rubric(missing, STYLE | {"needs": ["files"]})
    assert course.run("run", course.submit("ann")).returncode == 0
    (row,) = table.export()
    assert row["now"] == '0: skipped: needs "work.py is there"'


def test_points_for_a_skipped_item_are_saved_and_the_line_says_that_they_do_not_count(course, table):
    report = {"id": "report", "title": "A report", "points": 1, "check": "manual", "asks": "There?"}
    course.rubric(report, STYLE | {"needs": ["report"]})
    course.run("run", course.submit("ann"))
    rows = table.export()
    table.save([row | {"points": "0" if row["item"] == "report" else "3"} for row in rows])
    done = table.load()
    assert (done.returncode, done.stderr.splitlines()) == (
        0,
        [
            f"grader: {table.path}: points for an item that is skipped, in 1 row (row 3: ann, style: not "
            'counted: needs "A report"); they are saved, and count 0 until the needed item has all its '
            "points",
            f"{table.path}: 2 new judgements saved",
        ],
    )
    assert item(course)["points"] == 0
    table.save([row | {"points": "1" if row["item"] == "report" else "2"} for row in rows])
    assert "count 0" not in table.load().stderr
    assert item(course)["points"] == 2


def test_points_that_the_table_shows_with_a_flag_may_be_changed(course, table):
    course.rubric(STYLE | {"points": 4}, FILES)
    course.run("run", course.submit("ann"))
    table.save([row | {"points": "1"} for row in table.export()])
    assert table.load().returncode == 0
    rows = [row | {"points": "4", "now": row["now"] + "\nflag: look here"} for row in table.export()]
    table.save(rows)
    done = course.run("manual", "import", str(table.path), "--by", "Bob", "--results", str(course.out))
    assert (done.returncode, done.stderr.split(": ")[1]) == (0, "1 new judgement saved\n")


def test_a_gradebook_beside_an_import_is_named_until_it_has_the_points(course, table):
    book = str(course.cwd / "gradebook.db")
    assert course.run("run", course.submit("ann"), "--gradebook", book).returncode == 0
    (row,) = table.export()
    table.save([row | {"points": "2"}])
    done = table.load()
    assert done.stderr.splitlines()[1].startswith(
        "gradebook.db: does not have them; put them there by grader rec"
    )
    table.save([row | {"points": "3"}])
    options = ("--by", "Ada", "--results", str(course.out), "--gradebook", book)
    done = course.run("manual", "import", str(table.path), *options)
    assert (done.returncode, len(done.stderr.splitlines())) == (0, 1)
    last = course.run("history", "ann", "--gradebook", book).stdout.splitlines()[-1]
    assert "  record: 4 / 5" in last, "nothing ran"
    done = course.run("export", "csv", "tinny", "--gradebook", book)
    assert (done.returncode, done.stdout) == (2, "")
    assert "has no grade in 'tinny'; did you mean tiny?" in done.stderr


def test_all_that_is_wrong_is_said_at_once_and_nothing_is_written(course, table):
    course.rubric(STYLE, FILES, RULES)
    assert course.run("run", course.submit()).returncode == 0
    (row,) = table.export()
    wrong = [  # rows are counted as spreadsheets do, whatever breaks of lines are in their cells
        row | {"points": "3", "comment": "fine\nbut for\nnames"},
        row | {"points": "4.5"},
        row | {"points": "nan"},
        row | {"student": "anna", "points": "1"},
        row | {"student": "../ann", "points": "1"},
        row | {"item": "stlye", "points": "1"},
        row | {"item": "rules", "points": "1"},
        row | {"points": "1", "submission": "0123456789ab"},
        row | {"points": "1", "submission": "1.23E+11"},
        row | {"points": "1", "submission": ""},
        row | {"points": ""},
    ]
    table.save(wrong)
    done = table.load()
    assert done.returncode == 2
    said = [line.removeprefix(f"grader: {table.path}: row ") for line in done.stderr.splitlines()]
    assert [line.partition(":")[0] for line in said[:-1]] == [
        "3",
        "3",
        "4",
        "4",
        "5",
        "6",
        "7",
        "8",
        "9",
        "9",
        "10",
        "10",
        "11",
        "11",
    ]
    for part in (
        "row 2",
        "from 0 to 4, got '4.5'",
        "got 'nan'",
        "ann",
        "style",
        "again since",
        "submission: '1.23E+11' names none; take the cell from a new table",
        "submission: '' names none; take the cell from a new table",
    ):
        assert any(part in line for line in said), part
    assert said[-1] == "grader: nothing was written"
    assert not (course.results() / "manual.jsonl").exists()


EVAL = "def double(x): return eval('2 * x')"


@pytest.mark.parametrize(
    ("on_flag", "waiting", "now"),
    [("holds", 1, "waits for a person: held, 1 so far: something"), ("notes", 0, "1: something")],
)
def test_whoever_looks_at_a_flag_decides_in_the_table(course, table, on_flag, waiting, now):
    course.rubric(RULES | {"on_flag": on_flag})
    assert course.run("run", course.submit("ann", code=EVAL), course.submit("bob")).returncode == 0
    options = ("--out", str(course.cwd / "more.csv"), "--results", str(course.out), "--json")
    summary = json.loads(course.run("manual", "export", *options).stdout)
    assert (summary["items"], summary["waiting"]) == (1, waiting), "bob has no flag"
    (row,) = table.export()
    assert (row["student"], row["item"]) == ("ann", "rules")
    assert row["now"].startswith(now)
    assert "\nflag: work.py:1: " in row["now"]
    table.save([row | {"points": "0", "comment": "eval is forbidden"}])
    assert table.load().returncode == 0
    card = json.loads((course.results() / "score.json").read_text())
    assert (card["points"]["final"], card["standing"]) == ({"ann": 0}, "final")
    (row,) = table.export()
    assert (row["points"], row["comment"]) == ("0", "eval is forbidden")
    table.save([row, row | {"student": "bob", "points": "0", "submission": ""}])
    done = table.load()
    assert done.returncode == 2
    assert (
        "bob, rules: a program has decided it, without a flag; take the row out, or record a request in "
        "grader review" in done.stderr
    )


def test_a_penalty_says_what_points_mean(course, table):
    course.rubric(FILES, RULES | {"on_flag": "holds", "penalty": True}, points=1)
    done = course.run("run", course.submit("bob", code=EVAL))
    assert done.returncode == 0, done.stderr
    (row,) = table.export()
    assert row["title"] == "no eval (a penalty: all points take nothing, 0 takes them all)"


def test_a_row_of_an_item_that_a_program_decided_without_a_flag_is_refused(course, table):
    """A slip in the column `item`, as filling down in a spreadsheet makes, changes no decided points."""
    double = {"id": "double", "points": 4, "check": "matches_reference", "of": "work.double"}
    course.rubric(STYLE, double | {"title": "double doubles", "inputs": "numbers"})
    assert course.run("run", course.submit("ann")).returncode == 0
    (row,) = table.export()
    table.save([row | {"item": "double", "points": "1"}])
    done = table.load()
    assert (done.returncode, done.stderr.splitlines()) == (
        2,
        [
            f"grader: {table.path}: row 2: ann, double: a program has decided it, without a flag; take the "
            "row out, or record a request in grader review",
            "grader: nothing was written",
        ],
    )


def test_what_a_program_leaves_to_a_person_is_counted_as_waiting(course, table):
    path = course.folder / "assignments/tiny/checks.py"
    text = path.read_text().replace('reason="it was looked at")', 'reason="unclear", undecided=True)')
    text = text.replace('raise ZeroDivisionError("nobody thought of this")', "pass")
    path.write_text(text.replace('name = "breaks"', 'name = "breaks"\n    by_hand = True'))
    course.rubric({"id": "style", "title": "Style", "points": 1, "check": "breaks"})
    course.run("run", course.submit("ann"))
    assert [row["now"] for row in table.export()] == ["waits for a person: unclear"]


@pytest.mark.slow
def test_a_new_submission_waits_again(course, table):
    course.run("run", course.submit())
    (row,) = table.export()
    table.save([row | {"points": "4"}])
    table.load()
    course.run("run", course.submit(code="def other(): pass"))
    assert item(course)["reason"] == "waits for a person"
    done = table.load()
    assert done.returncode == 2
    assert "ann has handed in again since" in done.stderr


def test_a_row_as_exported_of_who_handed_in_again_holds_up_no_other(course, table):
    for student in ("ann", "ben"):
        course.run("run", course.submit(student))
    of_ann, of_ben = table.export()
    table.save([of_ann | {"points": "2"}, of_ben])
    table.load()
    of_ann, of_ben = table.export()
    course.run("run", course.submit("ann", code="def other(): pass"))
    table.save([of_ann, of_ben | {"points": "3"}])
    done = table.load()
    assert done.returncode == 0, done.stderr
    assert "1 row as exported of files that were handed in anew since, not saved (row 2: ann, style)" in (
        done.stderr
    )
    assert item(course)["reason"] == "waits for a person"
    assert item(course, "ben")["points"] == 3


def test_a_table_that_names_no_submission_gives_no_points(course, table):
    """A spreadsheet may lose its last column; whose answers were looked at is then unknown."""
    course.rubric(STYLE)
    course.run("run", course.submit())
    (row,) = table.export()
    table.save([{name: cell for name, cell in row.items() if name != "submission"} | {"points": "4"}])
    done = table.load()
    line = "there is no column 'submission'; export the table again"
    assert (done.returncode, done.stderr) == (2, f"grader: {table.path}:1: {line}\n")
    assert not (course.results() / "manual.jsonl").exists()
    refused = course.run("manual", "export", "--out", str(table.path), "--results", str(course.out))
    assert "has rows that were filled in and are not imported (ann style)" in refused.stderr


def test_where_only_people_give_points_nothing_has_to_be_observed_for_it(course, table):
    course.rubric(STYLE)
    archive = course.submit()
    assert course.run("run", archive).returncode == 0
    (row,) = table.export()
    assert (row["student"], row["item"], row["points"]) == ("ann", "style", "")
    table.save([row | {"points": "3"}])
    assert table.load().returncode == 0
    assert course.run("run", archive).returncode == 0
    assert item(course)["points"] == 3
    assert [record["record"] for record in course.records()] == ["submission"], "said once"
    done = course.run("replay", str(course.results() / "score.json"), "--item", "style")
    line = "--item style: is judged by a person alone; nothing can be observed again"
    assert (done.returncode, done.stderr) == (2, f"grader: {line}\n")


def test_a_new_submission_is_the_one_to_judge_also_if_nothing_of_it_was_observed(course, table):
    course.run("run", course.submit())
    (old,) = table.export()
    course.run("run", course.submit(code="def other(): pass"), "--item", "style")
    (new,) = table.export()
    assert new["submission"] != old["submission"]
    table.save([new | {"points": "4"}])
    assert table.load().returncode == 0
    assert course.run("run", course.submit(code="def other(): pass")).returncode == 0
    assert (item(course)["points"], course.observed()) == (4, ["files", "files"])


def test_a_folder_that_is_not_there_is_said_in_a_line(course, table):
    done = course.run("manual", "export", "--out", str(table.path), "--results", "nowhere")
    assert done.returncode == 2
    assert (
        done.stderr
        == "grader: --results nowhere: there is no such results folder; grade first, or name another\n"
    )


@pytest.fixture
def judged_elsewhere(course, table):
    """A table that was exported before Bob gave 3 of 4 on the page; points by what the table says."""
    from grader.config.points_file import PointsGiven
    from grader.gradebook.book import Gradebook
    from grader.gradebook.judgements import add_judgement
    from grader.gradebook.tables import SUBMISSIONS

    course.run("run", course.submit("ann"), "--gradebook", "book.db")
    rows = table.export()

    def give(
        points: float, by: str = "Bob", at: str = "2099-01-01T00:00:00.123+00:00", comment: str = ""
    ) -> None:
        with Gradebook(course.cwd / "book.db") as book:

            def add(connection):
                row = connection.execute(SUBMISSIONS.select()).one()
                record = PointsGiven(
                    item="style",
                    points=points,
                    possible=4.0,
                    by=by,
                    at=at,
                    comment=comment,
                    criteria=(),
                    submission=row.digest,
                )
                add_judgement(connection, row.id, record)

            book.database.write(add)

    give(3.0)
    return SimpleNamespace(rows=rows, give=give)


def import_into_book(course, table, rows, *options):
    table.save(rows)
    results = ("--results", str(course.out), "--gradebook", "book.db")
    return course.run("manual", "import", str(table.path), "--by", "Ada", *results, *options)


def points_rows(course):
    done = course.run("history", "ann", "--json", "--gradebook", "book.db")
    return [
        (e["details"]["by"], e["details"]["points"]) for e in json.loads(done.stdout) if e["what"] == "points"
    ]


def test_a_table_that_has_not_seen_points_of_a_page_does_not_replace_them(course, table, judged_elsewhere):
    course.write("course.yaml", "title: x\ntime_zone: Asia/Jerusalem\n")
    rows = [row | {"points": "1"} for row in judged_elsewhere.rows if row["item"] == "style"]
    done = import_into_book(course, table, rows)
    assert done.returncode == 2
    line, rest = done.stderr.splitlines()
    assert (
        "ann, style: Bob gave 3 of 4 on 2099-01-01 02:00 IST, which the table has not seen; it says 1."
        in line
    )
    assert "--replace" in line
    assert rest.endswith("nothing was written")
    assert points_rows(course) == [("Bob", 3.0)]
    assert not (course.results() / "manual.jsonl").exists()


def test_it_replaces_them_if_it_is_told_to_and_both_are_history(course, table, judged_elsewhere):
    rows = [row | {"points": "1"} for row in judged_elsewhere.rows if row["item"] == "style"]
    assert import_into_book(course, table, rows, "--replace").returncode == 0
    # Bob's machine has a clock far ahead
    assert points_rows(course) == [("Bob", 3.0), ("Ada", 1.0)]


def test_what_says_the_same_is_no_conflict(course, table, judged_elsewhere):
    rows = [row | {"points": "3"} for row in judged_elsewhere.rows if row["item"] == "style"]
    assert import_into_book(course, table, rows).returncode == 0


FIVE = ("student", "assignment", "item", "points", "submission")


def test_a_table_without_other_columns_is_imported_where_it_says_what_counts(course, table, judged_elsewhere):
    rows = [{name: row[name] for name in FIVE} for row in judged_elsewhere.rows if row["item"] == "style"]
    judged_elsewhere.give(2.0, comment="x is too short a name")
    done = import_into_book(course, table, [row | {"points": "2"} for row in rows])
    assert (done.returncode, done.stderr) == (0, f"{table.path}: 0 new judgements saved\n")
    assert points_rows(course) == [("Bob", 3.0), ("Bob", 2.0)]
    again = course.run(
        *(
            "manual",
            "export",
            "--out",
            str(table.path),
            "--results",
            str(course.out),
            "--gradebook",
            "book.db",
        )
    )
    assert again.returncode == 0, again.stderr


def test_a_table_without_now_is_told_that_a_new_one_must_keep_it(course, table, judged_elsewhere):
    rows = [row | {"points": "1"} for row in judged_elsewhere.rows if row["item"] == "style"]
    done = import_into_book(course, table, [{name: row[name] for name in FIVE} for row in rows])
    assert done.returncode == 2
    line = done.stderr.splitlines()[0]
    assert "the table cannot tell whether it has seen, without its column now; it says 1. " in line
    assert "--out FILE and keep that column, or replace those points by --replace" in line


def test_points_of_oneself_on_the_page_are_a_conflict_and_a_corrected_table_is_none(course, table):
    course.run("run", course.submit("ann"), "--gradebook", "book.db")
    rows = [row | {"points": "1"} for row in table.export() if row["item"] == "style"]
    assert import_into_book(course, table, rows).returncode == 0
    corrected = [row | {"points": "2"} for row in rows]
    assert import_into_book(course, table, corrected).returncode == 0
    assert points_rows(course) == [("Ada", 1.0), ("Ada", 2.0)]


def test_two_tables_that_were_exported_at_once_do_not_replace_each_other(course, table):
    course.run("run", course.submit("ann"))
    rows = [row for row in table.export() if row["item"] == "style"]
    table.save([row | {"points": "1"} for row in rows])
    assert table.load().returncode == 0
    table.save([row | {"points": "4"} for row in rows])
    done = course.run("manual", "import", str(table.path), "--by", "Bob", "--results", str(course.out))
    assert done.returncode == 2
    assert "Ada gave 1 of 4" in done.stderr


def test_points_of_an_item_that_was_renamed_are_told_by_plan_and_run(course, table):
    archives = [course.submit("ann"), course.submit("bob")]
    book = "--gradebook", str(course.cwd / "gradebook.db")
    course.run("run", *archives, *book)
    table.save([row | {"points": "3"} for row in table.export()])
    assert table.load().returncode == 0
    line = "for which a person gave points"
    assert line not in course.run("run", *archives, *book).stderr
    course.rubric(STYLE | {"id": "readable"}, FILES)
    told = (
        "style, for which a person gave points, is no item of the rubric any more; if the new id is "
        "readable, take the old one back; the points count only under the id that they were given for"
    )
    assert f"{told} (in 2 submissions)\n" in course.run("rescore", "tiny").stdout
    ran = course.run("run", *archives, *book).stderr
    assert f"grader: {told}\n" in ran
    assert "the same of 1 more submission" in ran
    course.rubric(STYLE, FILES)
    assert line not in course.run("run", *archives, *book).stderr
    assert item(course)["points"] == 3
