"""Invented class for `grader review --demo`: a course, twenty students, and their answers."""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from grader.checks.answer_options import AnswerOptions
from grader.config.codec import digest
from grader.config.evidence_file import EVIDENCE, EvidenceWriter, ItemObserved, RunEnded, RunStarted
from grader.config.points_file import WAITS
from grader.model.evidence import Evidence, WorkerRun
from grader.model.observation import Observation, Outcome
from grader.model.rubric import MANUAL
from grader.model.submission import Submission

if TYPE_CHECKING:
    from grader.gradebook.book import Gradebook
    from grader.review.desk import Desk

HERE = Path(__file__).parent
ASSIGNMENT = "demo"
_STUDENTS = (
    "ada anton bela chen dana emil farah goran hana ivan jun kofi lena mateo nila omar petra quinn rosa sven"
)
STUDENTS = tuple(f"{name}_{1001 + number}" for number, name in enumerate(_STUDENTS.split()))
_PLUGIN = '''"""Questions on GPUs, for the demo of grader review."""

from grader.api import Assignment, hookimpl


@hookimpl
def grader_assignments():
    """The demo."""
    return [Assignment(name="demo", title="Questions on GPUs", accepts=("answers.md",))]
'''
_SEED = 7


def write_course(folder: Path) -> None:
    """Write the course of the demo into an empty folder."""
    for name, text in {
        "course.yaml": "title: A demo\n",
        f"assignments/{ASSIGNMENT}/assignment.py": _PLUGIN,
        f"assignments/{ASSIGNMENT}/inputs.py": "",
        f"assignments/{ASSIGNMENT}/expected.py": "",
        f"assignments/{ASSIGNMENT}/reference/answers.md": "",
        f"rubrics/{ASSIGNMENT}.yaml": (HERE / "rubric.yaml").read_text(encoding="utf-8"),
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def fill(book: Gradebook, desk: Desk, results: Path) -> None:
    """Record a submission of each student, as a run would have; nothing is run."""
    dealt = random.Random(_SEED)  # noqa: S311 - which invented answer an invented student gave
    answers = yaml.safe_load((HERE / "answers.yaml").read_text(encoding="utf-8"))
    for number, student in enumerate(STUDENTS):
        chosen = {str(label): dealt.choice(texts).strip() for label, texts in answers.items()}
        if number % 9 == 4:
            chosen["5"] = ""
        late = number % 7 == 3
        record(book, desk, results, student, chosen, late=late)


def record(
    book: Gradebook,
    desk: Desk,
    results: Path,
    student: str,
    answers: Mapping[str, str],
    *,
    late: bool = False,
) -> None:
    """Record one submission with these answers by question, and leave results as a run does."""
    text = "\n".join(f"## {label}\n\n{answer}\n" for label, answer in answers.items())
    workspace = results / desk.assignment / student / "workspace"
    workspace.mkdir(parents=True, exist_ok=True)
    (workspace / "answers.md").write_text(text, encoding="utf-8")
    due = desk.rubric.due or datetime.now(UTC)
    submission = Submission(
        student=student,
        assignment=desk.assignment,
        archive=f"{student}.zip",
        digest=digest({"answers.md": text}),
        files=("answers.md",),
        submitted_at=due + timedelta(hours=7 if late else -7),
    )
    observations = {
        task.item: _observe(task.item, task.digest, desk, answers)
        for task in desk.files.tasks(desk.rubric, submission)
    }
    run = WorkerRun(id=digest(student)[-16:], started_at="2026-10-06T08:00:00+00:00", isolation="none")
    with EvidenceWriter(workspace.parent / EVIDENCE) as records:
        records.write(RunStarted(submission=submission, run=run))
        for observation in observations.values():
            records.write(ItemObserved(run=run.id, observation=observation))
        records.write(RunEnded(run=run.id))
    evidence = Evidence(submission=submission, runs=(run,), observations=observations)
    book.record(evidence, desk.judge.card(submission, observations), how="record")


def _observe(item: str, task: str, desk: Desk, answers: Mapping[str, str]) -> Observation:
    options = desk.items[item].options
    if not isinstance(options, AnswerOptions):
        note = WAITS if desk.items[item].check == MANUAL else ""
        return Observation(item=item, outcome=Outcome.NOT_OBSERVED, note=note, digest=task)
    answer = answers.get(options.label, "")
    facts = {
        "file": "answers.md",
        "page": 0,
        "pages": 0,
        "answer": answer,
        "aside": [],
        "missing": not answer,
        "certain": True,
        "why": "",
        "pictures": [],
        "hidden": [],
        "elsewhere": "",
    }
    return Observation(item=item, outcome=Outcome.OBSERVED, facts=facts, digest=task)
