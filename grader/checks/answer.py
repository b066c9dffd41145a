"""Answers in words: found by their question, matched against criteria, and decided by a person."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, ClassVar

from grader.checks.by_hand import award_given
from grader.config.points_file import WAITS
from grader.contracts.check import CheckKind
from grader.matching.criteria import Criterion, require_names, require_worth
from grader.model.answer_labels import order_of
from grader.model.drawing import Drawing
from grader.model.observation import Observation, Outcome
from grader.model.options import option
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
    found with certainty. Nothing else is decided by a program: no answer is wrong until a person says so. A
    question without an answer earns nothing at once, if it is certain that there is none.

    Text that no reader sees is in no answer, and text that speaks to the grader earns nothing; both are
    shown to a person.
    """

    name: ClassVar[str] = "answer"
    by_hand: ClassVar[bool] = True
    tool: ClassVar[str] = "document"

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """The YAML keys."""

        file: str = option("The documents; `*` stands for anything, as in answers.*.")
        question: int | str = option("The number or label of the question, such as 8 or 2b.")
        text: str = option("The question as the students read it; a copy of it is no part of an answer.")
        questions: Mapping[str, str] = option(
            "Texts of questions in these documents that no item is about, by number; those of other items "
            "with the same `file` are known.",
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
            """Put the question on one line, make labels text, and refuse what cannot decide."""
            object.__setattr__(self, "text", " ".join(self.text.split()))
            questions = {
                str(label).strip(): text for label, text in self.questions.items()
            }  # YAML: 3 is a number
            object.__setattr__(self, "questions", questions)
            require_names(self.criteria)
            if self.decides and not (self.criteria and all(criterion.match for criterion in self.criteria)):
                raise ValueError("decides: needs criteria with a match each; add them, or take decides out")

        @property
        def label(self) -> str:
            """The number or label of the question as text."""
            return str(self.question).strip()

    def complete(self, options: Options, others: Sequence[Options], *, points: float) -> Options:
        """Return the options of one item with the questions of all items about the same documents.

        Raises:
            ValueError: the criteria are not worth the item's points, or a question has two texts.
        """
        require_worth(options.criteria, points)
        questions: dict[str, str] = {}
        for other in others:
            if other.file != options.file:
                continue
            for label, text in ((other.label, other.text), *other.questions.items()):
                if questions.setdefault(label, text) != text:
                    raise ValueError(f"question {label}: another item gives it another text; make them equal")
        return replace(options, questions=questions)

    def observe(self, options: Options, context: CheckContext) -> Observation:
        """Note the answer and where it stands; the documents are read in a sandbox."""
        from grader.checks.answer_facts import MOST_DOCUMENTS, answer_facts
        from grader.checks.documents import read_document

        files = [file for file in context.files if fnmatchcase(file, options.file)]
        if not files:
            return context.missing(options.file)
        # Options travel as JSON with sorted keys: 10 stands before 2 there.
        texts = {**options.questions, options.label: options.text}
        questions = {label: texts[label] for label in sorted(texts, key=order_of)}
        documents = []
        for file in files[:MOST_DOCUMENTS]:
            document = read_document(context, file)
            if isinstance(document, Observation):
                return document
            documents.append(document)
        facts = answer_facts(documents, questions, options.label)
        if len(files) > MOST_DOCUMENTS:
            others = f"there are {len(files) - MOST_DOCUMENTS} more documents than are read"
            facts |= {"certain": False, "why": others}
        return Observation(item=context.item, outcome=Outcome.OBSERVED, facts=facts)

    def award(self, options: Options, observation: Observation, related: Mapping[str, Observation]) -> Award:
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
        if options.decides and certain and suggestion.meets_all:
            return Award(fraction=1.0, reason="the answer says what it must", flags=flags)
        reason = WAITS if certain else f"{WAITS}: {why}"
        return Award(fraction=0.0, reason=reason, flags=flags, undecided=True)

    def show(self, options: Options, observation: Observation) -> Iterable[Drawing]:
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
        text = f", which begins with: {begins}" if begins else ""
        yield f"{file} hides {count} words on page {page} ({how}){text}"
