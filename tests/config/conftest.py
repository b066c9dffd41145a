"""A small course with check kinds of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import pytest

from grader.config.units import Duration
from grader.contracts.check import CheckKind
from grader.model.options import FunctionName, InputsName, OracleName, UsedItem, option


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    rtol: float = option("Relative.", above=0, default=1e-5)
    atol: float = option("Absolute.", default=0.0)


class Speedup:
    """How many times faster one function is than another.

    More about it.
    """

    name = "speedup"
    complete = CheckKind.complete
    objections = CheckKind.objections
    gpus_needed = CheckKind.gpus_needed

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        of: FunctionName = option("The fast one.")
        over: FunctionName = option("The slow one.")
        inputs: InputsName = option("What they get.")
        at_least: float = option("The ratio that earns everything.", judges=True, above=0)
        budget: Duration | None = option("How long to measure.", default=None)
        beside: tuple[UsedItem, ...] = option("What it is held against.", judges=True, default=())

        def __post_init__(self) -> None:
            if self.of == self.over:
                raise ValueError("of and over are the same function; name two")


class Matches:
    """Results agree with an oracle."""

    name = "matches"
    complete = CheckKind.complete
    objections = CheckKind.objections
    gpus_needed = CheckKind.gpus_needed

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        of: FunctionName = option("The function.")
        accept: tuple[OracleName, ...] = option("Further right answers.", default=())
        tolerance: Mapping[str, Band] = option("By dtype.", default_factory=dict)
        credit: Literal["all", "per_case"] = option("What a case earns.", judges=True, default="all")


@pytest.fixture
def kinds() -> dict[str, Any]:
    return {kind.name: kind() for kind in (Speedup, Matches)}


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A course folder that is the working directory."""
    folder = tmp_path / "course"
    homework = folder / "assignments" / "hw1"
    (homework / "reference").mkdir(parents=True)
    (folder / "rubrics").mkdir()
    (homework / "reference" / "utils.py").write_text("def slow(x): ...\ndef fast(x): ...\n")
    (homework / "inputs.py").write_text("def vectors(rng): ...\n")
    (homework / "expected.py").write_text("def slow(x): ...\ndef slow_too(x): ...\n")
    monkeypatch.chdir(folder)
    return SimpleNamespace(
        folder=folder,
        homework=homework,
        rubric=folder / "rubrics" / "hw1.yaml",
        assignments={"hw1": homework},
    )
