"""Suggested points for an answer, criterion by criterion; only a person or a rubric makes them count."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from grader.matching.criteria import Criterion
from grader.matching.findings import Finding, MatchState, look_for
from grader.matching.passage import Passage, Span
from grader.matching.remainder import unaccounted

HALVES = 2
"""Suggested points are rounded to halves."""
_SHOWN = 80
_TO_THE_GRADER = re.compile(
    r"""
    \b (?:ignore|disregard|forget|override) \b [^.!?\n]{0,40}? \b
        (?:instructions?|rubric|criteria|prompts?|rules|above) \b
    | \b (?:give|award|assign|grant) \b [^.!?\n]{0,40}? \b
        (?:full|all|maximum|max|100\ ?%)\s(?:points|marks|credits?|scores?)
    | \b (?:give|award|assign|grant) \b [^.!?\n]{0,20}? \b \d{1,3}\ ?/\ ?\d{1,3} \b
    | \b (?:full|maximum)\s(?:points|marks|credit|score) \b
    | \b (?:dear|attention|note\ to(?:\ the)?|as\ (?:a|the|an))\s
        (?:ai|auto)?[-\ ]?(?:graders?|markers?|examiners?|llm|language\ model) \b
    | \b (?:this|the)\ answer\ (?:is|was|below\ (?:is|was|has\ been))\s
        (?:fully\ |entirely\ )?(?:correct|right|verified|accepted|checked) \b
    | \b (?:verified|accepted|approved|checked)\ by\ (?:the|our|my)\s
        (?:professor|instructor|teacher|ta|grader) \b
    | \b correct \b [^.!?\n]{0,4} \b \d{1,3}\ ?/\ ?\d{1,3} \b
    | \b (?:mark|grade|rate|score) \s (?:this|it|me|my\ \w{1,20}) (?:\ answer)? \s
        (?: (?:(?:with|at|a)\s)? \d{1,3}\ ?/\ ?\d{1,3} | as \s (?:fully\ )?(?:correct|right|complete) ) \b
    | ^ \s{0,9} points \s{0,3} [:=] \s{0,3} \d
    | [{"'] points? ["'] \s{0,3} :
    | ^ \s{0,9} decides \s{0,3} :
    | ^ \s{0,9} system \s{0,3} :
    | \b (?:system|developer)\ ?prompt \b
    | <\|?(?:system|im_start)\|?>
    | \b you\ are\ (?:now\ )?an?\ (?:ai|assistant|grader|llm) \b
    | \b (?:ignoriere?|vergiss) \b [^.!?\n]{0,40}? \b (?:anweisung(?:en)?|kriterien|bewertung) \b
    | volle\spunktzahl
    | 忽略.{0,20}(?:指令|评分)
    | 满分
    | m[áa]xim[ao]s?\s(?:puntuaci[óo]n|puntaje|puntos|nota) | puntuaci[óo]n\sm[áa]xima
    | (?:todos|la\stotalidad\sde)\slos\spuntos
    | (?:tous\sles\spoints|note\smaximale|maximum\sde\spoints)
    | (?:पूरे|पूर्ण)\s(?:अंक|नंबर) | 満点
    """,
    re.IGNORECASE | re.VERBOSE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggested:
    """One criterion and what an answer holds of it."""

    criterion: Criterion
    finding: Finding
    points: float

    @property
    def is_suggested(self) -> bool:
        """Whether a person can accept the points: a matcher looked, and has no doubt."""
        return self.finding.state not in {MatchState.BY_HAND, MatchState.UNCERTAIN}


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """The points that matchers suggest for one answer."""

    parts: tuple[Suggested, ...]
    points: float
    possible: float
    unaccounted: str = ""
    """The first word that is neither matched nor one of those that may stand beside; empty for none."""
    to_the_grader: str = ""
    """The first words of the answer that speak to whoever grades it; empty for none. It suggests nothing."""

    @property
    def spans(self) -> tuple[Span, ...]:
        """The matched words of all criteria, in order and without overlaps."""
        spans: list[Span] = []
        for start, end in sorted(span for part in self.parts for span in part.finding.spans):
            if spans and start < spans[-1][1]:
                spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
            else:
                spans.append((start, end))
        return tuple(spans)

    @property
    def meets_all(self) -> bool:
        """Whether each criterion is met beyond doubt."""
        return bool(self.parts) and all(part.finding.state is MatchState.MET for part in self.parts)

    @property
    def decides(self) -> bool:
        """Whether each criterion is met beyond doubt, and the answer says nothing else."""
        return self.meets_all and not self.unaccounted

    @property
    def useful(self) -> bool:
        """Whether points are suggested for every criterion, so that the sum can be accepted."""
        is_suggested = all(part.is_suggested for part in self.parts)
        return bool(self.parts) and is_suggested and not self.to_the_grader


def suggest(
    criteria: Sequence[Criterion],
    text: str,
    question: str = "",
    aside: Sequence[Span] = (),
    beside: Sequence[str] = (),
) -> Suggestion:
    """Hold an answer against criteria; the spans are places in `text`.

    Args:
        criteria: of the rubric.
        text: the answer.
        question: a sentence that is copied from it is no part of the answer.
        aside: further parts of the text that are none, such as page numbers.
        beside: words that an answer may hold besides and still decide; a|b for either.
    """
    return _suggest(tuple(criteria), text, question, tuple(aside), tuple(beside))


@lru_cache(maxsize=64)
def _suggest(
    criteria: tuple[Criterion, ...],
    text: str,
    question: str,
    aside: tuple[Span, ...],
    beside: tuple[str, ...],
) -> Suggestion:
    passage = Passage(text, question, aside)
    to_the_grader = _shown(m for m in _TO_THE_GRADER.finditer(passage.text) if passage.counts(m.start()))
    findings = [look_for(criterion.match, passage) for criterion in criteria]
    if to_the_grader:
        findings = [*map(_withdrawn, findings)]
    parts = tuple(map(_part, criteria, findings))
    spans = [span for part in parts for span in part.finding.spans]
    return Suggestion(
        parts=parts,
        points=math.fsum(part.points for part in parts),
        possible=math.fsum(criterion.points for criterion in criteria),
        unaccounted=unaccounted(passage, spans, criteria, beside),
        to_the_grader=to_the_grader,
    )


def _withdrawn(finding: Finding) -> Finding:
    """Return a finding of an answer that speaks to the grader: the matched words, and no points for them."""
    if finding.state in {MatchState.BY_HAND, MatchState.NOT_MET}:
        return finding
    return replace(finding, state=MatchState.UNCERTAIN, share=0.0, why="the answer speaks to the grader")


def _part(criterion: Criterion, finding: Finding) -> Suggested:
    points = criterion.points
    if finding.share < 1:
        points = math.floor(finding.share * points * HALVES + 1e-9) / HALVES
    return Suggested(criterion=criterion, finding=finding, points=points)


def marked(text: str, spans: Sequence[Span], before: str = "«", behind: str = "»") -> str:
    """Return a text with the matched words between two signs."""
    parts, end = [], 0
    for start, stop in spans:
        parts += [text[end:start], before, text[start:stop], behind]
        end = stop
    return "".join((*parts, text[end:]))


def words_to_the_grader(text: str) -> str:
    """Return the first words of a text that speak to whoever grades it; empty if none do."""
    return _shown(_TO_THE_GRADER.finditer(text))


def _shown(matches: Iterable[re.Match[str]]) -> str:
    """Return the words of the first match on one line, shortened; empty if there is none."""
    words = " ".join(next((match[0] for match in matches), "").split())
    return words if len(words) <= _SHOWN else f"{words[: _SHOWN - 1]}…"
