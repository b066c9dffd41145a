"""Matchers: whether an answer meets one criterion, and the words that say so."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise

from grader.matching.criteria import ChoiceMatch, Match, NumberMatch
from grader.matching.numbers import WrittenNumber, in_unit, is_article, numbers_in
from grader.matching.passage import Passage, Span, words_of
from grader.matching.remainder import names_in_brackets
from grader.matching.shapes import shapes_in, sizes_in
from grader.matching.terms import find_term, sentences_with
from grader.matching.units import is_unit_word, unit_named

NEGATED = "stands beside a negation or in a question"
STRUCK = "what fits was struck out"
BESIDE_STRUCK = "without what was struck out"
_CLAUSE_ENDS = frozenset(",;|\t/") | frozenset("，、；")  # noqa: RUF001 - they end Chinese clauses
_CLAUSE_WORDS = frozenset({"and", "und", "et", "y", "和", "while", "whereas"})
_ALONE = re.compile(r"\W{0,9}\d{1,9}\W?[^\W\d]{0,20}\W{0,9}")
"""A clause of one number and its unit."""
_BREAKS = re.compile(r"[()\[\]\n]|[.;]\s")
"""What ends the words before a list in brackets."""
_LABEL = 24
_LABEL_WORDS = frozenset({("option",), ("answer",), ("antwort",), ("is",), ("choice",)})


class MatchState(StrEnum):
    """The relation of an answer to a criterion, as far as a program can tell."""

    MET = "met"
    LIKELY = "likely met"
    PARTLY = "partly met"
    NOT_MET = "not found"
    UNCERTAIN = "uncertain"
    BY_HAND = "for a person"


_DOUBTFUL = frozenset({MatchState.NOT_MET, MatchState.UNCERTAIN})


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The outcome of one matcher on one answer."""

    state: MatchState
    share: float = 0.0
    """The share of the criterion's points that it suggests, 0…1."""
    spans: tuple[Span, ...] = ()
    """Where the matched words stand in the text."""
    why: str = ""
    """Why it is uncertain or partly met, in a few words; empty otherwise."""


def look_for(match: Match | None, passage: Passage) -> Finding:
    """Hold a passage against a criterion's matcher.

    What is met only with words that were struck out is uncertain. Whoever strikes out a wrong answer and
    writes the right one beside it means the right one: what is met without these words is suggested, and
    left to a person, who sees them.
    """
    finding = _look_for(match, passage)
    if passage.without_struck is passage:
        return finding
    rest = _look_for(match, passage.without_struck)
    if (rest.state, rest.share) == (finding.state, finding.share):
        return finding
    if rest.share < finding.share:
        return Finding(state=MatchState.UNCERTAIN, spans=finding.spans, why=STRUCK)
    if not rest.share:
        return finding if rest.state is MatchState.NOT_MET else rest
    state = MatchState.LIKELY if rest.state is MatchState.MET else rest.state
    return replace(rest, state=state, why=", ".join(filter(None, (rest.why, BESIDE_STRUCK))))


def _look_for(match: Match | None, passage: Passage) -> Finding:
    if match is None:
        return Finding(state=MatchState.BY_HAND)
    if match.terms:
        return _terms(match, passage)
    if match.shape:
        return _shape(match, passage)
    if match.number:
        return _number(match.number, match, passage)
    return _choice(match.choice, match, passage) if match.choice else Finding(state=MatchState.BY_HAND)


def _terms(match: Match, passage: Passage) -> Finding:
    by_group = [find_term(passage, group) for group in match.terms]
    every = [span for spans in by_group for span in spans]
    near = _near(match, passage)
    negated = passage.negated(every)
    clear, doubtful, marked = 0, 0, []
    for spans in by_group:
        there = [span for span in spans if near(span[0])]
        affirmed = [span for span in there if not passage.scope(span[0]) & negated]
        clear += bool(affirmed)
        doubtful += bool(there and not affirmed)
        marked += affirmed or there
    return _counted(clear, doubtful, match.enough, tuple(sorted(set(marked))))


def _counted(clear: int, doubtful: int, enough: int, spans: tuple[Span, ...]) -> Finding:
    if clear >= enough:
        return Finding(state=MatchState.MET, share=1.0, spans=spans)
    why = f"{clear} of {enough}" if enough > 1 else ""
    if doubtful:
        why = ", ".join(filter(None, (why, f"{'some' if doubtful > 1 else 'one'} {NEGATED}")))
        return Finding(state=MatchState.UNCERTAIN, spans=spans, why=why)
    state = MatchState.PARTLY if clear else MatchState.NOT_MET
    return Finding(state=state, share=clear / enough, spans=spans, why=why if clear else "")


def _shape(match: Match, passage: Passage) -> Finding:
    near = _near(match, passage)
    shapes = [shape for shape in shapes_in(passage) if near(shape.start)]
    right = [shape for shape in shapes if shape.sizes in match.shape]
    if not right:
        return _sizes_in_a_row(match.shape, passage)
    others = [s.sizes for s in shapes if not any(_is_part(s.sizes, shape) for shape in match.shape)]
    spans = tuple(span for shape in right for span in shape.spans)
    why = f"names {_shown(others[0])} as well" if others else ""
    return _sure(
        passage, spans, why or ("is a part of more" if any(shape.partial for shape in right) else "")
    )


def _sizes_in_a_row(shapes: Sequence[tuple[int, ...]], passage: Passage) -> Finding:
    """Find the sizes of a shape in order in a text without other numbers, as in "64 images, 3 channels"."""
    numbers = [size for size in sizes_in(passage.text) if passage.counts(size.start())]
    if tuple(int(size[0]) for size in numbers) not in shapes:
        return Finding(state=MatchState.NOT_MET)
    return _likely(passage, tuple(size.span() for size in numbers), "its sizes stand apart")


def _is_part(sizes: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    return any(shape[at : at + len(sizes)] == sizes for at in range(len(shape) - len(sizes) + 1))


def _shown(sizes: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, sizes))})"


def _number(meant: NumberMatch, match: Match, passage: Passage) -> Finding:
    finding = _written_number(meant, match, passage)
    if finding.state is MatchState.NOT_MET and meant.lists:
        finding = _listed(meant, match, passage)
    if finding.state in _DOUBTFUL and meant.respectively:
        in_order = _respectively(meant, passage)
        finding = finding if in_order is None else in_order
    return finding


def _written_number(meant: NumberMatch, match: Match, passage: Passage) -> Finding:
    numbers = _of_unit(
        meant, [n for n in numbers_in(passage, meant.unit) if not _is_pronoun(passage, n, meant)]
    )
    if match.near:
        sentences = sentences_with(passage, match.near)
        numbers = [n for n in numbers if passage.scope(n.start) & sentences]
        clauses = _clauses_near(match.near, passage, numbers)
        numbers = clauses or numbers
    value = _basic(meant)
    agreeing = [(n, n.agrees(value, meant.tolerance)) for n in numbers]
    right = [n for n, agrees in agreeing if agrees is not False]
    if not right:
        return Finding(state=MatchState.NOT_MET)
    with_unit = [bool(meant.unit and n.unit) and _has_unit(n, meant) for n in right]
    spans = tuple((n.start, n.unit_end if unit else n.end) for n, unit in zip(right, with_unit, strict=True))
    if len(right) < len(numbers):
        return _sure(passage, spans, "stands beside other numbers")
    if any(agrees is None for _, agrees in agreeing):
        return _sure(passage, spans, "can be read as another number")
    bare = tuple(span for span, n in zip(spans, right, strict=True) if meant.unit and not _has_unit(n, meant))
    if bare:
        starts = {start for words in match.near for start, _ in find_term(passage, words)}
        if all(_begins_company(starts, n) for n in right):
            return _likely(passage, bare, "has no unit")
        return _sure(passage, bare, "has no unit")
    return _sure(passage, spans, "is compared or referred to" if any(n.qualified for n in right) else "")


def _begins_company(starts: Collection[int], number: WrittenNumber) -> bool:
    """Tell whether the word behind a number is no unit, but what the number is about: "3 time series".

    `starts` are the places of what it may be about.
    """
    return any(number.end <= start < number.unit_end for start in starts)


def _listed(meant: NumberMatch, match: Match, passage: Passage) -> Finding:
    """Find a list of as many names as the number says, behind one of the words that are near."""
    text = passage.text
    words = [span for synonyms in match.near for span in find_term(passage, synonyms)]
    for (start, end), count in names_in_brackets(text):
        before = [stop for _, stop in words if stop <= start and not _BREAKS.search(text, stop, start)]
        if before and count == meant.value and passage.counts(start):
            return _likely(passage, ((start, end),), f"is a list of {count}")
    return Finding(state=MatchState.NOT_MET)


def _respectively(meant: NumberMatch, passage: Passage) -> Finding | None:
    """Find the numbers of all parts in the order of the question, and no others; None if they are not."""
    numbers = _of_unit(meant, numbers_in(passage, meant.unit))
    if [set(n.values) for n in numbers] != [{value} for value in meant.respectively]:
        return None
    if any(n.qualified or not _has_unit(n, meant) for n in numbers):
        return None
    number = numbers[meant.respectively.index(meant.value)]
    return _likely(passage, ((number.start, number.end),), "stands at its place in the order")


def _is_pronoun(passage: Passage, number: WrittenNumber, meant: NumberMatch) -> bool:
    return is_article(passage, number) and meant.value != 1


def _basic(number: NumberMatch) -> float:
    unit = unit_named(number.unit)
    return number.value * unit.factors[0] if unit else number.value


def _of_unit(of: NumberMatch, numbers: Iterable[WrittenNumber]) -> list[WrittenNumber]:
    """Return the numbers in the unit that is asked for, and bare ones that may have lost theirs."""
    if not of.unit:
        return [number for number in numbers if unit_named(number.unit) is None]
    result = []
    for number in numbers:
        if _has_unit(number, of):
            result.append((in_unit(number, of.unit) or number) if unit_named(of.unit) else number)
        elif unit_named(number.unit) is None and number.agrees(of.value, of.tolerance) is not False:
            unit = unit_named(of.unit)
            factor = unit.factors[0] if unit else 1.0
            values = frozenset(value * factor for value in number.values)
            result.append(replace(number, values=values))
    return result


def _has_unit(number: WrittenNumber, of: NumberMatch) -> bool:
    unit = unit_named(of.unit)
    if unit:
        written = unit_named(number.unit)
        return written is not None and written.dimension == unit.dimension
    if not number.unit:
        return True  # a count without its noun
    return is_unit_word(number.unit, of.unit)


def _clauses_near(
    near: Sequence[str], passage: Passage, numbers: Sequence[WrittenNumber]
) -> list[WrittenNumber]:
    """Return the numbers that share a part of a sentence, between commas, with one of the words."""
    words = [start for synonyms in near for start, _ in find_term(passage, synonyms)]
    ends = [0, *(i + 1 for i, c in enumerate(passage.text) if c in _CLAUSE_ENDS or c == "\n")]
    ends += [token.end for token in passage.tokens if token.word in _CLAUSE_WORDS]
    ends += [sentence.start for sentence in passage.sentences]
    clause_of = _places(_without_lists(passage, sorted(ends)))
    clauses = {clause_of(start) for start in words}
    return [number for number in numbers if clause_of(number.start) in clauses]


def _without_lists(passage: Passage, ends: Sequence[int]) -> list[int]:
    """Leave out ends before a lone number, outside of brackets: "images: 4, 3" names two."""
    text, kept, depth, at = passage.text, [], 0, 0
    begins = {sentence.start for sentence in passage.sentences}
    for end, following in pairwise([*ends, len(text)]):
        depth += text.count("(", at, end) - text.count(")", at, end)
        at = end
        if end in begins or depth > 0 or not _ALONE.fullmatch(text[end:following]):
            kept.append(end)
    return kept


def _places(starts: list[int]) -> Callable[[int], int]:
    from bisect import bisect_right

    return lambda position: bisect_right(starts, position)


def _choice(choice: ChoiceMatch, match: Match, passage: Passage) -> Finding:
    near = _near(match, passage)
    right = [span for option in choice.right for span in _option(passage, option) if near(span[0])]
    wrong = [span for option in choice.wrong for span in _option(passage, option) if near(span[0])]
    inside = {position for start, end in right for position in range(start, end)}
    wrong = [span for span in wrong if span[0] not in inside]
    if not right:
        return Finding(state=MatchState.NOT_MET)
    return _sure(passage, tuple(sorted(set(right))), "names another option as well" if wrong else "")


def _option(passage: Passage, option: str) -> Iterable[Span]:
    """Return where an option is named; a single letter only where it is no word of a sentence."""
    for name in map(str.strip, option.split("|")):
        for start, end in find_term(passage, name):
            if len(name) > 1 or _is_label(passage.text, start, end):
                yield start, end


def _is_label(text: str, start: int, end: int) -> bool:
    """Tell whether a letter stands alone on its line, in brackets, before one, or behind `option`."""
    before = text[max(0, start - _LABEL) : start].rstrip(" *_\t")
    behind = text[end : end + 2].lstrip(" *_")
    closed = not behind or behind[0] in ").:]\n"
    return closed and (not before or before[-1] in "([:\n" or words_of(before)[-1:] in _LABEL_WORDS)


def _sure(passage: Passage, spans: tuple[Span, ...], why: str) -> Finding:
    """Return a finding that is met, unless there is a doubt, or every span stands beside a negation."""
    negated = passage.negated(spans)
    if not why and any(passage.scope(start) & negated for start, _ in spans):
        why = NEGATED
    if why:
        return Finding(state=MatchState.UNCERTAIN, spans=spans, why=why)
    return Finding(state=MatchState.MET, share=1.0, spans=spans)


def _likely(passage: Passage, spans: tuple[Span, ...], why: str) -> Finding:
    """Return a finding that suggests all points and decides nothing; uncertain beside a negation."""
    finding = _sure(passage, spans, "")
    if finding.state is MatchState.UNCERTAIN:
        return finding
    return replace(finding, state=MatchState.LIKELY, why=why)


def _near(match: Match, passage: Passage) -> Callable[[int], bool]:
    if not match.near:
        return lambda position: True
    sentences = sentences_with(passage, match.near)
    return lambda position: bool(passage.scope(position) & sentences)
