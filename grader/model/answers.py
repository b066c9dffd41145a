"""The answers of a document, found by the numbers and the words of the questions."""

from __future__ import annotations

from collections.abc import Mapping

from grader.model.document import Document, WrittenAnswer


def answers_by_question(document: Document, questions: Mapping[str, str]) -> Mapping[str, WrittenAnswer]:
    """Find what a document says to each of some questions.

    Args:
        document: the file as a reader sees it.
        questions: the text of each question by its number or label, such as `3`, `2.1` or `1b`, in their
            order; a text may be empty.

    Returns:
        An answer for every question, in the same order. One that was not answered is empty. Where more than
        one reading of the document is possible `certain` is False and `why` says what is not: nothing is
        guessed silently.
    """
    raise NotImplementedError
