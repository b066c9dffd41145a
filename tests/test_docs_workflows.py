"""The project's own workflow files: what a service would refuse, or would only notice when a job runs."""

from __future__ import annotations

import configparser
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from grader.scaffold.course import CI, course_files

ROOT = Path(__file__).parent.parent
OWN = {path.name: path.read_text() for path in sorted((ROOT / ".github" / "workflows").glob("*.yml"))}
COURSES = {"of a course": course_files(title="A course", time_zone="UTC", ci="github")[CI["github"][0]]}
TOP = {"name", "on", "permissions", "concurrency", "defaults", "env", "jobs"}
EVENTS = {"push", "pull_request", "workflow_dispatch", "schedule"}
JOB = {"name", "needs", "if", "runs-on", "timeout-minutes", "environment", "strategy", "env", "steps"}
STEP = {"name", "uses", "with", "run", "env", "id", "if"}
ACTIONS = {
    "actions/checkout@v4": {"persist-credentials"},
    "actions/setup-python@v5": {"python-version", "cache", "cache-dependency-path"},
    "actions/upload-artifact@v4": {"name", "path", "retention-days"},
}
"""Actions with the inputs that they are given; each is of GitHub's own, at a major version."""
CONTEXTS = re.compile(r"github\.\w+(?:\.\w+)*|inputs\.(\w+)|vars\.\w+|secrets\.\w+|matrix\.(\w+)")
DEFAULTS = re.compile(r"GITHUB_\w+|HOME|PATH|RUNNER_\w+")
"""Variables that GitHub sets in every step."""


def problems(text: str) -> Iterator[str]:
    """Yield what is wrong with a workflow of GitHub, as actionlint would."""
    flow = yaml.safe_load(text)
    flow["on"] = flow.pop(True)  # YAML 1.1 reads the key `on` so
    yield from (f"key {key}" for key in flow.keys() - TOP)
    events = flow["on"] or {}
    yield from (f"event {event}" for event in events.keys() - EVENTS)
    inputs = set(((events.get("workflow_dispatch") or {}).get("inputs") or {}).keys())
    if flow.get("permissions") != {"contents": "read"}:
        yield "permissions are not reading alone"
    for name, job in flow["jobs"].items():
        for problem in job_problems(job, flow, inputs):
            yield f"{name}: {problem}"


def job_problems(job: dict[str, Any], flow: dict[str, Any], inputs: set[str]) -> Iterator[str]:
    """Yield what is wrong with one job."""
    yield from (f"key {key}" for key in job.keys() - JOB)
    if "runs-on" not in job or not job.get("steps"):
        yield "has no runner, or no steps"
    needs = job.get("needs", [])
    yield from (
        f"needs {one}" for one in ([needs] if isinstance(needs, str) else needs) if one not in flow["jobs"]
    )
    axes = set((job.get("strategy") or {}).get("matrix", {}))
    for expression in re.findall(r"\$\{\{(.*?)\}\}", yaml.safe_dump(job, width=10**6)):
        for match in CONTEXTS.finditer(expression):
            if (match[1] and match[1] not in inputs) or (match[2] and match[2] not in axes):
                yield f"unknown {match[0]}"
        if not CONTEXTS.search(expression):
            yield f"unknown {expression.strip()}"
    for number, step in enumerate(job.get("steps", ()), start=1):
        known = {**(flow.get("env") or {}), **(job.get("env") or {}), **(step.get("env") or {})}
        yield from (f"step {number}: {problem}" for problem in step_problems(step, set(known)))


def step_problems(step: dict[str, Any], known: set[str]) -> Iterator[str]:
    """Yield what is wrong with one step that has these variables."""
    yield from (f"key {key}" for key in step.keys() - STEP)
    if ("uses" in step) == ("run" in step):
        yield "neither or both of uses and run"
    if "uses" in step:
        if step["uses"] not in ACTIONS:
            yield f"action {step['uses']}"
        yield from (
            f"input {key}" for key in (step.get("with") or {}).keys() - ACTIONS.get(step["uses"], set())
        )
    script = step.get("run", "")
    if "${{" in script:
        yield "an expression in a script: what a person typed would be part of a program"
    assigned = set(re.findall(r"(?:^|[\s;])(\w+)=", script)) | set(
        re.findall(r"\bread (?:-r )?(\w+)", script)
    )
    for variable in re.findall(r"\$\{?([A-Za-z_]\w*)", script):
        if variable not in known | assigned and not DEFAULTS.fullmatch(variable):
            yield f"unknown variable {variable}"


@pytest.mark.parametrize("name", [*OWN, *COURSES])
def test_a_workflow_has_nothing_that_the_service_would_refuse(name: str):
    assert list(problems({**OWN, **COURSES}[name])) == []


BROKEN = """\
name: broken
on: {push: {}, full_moon: {}}
permissions: {contents: write}
jobs:
  one:
    needs: none
    steps:
      - uses: somebody/else@main
      - run: echo "$UNKNOWN ${{ matrix.python }}"
      - {run: "true", continue-on-error: true}
"""


def test_what_is_wrong_with_a_workflow_is_found():
    assert sorted(problems(BROKEN)) == [
        "event full_moon",
        "one: has no runner, or no steps",
        "one: needs none",
        "one: step 1: action somebody/else@main",
        "one: step 2: an expression in a script: what a person typed would be part of a program",
        "one: step 2: unknown variable UNKNOWN",
        "one: step 3: key continue-on-error",
        "one: unknown matrix.python",
        "permissions are not reading alone",
    ]


def test_the_service_runs_what_a_developer_runs():
    tox = configparser.ConfigParser(interpolation=None)
    tox.read(ROOT / "tox.ini")
    environments = {
        name.strip("{}") for part in tox.sections() for name in part.removeprefix("testenv:").split(",")
    }
    called = {
        env
        for text in OWN.values()
        for names in re.findall(r"tox -e ([\w,]+)", text)
        for env in names.split(",")
    }
    assert called == {"lint", "docs", "tests", "reference"}
    assert called - {"tests"} <= environments
    (listed,) = re.findall(r"python: \[(.*)\]", OWN["tests.yml"])
    bounds = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    assert bounds == ">=3.11,<3.14"
    assert listed == '"3.11", "3.12", "3.13"'


def test_the_reference_runs_on_a_schedule_and_pull_requests_run_the_quick_tests():
    events = {name: yaml.safe_load(text)[True] for name, text in OWN.items()}
    assert "schedule" in events["reference.yml"]
    assert {"push", "pull_request"} <= events["tests.yml"].keys()
    assert events["release.yml"] == {"push": {"tags": ["v*"]}}
