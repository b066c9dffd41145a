"""The jobs that verify and grade, run as the services run them: in a shell, in a fresh copy of the course."""

from __future__ import annotations

from typing import Any

import pytest

from grader.scaffold.course import CI

NOT_ACCEPTED = 6
SERVICES = sorted(CI)


@pytest.mark.slow
@pytest.mark.parametrize("service", SERVICES)
def test_a_course_in_order_passes_and_one_that_is_not_does_not(machine: Any, service: str):
    assert [machine.job(service, name)[0] for name in ("check", "verify")] == [0, 0]
    (machine.clone / "tests" / "submissions" / "vectors_right" / "files" / "vectors.py").write_text("")
    code, said = machine.job(service, "check")
    assert code == 4
    assert "submissions/vectors_right.tar.gz: stale" in said
    assert machine.shell("grader pack").returncode == 0
    assert machine.job(service, "check")[0] == 0
    code, said = machine.job(service, "verify")
    assert code == 4
    assert "vectors_right" in said


@pytest.mark.parametrize("service", SERVICES)
def test_rubrics_are_checked_on_a_machine_that_has_nothing_of_ours(machine: Any, service: str):
    (machine.clone / "rubrics" / "vectors.yaml").write_text("schema: 1\n")
    code, said = machine.job(service, "check")
    assert code == 4
    assert "rubrics/vectors.yaml" in said
    assert machine.installed.read_text() == "install gpu-grader @ file:///wheels/gpu_grader.whl\n"
    assert machine.calls("doctor") == machine.calls("verify") == []
    machine.environment.pop("GRADER")
    code, said = machine.job(service, "check")
    assert code != 0
    assert "GRADER: must be a variable of the" in said


@pytest.mark.slow
@pytest.mark.parametrize("service", SERVICES)
def test_a_class_is_graded_and_shown_also_if_an_archive_is_not_accepted(machine: Any, service: str):
    (machine.received / "cleo.zip").write_bytes(b"no archive")
    code, said = machine.job(service, "grade")
    assert code == (NOT_ACCEPTED if service == "gitlab" else 0)
    assert "cleo.zip" in said
    assert "An archive was not accepted (6)" in said
    assert (machine.clone / "class.html").is_file()
    assert 'name="vectors_right"' in (machine.clone / "class.xml").read_text()
    summary = (machine.summary if service == "github" else machine.clone / "class.md").read_text()
    assert "vectors" in summary
    if service == "github":
        assert "> **An archive was not accepted (6)" in summary
        assert "::warning::An archive was not accepted (6)" in said
    assert (machine.kept / "gradebook.db").is_file()
    assert (machine.kept / "results" / "vectors" / "vectors_wrong" / "score.json").is_file()


LATE = "due: 2024-12-23T12:00:00+00:00\nlate: {per_day: 10%}\n"
UNTIMED = "has a late rule, which takes nothing off where no time of submission is known, as for 1 student"


@pytest.mark.quick(1)
@pytest.mark.parametrize("service", SERVICES)
def test_times_are_taken_from_the_class_folder_and_who_has_none_is_named(
    machine: Any, scores: Any, service: str
):
    rubric = machine.clone / "rubrics" / "vectors.yaml"
    rubric.write_text(rubric.read_text().replace("items:\n", f"{LATE}items:\n"))
    times = machine.kept / "times" / "vectors.csv"
    times.parent.mkdir()
    times.write_text("student,submitted at\nvectors_right,2024-12-23 13:00\n")
    code, said = machine.job(service, "grade")
    assert code == 0
    assert f"{UNTIMED}; name a list by --times that has them: vectors_wrong" in said
    summary = machine.summary if service == "github" else machine.clone / "class.md"
    assert "> **Without a time of submission: the late rule takes nothing off** (1 student)." in (
        summary.read_text()
    )
    code, said = machine.job(service, "plan")
    assert code == 0
    assert "vectors_wrong    -    0  has no time of submission" in said
    assert machine.job(service, "apply")[0] == 0
    assert scores() == (9.0, None)
    times.write_text(times.read_text() + "vectors_wrong,2024-12-23 11:00\n")
    assert machine.run(service, 2) == {"grade": 0, "plan": 0, "apply": 0}
    assert scores() == (9.0, 0.0)


@pytest.mark.parametrize("service", SERVICES)
def test_of_two_lists_of_times_none_is_taken(machine: Any, service: str):
    (machine.kept / "times").mkdir()
    for ending in ("csv", "json"):
        (machine.kept / "times" / f"vectors.{ending}").write_text("[]")
    code, said = machine.job(service, "grade")
    assert code == 2
    assert "There are several lists of times" in said
    assert machine.calls("run") == []


@pytest.mark.parametrize(
    ("service", "name"),
    [(service, name) for service in SERVICES for name in ("../gradebook", "a b", "x/../../y", "")],
)
def test_an_assignment_that_is_no_name_reaches_no_file(machine: Any, service: str, name: str):
    if service == "gitlab" and not name:
        pytest.skip("GitLab verifies the course then")
    book = machine.kept / "gradebook.db"
    book.write_text("all marks")
    machine.environment["ASSIGNMENT"] = name
    code, said = machine.job(service, "grade")
    assert code == 2
    assert "Name one assignment" in said
    assert book.read_text() == "all marks"
    assert machine.calls("run") == []


@pytest.mark.parametrize("service", SERVICES)
def test_without_the_folder_of_the_class_nothing_begins(machine: Any, service: str):
    machine.environment["CLASS_FOLDER"] = ""
    code, said = machine.job(service, "grade")
    assert code != 0
    assert "CLASS_FOLDER: must be a variable of the" in said
    assert machine.calls("run") == []
