"""`--json`: standard output is one JSON document, whatever a command does besides."""

from __future__ import annotations

import json

import click
import pytest

from grader.cli.main import COMMANDS, cli

ITEM = {"title": "it doubles", "points": 1, "check": "matches_reference", "inputs": "numbers"}
DOUBLE = ITEM | {"id": "double", "of": "work.double"}
STYLE = {"id": "style", "title": "Style", "points": 1, "check": "manual"}
WITHOUT = {
    ("init",): "is typed once, by a person",
    ("new",): "is typed once, by a person",
    ("gradescope",): "leaves results.json",
    ("export", "json"): "is JSON",
    ("rubric", "schema"): "is JSON",
    ("review",): "prints links for people",
}
"""Commands without the option, and why."""
SHEET = "Student,ID,SIS Login ID,Section,hw1 (1)\n    Points Possible,,,,2\nann,1,ann,a,\n"


@pytest.fixture(scope="module")
def graded(tmp_path_factory, course_folder):
    """A course with one graded submission that is in the gradebook, too."""
    course = course_folder(tmp_path_factory.mktemp("json"))
    course.rubric(DOUBLE, STYLE)
    course.environment["GRADER_GRADEBOOK"] = str(course.cwd / "gradebook.db")
    assert course.run("run", course.submit()).returncode == 0
    (course.cwd / "canvas.csv").write_text(SHEET)
    return course


def leaves(command: click.Command, name: tuple[str, ...] = ()):
    if isinstance(command, click.Group):
        context = click.Context(command)
        for child in command.list_commands(context):
            yield from leaves(command.get_command(context, child), (*name, child))
    else:
        yield name, command


def test_every_command_that_a_program_may_listen_to_has_the_option():
    assert {name for name, _ in leaves(cli)} >= {("run",), ("pack",), ("export", "csv")}
    lacking = {
        name for name, command in leaves(cli) if not any("--json" in param.opts for param in command.params)
    }
    assert lacking == WITHOUT.keys()
    assert {name for name, *_ in lacking} <= COMMANDS.keys()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["record", "{results}"], {"recorded": 0, "recorded_already": 1, "refused": []}),
        (["manual", "export", "--results", "{results}", "--out", "p.csv"], {"items": 1, "waiting": 1}),
        (["export", "csv", "tiny", "--out", "class.csv"], {"file": "class.csv", "students": 1}),
        (["export", "backup", "copy.db"], {"file": "copy.db"}),
        (["pack", "--check"], {"stale": [], "without_source": []}),
        (["export", "canvas", "tiny", "--sheet", "canvas.csv", "--out", "out.csv"], {"file": "out.csv"}),
        (["export", "gradescope", "tiny", "--out", "each"], {"written": []}),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, list) else "",
)
def test_standard_output_is_one_document(graded, arguments, expected):
    done = graded.run(*(argument.format(results=graded.out) for argument in arguments), "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert {name: document[name] for name in expected} == expected


def test_the_class_is_printed_and_no_page_is_written(graded):
    done = graded.run("report", "--json")
    document = json.loads(done.stdout)
    assert not (graded.cwd / "class.html").exists()
    (student,) = document["students"]
    assert student == {
        "student": "ann",
        "submitted_as": "ann",
        "total": 1,
        "open": 1.0,
        "final": None,
        "possible": 2,
        "standing": "provisional",
        "untimed": False,
    }
    assert [(item["id"], item["decided"], item["passed"]) for item in document["items"]] == [
        ("double", 1, 1),
        ("style", 0, None),
    ]
    done = graded.run("report", "--json", "--markdown", "class.md")
    assert json.loads(done.stdout) == document
    assert (graded.cwd / "class.md").exists()


def test_points_that_were_saved_are_counted(graded):
    graded.run("manual", "export", "--results", str(graded.out), "--out", "points.csv")
    table = graded.cwd / "points.csv"
    header, row = table.read_text(encoding="utf-8-sig").splitlines()
    cells = row.split(",")
    cells[header.split(",").index("points")] = "1"
    table.write_text(f"{header}\n{','.join(cells)}\n")
    done = graded.run("manual", "import", "points.csv", "--results", str(graded.out), "--json")
    assert json.loads(done.stdout) == {"saved": 1, "count_after_next_run": []}


@pytest.mark.parametrize(
    ("arguments", "option"),
    [(["export", "csv", "tiny"], "--out"), (["report", "--markdown", "-"], "--markdown")],
)
def test_a_file_and_json_do_not_share_standard_output(graded, arguments, option):
    done = graded.run(*arguments, "--json")
    assert (done.returncode, done.stdout) == (2, "")
    message = f"--json: the file itself goes to standard output; name another by {option} FILE"
    assert done.stderr == f"grader: {message}\n"
