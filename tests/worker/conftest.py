"""What several of these tests need: a card as NVML would list it, and a job as the host would write it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection
from pathlib import Path

import pytest

from grader.config.course import load_course
from grader.config.rubric import load_rubric
from grader.cuda.gpus import Gpu
from grader.grading.tasks import tasks_of
from grader.model.job import Job
from grader.model.rubric import Rubric
from grader.model.submission import Submission
from grader.plugins import Plugins

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def gpu() -> Callable[..., Gpu]:
    """Makes cards; the first two have files that are there on any machine."""

    def make(number: int, *, mig: bool = False) -> Gpu:
        return Gpu(
            index=number,
            uuid=f"GPU-{number}",
            name="H200",
            memory_bytes=2**37,
            compute_capability=(9, 0),
            driver="580",
            cuda=(13, 0),
            mig=mig,
            node="/dev/null" if number == 0 else "/dev/zero",
        )

    return make


@pytest.fixture
def reference_job(tmp_path) -> Callable[[str, str, Collection[str]], tuple[Rubric, Job]]:
    """Makes a job over some items of a rubric, for the reference of an assignment that ships with grader."""

    def make(name: str, rubric_name: str, wanted: Collection[str]) -> tuple[Rubric, Job]:
        plugins = Plugins(ROOT)
        folder, assignment = plugins.assignment_folders[name], plugins.assignments[name]
        workspace = tmp_path / "workspace"
        shutil.copytree(folder / "reference", workspace, ignore=shutil.ignore_patterns("__pycache__"))
        workspace.chmod(0o755)
        rubric = load_rubric(
            load_course(ROOT).rubric_for(name, rubric_name),
            kinds=plugins.checks,
            assignments=plugins.assignment_folders,
        )
        files = tuple(str(file.relative_to(workspace)) for file in workspace.rglob("*") if file.is_file())
        submission = Submission(student="reference", assignment=name, archive="", digest="d", files=files)
        tasks = tasks_of(rubric, submission, assignment, folder, plugins.checks)
        job = Job(
            id="1",
            submission=submission,
            course=str(ROOT),
            assignment_folder=str(folder),
            workspace=str(workspace),
            tasks=tuple(task for task in tasks if task.item in wanted),
            preloads=assignment.preloads,
            limits=assignment.limits,
            build=assignment.build,
            seed="0" * 32,
        )
        return rubric, job

    return make
