"""YAML keys of a question that is answered in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from grader.checks.judged import JudgedOptions
from grader.checks.questions import tidy_questions
from grader.matching.criteria import name_problems
from grader.model.options import SubmittedFile, option, refuse


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerOptions(JudgedOptions):
    """The YAML keys of `answer`."""

    file: SubmittedFile = option("The documents; `*` stands for anything, as in answers.*.")
    question: int | str = option("The number or label of the question, such as 8 or 2b.")
    text: str = option("The question as the students read it; a copy of it is no part of an answer.")
    questions: Mapping[str, str] = option(
        "Texts of questions in these documents that no item is about, by number; those of other items "
        "with the same `file` are known.",
        default_factory=dict,
    )
    wordings: tuple[str, ...] = option(
        "Further wordings of the question, as of an earlier hand-out; a copy of one is no part of the "
        "answer either.",
        judges=True,
        default=(),
    )
    decides: bool = option(
        "Whether an answer that meets all criteria has its points without a person.",
        judges=True,
        secret=True,
        default=False,
    )
    beside: tuple[str, ...] = option(
        "Words that may stand in an answer that decides, a|b for either; with any other word it is "
        "suggested its points, and waits.",
        judges=True,
        secret=True,
        default=(),
    )

    def __post_init__(self) -> None:
        """Put the question on one line, make labels text, and refuse what cannot decide."""
        tidy_questions(self)
        problems = [*name_problems(self.criteria)]
        if self.decides and not (self.criteria and all(criterion.match for criterion in self.criteria)):
            problems.append("decides: needs criteria with a match each; add them, or take decides out")
        refuse(problems, self)

    @property
    def request(self) -> str:
        """The question."""
        return self.text

    @property
    def documents(self) -> str:
        """The pattern of the documents."""
        return self.file

    @property
    def label(self) -> str:
        """The number or label of the question as text."""
        return str(self.question).strip()
