"""The answers of a document in which no question is numbered or repeated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grader.model.answer_lines import DocumentLine
from grader.model.document import Document, WrittenAnswer


def unnumbered_answers(
    document: Document, lines: Sequence[DocumentLine], questions: Mapping[str, str]
) -> dict[str, WrittenAnswer]:
    """Take the paragraphs in the order of the questions where they are as many; nothing is certain."""
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
        answer = WrittenAnswer(
            text=text,
            page=document.blocks[blocks[0]].page,
            blocks=tuple(blocks),
            pictures=tuple(range(len(document.pictures))),
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
