"""Keys of `course.yaml` that map assignments to those of learning platforms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from grader.config.address import address_problem
from grader.model.options import option


@dataclass(frozen=True, slots=True, kw_only=True)
class CanvasKeys:
    """Keys of `canvas` in `course.yaml`."""

    url: str = option("The address of Canvas, such as https://canvas.example.edu.")
    course: int = option("The course's number there, as in the address of its pages.", above=0)
    assignments: Mapping[str, int] = option("By assignment: its number there.")
    rubrics: Mapping[str, Mapping[str, str]] = option(
        "By assignment, then by item: the id of a criterion of Canvas' own rubric that gets its points.",
        default_factory=dict,
    )

    def __post_init__(self) -> None:
        _check(self.url, self.assignments)


@dataclass(frozen=True, slots=True, kw_only=True)
class MoodleKeys:
    """Keys of `moodle` in `course.yaml`."""

    url: str = option("The address of Moodle's front page, such as https://moodle.example.edu.")
    assignments: Mapping[str, int] = option(
        "By assignment: the number in the address of its page, …/mod/assign/view.php?id=4242."
    )

    def __post_init__(self) -> None:
        _check(self.url, self.assignments)


def _check(url: str, assignments: Mapping[str, int]) -> None:
    if problem := address_problem(url):
        raise ValueError(f"url: {problem}")
    if wrong := [name for name, number in assignments.items() if number < 1]:
        raise ValueError(f"assignments.{wrong[0]}: must be a whole number > 0")
