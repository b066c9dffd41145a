"""What a digest of a task depends on, and what it does not."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from grader.checks.profile_table import ProfileTableKind
from grader.grading.digests import task_digests
from grader.model.assignment import Assignment

ASSIGNMENT = Assignment(name="hw1", title="Homework", accepts=("report.*",))
OPTIONS = ProfileTableKind.Options(file="report.*", question=1, text="List the kernels.", lists="kernels")


def digest(folder, assignment=ASSIGNMENT, options=OPTIONS):
    item = SimpleNamespace(id="kernels", check="profile_table", options=options, group="")
    return task_digests(SimpleNamespace(items=(item,)), assignment, folder)("sha256:00")["kernels"]


def test_how_many_may_hand_in_together_decides_nothing_that_is_measured(tmp_path):
    assert digest(tmp_path, replace(ASSIGNMENT, team_at_most=3)) == digest(tmp_path)


@pytest.mark.parametrize("change", [{"accepts": ("other.*",)}, {"preloads": {"work": ("numpy",)}}])
def test_what_is_declared_of_a_run_is_in_it(tmp_path, change):
    assert digest(tmp_path, replace(ASSIGNMENT, **change)) != digest(tmp_path)


def test_options_that_only_judge_are_not_in_it(tmp_path):
    assert digest(tmp_path, options=replace(OPTIONS, at_least=80.0)) == digest(tmp_path)
    assert digest(tmp_path, options=replace(OPTIONS, question=2)) != digest(tmp_path)
