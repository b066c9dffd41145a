"""Answers in words: found by their question, matched against criteria, and decided by a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from grader.checks.manual import award_given
from grader.contracts.check import CheckKind
from grader.matching.criteria import Criterion, criteria_problem
from grader.model.observation import Observation
from grader.model.options import option
from grader.model.score import Award

if TYPE_CHECKING:
    from grader.harness.context import CheckContext


class AnswerKind(CheckKind):
    """Find the answer to one question in a document, suggest points for it, and let a person decide.

    The document (Markdown, text, PDF, Word or a notebook) is read once for all questions. Answers are found
    by the numbers of their questions, in whatever way these are written, and by copied questions.

    `criteria` are the parts of a right answer. A matcher suggests the points of each and marks the words
    that it goes by; negated words, several numbers or shapes, and options that exclude each other are
    uncertain, and suggest nothing. The suggestion waits for a person, who accepts or overrides it with
    `grader manual`. With `decides` an answer that meets every criterion has all points at once, if it was
    found with certainty. Nothing else is decided by a program: no answer is wrong until a person says so. A
    question without an answer earns nothing at once, if it is certain that there is none.

    Text that no reader sees is in no answer, and text that speaks to the grader earns nothing; both are
    shown to a person.
    """

    name: ClassVar[str] = "answer"
    by_hand: ClassVar[bool] = True

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """The YAML keys."""

        file: str = option("The documents; `*` stands for anything, as in answers.*.")
        question: int | str = option("The number or label of the question, such as 8 or 2b.")
        text: str = option("The question as the students read it; a copy of it is no part of an answer.")
        questions: Mapping[str, str] = option(
            "Texts of questions in these documents that no item is about, by number; those of other items "
            "are known.",
            default_factory=dict,
        )
        model: str = option(
            "The model answer, beside which a person reads; students see it when their grade is final and "
            "published.",
            judges=True,
            secret=True,
            default="",
        )
        criteria: tuple[Criterion, ...] = option(
            "The parts of a right answer; together they are worth what the item is.",
            judges=True,
            secret=True,
            default=(),
        )
        decides: bool = option(
            "Whether an answer that meets all criteria has its points without a person.",
            judges=True,
            secret=True,
            default=False,
        )

        def __post_init__(self) -> None:
            """Put the question on one line, and refuse what cannot decide."""
            object.__setattr__(self, "text", " ".join(self.text.split()))
            if problem := criteria_problem(self.criteria):
                raise ValueError(problem)
            if self.decides and not all(criterion.match for criterion in self.criteria):
                raise ValueError("decides: each of the criteria needs a match; add one, or take decides out")
            if self.decides and not self.criteria:
                raise ValueError("decides: needs criteria with a match each; add them, or take decides out")

    @staticmethod
    def complete(options: Options, others: Sequence[Options]) -> Options:
        """Return the options of one item with the questions of all items about the same documents."""
        return options

    def observe(self, options: Options, context: CheckContext) -> Observation:
        """Note the answer and where it stands."""
        raise NotImplementedError

    def award(self, options: Options, observation: Observation, related: Mapping[str, Observation]) -> Award:
        """Award what a person gave; otherwise nothing for no answer, all for what decides, or wait."""
        return award_given(observation) or Award(fraction=0.0, reason="", undecided=True)
