"""The answers of a document, found by the numbers and the words of the questions."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from grader.model.answer_copies import QuestionWords, question_words, words_of
from grader.model.answer_labels import joined_numbers, number_within, part_of, path_of
from grader.model.answer_lines import MARKS, DocumentLine, Mark, Targets, lines_of, marks_of, parts_of
from grader.model.answer_numerals import lines_in_digits, parts_of_line
from grader.model.answer_reading import Anchor, read
from grader.model.document import Document, WrittenAnswer
from grader.model.unnumbered_answers import unnumbered_answers

PREAMBLE_WORDS = 12
"""So many words before the first number may be an answer."""
STRAY_WORDS = 2
"""So many words of a question in the answer before it may be its answer without a number."""
OVERFULL = "the document has so many numbered lines that they cannot all be weighed"
_REPLY = re.compile(r"\s*(?:(?:answer|ans|solution|sol|antwort)\s*[:.-]|a\s*:)\s*", re.IGNORECASE)


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
    if document.problem:
        why = f"{document.path} {document.problem}"
        return {label: WrittenAnswer(certain=False, why=why) for label in questions}
    sheet = _Sheet(document, questions)
    regions = sheet.regions()
    if 2 * len(regions) < len(questions) > 1:
        other = _Sheet(document, questions, in_digits=True)
        if 2 * len(in_digits := other.regions()) >= len(questions):
            sheet, regions = other, in_digits
    if not regions:
        return unnumbered_answers(document, sheet.lines, questions)
    return {label: sheet.answer(label, regions) for label in questions}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Region:
    """The lines that answer one question, behind its label and its copied text."""

    anchor: Anchor
    lines: tuple[tuple[int, str], ...]
    """The block and the text of each."""
    first_block: int
    """That of the label."""
    first_line: int
    end_line: int
    end_block: int
    """The last one, if its lines go on in another region, or the one behind it."""

    @property
    def text(self) -> str:
        return "\n".join(text for _, text in self.lines).strip("\n")


@dataclass(slots=True)
class _Sheet:
    """A document with its lines, read as answers to questions."""

    document: Document
    questions: Mapping[str, str]
    in_digits: bool = False
    """Whether numbers in words, Roman numerals and the like are read as digits."""
    lines: list[DocumentLine] = field(init=False)
    targets: Targets = field(init=False)
    words: dict[str, QuestionWords] = field(init=False)
    run_on: bool = False
    """Whether several answers stand in one line."""
    overfull: bool = False
    """Whether there are more numbered lines than are weighed."""
    trouble: str = ""
    """Why no answer can surely be missing; empty if one can."""
    doubtful: tuple[int, ...] = ()
    """Lines within answers that may begin another one."""

    def __post_init__(self) -> None:
        self.lines = lines_of(self.document)
        if self.in_digits:
            texts = lines_in_digits([line.text for line in self.lines])
            parts = [
                replace(line, text=part, first=line.first and not place)
                for line, text in zip(self.lines, texts, strict=True)
                for place, part in enumerate(parts_of_line(text))
            ]
            self.run_on = len(parts) > len(self.lines)
            self.lines = parts
        self.targets = Targets(tuple(self.questions))
        self.words = {label: question_words(label, text) for label, text in self.questions.items()}

    def regions(self) -> dict[int, list[_Region]]:
        """Return the regions of each question, by its index."""
        blocks = self.document.blocks
        parts = parts_of(self.lines, blocks)
        marks = list(marks_of(self.lines, blocks, parts, self.targets, self.words))
        marks = _without_listing(_of_best_part(marks, parts), self.lines)
        self.overfull = len(marks) == MARKS
        anchors, doubtful = read(marks, self.targets)
        regions: dict[int, list[_Region]] = defaultdict(list)
        ends = [anchor.mark.line for anchor in anchors[1:]]
        for anchor, end in zip(anchors, [*ends, len(self.lines)], strict=True) if anchors else ():
            regions[anchor.target].append(self._region(anchor, self._until(anchors[0], anchor, end)))
        self.trouble = next(self._troubles(anchors, doubtful, regions), "")
        self.doubtful = tuple(mark.line for mark in doubtful)
        return regions

    def _until(self, first: Anchor, anchor: Anchor, end: int) -> int:
        """Return the line before which a region ends: at the next title of a part or a section."""
        blocks = self.document.blocks
        heads = [
            blocks[line.block].level
            for line in self.lines[: first.mark.line + 1]
            if blocks[line.block].kind == "heading"
        ]
        level = heads[-1] if heads else 0
        for number in range(anchor.mark.end_line + 1, end):
            line = self.lines[number]
            block = blocks[line.block]
            if block.kind == "heading" and block.level <= level:
                return number
            if block.kind in ("paragraph", "heading", "list") and part_of(line.text) is not None:
                return number
        return end

    def _region(self, anchor: Anchor, end: int) -> _Region:
        mark = anchor.mark
        texts = [(line.block, line.text) for line in self.lines[mark.end_line : end]]
        texts[0] = (texts[0][0], texts[0][1][mark.end :])
        for place, (block, text) in enumerate(texts):
            if text.strip():
                reply = _REPLY.match(text)
                texts[place] = (block, text[reply.end() :] if reply else text.lstrip())
                break
        while texts and not texts[-1][1].strip():
            texts.pop()
        behind = self.lines[end].block if end < len(self.lines) else len(self.document.blocks)
        shown = [(block, text.rstrip()) for block, text in texts]
        first = next((place for place, (_, text) in enumerate(shown) if text), 0)
        return _Region(
            anchor=anchor,
            lines=tuple(shown[first:]),
            first_block=self.lines[mark.line].block,
            first_line=mark.line,
            end_line=end,
            end_block=behind,
        )

    def _troubles(
        self, anchors: Sequence[Anchor], doubtful: Sequence[Mark], regions: Mapping[int, Sequence[_Region]]
    ) -> Iterator[str]:
        """Yield reasons why a question without an answer may have been answered."""
        document = self.document
        if self.overfull:
            yield OVERFULL
        if self.in_digits:
            yield "its numbers are not written as digits with a sign behind them"
        if document.incomplete:
            yield document.incomplete
        if document.scanned:
            yield f"page {document.scanned[0]} holds no text that a machine can read"
        for anchor in anchors:
            if not anchor.certain:
                yield f"the document's numbers are ambiguous at {self._name(anchor.target)}"
            if _misnumbered(anchor, self.targets):
                yield f"{self._name(anchor.target)} stands under another number"
        for mark in doubtful:
            yield f"line {self.lines[mark.line].text.strip()[:30]!r} may begin an answer"
        for target, several in regions.items():
            if len(_filled(several)) > 1:
                yield f"{self._name(target)} is answered more than once"
        if any(before.target >= behind.target for before, behind in pairwise(anchors)):
            yield "its answers are out of order"

    def _name(self, target: int) -> str:
        label = self.targets.labels[target] or ".".join(self.targets.paths[target])
        return f"question {label}"

    def answer(self, label: str, regions: Mapping[int, Sequence[_Region]]) -> WrittenAnswer:
        """Join what the regions of one question hold, and say what is not certain of it."""
        target = self.targets.by_label[label]
        several = regions.get(target, ())
        several = _filled(several) or list(several)[:1]
        pictures = tuple(
            number
            for number, picture in enumerate(self.document.pictures)
            if any(_within(picture.after, region) for region in several)
        )
        lines = [line for region in several for line in region.lines]
        blocks = tuple(dict.fromkeys(block for block, text in lines if text))
        text = "\n".join(region.text for region in several).strip()
        why = next(self._doubts(label, target, several, regions), "")
        if not why and not text and not pictures:
            why = next(self._absences(label, target, several, regions), "")
            why = why or ("" if several else self._elsewhere(label, regions))
        page = self.document.blocks[several[0].first_block].page if several and (text or pictures) else 0
        if blocks:
            page = self.document.blocks[blocks[0]].page
        return WrittenAnswer(text=text, page=page, blocks=blocks, pictures=pictures, certain=not why, why=why)

    def _doubts(
        self,
        label: str,
        target: int,
        several: Sequence[_Region],
        regions: Mapping[int, Sequence[_Region]],
    ) -> Iterator[str]:
        """Yield reasons why an answer that is there may not be the right one, or not all of it."""
        if self.overfull:
            yield OVERFULL
        if self.run_on:
            yield "several answers stand in one paragraph, which is split before their numbers"
        anchors = [region.anchor for region in several]
        if len(anchors) > 1 and not all(_reply(anchor.mark) for anchor in anchors[1:]):
            yield f"question {label} is answered {len(anchors)} times"
        if any(not anchor.certain for anchor in anchors):
            yield "its number may belong to a list in another answer"
        if stray := next((anchor for anchor in anchors if _misnumbered(anchor, self.targets)), None):
            number = ".".join(stray.mark.label.path) if stray.mark.label else ""
            yield f"it is numbered {number}, and repeats the text of question {label}"
        following = min((t for t in regions if t > target), default=None)
        if several and following is not None and not all(r.anchor.certain for r in regions[following]):
            yield f"it may go on where the answer to {self._name(following)} is taken to begin"
        ordered = sorted((r[0].anchor.mark.line, t) for t, r in regions.items() if r)
        place = next((n for n, (_, t) in enumerate(ordered) if t == target), None)
        if place and ordered[place - 1][1] > target and not _labelled(anchors[0].mark):
            yield "it stands behind the answer to a later question"
        if any(region.first_line <= line < region.end_line for region in several for line in self.doubtful):
            yield "one of its lines may begin another answer"
        for picture in self.document.pictures:
            if picture.page in self.document.scanned and any(_within(picture.after, r) for r in several):
                yield f"page {picture.page} in it holds no text that a machine can read"

    def _pages(
        self, target: int, several: Sequence[_Region], regions: Mapping[int, Sequence[_Region]]
    ) -> frozenset[int]:
        """Return the pages on which an answer stands, or would stand in the order of the questions."""
        blocks = self.document.blocks
        before = [t for t in regions if t < target]
        behind = [t for t in regions if t > target]
        around = list(several)
        if not around:
            around += regions[max(before)] if before else ()
            around += regions[min(behind)][:1] if behind else ()
        last = len(blocks) - 1
        pages = [blocks[min(block, last)].page for r in around for block in (r.first_block, r.end_block)]
        return frozenset(range(min(pages, default=1), max(pages, default=0) + 1))

    def _absences(
        self,
        label: str,
        target: int,
        several: Sequence[_Region],
        regions: Mapping[int, Sequence[_Region]],
    ) -> Iterator[str]:
        """Yield reasons why an answer may be there although none is read."""
        if self.trouble:
            yield self.trouble
        hidden = self.document.hidden
        pages = self._pages(target, several, regions)
        by_page = self.document.format == "pdf"
        if any(
            text.page in pages if by_page else region.first_block <= text.after <= region.end_block
            for text in hidden
            for region in several
        ):
            yield "what stands there is hidden, so that no reader sees it"
        if strays := pages.intersection(self.document.drawn):
            yield f"page {min(strays)} shows something beside its text: handwriting, a note, a form, a table"
        first = min(r.first_line for rs in regions.values() for r in rs)
        preamble = len(words_of(" ".join(line.text for line in self.lines[:first]))) >= PREAMBLE_WORDS
        if several:
            before = [r for t, rs in regions.items() if t != target for r in rs]
            last = all(r.first_line < several[0].first_line and r.text for r in before)
            if preamble and last and before and several[0].anchor.mark.copy:
                yield "each answer may stand above its question"
            return
        if hidden:
            yield "the document holds text that no reader sees"
        earlier = max((t for t in regions if t < target), default=None)
        if earlier is None:
            if preamble:
                yield "it may stand before the first number"
            return
        others = words_of(self.questions.get(self.targets.labels[earlier] or "", ""))
        rest = words_of("\n".join(text for _, text in regions[earlier][-1].lines[1:]))
        if len((words_of(self.questions[label]) - others) & rest) >= STRAY_WORDS:
            yield f"it may stand without a number behind the answer to {self._name(earlier)}"

    def _elsewhere(self, label: str, regions: Mapping[int, Sequence[_Region]]) -> str:
        """Return which other answer may hold a missing one: by its number, or by what only it asks."""
        number = number_within(label)
        last = path_of(label)[-1]
        for line in self.lines:
            joined = joined_numbers(line.text, self.document.blocks[line.block].kind)
            if last.isdecimal() and int(last) in joined:
                return f"it may stand under “{' '.join(line.text.split())[:40]}”"
        for target, several in sorted(regions.items()):
            text = "\n".join(region.text for region in several)
            question_words = words_of(self.questions.get(self.targets.labels[target] or "", ""))
            if len((words_of(self.questions[label]) - question_words) & words_of(text)) >= STRAY_WORDS:
                return f"it may stand under {self._name(target)}"
            if number and number.search(text):
                return f"its number stands in the answer to {self._name(target)}"
        return ""


def _of_best_part(marks: Sequence[Mark], parts: Sequence[str]) -> list[Mark]:
    """Keep the part of the document that covers most questions, if no others are covered elsewhere."""
    by_part: dict[str, set[int]] = defaultdict(set)
    for mark in marks:
        by_part[parts[mark.line]].update(mark.targets)
    everything = set().union(*by_part.values()) if by_part else set()
    best = max(by_part, key=lambda part: len(by_part[part]), default="")
    if by_part.get(best, set()) >= everything:
        return [mark for mark in marks if parts[mark.line] == best]
    return list(marks)


def _without_listing(marks: Sequence[Mark], lines: Sequence[DocumentLine]) -> list[Mark]:
    """Leave out a copied list of all questions, if the answers follow under their numbers."""
    ends = [mark.line for mark in marks[1:]]
    last = 0
    while last < len(ends) and marks[last].copy and _empty(marks[last], ends[last], lines):
        last += 1
    listing = list(marks[: last + (1 if last < len(marks) and marks[last].copy else 0)])
    rest = list(marks[len(listing) :])
    repeated = {target for mark in rest for target in mark.targets}
    listed = {target for mark in listing for target in mark.targets}
    if len(listing) > 1 and len(listed & repeated) * 2 >= len(listed):
        return rest
    return list(marks)


def _empty(mark: Mark, end: int, lines: Sequence[DocumentLine]) -> bool:
    texts = [line.text for line in lines[mark.end_line : end]]
    return not any(text.strip() for text in (texts[0][mark.end :], *texts[1:]))


def _filled(regions: Sequence[_Region]) -> list[_Region]:
    return [region for region in regions if region.text.strip()]


def _within(after: int, region: _Region) -> bool:
    return region.first_block < after <= region.end_block


def _labelled(mark: Mark) -> bool:
    return mark.copy is not None or (mark.label is not None and mark.label.keyword)


def _reply(mark: Mark) -> bool:
    return mark.label is not None and mark.label.reply


def _misnumbered(anchor: Anchor, targets: Targets) -> bool:
    """Tell whether the copied text and the number before it belong to different questions."""
    mark = anchor.mark
    if not (mark.copy and mark.label):
        return False
    path = targets.paths[anchor.target]
    return path[-len(mark.label.path) :] != mark.label.path and mark.label.path[-1:] != path[-1:]
