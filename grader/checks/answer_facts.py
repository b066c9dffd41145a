"""Facts about the answer to one question: its text, where it stands, and how certain that is."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from grader.matching.passage import LONGEST
from grader.model.answers import answers_by_question
from grader.model.document import Document, WrittenAnswer

MOST_DOCUMENTS = 4
"""Documents of one submission that are read."""
MOST_PICTURES = 3
"""Pictures of one answer that are kept."""
MOST_HIDDEN = 5
MOST_ELSEWHERE = 4000
"""Characters that are kept of what stands in no answer."""
BETWEEN_DOCUMENTS = "\n\n"
"""Stands between the answers of several documents to one question."""
TWIN_CHARACTERS = 40
"""An answer as long as this is seldom right for two questions."""
_PAGE = re.compile(
    r"\W{0,3}(?:page|seite|p\.?)?\s{0,3}(\d{1,4})(?:\s{0,3}(?:/|of|von)\s{0,3}\d{1,4})?\W{0,3}",
    re.IGNORECASE,
)


def answer_facts(documents: Sequence[Document], questions: Mapping[str, str], label: str) -> dict[str, Any]:
    """Return the facts about one answer, as plain JSON values.

    Of several documents the one that holds an answer counts; several answers stand one below the other, and
    are not certain. `sources` has document, page, number of pages and characters of each of several.
    """
    answers = [(document, answers_in(document, questions)[label]) for document in documents]
    written = [(document, answer) for document, answer in answers if not answer.missing]
    chosen = written or answers[:1]
    document, answer = chosen[0]
    doubts = [*_doubts(answers, written), *_twins(written, questions, label)]
    texts = [unicodedata.normalize("NFC", answer.text) for _, answer in written]
    text = BETWEEN_DOCUMENTS.join(texts)
    if len(text) > LONGEST:
        doubts.append(f"the answer has more than {LONGEST} characters")
    first = label == next(iter(questions))
    alike = questions if len(documents) == 1 else (label,)  # another question may be answered elsewhere
    return {
        "file": document.path,
        "page": answer.page,
        "pages": document.pages,
        "answer": text[:LONGEST],
        "sources": [
            [source.path, part.page, source.pages, len(part_text)]
            for (source, part), part_text in zip(written, texts, strict=True)
            if len(written) > 1
        ],
        "aside": [list(span) for span in _aside(document, answer, text)] if len(written) == 1 else [],
        "missing": not written,
        "certain": not doubts,
        "why": "; ".join(dict.fromkeys(doubts)),
        "pictures": list(_pictures(document, alike, answers_in(document, questions), label)),
        # of the whole document: told once, with its first question
        "hidden": list(_hidden(documents)) if first else [],
        "whole": _whole(documents, questions),
        "elsewhere": "\n".join(_elsewhere(documents, questions))[:MOST_ELSEWHERE] if first else "",
    }


def _pictures(
    document: Document, questions: Iterable[str], answers: Mapping[str, WrittenAnswer], label: str
) -> Iterator[list[Any]]:
    """Yield page, thumbnail and first question of each picture; a scan's page may answer many questions.

    The thumbnail is empty in all facts but those of its first question.
    """
    for index in answers[label].pictures[:MOST_PICTURES]:
        first = next(other for other in questions if index in answers[other].pictures[:MOST_PICTURES])
        picture = document.pictures[index]
        yield [picture.page, picture.thumbnail if first == label else "", first]


def answers_in(document: Document, questions: Mapping[str, str]) -> Mapping[str, WrittenAnswer]:
    """Return the answers of a document; of its questions only the first one looks for them."""
    return _answers_in(document, tuple(questions.items()))


@lru_cache(maxsize=8)
def _answers_in(document: Document, questions: tuple[tuple[str, str], ...]) -> Mapping[str, WrittenAnswer]:
    return answers_by_question(document, dict(questions))


def _elsewhere(documents: Sequence[Document], questions: Mapping[str, str]) -> Iterator[str]:
    """Yield the blocks that belong to no answer, such as words to the grader in front of all."""
    for document in documents:
        answered = {block for answer in answers_in(document, questions).values() for block in answer.blocks}
        yield from (block.text for place, block in enumerate(document.blocks) if place not in answered)


def _whole(documents: Sequence[Document], questions: Mapping[str, str]) -> str:
    """Return all that the documents say where no answer could be told from another; empty otherwise."""
    answers = [answer for document in documents for answer in answers_in(document, questions).values()]
    if any(answer.text.strip() for answer in answers) or all(answer.certain for answer in answers):
        return ""
    return "\n".join(block.text for document in documents for block in document.blocks)[:LONGEST]


def _twins(
    written: Sequence[tuple[Document, WrittenAnswer]], questions: Mapping[str, str], label: str
) -> Iterator[str]:
    """Yield another question whose answer is the same text: one that names everything fits everywhere."""
    for document, answer in written:
        if len(answer.text) >= TWIN_CHARACTERS:
            for other, twin in answers_in(document, questions).items():
                if other != label and twin.text == answer.text:
                    yield f"the same text answers question {other}"
                    return


def _doubts(
    answers: Sequence[tuple[Document, WrittenAnswer]], written: Sequence[tuple[Document, WrittenAnswer]]
) -> Iterator[str]:
    """Yield why it is not certain that this is the whole answer."""
    if len(written) > 1:
        yield f"it is answered in {' and in '.join(document.path for document, _ in written)}"
    for document, answer in answers:
        if not answer.certain:
            yield answer.why or f"{document.path} can be read in several ways"
        elif document.incomplete:
            yield document.incomplete
        elif answer.pictures:
            yield f"a picture belongs to the answer on page {answer.page}"


def _aside(document: Document, answer: WrittenAnswer, text: str) -> Iterator[tuple[int, int]]:
    """Yield where the number of a page stands in an answer that has other text as well."""
    if document.pages < 2 or len(answer.blocks) < 2:
        return
    numbers = {
        block.text.strip()
        for block in (document.blocks[index] for index in answer.blocks)
        if (match := _PAGE.fullmatch(block.text.strip())) and int(match[1]) == block.page
    }
    start = 0
    for line in text.split("\n"):
        if line.strip() in numbers:
            yield start, start + len(line)
        start += len(line) + 1


def _hidden(documents: Sequence[Document]) -> Iterator[list[Any]]:
    for document in documents:
        for hidden in document.hidden[:MOST_HIDDEN]:
            yield [document.path, hidden.how, hidden.words, hidden.begins, hidden.page]
