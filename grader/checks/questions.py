"""Questions of a hand-out, and the documents of a submission that answer them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from grader.model.answer_labels import order_of
from grader.model.document import Document
from grader.model.observation import Observation

if TYPE_CHECKING:
    from grader.contracts.context import CheckContext


class AsksQuestion(Protocol):
    """Options of an item about the answer to one question."""

    @property
    def file(self) -> str:
        """The pattern of the documents."""
        ...

    @property
    def label(self) -> str:
        """The number or label of the question as text."""
        ...

    @property
    def text(self) -> str:
        """The question as the students read it."""
        ...

    @property
    def questions(self) -> Mapping[str, str]:
        """Texts of further questions in these documents, by number."""
        ...


Asks = TypeVar("Asks", bound=AsksQuestion)


def tidy_questions(options: AsksQuestion) -> None:
    """Put the question on one line, and make labels text: in YAML 3 is a number."""
    questions = {str(label).strip(): text for label, text in options.questions.items()}
    object.__setattr__(options, "text", " ".join(options.text.split()))
    object.__setattr__(options, "questions", questions)


def with_questions(options: Asks, others: Sequence[Asks]) -> Asks:
    """Return the options of one item with the questions of all items about the same documents.

    Raises:
        ValueError: a question has two texts.
    """
    questions: dict[str, str] = {}
    for other in others:
        if other.file != options.file:
            continue
        for label, text in ((other.label, other.text), *other.questions.items()):
            if questions.setdefault(label, text) != text:
                advice = "make them equal, or give this one its own number"
                raise ValueError(f"question {label}: another item gives it another text; {advice}")
    return replace(options, questions=questions)  # type: ignore[type-var]


def read_answers(
    context: CheckContext, options: AsksQuestion, labels: Sequence[str]
) -> tuple[dict[str, dict[str, Any]], list[Document]] | Observation:
    """Return the facts about the answers to some questions, and the documents; an observation without any.

    Documents are read in a sandbox, once for all items about them.
    """
    from grader.checks.answer_facts import MOST_DOCUMENTS, answer_facts
    from grader.checks.documents import read_document

    files = [file for file in context.files if fnmatchcase(file, options.file)]
    if not files:
        return context.missing(options.file)
    # Options travel as JSON with sorted keys: 10 stands before 2 there.
    texts = {**options.questions, options.label: options.text}
    questions = {label: texts[label] for label in sorted(texts, key=order_of)}
    documents: list[Document] = []
    for file in files[:MOST_DOCUMENTS]:
        document = read_document(context, file)
        if isinstance(document, Observation):
            return document
        documents.append(document)
    facts = {label: answer_facts(documents, questions, label) for label in labels}
    if len(files) > MOST_DOCUMENTS:
        others = f"there are {len(files) - MOST_DOCUMENTS} more documents than are read"
        for of_label in facts.values():
            of_label |= {"certain": False, "why": others}
    return facts, documents
