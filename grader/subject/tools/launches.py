"""Blocks and threads with which a report says that a kernel is launched."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from math import prod
from typing import Any

from .mentions import MATCHES, phrase
from .named_times import KEPT
from .sentences import hypothetical, sentence_at

DIGITS = 20
"""Of a count; Python refuses to read some thousands of them."""
_ONE = (
    r"one|an?|a single|single|ein(?:e[mnr]?|zig\w*)?|une?|una|uno|אחד|один|одного|одним|одном"
    r"|一个|一個|单个"
)
"""Words for the number 1."""
_INTEGER = rf"(?:\d{{1,3}}(?:[,.'\u2019\u00a0\u202f ]\d{{3}})+(?!\d)|\d+|(?<!\w)(?:{_ONE})(?!\w))"
_TIMES = r"\s?[x\u00d7*\u00b7]\s?"
_COUNT = (
    rf"\(?{_INTEGER}(?:{_TIMES}{_INTEGER}){{0,2}}\)?(?:\s?=\s?{_INTEGER})?"
    rf"|\({_INTEGER}(?:, ?{_INTEGER}){{0,2}},?\)"
)
_BLOCKS = (
    r"(?:CUDA[ -])?(?:thread[ -]?)?(?:blocks?|bl[oö]cke?n?|bloques?|blocs?)\b|блок\w*|בלוקים|בלוק"
    r"|个?(?:线程|線程)?(?:块|塊)"
)
_THREADS = r"(?:CUDA[ -])?(?:threads?|hilos?|fils)\b|поток\w*|нит\w+|תהליכונים|חוטים|(?:个|個)?(?:线程|線程)"
_EACH = (
    r"(?:per|in|pro|je|por|par|dans|en|for|of|in jedem|в|на|בכל|לכל|每)"
    r"(?: (?:each|every|one|a|the|single|cada|chaque|jede[mnr]?|каждом|каждый))?\s?"
)
_LINK = (
    r"(?:[\s,(:]|\b(?:each|every|of|with|containing|contains?|having|has|holds?|and|mit|je|jeweils|von|zu|und|de|con"
    r"|con cada uno|cada|uno|por|y|à|avec|chacun|et|по|каждый|из|и|\u0441)\b|של|עם|\u05d5-?|כל אחד"
    r"|\uff0c|、|每个?|個|有|包含|含|(?:线程|線程)?(?:块|塊)){1,12}"
)
_PAIR = re.compile(
    rf"(?P<blocks>{_COUNT})\s?(?:{_BLOCKS}){_LINK}?(?P<threads>{_COUNT})\s?(?:{_THREADS})", re.IGNORECASE
)
_PER_BLOCK = re.compile(
    rf"(?P<threads>{_COUNT})\s?(?:{_THREADS})\s?{_EACH}(?:{_BLOCKS})(?!\s?[:=|])", re.IGNORECASE
)
_EACH_BLOCK = re.compile(
    r"(?:(?:each|every|one|the|jeder|ein|cada|chaque|каждый|כל|每个?)\s?)(?:" + _BLOCKS + r")\s?"
    r"(?:has|have|holds?|contains?|consists? of|is made of|with|of|hat|enthält|besteht aus|mit"
    r"|tiene|contiene|contient|содержит|имеет|מכיל|עם|של|有|包含|含|:)\s?"
    rf"(?P<threads>{_COUNT})\s?(?:{_THREADS})",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"\b(?:threads?[ _]?per[ _]?block|threads pro block|block[ _]?(?:size|dim)(?:\.x)?|tpb)\b"
    rf"\s?(?:[:=|]|is|was|of|ist)\s?(?P<threads>{_COUNT})",
    re.IGNORECASE,
)
_INSIDE = rf"(?:\({_INTEGER}(?:, ?{_INTEGER}){{0,2}},?\)|{_INTEGER})"
_LAUNCHED = (
    rf"\s?(?:\[\s?(?P<blocks>{_INSIDE})\s?,\s?(?P<threads>{_INSIDE})\s?[\],]"
    rf"|<<<\s?(?P<blocks_in_c>{_INSIDE})\s?,\s?(?P<threads_in_c>{_INSIDE})\s?[>,])"
)
_IN_ALL = re.compile(
    r"\s?(?:in (?:total|all)|altogether|overall|together|zusammen|insgesamt|en total|au total|всего"
    r"|בסך הכל|总共)",
    re.IGNORECASE,
)


def launches(text: str, kernel: str) -> list[list[Any]]:
    """Return each [blocks or None, threads per block or None, what is written, certain].

    `kernel` is `a|b` for either name. It is certain where the text does not weigh what could be, or cannot.
    """
    entries: dict[tuple[Any, ...], list[Any]] = {}
    for match in _matches(text, kernel):
        groups = match.groupdict()
        blocks, threads = (
            _count(groups.get(key) or groups.get(f"{key}_in_c")) for key in ("blocks", "threads")
        )
        if threads is None or _IN_ALL.match(text, match.end()):
            continue
        certain = not hypothetical(sentence_at(text, match.start(), match.end()))
        written = " ".join(match[0].split())
        entry = entries.setdefault((blocks, threads), [blocks, threads, written, certain])
        entry[3] = entry[3] or certain
    return list(entries.values())[:KEPT]


def _matches(text: str, kernel: str) -> Iterator[re.Match[str]]:
    """Yield what says how a kernel is launched; threads of a pair are not read once more."""
    ended = -1
    launched = re.compile(phrase(kernel).pattern + _LAUNCHED, re.IGNORECASE)
    yield from islice(launched.finditer(text), MATCHES)
    pairs = list(islice(_PAIR.finditer(text), MATCHES))
    # without a digit both counts are 1: "each element has a block and a thread"
    yield from (pair for pair in pairs if re.search(r"\d", pair[0]))
    spans = [pair.span() for pair in pairs]
    for pattern in (_PER_BLOCK, _EACH_BLOCK, _NAMED):
        for match in islice(pattern.finditer(text), MATCHES):
            within = any(start <= match.start("threads") < end for start, end in spans)
            # "one thread of a block adds the parts": what that thread does, and not how many there are
            is_one_of_many = pattern is not _NAMED and _count(match["threads"]) == 1
            if not within and not is_one_of_many and match.start() > ended:
                yield match


def _count(written: str | None) -> int | None:
    """Return a number, or the product of several; None if there is none."""
    if not written:
        return None
    written = written.rpartition("=")[2] or written
    if "(" in written:
        written = written.replace(",", " x ").replace("(", "").replace(")", "")
        return (
            prod(int(digits[:DIGITS]) for digits in re.findall(r"\d+", written))
            if re.search(r"\d", written)
            else 1
        )
    numbers = [
        int(re.sub(r"\D", "", digits)[:DIGITS])
        for digits in re.split(r"[x\u00d7*\u00b7]", written)
        if re.search(r"\d", digits)
    ]
    if not numbers:
        return 1
    return prod(numbers) if all(numbers) and prod(numbers) < 10**12 else None
