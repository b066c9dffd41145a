"""Half of what bears company on a GPU is looked at by a second examiner, which is lent ours."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grader.config.codec import dumps
from grader.config.course import load_course
from grader.config.evidence_file import EVIDENCE, read_evidence
from grader.config.rubric import load_rubric
from grader.examiner import exam
from grader.examiner.beside import Beside
from grader.examiner.kept import Kept
from grader.jobs import tasks_of
from grader.machine.lease import Leases
from grader.model.job import Job
from grader.model.observation import Outcome
from grader.model.submission import Submission
from grader.plugins import Plugins
from grader.scoring.score import passed

pytestmark = pytest.mark.gpu

ROOT = Path(__file__).resolve().parents[2]
RUBRIC = "dlsys_a2_strict"
ITEMS = "build", "array_set", "relu", "softmax", "matrix_elementwise_add", "matrix_multiply"


@pytest.fixture
def strict(tmp_path):
    """The rubric, and a job over some items of it for the reference of dlsys_a2."""
    plugins = Plugins(ROOT)
    folder, workspace = plugins.assignment_folders["dlsys_a2"], tmp_path / "workspace"
    shutil.copytree(folder / "reference", workspace)
    workspace.chmod(0o755)
    rubric = load_rubric(
        load_course(ROOT).rubric_for("dlsys_a2", RUBRIC),
        kinds=plugins.checks,
        assignments=plugins.assignment_folders,
    )
    submission = Submission(student="reference", assignment="dlsys_a2", archive="", digest="d", files=())
    assignment = plugins.assignments["dlsys_a2"]
    tasks = tasks_of(rubric, submission, assignment, folder, plugins.checks)
    job = Job(
        id="1",
        submission=submission,
        course=str(ROOT),
        assignment_folder=str(folder),
        workspace=str(workspace),
        tasks=tuple(task for task in tasks if task.item in ITEMS),
        preloads=assignment.preloads,
        limits=assignment.limits,
        build=assignment.build,
        seed="0" * 32,
    )
    return rubric, plugins.checks, job


def test_both_see_what_one_would(strict, tmp_path, monkeypatch):
    rubric, kinds, job = strict
    given, give = [], Beside.give

    def told(beside, tasks, standing=None, lent=()):
        given.append(([task.item for task in tasks], lent, tuple(Leases().held())))
        give(beside, tasks, standing, lent)

    monkeypatch.setattr(Beside, "give", told)
    file = tmp_path / "job.json"
    file.write_text(dumps(job))
    exam.run(file, tmp_path, Kept())
    observations = read_evidence(tmp_path / EVIDENCE).observations
    assert observations.keys() == set(ITEMS)
    assert {one.outcome for one in observations.values()} == {Outcome.OBSERVED}
    assert not any(one.simulated for one in observations.values())
    items = {item.id: item for item in rubric.items}
    assert all(passed(items[name], one, kinds, observations) for name, one in observations.items())
    (apart, none, _), (company, lent, held) = given
    assert (apart, none) == (["build"], ())
    assert company == ["matrix_elementwise_add", "relu"]
    assert f"gpu-{lent[0]}" in held
