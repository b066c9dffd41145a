"""A small class: a rubric, what was observed of its submissions, and a gradebook to keep both in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from grader.gradebook.book import Gradebook
from grader.gradebook.rescore import Judge
from grader.model.evidence import Evidence, WorkerRun
from grader.model.observation import Case, Observation, Outcome, Quantity
from grader.model.rubric import Item, Rubric
from grader.model.score import Scorecard
from grader.model.submission import Submission
from grader.plugins import Plugins
from grader.scoring.score import score

KINDS = Plugins().checks
Reference = KINDS["matches_reference"].Options


def item(name: str, points: float = 2.0, **keys: Any) -> Item:
    options = Reference(of=f"work.{name}", inputs="numbers", **keys.pop("options", {}))
    keys = {"check": "matches_reference", "options": options, **keys}
    return Item(id=name, title=f"{name} is right", points=points, **keys)


def by_hand(name: str, points: float = 4.0) -> Item:
    return Item(
        id=name, title=f"{name} is good", points=points, check="manual", options=KINDS["manual"].Options()
    )


def rubric(*items: Item, digest: str = "sha256:r1", **keys: Any) -> Rubric:
    return Rubric(
        name="tiny",
        assignment="tiny",
        points=sum(i.points for i in items),
        items=items,
        digest=digest,
        **keys,
    )


RUBRIC = rubric(item("double"), item("square", needs=("double",)), by_hand("style"))


def digests(submission: str, **other: str) -> dict[str, str]:
    """As `task_digests` makes them: of each item, and another one for another submission."""
    return {name: f"{submission}/{name}" for name in ("double", "square", "style", "cube")} | other


def observe(name: str, submission: str, right: tuple[bool, ...] = (True, True), **keys: Any) -> Observation:
    cases = tuple(
        Case(
            name=f"case {number}",
            outcome=Outcome.OBSERVED,
            agrees={name: yes},
            called=f"{name}({number})",
            returned="4",
            expected="4",
            note="" if yes else "is wrong",
            inputs={"args": [number]},
            quantities={
                "wall_s": Quantity(value=0.5, unit="s"),
                "max_abs_error": Quantity(value=float("nan")),
            },
        )
        for number, yes in enumerate(right)
    )
    return Observation(
        **{
            "item": name,
            "outcome": Outcome.OBSERVED,
            "cases": cases,
            "output": "printed",
            "seed": "ab" * 16,
            "digest": digests(submission)[name],
            **keys,
        }
    )


def evidence(
    student: str = "ann",
    *observations: Observation,
    work: str = "sha256:w1",
    run: str = "e1",
    began: str = "2024-12-23T10:00:00+00:00",
    **keys: Any,
) -> Evidence:
    submission = Submission(
        student=student,
        assignment="tiny",
        archive=f"{student}.tar.gz",
        digest=work,
        files=("work.py",),
        members=tuple(student.split("+")) if "+" in student else (),
        **keys,
    )
    observations_or_two = observations or (observe("double", work), observe("square", work))
    runs = (
        (WorkerRun(id=run, started_at=began, isolation="process", environment={"cores": 2}),) if run else ()
    )
    return Evidence(
        submission=submission,
        runs=runs,
        observations={observation.item: observation for observation in observations_or_two},
    )


def judged(observation: Observation, points: float, comment: str = "tidy", by: str = "Ada") -> Observation:
    """With what a person gave laid over it, as it is read from the files."""
    quantities = {
        "points_given": Quantity(value=points, unit="points", taken_by=by),
        "points_possible": Quantity(value=4.0, unit="points", taken_by=by),
    }
    facts = {"comment": comment, "given_at": "2024-12-24T09:00:00+00:00"}
    return replace(observation, outcome=Outcome.OBSERVED, quantities=quantities, facts=facts, cases=())


def card(of: Evidence, by: Rubric = RUBRIC, **keys: Any) -> Scorecard:
    return score(by, of, KINDS, **keys)


def judge(by: Rubric = RUBRIC, digest: Callable[[str], Mapping[str, str]] = digests, **keys: Any) -> Judge:
    def only_of_the_rubric(submission: str) -> dict[str, str]:
        digests_by_item = digest(submission)
        return {item.id: digests_by_item[item.id] for item in by.items}

    return Judge(by, KINDS, only_of_the_rubric, **keys)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "gradebook.db"


@pytest.fixture
def book(path: Path) -> Iterator[Gradebook]:
    with Gradebook(path, create=True) as opened:
        yield opened


@pytest.fixture
def keep(book: Gradebook) -> Callable[..., bool]:
    """Record evidence with what the rubric makes of it."""

    def record(of: Evidence, by: Rubric = RUBRIC, how: Any = "run") -> bool:
        return book.record(of, card(of, by), how=how)

    return record


@pytest.fixture(scope="session")
def tiny() -> SimpleNamespace:
    """The functions of this file, for tests to call."""
    functions = (item, by_hand, rubric, observe, evidence, judged, card, judge, digests)
    return SimpleNamespace(RUBRIC=RUBRIC, **{function.__name__: function for function in functions})
