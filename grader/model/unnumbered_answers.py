"""The answers of a document in which no question is numbered as asked, or repeated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grader.model.answer_labels import ALONE, ROW, label_of, path_of
from grader.model.answer_lines import DocumentLine
from grader.model.document import Document, WrittenAnswer


def unnumbered_answers(
    document: Document, lines: Sequence[DocumentLine], questions: Mapping[str, str]
) -> dict[str, WrittenAnswer]:
    """Take all of it for a single question, else the paragraphs in the order of the questions, if as many.

    Only the first of these is certain, where it does not begin with the number of another question.
    """
    blocks = [number for number, block in enumerate(document.blocks) if block.text.strip()]
    bodies = [number for number in blocks if document.blocks[number].kind != "heading"]
    if not blocks:
        why = document.incomplete or (
            f"page {document.scanned[0]} holds no text that a machine can read" if document.scanned else ""
        )
        why = why or ("the document holds text that no reader sees" if document.hidden else "")
        pictures = tuple(range(len(document.pictures)))
        if pictures and not why:
            why = "the document shows pictures and no text"
        return {
            label: WrittenAnswer(
                certain=not why, why=why, pictures=pictures, page=document.pictures[0].page if pictures else 0
            )
            for label in questions
        }
    if len(questions) == 1:
        text = "\n".join(line.text for line in lines).strip()
        why = _other_number(document, lines, next(iter(questions))) if text else _repeated(document, blocks)
        answer = WrittenAnswer(
            text=text,
            page=document.blocks[blocks[0]].page,
            blocks=tuple(blocks),
            pictures=tuple(range(len(document.pictures))),
            certain=not why,
            why=why,
        )
        return dict.fromkeys(questions, answer)
    if len(bodies) == len(questions):
        why = "nothing is numbered; the paragraphs are taken in the order of the questions"
        return {
            label: WrittenAnswer(
                text=document.blocks[number].text.strip(),
                page=document.blocks[number].page,
                blocks=(number,),
                pictures=tuple(n for n, p in enumerate(document.pictures) if p.after == number + 1),
                certain=False,
                why=why,
            )
            for label, number in zip(questions, bodies, strict=True)
        }
    why = "nothing is numbered and no question is repeated, so that it cannot be told which text answers it"
    return {label: WrittenAnswer(certain=False, why=why) for label in questions}


def _repeated(document: Document, blocks: Sequence[int]) -> str:
    """Say that one text stands on every page, which is a running head elsewhere; empty if it counts pages."""
    same = len({document.blocks[number].text.strip() for number in blocks}) == 1
    return "the same text stands on each of its pages, and nothing else" if same else ""


def _other_number(document: Document, lines: Sequence[DocumentLine], question: str) -> str:
    """Say that the text begins with another number than its question's; empty if it does not."""
    first = next(line for line in lines if line.text.strip())
    label = label_of(first.text, document.blocks[first.block].kind)
    path = path_of(question)
    if label is None or label.path == path or label.doubtful:
        return ""
    if label.form in (ALONE, ROW) or len(label.path) > len(path):  # may be data, as `7` or `7.5 ms`
        return ""
    return f"it has the number {'.'.join(label.path)}, and the question is {question}"
