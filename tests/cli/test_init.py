"""`grader init` begins a course, and takes nothing away from what is there."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import yaml

from grader.cli.main import main
from grader.config.course import load_course
from grader.scaffold.course import CI

FILES = ["course.yaml", "roster.csv", "README.md", ".gitignore", ".pre-commit-config.yaml"]


@pytest.fixture
def init(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, command: tuple[str, ...] = ("init",)) -> tuple[int, list[str], list[str]]:
        monkeypatch.setattr(sys, "argv", ["grader", *command, *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return ended.value.code, printed.out.splitlines(), printed.err.splitlines()

    return run


def everything(folder: Path) -> dict[str, bytes | None]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def test_a_course_is_begun_and_every_file_is_named(init, tmp_path):
    code, out, err = init("course", "--title", "Parallel programming", "--time-zone", "Asia/Jerusalem")
    assert (code, err) == (0, [])
    assert out == [
        *(f"course/{name}: written" for name in FILES),
        "next: cd course && grader new NAME, which begins an assignment",
    ]
    course = load_course(tmp_path / "course")
    assert (course.title, course.time_zone) == ("Parallel programming", "Asia/Jerusalem")
    assert course.roster.students == ()
    folders = {name for name, content in everything(tmp_path / "course").items() if content is None}
    assert folders == {"assignments", "rubrics", "submissions", "tests", "tests/submissions", "received"}


def test_jobs_of_a_workflow_pass_in_a_course_that_was_just_begun(init, tmp_path, monkeypatch):
    init("course", "--title", "A course", "--ci", "github")
    monkeypatch.chdir(tmp_path / "course")
    nothing = [
        "grader: the course has no assignments yet, so nothing was verified; grader new NAME begins one"
    ]
    assert init("verify", command=()) == (0, [], nothing)
    assert init("rubric", "check", command=())[0] == 0
    assert init("pack", "--check", command=())[0] == 0
    code, out, _ = init("verify", "--json", command=())
    assert (code, json.loads("".join(out))["verdicts"]) == (0, [])
    assert init("verify", "nothing", command=())[0] != 0


def test_the_same_call_gives_the_same_files(init, tmp_path):
    init("one", "--title", "A course", "--ci", "github")
    init("two", "--title", "A course", "--ci", "github")
    assert everything(tmp_path / "one") == everything(tmp_path / "two")


@pytest.mark.parametrize("title", ['GPUs: "now"', "# no comment", "grüße", "{a: b}", "it's\\n", "@@{x} $y"])
def test_any_line_of_text_can_be_the_title(init, tmp_path, title):
    assert init("course", "--title", title)[0] == 0
    assert load_course(tmp_path / "course").title == title
    assert (tmp_path / "course" / "README.md").read_text(encoding="utf-8").startswith(f"# {title}\n")


def test_a_course_that_is_there_gets_a_workflow_file_alone(init, tmp_path):
    init("course", "--title", "A course")
    before = {path: path.read_bytes() for path in (tmp_path / "course").rglob("*") if path.is_file()}
    code, out, _ = init("course", "--ci", "gitlab")
    assert (code, out) == (0, ["course/.gitlab-ci.yml: written"])
    after = {path: path.read_bytes() for path in (tmp_path / "course").rglob("*") if path.is_file()}
    assert after.keys() - before.keys() == {tmp_path / "course/.gitlab-ci.yml"}
    assert before == {path: after[path] for path in before}


def test_a_new_course_needs_a_title(init):
    code, _, (line,) = init("course")
    assert code == 2
    assert "--title: is missing; give the course's name" in line


@pytest.mark.parametrize("title", ["", "  ", "two\nlines", "\udcff"])
def test_what_is_no_line_of_text_is_no_title(init, tmp_path, title):
    code, _, err = init("course", "--title", title)
    assert code == 2
    assert err == ["grader: --title: must be a line of text; it is the course's name, as students know it"]
    assert everything(tmp_path) == {}


def test_a_zone_that_does_not_exist_is_told_before_anything_is_written(init, tmp_path):
    code, _, err = init("course", "--title", "A course", "--time-zone", "Europe/Berlin ")
    assert code == 2
    assert err[0].startswith('grader: --time-zone: no time zone is called "Europe/Berlin "; ')
    assert everything(tmp_path) == {}


def test_a_course_that_is_there_is_left_alone(init, tmp_path):
    (tmp_path / "course.yaml").write_text("title: Mine\n")
    code, out, err = init("--title", "A course")
    assert (code, out) == (2, [])
    assert err == ["grader: course.yaml: a course is here already; go on with grader new NAME"]
    assert everything(tmp_path) == {"course.yaml": b"title: Mine\n"}


def test_other_files_that_are_there_stay_and_are_named(init, tmp_path):
    (tmp_path / "README.md").write_text("my own\n")
    (tmp_path / "assignments" / "mine").mkdir(parents=True)
    code, out, _ = init("--title", "A course")
    assert code == 0
    assert "README.md: is there already, and stays as it is" in out
    assert "README.md: written" not in out
    assert out[-1] == "next: grader new NAME, which begins an assignment"
    assert (tmp_path / "README.md").read_text() == "my own\n"
    assert (tmp_path / "assignments" / "mine").is_dir()


def test_where_nothing_can_be_written_a_line_says_so_and_nothing_is_left(init, tmp_path):
    (tmp_path / "course").write_text("a file in the way")
    code, _, err = init("course", "--title", "A course")
    assert code == 2
    advice = "a file or a dangling link is there; name a folder"
    assert err == [f"grader: course: cannot be written (File exists); {advice}"]
    assert (tmp_path / "course").read_text() == "a file in the way"


@pytest.mark.parametrize("service", sorted(CI))
def test_a_workflow_file_lies_where_the_service_looks(init, tmp_path, service):
    code, out, _ = init("--title", "A course", "--ci", service)
    assert code == 0
    assert f"{CI[service][0]}: written" in out
    assert isinstance(yaml.safe_load((tmp_path / CI[service][0]).read_text()), dict)


def test_marks_and_what_students_handed_in_stay_out_of_the_repository(init, tmp_path):
    init("--title", "A course")
    ignored = (tmp_path / ".gitignore").read_text().splitlines()
    assert {"/received/", "/results/", "/gradebook*.db*", "/class.html", "/class_*.html"} <= set(ignored)
    tables = {"/gradebook*.csv", "/worksheet*.csv", "/filled*.csv", "/points*.csv"}  # as the pages call them
    assert tables <= set(ignored)
