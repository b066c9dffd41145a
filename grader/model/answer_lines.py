"""The lines of a document that may belong to answers, and those among them that may begin one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from grader.model.answer_copies import CopiedQuestion, QuestionWords, behind_points, copy_at
from grader.model.answer_labels import ROW, Label, Path, glued_label, label_of, part_of, path_of, row_label
from grader.model.document import Document, TextBlock

COPY_LINES = 12
"""The most lines over which a copied question may run."""
MARKS = 600
"""The most numbered lines that are weighed."""

_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentLine:
    """One line of a block."""

    text: str
    block: int
    """The index of its block."""
    first: bool
    """Whether it is the first one of its block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A line that may begin the answer to a question."""

    line: int
    """The index of its line."""
    label: Label | None
    copy: CopiedQuestion | None
    targets: tuple[int, ...]
    """The questions that it may begin, by their index."""
    end_line: int
    """Where the label and the copied question end: the line, and the place in it."""
    end: int

    @property
    def form(self) -> str:
        """How its label is written; empty without one."""
        return self.label.form if self.label else ""

    @property
    def number(self) -> int:
        """The last component of its label, 0 if that is no number."""
        last = self.label.path[-1] if self.label else ""
        return int(last) if last.isdecimal() else 0


class Targets:
    """The questions by their labels, with the questions that only hold parts."""

    def __init__(self, labels: Sequence[str]) -> None:
        self.paths: list[Path] = []
        """Of questions, and before the first part of one that of the whole."""
        self.labels: list[str | None] = []
        """None for a whole of which only parts are asked."""
        labelled = {path_of(label) for label in labels}
        for label in labels:
            path = path_of(label)
            for length in range(1, len(path)):
                if path[:length] not in labelled and path[:length] not in self.paths:
                    self._add(path[:length], None)
            self._add(path, label)
        self.letters = any(path[-1].isalpha() for path in labelled)
        self._places = {path: place for place, path in reversed(list(enumerate(self.paths)))}
        self._ends: dict[Path, list[int]] = {}
        for place, path in enumerate(self.paths):
            if len(path) > 1:
                self._ends.setdefault(path[-1:], []).append(place)
        self.by_label = {label: place for place, label in enumerate(self.labels) if label is not None}

    def _add(self, path: Path, label: str | None) -> None:
        self.paths.append(path)
        self.labels.append(label)

    def of(self, path: Path, part: str) -> tuple[int, ...]:
        """Return the questions that a label may mean in a part of the document."""
        within = (part, *path) if part else path
        if within in self._places and part:
            return (self._places[within],)
        if part and path[:1] == (part,) and path[1:] in self._places:
            return (self._places[path[1:]],)
        exact = (self._places[path],) if path in self._places else ()
        ends = tuple(self._ends.get(path, ())) if len(path) == 1 else ()
        if ends and (path[0].isalpha() or len(ends) == 1):
            return (*exact, *(place for place in ends if place not in exact))
        return exact


def lines_of(document: Document) -> list[DocumentLine]:
    """Split the blocks into lines, without running heads and page numbers."""
    left_out = running_heads(document)
    return [
        DocumentLine(text=text, block=number, first=place == 0)
        for number, block in enumerate(document.blocks)
        if number not in left_out
        for place, text in enumerate(block.text.split("\n"))
    ]


def running_heads(document: Document) -> frozenset[int]:
    """Find the blocks that stand at the top or the bottom of every page, but for a page number in them."""
    by_page: dict[int, list[int]] = {}
    for number, block in enumerate(document.blocks):
        by_page.setdefault(block.page, []).append(number)
    pages = [by_page[page] for page in sorted(by_page)]
    if len(pages) < 2:
        return frozenset()
    heads: set[int] = set()
    for at in (0, -1):
        column = [blocks[at] for blocks in pages]
        texts = [document.blocks[number].text.strip() for number in column]
        if len({_DIGITS.sub("#", text) for text in texts}) == 1 and _counts_pages(texts):
            heads.update(column)
    return frozenset(heads)


def _counts_pages(texts: Sequence[str]) -> bool:
    numbers = [[int(digits[:9]) for digits in _DIGITS.findall(text)] for text in texts]
    if not numbers[0] or len(set(texts)) == 1:
        return len(texts) > 2 and len(set(texts)) == 1
    return any(
        all(row[at] == numbers[0][at] + place for place, row in enumerate(numbers))
        for at in range(len(numbers[0]))
    )


def parts_of(lines: Sequence[DocumentLine], blocks: Sequence[TextBlock]) -> list[str]:
    """Return for each line the part of the document that it stands in; empty before the first title."""
    parts, part = [], ""
    for line in lines:
        block = blocks[line.block]
        if block.kind not in ("code", "output", "table"):
            part = part_of(line.text) or part
        parts.append(part)
    return parts


def marks_of(
    lines: Sequence[DocumentLine],
    blocks: Sequence[TextBlock],
    parts: Sequence[str],
    targets: Targets,
    questions: Mapping[str, QuestionWords],
) -> Iterator[Mark]:
    """Yield the lines that may begin answers, at most MARKS."""
    copies_until, count = -1, 0
    for number, line in enumerate(lines):
        if number <= copies_until or count == MARKS:
            continue
        block = blocks[line.block]
        label = _label(line, block, letters=targets.letters)
        places = targets.of(label.path, label.part or parts[number]) if label else ()
        if not places and block.kind == "paragraph" and (glued := glued_label(line.text)):
            label, places = glued, targets.of(glued.path, parts[number])
        start = label.end if label else 0
        start = behind_points(line.text, start) if label else start
        copy = None
        if block.kind not in ("code", "output"):
            window = [following.text for following in lines[number : number + COPY_LINES]]
            copy = copy_at(window, start, questions.values())
        alone = label is not None and not line.text[start:].strip()
        if copy and (targets.by_label[copy.question] in places or (copy.sure and not alone)):
            places = (targets.by_label[copy.question],)
        else:
            copy = None
        if not places:
            continue
        end_line, end = (number + copy.line, copy.end) if copy else (number, start)
        copies_until = end_line
        count += 1
        yield Mark(line=number, label=label, copy=copy, targets=places, end_line=end_line, end=end)


def _label(line: DocumentLine, block: TextBlock, *, letters: bool) -> Label | None:
    if block.number and line.first:
        form = f"list {block.series} {block.level}"
        return Label(path=path_of(block.number), form=form, end=0)
    if block.kind == "table":
        cell, tab, _ = line.text.partition("\t")
        label = row_label(cell) if tab else None
        return Label(path=label.path, form=ROW, end=len(cell) + 1, keyword=label.keyword) if label else None
    return label_of(line.text, block.kind, letters=letters)
