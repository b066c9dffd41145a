"""Standard output or error that cannot be written: what is done is done, a line says so, no traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

LINE = (
    "grader: standard output: cannot be written ({}); "
    "files are complete, the printed text is not; send it elsewhere"
)
PRINTING = {
    "--help": ["--help"],
    "--version": ["--version"],
    "run --help": ["run", "--help"],
    "doctor": ["doctor"],
    "export csv": ["export", "csv", "tiny"],
    "export json": ["export", "json"],
    "history": ["history", "ann"],
    "init": ["init", "{out}", "--title", "x"],
    "pack --check": ["pack", "--check"],
    "plugins": ["plugins"],
    "plugins --json": ["plugins", "--json"],
    "replay": ["replay", "{score}", "--item", "double"],
    "report": ["report", "--markdown", "-"],
    "rescore": ["rescore", "tiny"],
    "rescore --apply": ["rescore", "tiny", "--apply"],
    "rubric check": ["rubric", "check"],
    "rubric schema": ["rubric", "schema"],
    "run": ["run", "{archive}", "--out", "{out}"],
    "run --json": ["run", "--json", "{archive}", "--out", "{out}"],
    "run of many": ["run", *["{archive}"] * 6, "--out", "{out}"],
    "show": ["show", "ann"],
    "verify": ["verify", "--quick"],
}
ON_ERROR_TOO = {"export csv", "run of many"}
"""These say more there."""
RUNS = {"run", "run --json", "run of many"}
SOME = sorted({"--help", "--version", "export csv", "pack --check", "plugins", "report", "verify"} | RUNS)
CODES = {"pack --check": 4}
"""Where it is not 0 without all this: what is wrong with the course is worse."""


def some(quick: set[str], name: str, *more: str) -> Any:
    """Parameters of a test that is slow but for the commands in `quick`."""
    return pytest.param(name, *more, marks=() if name in quick else pytest.mark.slow)


@pytest.fixture(scope="module")
def graded(tmp_path_factory, new_course):
    """A course with a mark in a gradebook."""
    course = new_course(tmp_path_factory.mktemp("graded"))
    (course.folder / "tests/submissions").mkdir(parents=True)
    (course.folder / "submissions").mkdir()
    (course.folder / "submissions" / "left.tar.gz").touch()  # `pack --check` has something to say
    done = course.run("run", course.submit(), "--gradebook", "gradebook.db")
    assert done.returncode == 0, done.stderr
    return course


@pytest.fixture
def grader(graded, tmp_path):
    """Runs a command under a shell that says where its output goes; its exit code, and its error output."""
    out = tmp_path / "out"

    def run(name: str, redirection: str) -> tuple[int, str]:
        values = {"archive": graded.submit(), "out": out, "score": graded.results() / "score.json"}
        arguments = [argument.format(**values) for argument in PRINTING[name]]
        errors = tmp_path / "errors"
        with errors.open("wb") as stream:
            done = subprocess.run(
                ["sh", "-c", f'exec "$0" "$@" {redirection}', graded.command("plugins")[0], *arguments],
                env=graded.environment,
                cwd=graded.cwd,
                stdout=subprocess.DEVNULL,
                stderr=stream,
                check=False,
                timeout=120,
            )
        return done.returncode, errors.read_text()

    run.out = out
    return run


def complete(out: Path) -> None:
    """Whatever a run writes is there, whole."""
    folder = out / "tiny" / "ann"
    assert json.loads((folder / "score.json").read_text())["points"]["raw"] == 3
    for name in ("junit.xml", "report.html"):
        assert (folder / name).read_text().rstrip().endswith(">")
        assert (folder / "feedback" / name).is_file()
    assert not list(out.rglob(".*"))


@pytest.mark.parametrize(
    ("name", "redirection", "why"),
    [
        *(some({"--help", "export csv"}, name, ">&-", "it is closed") for name in PRINTING),
        *(some({"run"}, name, ">/dev/full", "No space left on device") for name in SOME),
    ],
)
def test_5_and_a_line_if_standard_output_takes_nothing(grader, name, redirection, why):
    code, told = grader(name, redirection)
    assert "Traceback" not in told
    assert code == CODES.get(name, 5)
    assert told.splitlines()[-1] == LINE.format(why)
    assert len(told.splitlines()) == 1 or name in ON_ERROR_TOO
    if name in RUNS:
        complete(grader.out)


@pytest.mark.parametrize("name", [some({"export csv", "run"}, name) for name in SOME])
def test_141_and_nothing_else_if_nobody_reads(graded, tmp_path, name):
    values = {"archive": graded.submit(), "out": tmp_path / "out", "score": graded.results() / "score.json"}
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [graded.command("plugins")[0], *(argument.format(**values) for argument in PRINTING[name])],
        env=graded.environment,
        cwd=graded.cwd,
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=120,
    )
    os.close(writer)
    assert done.returncode == CODES.get(name, 141)
    assert done.stderr == "" or name in ON_ERROR_TOO
    if name in RUNS:
        complete(tmp_path / "out")


@pytest.mark.covering
@pytest.mark.parametrize("name", ["run", "export csv", "run of many", "plugins", "--help"])
@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full", "<&- 2>&-"])
def test_0_if_only_standard_error_takes_nothing(grader, name, redirection):
    assert grader(name, redirection) == (0, "")
    if name in RUNS:
        complete(grader.out)


def test_with_all_of_them_closed_results_are_files_of_their_own(grader):
    """Whatever is opened first would get the numbers 0 to 2, and what is printed would end in it."""
    assert grader("run", "<&- >&- 2>&-") == (5, "")
    complete(grader.out)


@pytest.mark.slow
def test_what_is_wrong_keeps_its_code_where_nothing_can_be_printed(graded):
    command = [graded.command("plugins")[0], "show", "nobody"]
    for redirection in (">&-", ">/dev/full", ">&- 2>&-", "2>/dev/full"):
        done = subprocess.run(
            ["sh", "-c", f'exec "$0" "$@" {redirection}', *command],
            env=graded.environment,
            cwd=graded.cwd,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2
        assert "Traceback" not in done.stderr
        assert len(done.stderr.splitlines()) == (0 if "2>" in redirection else 1), "it has nothing to print"


@pytest.mark.slow
def test_new_scores_are_kept_also_if_the_plan_cannot_be_printed(tmp_path, new_course):
    course = new_course(tmp_path)
    assert course.run("run", course.submit(), "--gradebook", "gradebook.db").returncode == 0
    rubric = course.folder / "rubrics/tiny.yaml"
    rubric.write_text(
        rubric.read_text().replace('"points": 3', '"points": 4').replace('"points": 2', '"points": 3')
    )
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            course.command("rescore", "tiny", "--apply"),
            env=course.environment,
            cwd=course.cwd,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 5
    assert course.run("rescore", "tiny").stdout == "1 submission, 1 total: no points change\n"


def test_what_has_no_character_in_an_encoding_is_spelled():
    code = "import click; from grader.cli.streams import Streams; Streams(); click.echo('…')"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONIOENCODING": "latin-1:strict"},
        capture_output=True,
        check=True,
    )
    assert done.stdout == b"\\u2026\n"
