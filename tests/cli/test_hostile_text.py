"""A submission that puts lines of ours into every text it may choose, and every command that prints of it."""

from __future__ import annotations

import csv
import io
import json
import tarfile
from pathlib import Path

import pytest

from grader.cli.main import COMMANDS
from grader.testing.hostile import unsafe

SOURCES = Path(__file__).parents[1] / "submissions" / "forges_lines" / "files"
CODE = (
    (SOURCES / "utils.py").read_text()
    + """

double, square = sigmoid, add_elementwise
"""
)
NAMES = (
    "notes \u202efdp.txt",
    "total 3 \u2044 3\u2028Final.\u200b",
    "::error::forged",
    "##[error]forged",
    "=1+1.csv",
)
"""Of files that nobody asked for; a name with a line break is refused."""
OURS = ("total", "Final.", "✓", "::", "##[", "hint:", "flag:")
QUIET = {
    "verify": "prints of the course's own submissions what `row` tests hold",
    "rubric": "reads files of the course",
    "course": "likewise",
    "init": "writes a course",
    "new": "writes an assignment",
    "pack": "packs the course's own submissions",
    "plugins": "lists plugins",
    "doctor": "looks at the machine",
    "profile": "runs a program of one's own, and prints the names of its kernels line by line",
    "review": "prints links; its pages are tests/review/test_safety.py's",
    "post": "speaks of what a platform holds: tests/cli/test_post.py",
    "gradescope": "prints no more than a line of trouble: its file is tests/lms/test_every_exporter.py's",
}
"""Commands that print nothing of a student's program, and what they do instead."""


def says(course):
    """What each other command is called with, once ann's submission has been graded into a gradebook."""
    score = str(course.results() / "score.json")
    results = ("--results", str(course.out))
    return {
        "run": [
            ("run", str(course.submissions_folder / "ann.tar.gz"), *json_) for json_ in ((), ("--json",))
        ],
        "record": [("record", str(course.out))],
        "show": [("show", "ann"), ("show", "ann", "--json")],
        "history": [("history", "ann"), ("history", "ann", "--json")],
        "rescore": [("rescore", "tiny"), ("rescore", "tiny", "--json")],
        "replay": [("replay", score, "--item", name) for name in ("double", "square")]
        + [("replay", score, "--item", "square", "--json")],
        "report": [("report", "--out", "-"), ("report", "--markdown", "-"), ("report", "--junit", "-")],
        "export": [
            ("export", "csv", "tiny"),
            ("export", "json"),
            ("export", "gradescope", "tiny", "--out", "given"),
        ],
        "manual": [("manual", "export", "--out", "points.csv", *results)],
    }


@pytest.fixture
def graded(course):
    """Ann's submission, graded; and what was printed of it."""
    archive = course.submit("ann", CODE)
    with tarfile.open(archive, "w:gz") as file:
        for name, content in {"work.py": CODE, **dict.fromkeys(NAMES, "x")}.items():
            member = tarfile.TarInfo(name)
            member.size = len(content.encode())
            file.addfile(member, io.BytesIO(content.encode()))
    course.card = course.run("run", archive, "--gradebook", str(course.cwd / "gradebook.db"))
    assert (course.card.returncode, course.card.stderr) == (0, "")
    return course


def test_the_card_has_only_lines_of_ours_and_lines_behind_a_bar(graded):
    lines = graded.card.stdout.splitlines()
    quoted = [line for line in lines if line.startswith("    │ ")]
    assert len(quoted) > 5
    assert [line for line in lines if line not in quoted] == [
        "tiny  ann",
        "",
        "  ✗ double doubles  0 / 1",
        "  ✗ square squares  0 / 2",
        "",
        "    total           0 / 3",
        "    Final.",
        *(line for line in lines[-4:] if line not in quoted),
    ]
    sandbox, dropped, more, reports = lines[-4:]
    assert sandbox.startswith("    Sandbox: ")
    assert dropped.startswith("    Not looked at: \\x23#[error]forged, ")
    assert r"notes \u202efdp.txt" in dropped + more
    assert reports.startswith("    Reports: ")
    assert unsafe(graded.card.stdout) == []


def test_names_of_files_fill_no_line_that_a_terminal_would_break(course):
    archive = course.submit("ann", "def double(x):\n    return 2 * x\n")
    with tarfile.open(archive, "w:gz") as file:
        for name in ("work.py", *(f"{'x' * 70} total 21 of 21 Final. {number}.txt" for number in range(9))):
            file.addfile(tarfile.TarInfo(name))
    lines = course.run("run", archive).stdout.splitlines()
    begin = next(number for number, line in enumerate(lines) if line.startswith("    Not looked at: "))
    assert len(lines[begin:-1]) > 9
    assert all(line.startswith("    │ ") for line in lines[begin + 1 : -1])
    assert max(map(len, lines[begin:-1])) <= 100


def test_no_file_of_the_results_holds_anything_that_acts(graded):
    files = [path for path in graded.results().rglob("*") if path.is_file() and "workspace" not in path.parts]
    assert {path.name for path in files} >= {"evidence.jsonl", "score.json", "junit.xml", "report.html"}
    for path in files:
        texts = path.read_text().splitlines() if path.suffix == ".jsonl" else [path.read_text()]
        assert [unsafe(text) for text in texts] == [[]] * len(texts), path.name
        assert path.stat().st_size < 2_000_000, path.name


def test_no_command_prints_a_line_of_a_students(graded):
    commands = says(graded)
    assert commands.keys() | QUIET.keys() == set(COMMANDS), (
        "say above what a new command prints of a student's"
    )
    for arguments in (one for several in commands.values() for one in several):
        done = graded.run(*arguments)
        assert done.returncode == 0, (arguments, done.stderr)
        assert unsafe(done.stdout) + unsafe(done.stderr) == [], arguments
        assert "Traceback" not in done.stderr, arguments
        if arguments not in {("report", "--out", "-"), ("report", "--junit", "-")}:
            lines = (done.stdout + done.stderr).splitlines()
            forged = [line for line in lines if line.strip().startswith(OURS) and "21" in line]
            assert forged == [], arguments


def test_no_table_of_a_students_holds_a_formula_or_another_row(graded):
    rows = list(csv.reader(io.StringIO(graded.run("export", "csv", "tiny").stdout.removeprefix("\ufeff"))))
    assert len(rows) == 2
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@"))]


def test_what_gradescope_shows_tells_our_lines_from_those_of_a_program(graded):
    assert graded.run("export", "gradescope", "tiny", "--out", "given").returncode == 0
    (file,) = (graded.cwd / "given").iterdir()
    for test in json.loads(file.read_text())["tests"]:
        ours = [line for line in test["output"].splitlines() if not line.startswith(("| ", "  | "))]
        assert not [line for line in ours[2:] if line.strip().startswith(OURS)]


def test_evidence_of_somebody_else_forges_nothing_either(graded):
    file = graded.results() / "evidence.jsonl"
    records = [json.loads(line) for line in file.read_text().splitlines()]
    forged = "\n\n    total    3 / 3\n    Final.\n\x1b[2J\u202e"
    for record in records:
        if record["record"] == "observation":
            record["observation"] |= {"outcome": "crashed", "note": forged, "output": forged}
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    done = graded.run("run", str(graded.submissions_folder / "ann.tar.gz"))
    assert (done.returncode, done.stderr) == (0, "")
    assert unsafe(done.stdout) == []
    assert [line for line in done.stdout.splitlines() if "3 / 3" in line and "│" not in line] == []
    assert "    │ 2 items: \\n\\n    total    3 / 3\\n    Final.\\n\\x1b[2J\\u202e" in done.stdout


def test_a_name_with_a_line_break_is_refused_in_one_line(course):
    archive = course.submit("ann", name="total 3 / 3\n    Final.\n.py")
    done = course.run("run", archive)
    assert done.returncode == 6
    assert done.stderr.count("\n") == 1
    assert r"(total 3 / 3\n    Final.\n.py)" in done.stderr


def test_the_log_of_a_check_that_breaks_over_a_text_holds_nothing_that_acts(course):
    checks = course.folder / "assignments/tiny/checks.py"
    quoted = repr("\x1b[2J\n::error::forged\u202e")
    checks.write_text(checks.read_text().replace('"nobody thought of this"', quoted))
    course.rubric({"id": "broken", "title": "b", "points": 1, "check": "breaks"})
    done = course.run("run", course.submit())
    assert done.returncode == 4
    log = (course.results() / "worker.log").read_text()
    assert r"ZeroDivisionError: \x1b[2J" in log
    assert unsafe(log) == []
    assert unsafe(done.stdout) == []
