"""Answers in words: found by their question, matched against criteria, and decided by a person."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from grader.checks.answer_options import AnswerOptions
from grader.checks.by_hand import award_given
from grader.checks.documents import hidden_text
from grader.checks.questions import read_answers, with_questions
from grader.config.points_file import WAITS
from grader.contracts.check import CheckKind
from grader.matching.criteria import require_worth
from grader.model.drawing import Drawing
from grader.model.observation import Observation, Outcome
from grader.model.options import try_each
from grader.model.score import Award

if TYPE_CHECKING:
    from grader.contracts.context import CheckContext


class AnswerKind(CheckKind):
    """Find the answer to one question in a document, suggest points for it, and let a person decide.

    The document (Markdown, text, PDF, Word or a notebook) is read once for all questions. Answers are found
    by the numbers of their questions, in whatever way these are written, and by copied questions.

    `criteria` are the parts of a right answer. A matcher suggests the points of each and marks the words
    that it goes by; negated words, several numbers or shapes, and options that exclude each other are
    uncertain, and suggest nothing. The suggestion waits for a person, who accepts or overrides it with
    `grader manual`. With `decides` an answer that meets every criterion has all points at once, if it was
    found with certainty and says nothing else: what stands there besides may be wrong, so each word must be
    a matched one, one of `near` or `beside`, or a function word. Nothing else is decided by a program: no
    answer is wrong until a person says so. A question without an answer earns nothing at once, if it is
    certain that there is none.

    Text that no reader sees is in no answer. An answer that speaks to whoever grades it is suggested
    nothing and decides nothing. A flag shows both to a person.
    """

    name: ClassVar[str] = "answer"
    by_hand: ClassVar[bool] = True
    tool: ClassVar[str] = "document"

    Options: ClassVar[type] = AnswerOptions

    def complete(
        self, options: AnswerOptions, others: Sequence[AnswerOptions], *, points: float
    ) -> AnswerOptions:
        """Return the options of one item with the questions of all items about the same documents.

        Raises:
            ValueError: the criteria are not worth the item's points, or a question has two texts.
        """
        try_each(lambda: require_worth(options.criteria, points), lambda: with_questions(options, others))
        return with_questions(options, others)

    def observe(self, options: AnswerOptions, context: CheckContext) -> Observation:
        """Note the answer and where it stands; the documents are read in a sandbox."""
        answers = read_answers(context, options, (options.label,))
        if isinstance(answers, Observation):
            return answers
        facts, _ = answers
        return Observation(item=context.item, outcome=Outcome.OBSERVED, facts=facts[options.label])

    def award(
        self, options: AnswerOptions, observation: Observation, related: Mapping[str, Observation]
    ) -> Award:
        """Award what a person gave; otherwise nothing for no answer, all for what decides, or wait."""
        from grader.checks.answer_drawings import suggestion_for

        del related
        facts = observation.facts
        flags = tuple(_flags(facts))
        if award := award_given(observation, options.criteria):
            return replace(award, flags=(*award.flags, *flags))
        certain, why = facts["certain"], str(facts["why"])
        if facts["missing"] and certain:
            reason = f"{facts['file']} has no answer to question {options.label}"
            return Award(fraction=0.0, reason=reason, flags=flags)
        suggestion = suggestion_for(options, observation)
        if options.decides and certain and suggestion.decides:
            return Award(fraction=1.0, reason="the answer says what it must", flags=flags)
        reason = WAITS if certain else f"{WAITS}: {why}"
        return Award(fraction=0.0, reason=reason, flags=flags, undecided=True)

    def show(self, options: AnswerOptions, observation: Observation) -> Iterable[Drawing]:
        """Draw question, answer with its matched words, model answer, suggestion and given points."""
        from grader.checks.answer_drawings import answer_drawings

        return answer_drawings(options, observation)


def _flags(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield remarks on text that speaks to the grader, or that no reader sees."""
    from grader.matching.suggestion import words_to_the_grader

    for text in (facts.get("answer", ""), facts.get("elsewhere", "")):
        if words := words_to_the_grader(str(text)):
            yield f"speaks to the grader: {words}"
    for file, how, count, begins, page in facts.get("hidden", ()):
        yield hidden_text(file, how, count, begins, page)
