"""The workflow files: what they call exists, and who holds a token is where it may be."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from grader.cli.main import COMMANDS, cli
from grader.scaffold.course import CI, course_files

ROOT = Path(__file__).resolve().parents[2]
SERVICES = sorted(CI)
DOCS = ROOT / "docs"
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
NO_JOBS = {"stages", "variables", "workflow", "default"}
TOKEN = "CANVAS_TOKEN"


def workflow(service: str) -> Any:
    return yaml.safe_load(course_files(title="A course", time_zone="UTC", ci=service)[CI[service][0]])


def jobs(service: str) -> dict[str, dict[str, Any]]:
    """Every job by its name."""
    whole = workflow(service)
    return whole["jobs"] if "jobs" in whole else {k: v for k, v in whole.items() if k not in NO_JOBS}


def scripts(job: dict[str, Any]) -> list[str]:
    """The commands of a job, in their order."""
    return [*job.get("script", ()), *(step["run"] for step in job.get("steps", ()) if "run" in step)]


def environment(job: dict[str, Any]) -> str:
    named = job.get("environment", "")
    return named["name"] if isinstance(named, dict) else named


def calls(texts: Iterator[str] | list[str]) -> Iterator[list[str]]:
    """Every call of grader in lines of a shell, as its words."""
    for text in texts:
        for line in text.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            words = words[1:] if words[:1] == ["$"] else words
            if words[:1] == ["grader"]:
                ends = [i for i, word in enumerate(words) if word in ("||", "&&", ">>", ">", "|", ";")]
                yield words[1 : min(ends, default=len(words))]


def objection(words: list[str]) -> str:
    """What is wrong with a call by the help of its command; empty if nothing is."""
    command: click.Command = cli
    context = click.Context(cli, info_name="grader")
    name = words[0]
    if name not in COMMANDS:
        return f"no command {name}"
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        below = command.get_command(context, words[0])
        if below is None:
            return f"no command {words[0]}"
        command, words = below, words[1:]
        context = click.Context(command, info_name=command.name, parent=context)
    if not command.context_settings.get(
        "allow_interspersed_args", True
    ):  # what stands behind its first argument is another program's
        words = words[: next((n + 1 for n, word in enumerate(words) if not word.startswith("-")), len(words))]
    text = command.get_help(context)
    missing = [word for word in words if word.startswith("--") and not re.search(rf"{word}\b", text)]
    if missing:
        return f"{name} has no {', '.join(missing)}"
    try:
        command.make_parser(context).parse_args(list(words))
    except click.UsageError as error:
        return f"{name}: {error.message}"
    return ""


@pytest.mark.parametrize("service", SERVICES)
def test_every_command_exists_with_the_options_it_is_given(service):
    called = [words for job in jobs(service).values() for words in calls(scripts(job))]
    assert {words[0] for words in called} >= {"doctor", "rubric", "pack", "verify", "run", "report", "post"}
    assert [objection(words) for words in called if objection(words)] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_command_that_a_page_shows_exists_with_its_options(page):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```(?:sh|console|yaml)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    called = list(calls([line for block in blocks for line in block.splitlines() if "grader " in line[:9]]))
    assert [objection(words) for words in called if objection(words)] == []


@pytest.mark.parametrize(
    "words", [["psot"], ["run", "--gradebok", "x"], ["pack", "--check", "--apply"], ["rubric", "chek"]]
)
def test_a_command_that_does_not_exist_would_be_found(words):
    assert objection(words) != ""


@pytest.mark.parametrize("service", SERVICES)
def test_scores_are_planned_in_every_run_and_applied_by_one_job_alone(service):
    posting = {name: list(calls(scripts(job))) for name, job in jobs(service).items()}
    applying = [name for name, called in posting.items() if any("--apply" in words for words in called)]
    planning = [
        name
        for name, called in posting.items()
        if any(words[0] == "post" and "--apply" not in words for words in called)
    ]
    assert (planning, applying) == (["plan"], ["apply"])


@pytest.mark.parametrize("service", SERVICES)
def test_a_token_is_where_scores_are_posted_and_never_where_programs_of_students_run(service):
    whole = workflow(service)
    home = {name: environment(job) for name, job in jobs(service).items()}
    assert home["plan"]
    assert home["apply"]
    assert home["plan"] != home["apply"]
    running = {
        name for name, job in jobs(service).items() for words in calls(scripts(job)) if words[0] in RUNS
    }
    assert running == {"verify", "grade"}
    assert {home[name] for name in running} == {""}
    shown = {name for name, job in jobs(service).items() if TOKEN in str(job) or "secrets." in str(job)}
    assert shown <= {"plan", "apply"}
    outside = {name: part for name, part in whole.items() if name != "jobs" and name not in home}
    assert TOKEN not in str(outside)


RUNS = {"run", "verify"}
"""Commands that run programs of students, or course code."""


def test_on_github_nobody_from_outside_runs_anything_and_no_step_keeps_a_login():
    for name, job in jobs("github").items():
        assert job["runs-on"] == ("ubuntu-latest" if name == "check" else ["self-hosted", "gpu"])
        for step in job["steps"]:
            if step.get("uses", "").startswith("actions/checkout"):
                assert step["with"] == {"persist-credentials": False}, name
            # what a person typed must not be part of a program
            assert "${{" not in step.get("run", ""), name
    assert "head.repo.full_name == github.repository" in jobs("github")["verify"]["if"]
    assert workflow("github")["permissions"] == {"contents": "read"}


@pytest.mark.parametrize("service", SERVICES)
def test_nothing_that_posts_goes_on_after_a_failure(service):
    whole = course_files(title="A course", time_zone="UTC", ci=service)[CI[service][0]]
    assert "continue-on-error" not in whole
    for name in ("grade", "plan", "apply"):
        job = jobs(service)[name]
        conditions = [job.get("if", ""), *(step.get("if", "") for step in job.get("steps", ()))]
        assert not any(word in one for one in conditions for word in ("always", "failure", "cancelled"))
        assert not {"when", "after_script"} & job.keys()
        # a failure of grader is looked at, and never passed over
        lines = [line for text in scripts(job) for line in text.splitlines() if "|| true" in line]
        assert not any("grader " in line for line in lines)


@pytest.mark.parametrize("service", SERVICES)
def test_what_needs_no_gpu_runs_on_any_machine_and_starts_no_program_of_a_student(service):
    job = jobs(service)["check"]
    assert job["runs-on" if service == "github" else "tags"] in ("ubuntu-latest", [])
    called = {tuple(words[:2]) for words in calls(scripts(job))}
    assert called == {("rubric", "check"), ("pack", "--check")}
    assert not {words[0] for words in calls(scripts(jobs(service)["verify"]))} & {"rubric", "pack"}


def test_one_run_at_a_time_grades_plans_and_posts():
    concurrency = workflow("github")["concurrency"]
    assert concurrency["cancel-in-progress"] is False
    assert (
        concurrency["group"] == "${{ github.event_name == 'workflow_dispatch' && 'class' || github.run_id }}"
    )
    assert not any("concurrency" in job for job in jobs("github").values())
    whole = jobs("gitlab")
    for name in ("grade", "plan", "apply"):
        assert whole[name]["extends"] == ".class"
        assert "resource_group" not in whole[name]
    assert whole[".class"]["resource_group"] == "class"


def test_on_gitlab_applying_is_by_hand_and_tests_are_shown():
    (rule,) = jobs("gitlab")["apply"]["rules"]
    assert rule["when"] == "manual"
    assert jobs("gitlab")["grade"]["artifacts"]["reports"] == {"junit": "class.xml"}
    assert jobs("gitlab")["grade"]["allow_failure"] == {"exit_codes": [5, 6]}


def test_the_hooks_for_pre_commit_call_what_exists():
    own = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    files = course_files(title="A course", time_zone="UTC")
    (local,) = yaml.safe_load(files[".pre-commit-config.yaml"])["repos"]
    for hooks in (own, local["hooks"]):
        assert [hook["id"] for hook in hooks] == ["grader-rubric", "grader-pack"]
        for hook in hooks:
            (words,) = calls([hook["entry"]])
            assert objection(words) == ""
            assert hook["pass_filenames"] is False
    # both look at the same files: one is for whoever has grader installed, one installs it
    assert [hook["files"] for hook in own] == [hook["files"] for hook in local["hooks"]]
