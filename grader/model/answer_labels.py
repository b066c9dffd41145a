"""Labels of questions at the beginning of a line: `1.`, `(2)`, `Q3:`, `Part 1 - 4`, `2b)`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from grader.model.document import BlockKind

Path = tuple[str, ...]
"""The components of a label, from the outermost: `2b` is ("2", "b")."""

LETTERS = "abcdefghijklmnopqrstuvwxyz"
ROMAN = {"i": "1", "ii": "2", "iii": "3", "iv": "4", "v": "5", "vi": "6", "vii": "7", "viii": "8"}

LABEL_CHARACTERS = 200
"""So much of a line is looked at for a label."""
ALONE, ROW = "alone", "row"
"""Forms of a number that stands alone in its line or cell, and may be data."""

_DIGITS = {
    zero + digit: str(digit)
    for zero in (0x0660, 0x06F0, 0x0966, 0x09E6, 0x0A66, 0x0AE6, 0x0BE6, 0x0C66, 0x0CE6, 0x0D66, 0x0E50)
    for digit in range(10)
}
"""Digits of Arabic, Persian, the scripts of India, and Thai."""
_PLAIN = _DIGITS | str.maketrans("（）［］：．。－‐‑‒–—―＃０１２３４５６７８９", "()[]:..-------#0123456789")  # noqa: RUF001
"""One character for one, so that places in a line stay."""
_LEAD = re.compile(r"[\s>*_#\u2022\u00b7\u25aa\u25e6\u25cf\u25cb\u25a0-]*")
"""Bullets, quotation marks and signs of headings before a label."""
QUESTION_WORDS = (
    r"questions?|ques|qn|q|problem|prob|exercise|exer|ex|task|frage|aufgabe|pregunta|pytanie|exercice|ejercicio"
    r"|domanda|quest\u00e3o|вопрос|задание|задача|प्रश्न|सवाल|질문|문제"
    r"|\u95ee\u9898|\u554f\u984c|\u9898\u76ee|\u7b2c|\u554f|\u8cea\u554f|\u8bbe\u554f|\u8a2d\u554f"
)
ANSWER_WORDS = (
    r"(?:answers?|ans|solutions?)(?:\s+(?:to|for|of)(?:\s+(?:question|problem|exercise|q))?)?|sol|response|antwort"
    r"|l\u00f6sung|respuesta|r\u00e9ponse|risposta|resposta|ответ|उत्तर|जवाब|답|\u89e3\u7b54|\u56de\u7b54|\u7b54"
)
_NUMBER = r"\d{1,3}(?:\.\d{1,3}){0,3}(?:\s?\.?\s?\(?[a-z]\)?(?![^\W_]))?"
_PART = r"(?:part|section|teil|parte|partie)\s*(?P<part>\d{1,2}|[ivx]{1,4}|[a-z])(?![^\W_])"
_KEYWORD = re.compile(
    rf"(?:{_PART}[\s:.,/|()-]*)?(?:(?P<ask>{QUESTION_WORDS})|(?P<reply>{ANSWER_WORDS}))\s?\.?\s?"
    rf"(?:no\.?|number|nr\.?)?\s?[#(\[]?\s?(?P<number>{_NUMBER})\s?[)\]]?[*_]*\s?\u9898?\s?(?P<end>[.):,|-]|$|(?=(?-i:[\[(`A-Z\u3040-\u30ff\u4e00-\u9fff])))"
    r"[*_]*\s*",
    re.IGNORECASE,
)
_LETTERED = re.compile(
    r"(?P<word>[AQ])(?P<number>\d{1,2}[a-z]?)[*_]*(?:\s?[.):-]|$|(?<=Q\d)\s|(?<=Q\d\d)\s)[*_]*\s*"
)
_IN_PART = re.compile(rf"{_PART}[\s:.,/|()-]+(?P<number>{_NUMBER})\s?[)\]]?\s?(?:[.):-]|$)\s*", re.IGNORECASE)
_PART_ALONE = re.compile(rf"{_PART}\s?(?:[.:)(\[-]|$)(?P<rest>.*)", re.IGNORECASE)
_NUMBERED = re.compile(
    r"(?P<open>[(\[#]?)\s?(?P<number>\d{1,2}(?:\.\d{1,2}){0,2}(?:\s?\(?[a-z]\)?)?)\s?"
    r"(?P<close>[)\]]\s?[.:]?|:(?!\d)|[\uff0c\u3001]|\.(?!\d)|(?<=\s)-(?=\s)|-(?=\s))[*_]*\s*"
)
_GLUED = re.compile(r"\s*(?P<number>\d{1,2})\.(?=\d)")
"""A label without a space behind it looks like a number: `6.3, 4 and 5`."""
_DOTTED = re.compile(r"\s*(?P<number>\d{1,2}(?:\.\d{1,2}){1,2}[a-z]?)\s+(?=\S)")
_BARE = re.compile(r"[(\[]?(?P<number>\d{1,2}(?:\.\d{1,2})?[a-z]?)[)\].:]?[\s*_]*")
_IN_HEADING = re.compile(r"\s*(?P<number>\d{1,2}(?:\.\d{1,2}){0,2}[a-z]?)\.?\s+(?=\S)")
_LETTER = re.compile(r"\(?(?P<number>[a-z])[).:](?![^\W_])[*_]*\s*", re.IGNORECASE)
_JOINED = re.compile(
    rf"(?P<ask>(?:{QUESTION_WORDS}|{ANSWER_WORDS}|[AQ])[\s.#]{{0,3}})?"
    rf"(?P<numbers>\d{{1,2}}(?:\s?(?:-|,|/|&|\+|and|und|to|bis|y|et|\u548c|\u3001)\s?(?:{QUESTION_WORDS}|[AQ])?[\s.#]?\d{{1,2}})+)"
    r"(?P<end>\s?[.):]|\s|$)",
    re.IGNORECASE,
)
"""Several numbers before one answer: `Questions 4 and 5`, `4-7.`"""
_RANGE = re.compile(r"(?P<first>\d+)\s?(?:-|to|bis)\s?\D{0,12}?(?P<last>\d+)", re.IGNORECASE)
_COMMENT = re.compile(r"\s*(?:#+|//+|%+|--+)\s*")
_COMPONENT = re.compile(r"\d+|[a-z]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A label as a line begins with it."""

    path: Path
    form: str
    """How it is written: labels of one numbering look alike."""
    end: int
    """Where the text behind it begins."""
    keyword: bool = False
    """Whether a word such as `Question` says what it is."""
    reply: bool = False
    """Whether that word is `Answer`, which often follows the copied question."""
    part: str = ""
    """The part of the document that the label itself names."""
    doubtful: bool = False
    """Whether it may be a number and no label."""


def path_of(label: str) -> Path:
    """Split the label of a question: `Part 1 - 2b` is ("1", "2", "b")."""
    lower = label.translate(_PLAIN).lower()
    words = re.sub(rf"part|section|{QUESTION_WORDS}", " ", lower) if re.search(r"\d", lower) else lower
    return tuple(component.lstrip("0") or "0" for component in _COMPONENT.findall(words)) or (lower.strip(),)


def order_of(label: str) -> tuple[tuple[int, str], ...]:
    """Return a key by which labels are sorted as in a hand-out: 2 before 10, and 2a before 2b."""
    return tuple((int(part), "") if part.isdecimal() else (0, part) for part in path_of(label))


def number_within(label: str) -> re.Pattern[str] | None:
    """Return a pattern of a label's number where it stands in the middle of a line, as behind a tab.

    None if the label does not end in a number.
    """
    number = path_of(label)[-1]
    if not number.isdecimal():
        return None
    return re.compile(
        rf"(?<![\w.,:])(?:\(?{number}\s?(?:\.(?![\w.])|\))|(?:{QUESTION_WORDS}|{ANSWER_WORDS})[\s.#:]{{0,3}}{number}(?!\w))",
        re.IGNORECASE,
    )


def part_of(line: str) -> str | None:
    """Return the number of the part that a line is the title of; None if it is no such title."""
    plain = line[:LABEL_CHARACTERS].translate(_PLAIN)
    match = _PART_ALONE.match(plain, behind_lead(plain))
    if match is None or len(match["rest"].split()) > 12:
        return None
    return _part(match["part"])


def label_of(line: str, kind: BlockKind, *, letters: bool = False) -> Label | None:
    """Read the label that a line of a block begins with.

    In code only comments with a keyword are labels. With `letters` a single letter is one, too.
    """
    plain = line[:LABEL_CHARACTERS].translate(_PLAIN)
    if kind in ("code", "output"):
        comment = _COMMENT.match(plain)
        return _keyword(plain, comment.end()) if comment and kind == "code" else None
    start = behind_lead(plain)
    return (
        _keyword(plain, start)
        or _numbered(plain, start, kind)
        or (_letter(plain, start) if letters else None)
    )


def glued_label(line: str) -> Label | None:
    """Read a label that has no space behind it and looks like a decimal number."""
    match = _GLUED.match(line[:LABEL_CHARACTERS].translate(_PLAIN))
    if match is None:
        return None
    return Label(path=path_of(match["number"]), form="1.", end=match.end(), doubtful=True)


def joined_numbers(line: str, kind: BlockKind) -> frozenset[int]:
    """Return the numbers that a line begins with, where it has several before one answer."""
    plain = line[:LABEL_CHARACTERS].translate(_PLAIN)
    match = _JOINED.match(plain, behind_lead(plain))
    if match is None or kind in ("code", "output"):
        return frozenset()
    if not (match["ask"] or kind == "heading" or match["end"].strip()):
        return frozenset()
    numbers = {int(number) for number in re.findall(r"\d+", match["numbers"])}
    for span in _RANGE.finditer(match["numbers"]):
        numbers.update(range(int(span["first"]), int(span["last"]) + 1))
    return frozenset(numbers)


def row_label(cell: str) -> Label | None:
    """Read the label in the first cell of a table's row."""
    plain = cell[:LABEL_CHARACTERS].translate(_PLAIN)
    if match := _BARE.fullmatch(plain):
        return Label(path=path_of(match["number"]), form=ROW, end=len(cell))
    return label_of(cell, "table")


def behind_lead(plain: str) -> int:
    """Return where the text of a line begins, behind bullets and signs of headings."""
    match = _LEAD.match(plain)
    return match.end() if match else 0


def _keyword(plain: str, start: int) -> Label | None:
    if match := _LETTERED.match(plain, start):
        reply = match["word"] == "A"
        return Label(
            path=path_of(match["number"]), form=match["word"], end=match.end(), keyword=True, reply=reply
        )
    if match := _KEYWORD.match(plain, start):
        word = match["ask"] or match["reply"]
        part = _part(match["part"]) if match["part"] else ""
        return Label(
            path=path_of(match["number"]),
            form=word.lower().split()[0],
            end=match.end(),
            keyword=True,
            reply=bool(match["reply"]),
            part=part,
        )
    if match := _IN_PART.match(plain, start):
        part = _part(match["part"])
        return Label(path=path_of(match["number"]), form="part", end=match.end(), keyword=True, part=part)
    return None


def _numbered(plain: str, start: int, kind: BlockKind) -> Label | None:
    if kind == "heading" and (match := _IN_HEADING.match(plain, start)):
        return Label(path=path_of(match["number"]), form="heading", end=match.end())
    if match := _NUMBERED.match(plain, start):
        form = f"{match['open']}1{match['close'].strip()}"
        return Label(path=path_of(match["number"]), form=form, end=match.end())
    if match := _DOTTED.match(plain, start):
        return Label(path=path_of(match["number"]), form="1.1", end=match.end())
    if match := _BARE.fullmatch(plain, start):
        return Label(path=path_of(match["number"]), form=ALONE, end=len(plain))
    return None


def _letter(plain: str, start: int) -> Label | None:
    match = _LETTER.match(plain, start)
    return Label(path=(match["number"].lower(),), form="letter", end=match.end()) if match else None


def _part(number: str) -> str:
    lower = number.lower()
    return ROMAN.get(lower) or (lower.lstrip("0") or lower)
